"""Words that give an author away replaced by near ones that do not, or dropped: what needs no model of language.

The words that weigh most for the guess go first, one more in each candidate, until the guess is even. Numbers, denials
and whatever is to be kept stay. It is the baseline that a rewriter has to beat: it does not know what a sentence needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from restyle.errors import UnknownName
from restyle.metrics.leakage import attacker, attributes
from restyle.nets.word_weights import WORD
from restyle.rewriters._base import Request, Rewrite, Rewriter, read_system_file, write_system_file
from restyle.rewriters.strap import _guard, _keeping

if TYPE_CHECKING:
    from restyle.metrics.judges import WordJudge
    from restyle.nets.wieting import Wieting
    from restyle.nets.word_weights import Floats, WordWeights

# The bins of Figure 3: what is replaced is beyond "neutral", and what takes its place is well within.
_TELLING, _NEUTRAL = 0.1, 0.05
# Of two words by the bundled similarity: so and therefore are 0.64, place and steadfast 0.5.
_NEAR = 0.51
# A model of subwords takes what is spelled alike for alike: place and placer are 0.89, stars and starve 0.6.
_STEM, _LOOKED_AT = 4, 20
# Shorter ones are there for the grammar: nothing near i, so or our does what they do.
_SHORTEST = 4
How = Literal["replace", "drop", "both"]
_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


class Lexical(Rewriter):
    """Replaces the words that say most of who wrote a text, or drops them."""

    name = "lexical"

    def __init__(self, how: How = "both") -> None:
        """`replace` leaves a word that no near one can replace, `drop` drops all, `both` what cannot be replaced."""
        self.how = how
        self.styles = attributes()
        # By attacker: words and what takes their place, and the words that may.
        self._near: dict[str, dict[str, str | None]] = {}
        self._tables: dict[str, tuple[list[str], Floats]] = {}

    def checked(self, to: str | None) -> str:
        """The attribute that is meant: a name, or the folder of an attacker."""
        if to is None or not Path(to).is_dir():
            try:
                return super().checked(to)
            except UnknownName:
                raise UnknownName("attribute", str(to), self.styles) from None
        return to

    def generate(self, texts: Sequence[str], request: Request) -> list[list[str]]:
        """`request.candidates` rewrites of every text, the least telling first."""
        return [list(each.outputs) for each in self.rewrites(texts, request)]

    def rewrites(self, texts: Sequence[str], request: Request) -> list[Rewrite]:
        """The versions of each text, which the inner attacker has chosen."""
        judge = attacker(request.to, "select")
        kept = _keeping.found(list(texts), _keeping.kinds_of(request.keep))
        found = []
        for text, entities in zip(texts, kept, strict=True):
            untouched = {word for entity in entities for word in WORD.findall(entity.text)}
            versions = list(self._versions(text, judge, untouched))
            guesses = judge.probabilities(versions)
            order = np.argsort(np.nan_to_num(guesses, nan=1.0).max(1), kind="stable")
            best = [versions[place] for place in order[: request.candidates]]
            outputs = (*best, *[best[-1]] * (request.candidates - len(best)))
            found.append(Rewrite(text, outputs, selected_with=(judge.card.fingerprint,)))
        return found

    def fingerprint(self, *targets: str) -> str:
        """The weights by which words are judged, and what is done to them."""
        judges = (attacker(to, "select").card.fingerprint for to in dict.fromkeys((*targets, *self.styles)))
        return "/".join([self.name, self.how, *judges])

    def save(self, folder: str | Path) -> None:
        """Write what it does to words; the weights are those of the attackers."""
        write_system_file(folder, {"system": self.name, "how": self.how})

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The same again."""
        return cls(read_system_file(folder)["how"])

    def _versions(self, text: str, judge: WordJudge, untouched: set[str]) -> Iterator[str]:
        """The text, and the text with one telling word more gone in each version, as long as that takes to be even."""
        yield text
        told = _Told(text, judge.model, untouched)
        gone: dict[int, str] = {}
        for place in told.order:
            token = told.tokens[place]
            instead = None if self.how == "drop" else self._instead(token, judge)
            if instead is None and self.how == "replace":
                continue
            if instead is None and len(told.words) - sum(not each for each in gone.values()) <= 1:
                return  # the last word: nothing would be left
            gone[place] = instead or ""
            yield told.without(gone)

    def _instead(self, word: str, judge: WordJudge) -> str | None:
        """A word near in meaning that gives nothing away, in the same case; None where there is none."""
        if len(word) < _SHORTEST:
            return None
        known = self._near.setdefault(judge.card.fingerprint, {})
        if word not in known:
            known[word] = _cased(self._nearest(word.lower(), judge), word)
        return known[word]

    def _nearest(self, word: str, judge: WordJudge) -> str | None:
        words, vectors = self._neutral(judge)
        if not words:
            return None
        own = self._similarity.embed([word])[0]  # (D,)
        cosines = vectors @ own  # (V,)
        for place in map(int, np.argsort(-cosines, kind="stable")[:_LOOKED_AT]):
            if cosines[place] < _NEAR:
                break
            if words[place][:_STEM] != word[:_STEM]:
                return words[place]
        return None

    def _neutral(self, judge: WordJudge) -> tuple[list[str], Floats]:
        """The words that give nothing away to an attacker, and their vectors, (V, D)."""
        key = judge.card.fingerprint
        if key not in self._tables:
            weights = judge.model
            # What one attacker does not know tells it nothing: the words of all attackers may take a place.
            known = {word for name in self.styles for word in attacker(name, "select").model.words} | set(weights.words)
            words = sorted(word for word in known if len(word) > 2 and word == word.lower() and _WORDS.fullmatch(word))
            said = np.abs(weights.logits([word] for word in words) - weights.logits([[]])).max(1)
            told = zip(words, said, strict=True)
            words = [word for word, each in told if each < _NEUTRAL and not _guard.turned("", word)]
            self._tables[key] = words, self._similarity.embed(words).astype(np.float64)
        return self._tables[key]

    @cached_property
    def _similarity(self) -> Wieting:
        from restyle.nets.wieting import bundled

        return bundled()


class _Told:
    """A text in tokens, and those that speak for what is guessed of it, the loudest first."""

    def __init__(self, text: str, weights: WordWeights, untouched: set[str]) -> None:
        self.text = text
        self._spans = [match.span() for match in WORD.finditer(text)]
        self.tokens = [text[start:end] for start, end in self._spans]
        self.words = [token for token in self.tokens if _WORDS.fullmatch(token)]
        label = int(weights.logits([self.tokens])[0].argmax())
        said = [self._said(token, weights, label) for token in self.tokens]
        left = float(np.diff(np.sort(weights.logits([self.tokens])[0])[-2:])[0])
        self.order: list[int] = []
        for place in sorted(range(len(said)), key=lambda place: -said[place]):
            token = self.tokens[place]
            if said[place] < _TELLING or left <= 0:
                break
            if token in untouched or _guard.turned("", token) or not _WORDS.fullmatch(token):
                continue
            self.order.append(place)
            left -= said[place]

    @staticmethod
    def _said(token: str, weights: WordWeights, label: int) -> float:
        """What a token says for a label, against the others on average."""
        logits = weights.logits([[token]])[0] - weights.logits([[]])[0]
        others = (logits.sum() - logits[label]) / (len(logits) - 1)
        return float(logits[label] - others)

    def without(self, gone: dict[int, str]) -> str:
        """The text with other words, or none, in the places of some tokens."""
        pieces: list[str] = []
        done = 0
        for place, instead in sorted(gone.items()):
            start, end = self._spans[place]
            pieces += self.text[done:start], instead
            done = end
        return _tidied("".join(pieces) + self.text[done:])


def _cased(word: str | None, like: str) -> str | None:
    """A word in capitals, with a capital or without one, as the one whose place it takes."""
    if word is None:
        return None
    if like.isupper() and len(like) > 1:
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word


def _tidied(text: str) -> str:
    """No two spaces where a word was, and none before a mark."""
    return re.sub(r"\s+([,.;:!?])", r"\1", " ".join(text.split()))
