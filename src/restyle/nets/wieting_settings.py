"""How the similarity model is trained: apart from the training, so that its flags are known without torch."""

from __future__ import annotations

from dataclasses import dataclass

from restyle.settings import setting


@dataclass(frozen=True)
class TrainSettings:
    """How the similarity model is trained; the defaults are those of the bundled one."""

    vocabulary: int = setting(20_000, "subwords", minimum=1)
    dim: int = setting(300, "numbers in a vector", minimum=1)
    epochs: int = setting(4, "how often each group of sentences is drawn from", minimum=1)
    pairs_per_group: int = setting(4, "most pairs drawn from a group in an epoch", minimum=1)
    batch_size: int = setting(256, "pairs a step", minimum=2)
    mega_batch: int = setting(16, "batches in which negatives are looked for, once it has grown", minimum=1)
    growing_epochs: int = setting(1, "epochs over which the mega-batch grows to that, from one batch", minimum=0)
    margin: float = setting(0.6, "by which a paraphrase should be nearer than its negative", minimum=0)
    learning_rate: float = setting(0.01, "of Adam, decayed to zero in a line", minimum=0)
    rarity: float = setting(
        1e-3, "a in a/(a+p), by which a frequent subword starts shorter; 0 leaves all alike", minimum=0
    )
    seed: int = setting(0, "decides the first vectors and the pairs", minimum=0)
