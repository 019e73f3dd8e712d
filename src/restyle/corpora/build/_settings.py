"""What building a corpus can be told, each setting with the reason for its default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from restyle.errors import SettingsError
from restyle.records import OnError
from restyle.settings import setting

Layout = Literal["auto", "lines", "paragraphs", "wrapped"]
StyleFrom = Literal["name", "file", "folder"]


@dataclass(frozen=True)
class BuildSettings:
    """How text becomes a corpus: what a sentence is, which ones are kept, and how they are split."""

    layout: Layout = setting(
        "auto",
        "how a file holds its sentences: one a line, one paragraph a line, or paragraphs wrapped over several lines "
        "with blank lines between them; auto looks at the beginning of each file",
    )
    style_from: StyleFrom = setting(
        "name", "where the style of a file without a style column comes from: the corpus's name, its file, its folder"
    )
    style_column: str = setting("style", "the column or key of a table or of JSONL that names each line's style")
    text_column: str = setting("text", "the column or key that holds the text")
    encoding: str = setting("utf-8", "the encoding of the files")
    on_error: OnError = setting("stop", "what to do with a line that cannot be read: stop, or skip and count it")

    # One or two words ("Yes, sir.") carry a meaning, but nothing that a style could change.
    min_words: int = setting(3, "shortest sentence kept, in words", minimum=1)
    # STRAP cuts inputs and outputs at 50 subwords; English prose has about 1.3 subwords a word.
    max_words: int = setting(38, "longest sentence kept, in words", minimum=1)
    min_letters: float = setting(
        0.5, "smallest share of letters among the characters that are no spaces", minimum=0, maximum=1
    )
    boilerplate: bool = setting(
        True, "drop Project Gutenberg's header, footer and licence, contents, page numbers, notes and captions"
    )
    headings: bool = setting(True, "drop headings: CHAPTER XII., and lines in capitals that stand alone")

    language: str = setting(
        "auto", "the language kept, such as en; auto is the one that most sentences are in, any keeps all"
    )
    # lid.176 errs on short text, on dialect and on verse: only a sentence of some length and a sure verdict count.
    language_words: int = setting(6, "shortest sentence whose language is judged, in words", minimum=1)
    language_certainty: float = setting(0.8, "how sure the verdict for another language must be", minimum=0, maximum=1)

    # Over word pairs: two sentences of twelve words that differ in one have a similarity of 0.73.
    near_duplicate: float = setting(
        0.7, "similarity (Jaccard, over word pairs) from which the later of two sentences is dropped; 1 keeps them",
        minimum=0.6, maximum=1,
    )  # fmt: skip

    # STRAP's smaller styles are split 90/5/5 (Table 14).
    valid_share: float = setting(0.05, "share of the sentences in the valid split", minimum=0, maximum=1)
    test_share: float = setting(0.05, "share of the sentences in the test split", minimum=0, maximum=1)

    def __post_init__(self) -> None:
        """Refuse what each setting allows alone and both together do not."""
        if self.min_words > self.max_words:
            raise SettingsError(f"min_words is {self.min_words} and max_words {self.max_words}: no sentence is kept")
        if self.valid_share + self.test_share >= 1:
            raise SettingsError(
                f"valid_share is {self.valid_share} and test_share {self.test_share}: nothing is left to train on"
            )
