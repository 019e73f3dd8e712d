"""The one normalisation that every corpus and every score uses, so that two texts differ only where their words do.

`clean` is what to call. It is `normalise` (HTML entities, Unicode, white space) and then, for text in which a tokeniser
set the marks apart, `detokenise`.
"""

from __future__ import annotations

import re
import unicodedata
from html import unescape
from html.entities import html5

from restyle.text.tokenised import detokenise, looks_tokenised

# A round undoes one layer (`&am&#112;gt;`, a curly quote inside mojibake …); no text in the wild has more than four.
_ROUNDS = 20


def clean(text: str) -> str:
    r"""A sentence as a person would write it: on one line, no entities, no marks set apart by a tokeniser.

    Cleaning twice changes nothing more.

    >>> clean("fish &amp;amp; chips , said the \u201cchef\u201d .")
    'fish & chips, said the "chef".'
    >>> clean("the chef does n't cook -lrb- today -rrb- , i 'm told .")
    "the chef doesn't cook (today), i'm told."
    """
    text = normalise(text)
    while looks_tokenised(text):
        plain = normalise(detokenise(text))
        if plain == text:
            break
        text = plain
    return text


def normalise(text: str) -> str:
    r"""The same characters for the same text: entities undone, NFC, straight quotes, single spaces, nothing invisible.

    Accents, emoji with their joiners, and right-to-left text stay as they are. Typographic quotes become `'` and `"`,
    since no style should be told by its typesetter. All white space, line breaks too, becomes one space.

    >>> normalise("caf\u0065\u0301 &amp;amp; \u201cbar\u201d\u00a0\u200b")
    'café & "bar"'
    """
    if text.isascii() and text.isprintable() and "&" not in text and "`" not in text:
        return " ".join(text.split())
    for _ in range(_ROUNDS):
        before, text = text, _normalised_once(text)
        if text == before:
            break
    return text


def _normalised_once(text: str) -> str:
    if not text.isascii():
        text = _SURROGATES.sub(_whole_character, text)
        text = _MOJIBAKE.sub(_decoded_again, text)
    if "&" in text:
        text = _unescaped(text)
    if not text.isascii():
        if not _RIGHT_TO_LEFT.search(text):
            text = _DIRECTION_MARKS.sub("", text)
        text = _STRAY_JOINERS.sub("", text)
        text = unicodedata.normalize("NFC", text)
    text = text.translate(_CHARACTERS)
    text = _APOSTROPHES.sub("'", text)
    return " ".join(text.split())


# --- HTML entities -------------------------------------------------------------------------------------------------

_ESCAPED_AMPERSANDS = re.compile(r"&(?:(?:amp|#38|#x26);)+", re.IGNORECASE)
_ENTITY = re.compile(r"&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# Without the semicolon only where no word and no URL parameter (`?a=1&lt=2`) can be meant.
_BARE_ENTITY = re.compile(r"&(amp|lt|gt|quot|apos|nbsp|#[0-9]{2,5})(?![\w;=])")
# What a tokeniser left of an entity: `& amp ;`.
_SPLIT_ENTITY = re.compile(r"& ?(amp|lt|gt|quot|apos|nbsp|#[0-9]{2,5}) ;")


def _unescaped(text: str) -> str:
    text = _SPLIT_ENTITY.sub(_character, text)
    text = _ESCAPED_AMPERSANDS.sub("&", text)  # however often it was escaped
    text = _ENTITY.sub(_character, text)
    return _BARE_ENTITY.sub(_character, text)


def _character(entity: re.Match[str]) -> str:
    name = entity[1]
    if name.startswith("#"):
        return unescape(f"&{name};")
    if name == "squot":  # no standard has it, many feeds do
        return "'"
    return html5.get(f"{name};", entity[0])


# --- Unicode -------------------------------------------------------------------------------------------------------

_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")


def _whole_character(surrogates: re.Match[str]) -> str:
    """Two halves make the character they stand for; one alone is no character, which U+FFFD says."""
    return surrogates[0].encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# Windows-1252 reads byte 0x80 as the euro sign and so on; five bytes it does not know stay as they are.
_FROM_CP1252 = {
    byte: bytes([byte]).decode("cp1252") for byte in range(0x80, 0xA0) if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}
_BYTES = {ord(character): byte for byte, character in _FROM_CP1252.items()}
_TRAIL = "[\x80-\xbf" + "".join(_FROM_CP1252.values()) + "]"
# UTF-8 that was read as Windows-1252 or Latin-1. Only what no language writes counts: Â and Ã before a symbol, not in
# words in capitals (é, £); â before the euro sign and its neighbours (quotes, dashes, signs); ðŸ (emoji); the BOM.
_MOJIBAKE = re.compile(f"(?<![A-ZÀ-Þ][A-ZÀ-Þ])[ÂÃ]{_TRAIL}|â[\x80-\x84€‚ƒ„]{_TRAIL}|ð[\x9fŸ]{_TRAIL}{_TRAIL}|ï»¿")


def _decoded_again(mojibake: re.Match[str]) -> str:
    try:
        return bytes(_BYTES.get(ord(character), ord(character)) for character in mojibake[0]).decode("utf-8")
    except (UnicodeDecodeError, ValueError):
        return mojibake[0]


_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001eeff]")
# They steer how right-to-left text is drawn; elsewhere they only hide in the text.
_DIRECTION_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Joiners belong between the parts of an emoji and inside Persian or Indic words; beside a space or a Latin letter they
# are dirt.
_STRAY_JOINERS = re.compile("(?<![\u0250-\U0010ffff])[\u200c\u200d]|[\u200c\u200d](?![\u0250-\U0010ffff])")
# `don´t` and `don`t`.
_APOSTROPHES = re.compile(r"(?<=[^\W\d_])[`´](?=[^\W\d_])")

_INVISIBLE = "\xad\u180e\u200b\ufeff" + "".join(map(chr, [*range(0x2060, 0x2065), *range(0xFFF9, 0xFFFC)]))
_CONTROLS = "".join(map(chr, [*range(0x00, 0x09), *range(0x0E, 0x1C), 0x7F, 0x81, 0x8D, 0x8F, 0x90, 0x9D]))
_SPELLED: dict[str, str] = {
    **dict.fromkeys(_INVISIBLE + _CONTROLS, ""),
    **{chr(byte): character for byte, character in _FROM_CP1252.items()},
    "…": "...",
    **dict.fromkeys("‘’‚‛\u02bc", "'"),
    **dict.fromkeys("“”„‟", '"'),
    **{"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"},
}
_CHARACTERS = str.maketrans(_SPELLED)
