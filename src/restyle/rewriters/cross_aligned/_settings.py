"""What a cross-aligned model is made of and how it learns: the eight models of Table 2 are settings of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from restyle.nets.gru_lm import GruLmSettings
from restyle.nets.text_cnn import TextCnnSettings
from restyle.settings import setting, to_dict

# Which losses each model has beside reconstruction and the first discriminators (Pang and Gimpel, Table 2).
MODELS: Mapping[str, frozenset[str]] = {
    "M0": frozenset(),  # Shen et al. 2017
    "M1": frozenset({"para"}),
    "M2": frozenset({"cyc"}),
    "M3": frozenset({"cyc", "lang"}),
    "M4": frozenset({"cyc", "para"}),
    "M5": frozenset({"cyc", "para", "lang"}),
    "M6": frozenset({"cyc", "2d"}),
    "M7": frozenset({"cyc", "para", "lang", "2d"}),
}


@dataclass(frozen=True)
class CrossAlignedSettings:
    """A model and its training; the defaults are the paper's where it says them.

    Where it says nothing they are mostly those of the code of Shen et al. 2017. Ours are: no dropout (they drop half),
    plain ReLUs in the discriminators (theirs leak), and a decoder that always hears the discriminators (theirs only
    while the loss of both is below 1.2).
    """

    model: Literal["M0", "M1", "M2", "M3", "M4", "M5", "M6", "M7"] = setting("M7", "which losses it has (Table 2)")
    # The network (Sec. 4).
    style_dim: int = setting(200, "numbers of y, the style", minimum=1)
    content_dim: int = setting(500, "numbers of z, the content", minimum=1)
    word_dim: int = setting(100, "numbers of a word vector", minimum=1)
    filters: int = setting(128, "filters of each width in a discriminator (4.1)", minimum=1)
    # The sentences (5.1).
    sentences: int = setting(0, "training sentences of each style at most; 0 takes all", minimum=0)
    dev_sentences: int = setting(1000, "validation sentences of each style that a checkpoint is measured on", minimum=1)
    min_words: int = setting(1, "shortest sentence (5.1: 6 in Literature)", minimum=1)
    max_words: int = setting(15, "longest sentence (5.1: 15 in Yelp, 25 in Literature)", minimum=1)
    vocabulary: int = setting(10_000, "most words that are known", minimum=2)
    min_count: int = setting(5, "a word that is seen less often is not known", minimum=1)
    tokens: Literal["yelp", "ptb"] = setting("yelp", "how text is cut into words: yelp is in lower case")
    subwords: int = setting(0, "instead of words, so many byte pairs (5.1, Literature); 0 for words", minimum=0)
    tags: bool = setting(False, "names and places become -PERSON- and -LOCATION- (5.1, Literature)")
    unknown: Literal["copy", "mark"] = setting(
        "copy", "a word that is not known is copied from the input, or marked <unk>"
    )
    # The losses (5.2).
    lambda_rec: float = setting(1.0, "weight of the reconstruction loss (Eq. 2)", minimum=0)
    lambda_para: float = setting(0.2, "weight of the paraphrase loss (Eq. 5)", minimum=0)
    lambda_cyc: float = setting(5.0, "weight of the cyclic loss (Eq. 4)", minimum=0)
    lambda_lang: float = setting(1e-3, "weight of the language-model loss (Eq. 6)", minimum=0)
    lambda_adv: float = setting(1.0, "weight of the first discriminators (Eq. 3)", minimum=0)
    lambda_adv2: float = setting(1.0, "weight of the second pair (Eq. 7), halved after each epoch", minimum=0)
    penalty: float = setting(10.0, "xi, the weight of the gradient penalty (Eq. 7)", minimum=0)
    adversarial: Literal["minimax", "non-saturating"] = setting(
        "minimax",
        "what the decoder does to the first discriminators: minimax raises their loss, as printed; non-saturating "
        "raises what they give to transferred states, as in the code of Shen et al.",
    )
    temperature: float = setting(
        0.1, "of the distributions that the decoder feeds itself (Shen et al. begin at 0.1)", minimum=1e-3
    )
    pairs: tuple[str, ...] = setting(
        ("quora", "twitter-url"), "paraphrases of the loss (Eq. 5): tables of the catalogue, or files"
    )
    most_pairs: int = setting(90_000, "of them at most (footnote 1)", minimum=1)
    # The training (5.2).
    epochs: int = setting(20, "how often the longer side is gone through", minimum=1)
    batch_size: int = setting(64, "sentences of each style a step", minimum=2)
    pair_batch_size: int = setting(0, "paraphrases for each style a step; 0 takes as many as sentences", minimum=0)
    learning_rate: float = setting(1e-4, "of Adam", minimum=0)
    beta1: float = setting(0.5, "of Adam; a longer memory would lag behind what the discriminators do", minimum=0)
    clip: float = setting(30.0, "longest gradient of the model, and of each discriminator", minimum=1e-6)
    stop: str = setting(
        "", "gm, acc=0.8 or sim=0.8: end when GM gets no better, or when Acc falls or Sim rises past the level"
    )
    patience: int = setting(4, "half epochs that --stop waits", minimum=1)
    precision: Literal["fastest", "float32"] = setting(
        "fastest", "of the largest products of matrices: bfloat16 where that is several times as fast, or float32"
    )
    gauges: str = setting(
        "", "the folder of what measures, and of the language models of Eq. 6; beside the run's if none"
    )
    cnn: TextCnnSettings = setting(TextCnnSettings(), "the classifier of Acc (3.2)")
    lm: GruLmSettings = setting(GruLmSettings(), "the language models of PP (3.2) and of Eq. 6")
    checkpoint_seconds: float = setting(60.0, "how often a run in progress is saved", minimum=0)
    seed: int = setting(0, "decides the first weights, the sentences and the batches", minimum=0)

    def has(self, loss: str) -> bool:
        """Whether the model has a loss: para, cyc, lang, or 2d."""
        return loss in MODELS[self.model]


# What changes how long or how safely a training runs, and not what it learns.
_OF_THE_RUN = frozenset({"epochs", "stop", "patience", "gauges", "checkpoint_seconds"})


def learned_with(settings: CrossAlignedSettings) -> dict[str, Any]:
    """The settings that decide what is learned: with others, a training cannot go on."""
    return {name: value for name, value in to_dict(settings).items() if name not in _OF_THE_RUN}
