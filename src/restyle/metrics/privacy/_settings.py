"""How an audit is made: which attackers, what they learn from, and how sure they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from restyle.errors import UnknownName
from restyle.nets.word_weights import L2
from restyle.settings import from_dict, setting

# The first is the paper's; the second must be of another kind, or both would be fooled alike.
ATTACKERS = ("words", "network")


@dataclass(frozen=True)
class AuditSettings:
    """Who attacks, and how."""

    attackers: tuple[str, ...] = setting(("words",), "who attacks: words, network; several (--attackers, repeated)")
    folds: int = setting(5, "texts are guessed by attackers that learned from the other folds", minimum=2)
    l2: float = setting(L2, "the penalty on the weights of words", minimum=1e-6)
    fewest: int = setting(20, "texts that a label must have: of fewer nothing can be told", minimum=2)
    words: int = setting(20, "so many words that give each label away (Table 9)", minimum=0)
    evaluator: str | None = setting(None, "a trained attacker, such as politics-report, as the static one")
    network: dict[str, Any] = setting({}, "of the second kind: base, layers, rank, max_tokens")
    training: dict[str, Any] = setting({"epochs": 3}, "of the second kind: epochs, batch_size, learning_rate, …")
    seed: int = setting(0, "decides head, batches and dropout of the second kind", minimum=0)

    def __post_init__(self) -> None:
        for name in self.attackers:
            if name not in ATTACKERS:
                raise UnknownName("attacker", name, ATTACKERS)

    def of_network(self) -> Any:
        """The checked settings of the second kind's network."""
        from restyle.nets.encoder import NetworkSettings

        return from_dict(NetworkSettings, self.network, where="network")

    def of_training(self) -> Any:
        """The checked settings of its training, with the one seed; every label weighs the same."""
        from restyle.nets.classifier_training import TrainingSettings

        return from_dict(TrainingSettings, {"balanced": True, **self.training, "seed": self.seed}, where="training")
