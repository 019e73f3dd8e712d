"""What whoever runs a study sees while it runs: progress, agreement as it builds, each rater, each item."""

from __future__ import annotations

import math
from typing import Any

import sqlalchemy as sa

from restyle.study._agreement import fleiss_kappa, krippendorff_alpha, vote_counts
from restyle.study._items import Item, Judged
from restyle.study._labels import label_of
from restyle.study._raters import conduct
from restyle.study._schema import raters, seats
from restyle.study._store import Store


def overview(store: Store) -> dict[str, Any]:
    """Everything but the items, as plain values; None for what cannot be told yet."""
    judged = store.judged()
    with store.reading() as connection:
        of_items = seats.c.due.is_(None)
        total = connection.execute(sa.select(sa.func.count()).select_from(seats).where(of_items)).scalar_one()
        done = connection.execute(
            sa.select(sa.func.count()).select_from(seats).where(of_items, seats.c.answered)
        ).scalar_one()
        people = connection.execute(sa.select(raters).order_by(raters.c.id)).mappings().all()
    known = {each.rater: each.to_dict() for each in conduct(judged)}
    return {
        "name": store.name,
        "protocol": store.protocol.name,
        "version": store.protocol.version,
        "items": len(judged.systems_judged),
        "given": sum(bool(item.given) for item in judged.systems_judged),
        "controls": sum(item.is_control for item in judged.items),
        "judgements": done,
        "wanted": total,
        "agreement": _agreement(judged),
        "raters": [
            {
                "id": each["id"],
                "name": each["name"],
                "active": each["active"],
                **_plain(known.get(each["name"], _NOTHING)),
            }
            for each in people
        ],
    }


def items_page(store: Store, start: int, count: int) -> dict[str, Any]:
    """Some of the items with their votes; controls are left out."""
    judged = store.judged()
    items = judged.systems_judged
    return {"total": len(items), "items": [_item(judged, item) for item in items[start : start + count]]}


_NOTHING: dict[str, Any] = {
    "votes": 0, "seconds": None, "with_others": None, "controls": None, "same_answer": None, "remarks": [],
}  # fmt: skip


def _agreement(judged: Judged) -> list[dict[str, Any]]:
    found = []
    for question in judged.protocol.questions:
        counts = vote_counts(judged, question)
        if len(counts):
            values = {"fleiss": fleiss_kappa(counts), "alpha": krippendorff_alpha(counts, question)}
            found.append({"question": question.name, "items": len(counts), **_plain(values)})
    return found


def _item(judged: Judged, item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "systems": list(item.systems),
        "input": item.input,
        "outputs": list(item.outputs),
        "given": dict(item.given),
        "votes": [{"rater": vote.rater, "answers": dict(vote.answers)} for vote in judged.of_item[item.id]],
        "labels": {question.name: label_of(judged, item, question.name) for question in judged.protocol.questions},
    }


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """JSON has no NaN; and the name of a rater stands beside already."""
    return {
        key: None if isinstance(value, float) and math.isnan(value) else value
        for key, value in values.items()
        if key != "rater"
    }
