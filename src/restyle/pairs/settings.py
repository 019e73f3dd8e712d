"""The thresholds of the filter, and the named sets of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from restyle.errors import UnknownName
from restyle.settings import from_dict, resolve, setting


@dataclass(frozen=True)
class FilterSettings:
    """What a pair must be to survive; the defaults are those of STRAP's App. A.1."""

    similarity: str = setting(
        "auto", "where the similarity comes from: column, the name of a metric, auto (a column if there), or off"
    )
    min_similarity: float = setting(0.5, "least similarity of the two sides", minimum=-1, maximum=1)  # App. A.1
    max_trigram_overlap: float = setting(
        0.7, "largest share of the paraphrase's trigrams found in the text; 1 is off", minimum=0, maximum=1
    )
    max_unigram_overlap: float = setting(
        0.5, "largest share of the paraphrase's words found in the text; 1 is off", minimum=0, maximum=1
    )
    min_shuffled: float = setting(
        0.5, "least share of pairs of shared words that changed order; 0 is off", minimum=0, maximum=1
    )
    # Tokens are what white space parts, as in ParaNMT, which is tokenised: a full stop counts there.
    max_length_difference: float = setting(
        5.0, "largest difference of the two lengths in tokens; inf is off", minimum=0
    )
    min_average_length: float = setting(7.0, "least average length of the two sides in tokens", minimum=0)
    max_average_length: float = setting(25.0, "largest average length of the two sides in tokens", minimum=0)
    drop_substrings: bool = setting(False, "drop a pair when one side is a substring of the other")
    # App. A.1 used langdetect; lid176 is a hundred times as fast and surer of short sentences.
    language: Literal["lid176", "langdetect", "off"] = setting(
        "lid176", "what tells the language (lid176, langdetect or off); a pair goes when neither side is English"
    )
    duplicates: Literal["keep", "exact", "near"] = setting(
        "keep", "drop repetitions: exact (the same strings), near (case, punctuation and articles aside), or keep"
    )
    full_table: bool = setting(False, "have the model score every pair, for the table in the paper's order")
    sample_dropped: int = setting(0, "show so many of the pairs that each stage dropped", minimum=0, maximum=1000)
    seed: int = setting(0, "the same seed samples the same pairs", minimum=0)


_NO_LIMIT: dict[str, Any] = {
    "similarity": "off",
    "max_trigram_overlap": 1.0,
    "max_unigram_overlap": 1.0,
    "min_shuffled": 0.0,
    "max_length_difference": math.inf,
    "min_average_length": 0.0,
    "max_average_length": math.inf,
    "language": "off",
}
PRESETS: dict[str, dict[str, Any]] = {
    # App. A.1 and Table 8.
    "strap-a1": {},
    # Sec. 2.4 and its footnote 6 say 50% trigram overlap and a similarity of 0.7, where App. A.1 says 70% and 0.5.
    "strap-2.4": {"min_similarity": 0.7, "max_trigram_overlap": 0.5},
    # Pang & Gimpel 2019, footnote 1.
    "pang-gimpel": {**_NO_LIMIT, "drop_substrings": True},
    # Ours, for small corpora: takes out only what could not teach a paraphraser anything.
    "loose": {
        "max_trigram_overlap": 0.8,
        "max_unigram_overlap": 0.8,
        "min_shuffled": 0.0,
        "max_length_difference": 10.0,
        "min_average_length": 3.0,
        "max_average_length": 40.0,
        "drop_substrings": True,
        "duplicates": "near",
    },
}


def preset(
    name: str = "strap-a1", overrides: Mapping[str, Any] | None = None, *, file: str | Path | None = None
) -> FilterSettings:
    """The settings of a preset, then those of a TOML file, then `overrides`: flags, None where one was not given.

    >>> preset("strap-2.4", {"min_shuffled": 0.4}).max_trigram_overlap
    0.5
    """
    if name not in PRESETS:
        raise UnknownName("filter preset", name, PRESETS)
    base = from_dict(FilterSettings, PRESETS[name], where=f"the preset {name}")
    return resolve(FilterSettings, file, overrides, base=base)
