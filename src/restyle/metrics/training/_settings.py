"""How a judge is made: every choice that changes its weights, from TOML and from flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from restyle.errors import UsageError
from restyle.metrics.judges import Kind, Set, Task
from restyle.nets.word_weights import L2
from restyle.settings import from_dict, setting, to_dict


@dataclass(frozen=True)
class JudgeSettings:
    """What a judge learns from, and how. `network` and `training` are settings of their own (docs/judges.md)."""

    name: str = setting("", "how the judge is called; its set is added to it")
    corpora: tuple[str, ...] = setting((), "corpus, corpus/style or corpus/style=label, several")
    kind: Kind = setting(
        "network", "a pretrained network, n-grams and logistic regression, or weights of words (an attacker)"
    )
    task: Task = setting("style", "what the labels are; an attribute is of who wrote it")
    part: Set = setting("report", "the set: select (to choose outputs with) or report")
    share: float = setting(0.2, "share of the training sentences that the set select gets", minimum=0, maximum=1)
    limit: int | None = setting(None, "training sentences of each source at most", minimum=1)
    seed: int = setting(0, "decides which sentences, the head, the batches and the dropout", minimum=0)
    broken: tuple[str, ...] = setting(
        (), "corpus/style of which sentences are learned as acceptable, and broken as unacceptable; several"
    )
    broken_limit: int | None = setting(None, "sentences of each of those at most", minimum=1)
    measured: int | None = setting(
        None, "sentences of valid and of test at most that the card's results are of, drawn by the seed", minimum=1
    )
    beside: str | None = setting(None, "a linear judge whose probabilities are multiplied in")
    start: str | None = setting(
        None, "a network judge of the same labels to go on from, by name or folder, instead of from its base"
    )
    aliases: dict[str, str] = setting({}, "other names for labels")
    l2: float = setting(L2, "words: the penalty on their weights, on which the bins of Figure 3 hang", minimum=1e-6)
    counts: dict[str, str] = setting(
        {}, "words: learn from the counts of a table, CORPUS by label, such as twitteraae/aa, and from no sentence"
    )
    network: dict[str, Any] = setting({}, "base, layers, rank, max_tokens")
    training: dict[str, Any] = setting({}, "epochs, batch_size, learning_rate, …")

    def __post_init__(self) -> None:
        if not self.name.replace("-", "").replace("_", "").isalnum():
            raise UsageError(f"the name {self.name!r} cannot name a folder; use letters, digits and hyphens")
        if not self.corpora:
            raise UsageError("name a corpus to learn from: --corpus shakespeare")
        if self.counts and (self.kind != "words" or len(self.counts) < 2):
            raise UsageError("counts are for --kind words, a table and its column for each of two labels or more")
        if self.broken and self.task != "fluency":
            raise UsageError("broken sentences are for a judge of fluency: --task fluency")

    @property
    def full_name(self) -> str:
        """Name, kind where it is not the usual one, and set."""
        usual = "words" if self.task == "attribute" else "network"
        return "-".join([self.name, *([] if self.kind == usual else [self.kind]), self.part])

    def of_network(self) -> Any:
        """The checked settings of the network."""
        from restyle.nets.encoder import NetworkSettings

        return from_dict(NetworkSettings, self.network, where="network")

    def of_training(self) -> Any:
        """The checked settings of its training, with the one seed."""
        from restyle.nets.classifier_training import TrainingSettings

        return from_dict(TrainingSettings, {**self.training, "seed": self.seed}, where="training")

    def command(self) -> str:
        """The command that makes this judge again."""
        words = ["restyle judge train", self.name]
        words += [f"--corpus {corpus}" for corpus in self.corpora]
        plain = to_dict(self)
        words += [f"--broken {corpus}" for corpus in self.broken]
        for key in ("kind", "task", "share", "limit", "broken_limit", "measured", "seed", "beside", "start", "l2"):
            if key in plain and plain[key] != getattr(_DEFAULTS, key):
                words.append(f"--{key.replace('_', '-')} {plain[key]}")
        words.append(f"--set {self.part}")
        words += [f"--alias {name}={label}" for name, label in self.aliases.items()]
        words += [f"--counts {label}={column}" for label, column in self.counts.items()]
        words += [
            f"--with {table}.{key}={value}" for table in ("network", "training") for key, value in plain[table].items()
        ]
        return " ".join(words)


_DEFAULTS = JudgeSettings(name="judge", corpora=("corpus",))
