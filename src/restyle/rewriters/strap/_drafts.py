"""Sentences through both stages: paraphrased, written in the style, tried again where that broke, and ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from restyle.lm.decoding import Decoding
from restyle.rewriters._base import Request
from restyle.rewriters.strap import _guard, _keeping
from restyle.rewriters.strap._choosing import Chooser
from restyle.rewriters.strap._guard import Flag
from restyle.rewriters.strap._writer import Writer, Written
from restyle.text.entities import Entity
from restyle.text.sentences import sentences

# Rewrites of each paraphrase, beside the likeliest.
_MORE = 2
# How many are made at once of a rewrite that is tried again.
_TRIES = 4
# Subwords in a row that a sentence may hold once. Of three there are some that English repeats: "as good as".
_ONCE = 4


@dataclass(frozen=True)
class Candidate:
    """A rewrite, what it was made from, and what is wrong with it."""

    paraphrase: str
    text: str
    hopeless: bool  # it cannot be given to anybody
    faults: int  # what could be better

    @property
    def whole(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.hopeless and not self.faults


@dataclass
class Draft:
    """A sentence, what must stay of it, and its candidates, in the end the best first."""

    text: str
    kept: tuple[Entity, ...] = ()
    candidates: list[Candidate] = field(default_factory=list)

    def add(self, paraphrase: str, written: Sequence[Written]) -> None:
        """Take in what was written, each rewrite once, with what it changed put back."""
        for each in written:
            text = _keeping.repaired(self.kept, self.text, each.text)
            if text not in {candidate.text for candidate in self.candidates}:
                faults = _guard.faults(self.text, text) + len(_keeping.lost(self.kept, text))
                hopeless = not each.ended or _guard.broken(text, self.text)
                self.candidates.append(Candidate(paraphrase, text, hopeless, faults))

    @property
    def paraphrase(self) -> str:
        """What its first rewrite was made from."""
        return self.candidates[0].paraphrase if self.candidates else self.text

    @property
    def flags(self) -> tuple[str, ...]:
        """What is to be said of the best candidate."""
        best = self.candidates[0].text
        missing = ", ".join(entity.text for entity in _keeping.lost(self.kept, best))
        turned = (Flag.NEGATION,) if _guard.turned(self.text, best) else ()
        return (*turned, f"{Flag.LOST}: {missing}") if missing else turned

    @property
    def outputs(self) -> list[str]:
        """The rewrites that can be given."""
        return [candidate.text for candidate in self.candidates if not candidate.hopeless]


class Stages:
    """f_para and f_inv of a style; without f_para, f_inv is given the sentence itself (Table 3, -Inf. PP)."""

    def __init__(self, para: Writer | None, inverse: Writer, chooser: Chooser) -> None:
        self.para, self.inverse, self.chooser = para, inverse, chooser

    def write(self, drafts: Sequence[Draft], request: Request) -> None:
        """Give each draft its candidates, the best first."""
        if not drafts:
            return
        starts = [(draft, start) for draft, several in self._paraphrased(drafts, request) for start in several]
        if request.candidates == 1 or request.nucleus:
            self._styled(starts, Decoding(nucleus=request.nucleus, seed=request.seed))
        if request.candidates > 1:
            self._styled(starts, others(request, _MORE, request.seed + 1))
        self._tried_again(drafts)
        self._sentence_by_sentence(_unsound(drafts), request)
        self._ranked(drafts, request)

    def _paraphrased(self, drafts: Sequence[Draft], request: Request) -> list[tuple[Draft, list[str]]]:
        """The paraphrases of each sentence from which its rewrites start; the sentence itself where none is sound."""
        if self.para is None:
            return [(draft, [draft.text]) for draft in drafts]
        texts = [draft.text for draft in drafts]
        found = self._likeliest(self.para, texts)
        if request.candidates > 1:
            wider = self.para.write(texts, others(request, max(1, request.candidates // 2 - 1), request.seed))
            found = [[*have, *more] for have, more in zip(found, wider, strict=True)]
        return [(draft, _sound(draft.text, written)) for draft, written in zip(drafts, found, strict=True)]

    def _likeliest(self, para: Writer, texts: Sequence[str]) -> list[list[Written]]:
        """The greedy paraphrase of each text; where a reader would find fault with it, the best of a wider search."""
        found = para.write(texts, Decoding())
        faulty = [place for place, written in enumerate(found) if not _flawless(texts[place], written)]
        wider = para.write([texts[place] for place in faulty], Decoding(candidates=_TRIES))
        for place, more in zip(faulty, wider, strict=True):
            found[place] = _least_faulty(texts[place], [*found[place], *more])
        return found

    def _styled(self, starts: Sequence[tuple[Draft, str]], way: Decoding) -> None:
        for (draft, start), written in zip(
            starts, self.inverse.write([start for _, start in starts], way), strict=True
        ):
            draft.add(start, written)

    def _tried_again(self, drafts: Sequence[Draft]) -> None:
        """Leave the circle where a rewrite goes round in one; then search more widely where none is whole.

        What is still not whole is written from the sentence itself, of which nothing is lost yet.
        """
        hopeless = [draft for draft in drafts if not draft.outputs]
        starts = [(draft, start) for draft in hopeless for start in dict.fromkeys((draft.paraphrase, draft.text))]
        self._styled(starts, Decoding(no_repeat=_ONCE))
        self._styled([(draft, draft.paraphrase) for draft in _unsound(drafts)], Decoding(candidates=_TRIES))
        own = [(draft, draft.text) for draft in _unsound(drafts) if draft.text != draft.paraphrase]
        self._styled(own, Decoding())

    def _sentence_by_sentence(self, drafts: Sequence[Draft], request: Request) -> None:
        """Write texts of several sentences, of which together one is easily lost, from each sentence by itself."""
        torn = [(draft, [Draft(text) for text in sentences(draft.text)]) for draft in drafts]
        torn = [(draft, pieces) for draft, pieces in torn if len(pieces) > 1]
        single = [piece for _, pieces in torn for piece in pieces]
        starts = [(piece, start) for piece, several in self._paraphrased(single, request) for start in several[:1]]
        self._styled(starts, Decoding(nucleus=request.nucleus, seed=request.seed))
        for draft, pieces in torn:
            best = [min(piece.candidates, key=_worst_last) for piece in pieces if piece.candidates]
            if len(best) == len(pieces):
                text = " ".join(each.text for each in best)
                ended = not any(each.hopeless for each in best)
                draft.add(" ".join(each.paraphrase for each in best), [Written(text, 0.0, ended)])

    def _ranked(self, drafts: Sequence[Draft], request: Request) -> None:
        """Put the best first: by the judges where a choice was asked for, else by faults, the likeliest first."""
        rows = [(draft, candidate) for draft in drafts for candidate in draft.candidates]
        worth = [-float(candidate.faults) for _, candidate in rows]
        if request.candidates > 1:
            inputs, outputs = [draft.text for draft, _ in rows], [candidate.text for _, candidate in rows]
            faults = [each.faults + _guard.calls(draft.text, each.text) for draft, each in rows]
            worth = self.chooser.worth(inputs, outputs, faults).tolist()
        ranks = {(id(draft), candidate): -each for (draft, candidate), each in zip(rows, worth, strict=True)}
        for draft in drafts:
            draft.candidates.sort(key=lambda each: (each.hopeless, ranks[id(draft), each]))


def others(request: Request, number: int, seed: int) -> Decoding:
    """How so many others than the likeliest are made: by chance, or as branches, of which that is the first.

    Beams would be of no use: they find the same sentence with another comma.
    """
    if request.nucleus:
        return Decoding(nucleus=request.nucleus, candidates=number, seed=seed)
    return Decoding(branches=True, candidates=number + 1)


def _sound(text: str, paraphrases: Sequence[Written]) -> list[str]:
    """Those that came to their end, each once; a text of its own is better than half of another."""
    sound = [each.text for each in paraphrases if each.ended and not _guard.broken(each.text, text)]
    return list(dict.fromkeys(sound)) or [text]


def _flawless(text: str, written: Sequence[Written]) -> bool:
    return all(each.ended and not _guard.faults(text, each.text) for each in written)


def _least_faulty(text: str, written: Sequence[Written]) -> list[Written]:
    """The first with the fewest faults of what came to its end; none where nothing did."""
    return sorted((each for each in written if each.ended), key=lambda each: _guard.faults(text, each.text))[:1]


def _worst_last(candidate: Candidate) -> tuple[bool, int]:
    return candidate.hopeless, candidate.faults


def _unsound(drafts: Sequence[Draft]) -> list[Draft]:
    return [draft for draft in drafts if not any(candidate.whole for candidate in draft.candidates)]
