"""How a language model is tuned: every choice that changes the weights."""

from __future__ import annotations

from dataclasses import dataclass

from restyle.errors import UsageError
from restyle.settings import setting


@dataclass(frozen=True)
class TuneSettings:
    """What is learned, and how."""

    base: str = setting("smollm2-135m", "the base model: of a wheel, of the Hugging Face hub, or a folder")
    rank: int = setting(32, "rank of the adapters; 0 tunes all weights", minimum=0)
    max_subwords: int = setting(50, "longest input and output, in subwords (STRAP App. A.2)", minimum=4)
    segments: bool = setting(False, "inputs of one width and segments (STRAP App. A.2), for GPT-2 bases of rank 0")
    epochs: float = setting(3.0, "how often every pair is seen (STRAP: 2 to 3)", minimum=0)
    batch_size: int = setting(32, "pairs a step", minimum=1)
    learning_rate: float = setting(5e-4, "warmed up, then decayed to zero in a line", minimum=0)
    warm_up: float = setting(0.05, "share of the steps that warm up", minimum=0, maximum=1)
    weight_decay: float = setting(0.01, "of AdamW", minimum=0)
    dropout: float = setting(0.05, "on what enters the adapters", minimum=0, maximum=0.9)
    patience: int = setting(2, "evaluations without a better dev perplexity before it stops", minimum=1)
    evaluations: int = setting(8, "how often the dev perplexity is taken, and a checkpoint kept", minimum=1)
    minutes: float | None = setting(None, "stop after about so long: the steps are planned by the speed", minimum=0.1)
    samples: int = setting(2, "dev inputs that are rewritten at each evaluation, to look at", minimum=0)
    tensorboard: bool = setting(False, "log for tensorboard, in the run's folder")
    seed: int = setting(0, "decides the adapters, the batches and the dropout", minimum=0)

    def __post_init__(self) -> None:
        if not self.epochs:
            raise UsageError("epochs is 0: nothing would be learned")
        if self.segments and self.rank:
            raise UsageError(f"segments need all weights tuned: set rank to 0, not {self.rank}")
