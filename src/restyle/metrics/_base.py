"""What a metric is, what it is given, and the list of those that exist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from restyle.errors import InputError, UsageError
from restyle.registry import Registry

Column = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Outputs to judge, with what a judge may need beside them; line n of each belongs to line n of the others."""

    outputs: Sequence[str]
    inputs: Sequence[str] | None = None
    references: Sequence[Sequence[str]] | None = None  # per output, one or more
    target: str | None = None

    def __post_init__(self) -> None:
        for name in ("inputs", "references"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.outputs):
                raise InputError(
                    f"{len(self.outputs):,} outputs, but {len(given):,} {name}; they must pair line by line"
                )

    def require(self, metric: Metric) -> None:
        """UsageError names what the metric needs and this batch lacks."""
        lacking = sorted(name for name in metric.needs if getattr(self, name) is None)
        if lacking:
            raise UsageError(f"the metric {metric.name} needs {' and '.join(lacking)}, which were not given")


class Metric(Protocol):
    """A judge of sentences."""

    @property
    def name(self) -> str:
        """What the metric is called in the registry and in every table."""
        ...

    @property
    def needs(self) -> frozenset[str]:
        """What it is given beside the outputs: of inputs, references and target."""
        ...

    def score(self, batch: Batch) -> Column:
        """One number per output sentence."""
        ...

    def signature(self) -> dict[str, str]:
        """Everything that changes the number."""
        ...


metrics: Registry[type[Metric]] = Registry("metric")
for _name, _target, _extra, _summary in (
    ("acc", "style:StyleAccuracy", "local", "1 when a trained judge finds the target style in the output (STRAP 3.1)"),
    ("acc-prob", "style:StyleProbability", "local", "the probability that the judge of acc gives the target style"),
    (
        "acc-linear",
        "style:LinearStyleAccuracy",
        "judge",
        "acc by n-grams and logistic regression, whose words can be read",
    ),
    ("sim_input", "similarity_minilm:SimInput", "local", "meaning shared with the input: cosine of MiniLM's vectors"),
    ("sim_ref", "similarity_minilm:SimRef", "local", "meaning shared with the nearest reference, likewise"),
    (
        "sim-glove",
        "similarity_glove:SimGlove",
        "text",
        "meaning shared with the input: idf-weighted word vectors (Pang 3.2)",
    ),
    ("sim-glove-ref", "similarity_glove:SimGloveRef", "text", "meaning shared with the nearest reference, likewise"),
    ("fl", "fluency:Fluency", "local", "1 when a judge trained on CoLA finds the output acceptable (STRAP 3.1)"),
    (
        "fl-prob",
        "fluency:FluencyProbability",
        "local",
        "the probability that the judge of fl gives of being acceptable",
    ),
    (
        "acc-cnn",
        "unsupervised:CnnAccuracy",
        "local",
        "1 when a text CNN of the corpus finds the target style (Pang 3.2)",
    ),
    (
        "pp",
        "unsupervised:GruPerplexity",
        "local",
        "perplexity under a GRU language model of the corpus, per word (Pang 3.2)",
    ),
    ("ppl", "fluency:Perplexity", "local", "perplexity under a language model, per token of it"),
    ("unigram-f1", "overlap:UnigramF1", "text", "words shared with the input, SQuAD-normalised: F1"),
    ("unigram-precision", "overlap:UnigramPrecision", "text", "share of the output's words that stand in the input"),
    ("jaccard", "overlap:Jaccard", "text", "distinct words shared with the input, of all distinct words of both"),
    ("kendall-tau", "overlap:KendallTau", "text", "order of the words shared with the input: 1 the same, -1 reversed"),
    ("edit-distance", "overlap:EditDistance", "text", "word edits from input to output, per word of the longer"),
    ("copy-rate", "overlap:CopyRate", "text", "1 when the output is its input, case and punctuation aside"),
    ("length-ratio", "overlap:LengthRatio", "text", "words of the output per word of the input"),
    ("sim-wieting", "similarity:SimWieting", "text", "meaning shared with the input (Wieting et al. 2019)"),
    (
        "sim-wieting-ref",
        "similarity:SimWietingReference",
        "text",
        "meaning shared with the nearest reference, likewise",
    ),
    ("bleu", "translation:Bleu", "judge", "n-grams shared with the references, as sacrebleu counts them"),
    ("self-bleu", "translation:SelfBleu", "judge", "n-grams shared with the input, as sacrebleu counts them"),
    ("chrf", "translation:Chrf", "judge", "character n-grams shared with the references, as sacrebleu counts them"),
    ("leak-gender", "leakage:LeakGender", None, "how surely an attacker guesses the author's gender: 0 not at all"),
    ("leak-politics", "leakage:LeakPolitics", None, "how surely an attacker guesses the author's party: 0 not at all"),
    ("meteor", "translation:Meteor", "judge", "words and stems matched with the references, and their order"),
):
    metrics.add(_name, f"restyle.metrics.{_target}", _summary, extra=_extra)
