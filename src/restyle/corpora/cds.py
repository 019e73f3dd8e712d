"""The Corpus of Diverse Styles of STRAP (Krishna et al. 2020, Sec. 6): samples of eleven styles."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from restyle.corpora._corpus import TEST, TRAIN, Corpus, Line
from restyle.corpora._files import Files
from restyle.corpora.leaks import guarded

# The styles as the published outputs name them, and their samples.
SAMPLES = {
    "aae": "aae",
    "bible": "bible",
    "coha_1810": "coha_1810-1830",
    "coha_1890": "coha_1890-1910",
    "coha_1990": "coha_1990-2000",
    "joyce": "joyce",
    "lyrics": "lyrics",
    "poetry": "romantic_poetry",
    "shakespeare": "shakespeare",
    "switchboard": "switchboard",
    "tweets": "english_tweets",
}
# Lines 1 to 500 may be trained on, lines 501 to 1,000 are the test part.
_LAST_TRAINING_LINE = 500


def cds(files: Files) -> Corpus:
    """Eleven styles of 1,000 sentences: first halves to train on (but for Shakespeare), second halves to test on."""

    def read(style: str, split: str) -> Iterator[Line]:
        for line in files.lines(f"cds/samples/{SAMPLES[style]}.txt"):
            if (line.number > _LAST_TRAINING_LINE) == (split == TEST):
                yield line

    return guarded(
        "cds",
        {style: partial(read, style) for style in SAMPLES},
        [TRAIN, TEST],
        # All of this sample is Romeo and Juliet, with which systems are tested since Xu et al. 2012.
        without={("shakespeare", TRAIN)},
    )
