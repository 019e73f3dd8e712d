"""What must stay in a rewrite: found in the text, looked for in the rewrite, and put back where it was changed.

A rewriter writes "4 dogs" for "5 dogs", "Katherine" for "Catherine", and the address of another page. What stands in
the place of a thing that was lost is told from what the text does not have; where that is not plain, nothing is put
anywhere, and the caller says what was lost. "Five dogs" has lost nothing: some styles have no digits.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from restyle.errors import UnknownName
from restyle.text.entities import KINDS, Entity, mask

# What people say for several kinds of entities, beside the names of the kinds.
GROUPS: dict[str, tuple[str, ...]] = {
    "names": ("person", "location"),
    "numbers": ("number",),
    "addresses": ("url", "email", "handle"),
    "none": (),
}
_EXACT = ("URL", "EMAIL", "HANDLE")
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
# How alike a name and a word must be to be the same: Catherine and Katherine are 0.89, Mary and Marry 0.89.
_ALIKE = 0.7


def kinds_of(keep: Iterable[str]) -> tuple[str, ...]:
    """The kinds of entities that are meant; UnknownName when one of the words means none."""
    kinds: list[str] = []
    for each in keep:
        if each not in GROUPS and each not in KINDS:
            raise UnknownName("thing to keep", each, [*GROUPS, *KINDS])
        kinds += GROUPS.get(each, (each,))
    return tuple(dict.fromkeys(kinds))


def found(texts: Sequence[str], kinds: Sequence[str]) -> list[tuple[Entity, ...]]:
    """What must stay of each text."""
    if not kinds:
        return [()] * len(texts)
    return [masked.entities for masked in mask(texts, kinds)]


def lost(kept: Iterable[Entity], output: str) -> list[Entity]:
    """What does not stand in the output; names may stand there in capitals, and numbers in words."""
    return [entity for entity in kept if not _spot(entity).search(output) and not _stands_in_words(entity, output)]


def repaired(kept: Sequence[Entity], before: str, after: str) -> str:
    """A rewrite with what it changed put back, as far as it is plain where."""
    for entity in lost(kept, after):
        after = _put_back(entity, before, after)
    for kind in dict.fromkeys(_kind(entity) for entity in kept):
        gone = [entity for entity in lost(kept, after) if _kind(entity) == kind]
        if gone and kind.lower() not in GROUPS["names"]:
            after = _in_the_place_of_strangers(gone, kind, before, after)
    return after


def _put_back(entity: Entity, before: str, after: str) -> str:
    kind = _kind(entity)
    if kind in _EXACT:
        return _spot(entity, re.IGNORECASE).sub(lambda match: entity.text, after)
    if kind == "NUMBER":
        return after
    words = [word for word in re.findall(r"\b[A-Z][\w'-]*\w", after) if word not in before]
    alike = difflib.get_close_matches(entity.text, words, n=1, cutoff=_ALIKE)
    return re.sub(rf"\b{re.escape(alike[0])}\b", lambda match: entity.text, after) if alike else after


def _in_the_place_of_strangers(gone: Sequence[Entity], kind: str, before: str, after: str) -> str:
    """Where as many of a kind are lost as stand there that the text never had, one is in the place of the other."""
    strangers = [each for each in mask([after], [kind.lower()])[0].entities if not _spot(each).search(before)]
    strangers = [each for each in strangers if _kind(each) == kind]
    if len(strangers) != len(gone):
        return after
    for stranger, entity in zip(strangers, gone, strict=True):
        after = _spot(stranger).sub(lambda match, text=entity.text: text, after, count=1)  # type: ignore[misc]
    return after


def _stands_in_words(entity: Entity, output: str) -> bool:
    """Whether a number below a hundred is spelled out."""
    if _kind(entity) != "NUMBER" or not entity.text.isdecimal() or len(entity.text) > 2:
        return False
    ones, tens = _ONES.split(), _TENS.split()
    number = int(entity.text)
    word = ones[number] if number < 20 else tens[number // 10 - 2]
    if number > 20 and number % 10:
        word += f"[- ]?{ones[number % 10]}"
    return bool(re.search(rf"\b{word}\b", output, re.IGNORECASE))


def _spot(entity: Entity, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Finds an entity, and not 3 in 13."""
    if _kind(entity) not in (*_EXACT, "NUMBER"):
        flags = re.IGNORECASE
    return re.compile(rf"(?<!\w){re.escape(entity.text)}(?!\w)", flags)


def _kind(entity: Entity) -> str:
    return entity.tag.strip("-").partition("-")[0].upper()
