"""Judgements that were published with papers, as studies: the known answers that our tables must give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import SequenceMatcher

from restyle.corpora import rows
from restyle.errors import UnknownName
from restyle.study._items import Item, Judged, Vote
from restyle.study._protocol import load_protocol

_STRAP_LABELS = {
    "no paraphrase relationship": "0",
    "approximately the same meaning, but the rewritten sentence is ungrammatical": "1",
    "approximately the same meaning and the rewritten sentence is grammatical": "2",
}
# The experiments whose verdicts of the classifier are published: the Shakespeare rows of Table 2.
_STRAP_SYSTEMS = {
    "UNMT": "shakespeare_gold_vs_generated_baseline_unmt",
    "DLSM": "shakespeare_gold_vs_generated_baseline_he_2020",
    "STRAP p=0.0": "shakespeare_gold_vs_generated_single_nucleus_paraphrase_0.0",
    "STRAP p=0.9": "shakespeare_gold_vs_generated_single_model_nucleus_paraphrase",
}
# The systems that Li et al. had judged, by their names in the table of outputs; `dualrl` published their outputs.
_LI_SYSTEMS = {
    "CrossAlignment_Shen": "CrossAligned",
    "StyleEmbedding_Fu": "StyleEmbedding",
    "Multidecoder_Fu": "MultiDecoder",
    "RetrieveOnly_Li": "RetrieveOnly",
    "TemplateBase_Li": "TemplateBased",
    "DeleteOnly_Li": "DeleteOnly",
    "DeleteRetrieve_Li": "DeleteAndRetrieve",
}
_LI_QUESTIONS = {"grammaticality": "grammar", "style": "style", "topic": "content"}


def published(name: str) -> Judged:
    """A published study by name: `strap-mturk` or `li2018-yelp`."""
    known: dict[str, Callable[[], Judged]] = {"strap-mturk": _strap, "li2018-yelp": _li}
    if name not in known:
        raise UnknownName("published study", name, known)
    return known[name]()


def _strap() -> Judged:
    """The judgements behind the Shakespeare half of Table 2.

    A judged pair is found by its texts. Those with quotation marks stand in the file as in a CSV, which hides them from
    whoever compares plainly. A pair without votes was a copy, and counts as a grammatical paraphrase. One pair of UNMT
    was drawn twice: its six votes, three against three, belong to both, and give neither a label.
    """
    votes_on: dict[tuple[str, str, str], list[tuple[str, str]]] = {}
    for row in rows("strap-mturk", "judgements"):
        key = (row["experiment"], _unquoted(row["text"]), _unquoted(row["output"]))
        votes_on.setdefault(key, []).append((f"{row['batch']}-{row['rater']}", _STRAP_LABELS[row["label"]]))
    items: list[Item] = []
    votes: list[Vote] = []
    for system, experiment in _STRAP_SYSTEMS.items():
        for row in rows("strap-mturk", experiment):
            said = votes_on.get((experiment, row["text"], row["output"]), [])
            style, _ = row["labels"]
            items.append(
                Item(
                    id=row["id"],
                    systems=(system,),
                    outputs=(row["output"],),
                    input=row["text"],
                    style=style,
                    scores=({"acc": float(row["transferred"])},),
                    given={} if said else {"paraphrase": "2"},
                )
            )
            votes += [Vote(row["id"], rater, {"paraphrase": label}) for rater, label in said]
    return Judged(load_protocol("strap"), items, votes)


def _li() -> Judged:
    """The ratings of Li et al. 2018 on Yelp: seven systems and a person, 400 inputs, one rater each.

    The slot of a rating is no fixed system. Each input was rated once for every system, so its ratings are given out by
    their texts, each system one; what is left was the person's.
    """
    wrote: dict[tuple[str, str], str] = {}
    for row in rows("systems", "yelp"):
        if row["origin"] == "dualrl" and row["system"] in _LI_SYSTEMS:
            wrote[row["input"].strip(), _LI_SYSTEMS[row["system"]]] = row["output"].strip()
    by_input: dict[str, list[dict[str, object]]] = {}
    for row in rows("li2018-ratings", "yelp"):
        by_input.setdefault(row["item"], []).append(row)
    items: list[Item] = []
    votes: list[Vote] = []
    for rated in by_input.values():
        for row, system in zip(rated, _systems_of(rated, wrote), strict=True):
            asked, output = str(row["input"]).strip(), str(row["output"]).strip()
            scores = row["scores"]
            assert isinstance(scores, dict)
            target = str(row["target"])
            style = "negative" if target == "positive" else "positive"
            items.append(Item(str(row["id"]), (system,), (output,), asked, style, target))
            answers = {new: f"{scores[old]:.0f}" for old, new in _LI_QUESTIONS.items() if scores[old] is not None}
            votes.append(Vote(str(row["id"]), str(row["rater"]), answers))
    return Judged(load_protocol("li"), items, votes)


def _systems_of(rated: list[dict[str, object]], wrote: Mapping[tuple[str, str], str]) -> list[str]:
    """Who wrote each output of one input: systems that wrote just that, then those that wrote nearly that."""
    found: dict[int, str] = {}
    # A dozen of the rated outputs differ from the published ones by a word.
    for fewest_alike in (1.0, 0.8):
        for name in _LI_SYSTEMS.values():
            if name in found.values():
                continue
            alike = {
                place: SequenceMatcher(None, wrote.get((str(row["input"]).strip(), name), ""), _output(row)).ratio()
                for place, row in enumerate(rated)
                if place not in found
            }
            best = max(alike, key=lambda place: alike[place], default=None)
            if best is not None and alike[best] >= fewest_alike:
                found[best] = name
    return [found.get(place, "person") for place in range(len(rated))]


def _output(row: Mapping[str, object]) -> str:
    return str(row["output"]).strip()


def _unquoted(text: str) -> str:
    """A field as a CSV quotes it, as the text that it was."""
    text = text.removeprefix("// ")
    if len(text) > 1 and text.startswith('"') and text.endswith('"'):
        return text[1:-1].replace('""', '"')
    return text
