"""What inside a paragraph must not be touched: code, addresses, links, images, tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from restyle.text.segment_blocks import Kind


class Kept(NamedTuple):
    """A part of a paragraph that stays as it is."""

    start: int
    end: int
    kind: Kind


def kept_parts(paragraph: str, markdown: bool) -> list[Kept]:
    """The parts of a paragraph that stay as they are, in order and apart from each other."""
    found = list(_addresses(paragraph))
    if markdown and ("`" in paragraph or "[" in paragraph or "<" in paragraph):
        found += [*_code(paragraph), *_links(paragraph), *_tags(paragraph)]
        found.sort()
    if not found:
        return []
    apart: list[Kept] = []
    for part in found:
        if apart and part.start < apart[-1].end:
            apart[-1] = apart[-1]._replace(end=max(apart[-1].end, part.end))
        else:
            apart.append(part)
    return apart


def without_emphasis(sentence: str) -> str:
    """A Markdown sentence without its `*`, `_` and `~~`; those inside a word or between spaces are no markers."""
    return _EMPHASIS.sub("", sentence)


_EMPHASIS = re.compile(
    r"(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])|~~|(?<!\w)_{1,3}(?=\w)|(?<=[^\W_])_{1,3}(?!\w)"
)

# The patterns are possessive (`++`) and none begins where an earlier try has looked, so that all take linear time.
_ADDRESS = re.compile(
    r"(?:https?|ftp)://[^\s<>\"`]++|\bwww\.[^\s<>\"`]++|(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)++", re.IGNORECASE
)
_LINK = re.compile(
    r"!?\[[^\[\]]*+\](?:\((?:[^()\s]++|\([^()\s]*+\))*+(?:\s++\"[^\"]*+\")?+\)|\[[^\[\]]*+\])|\[\^[^\[\]\s]++\]"
)
_TAG = re.compile(r"</?[A-Za-z][^<>]*+>")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TICKS = re.compile(r"`++")


def _addresses(text: str) -> Iterator[Kept]:
    if "@" not in text and "://" not in text and "www." not in text.lower():
        return
    for address in _ADDRESS.finditer(text):
        yield Kept(address.start(), address.start() + len(_without_marks(address[0])), Kind.LINK)


def _without_marks(address: str) -> str:
    """An address without the marks of the sentence around it; a `)` is its own if it opened one."""
    end = len(address)
    surplus = address.count(")") - address.count("(")
    while end and (address[end - 1] in ".,;:!?'*_~”’…" or (address[end - 1] == ")" and surplus > 0)):
        end -= 1
        surplus -= address[end] == ")"
    return address[:end]


def _code(text: str) -> Iterator[Kept]:
    """Spans between two runs of the same number of backticks."""
    runs = list(_TICKS.finditer(text))
    later: dict[int, int] = {}
    partner = [-1] * len(runs)
    for number in range(len(runs) - 1, -1, -1):
        length = len(runs[number][0])
        partner[number] = later.get(length, -1)
        later[length] = number
    number = 0
    while number < len(runs):
        if partner[number] < 0:
            number += 1
        else:
            yield Kept(runs[number].start(), runs[partner[number]].end(), Kind.CODE)
            number = partner[number] + 1


def _links(text: str) -> Iterator[Kept]:
    for link in _LINK.finditer(text):
        yield Kept(link.start(), link.end(), Kind.LINK)


def _tags(text: str) -> Iterator[Kept]:
    # Behind the last `-->` no comment can close, and looking for it from every `<!--` would take for ever.
    for comment in _COMMENT.finditer(text, 0, text.rfind("-->") + 3 if "-->" in text else 0):
        yield Kept(comment.start(), comment.end(), Kind.MARKUP)
    for tag in _TAG.finditer(text):
        kind = Kind.LINK if "://" in tag[0] or "@" in tag[0] else Kind.MARKUP
        yield Kept(tag.start(), tag.end(), kind)
