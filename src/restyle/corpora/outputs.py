"""Outputs: what published systems wrote, and what people and judges made of it.

A row of a system has `input`, `output`, `style` (of the input), `target`, `system` and `references`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from restyle.corpora._files import Files
from restyle.corpora._rows import Rows
from restyle.errors import InputError
from restyle.records import Record, read_records

_JUDGED = {
    "dlsm": "dlsm_shakespeare",
    "unmt": "unmt_shakespeare",
    "transform-delete-generate": "transform_delete_generate_shakespeare",
    "copy": "input",
    "reference": "reference",
}
_OTHER = {"original": "modern", "modern": "original"}


def systems(files: Files) -> Rows:
    """Outputs of 12 systems on Shakespeare and 30 on Yelp; `origin` says whose run it was."""

    def read(part: str) -> Iterator[Record]:
        references = {
            (row["source_style"], row["idx"]): [row[key] for key in row if key.startswith("ref") and row[key]]
            for row in files.rows(f"systems/{part}.refs.tsv", text="input")
        }
        for row in files.rows(f"systems/{part}.outputs.tsv", text="output"):
            style, index = row["source_style"], row["idx"]
            # DLSM and UNMT stand twice: only with the origin does a system name one run.
            yield {
                "id": f"systems/{part}/{row['system']}/{row['origin']}/{style}/{index}",
                "input": row["input"],
                "output": row["text"],
                "style": style,
                "target": row["target_style"],
                "system": row["system"],
                "origin": row["origin"],
                "references": references[style, index],
            }

    return {part: partial(read, part) for part in ("shakespeare", "yelp")}


def strap_judged(files: Files) -> Rows:
    """Outputs of 5 systems on the Shakespeare test with the verdicts of STRAP's own judges."""

    def read(system: str) -> Iterator[Record]:
        folder = f"systems/strap_judged/{_JUDGED[system]}"
        output = f"{folder}/transfer_entire_test.txt"
        columns = [
            files.texts(name)
            for name in (
                "systems/strap_judged/input/transfer_entire_test.txt",
                output,
                f"{folder}/all_test_gold.txt",
                f"{folder}/all_test_transfer_labels.txt",
                f"{output}.roberta_labels",
                f"{output}.pp_scores",
                f"{output}.acceptability_labels",
            )
        ]
        for number, cells in enumerate(zip(*columns, strict=True), start=1):
            text, out, gold, target, verdict, similarity, acceptability = cells
            # The first field says the opposite in two of the folders; the style that was predicted does not lie.
            predicted = verdict.rpartition(",")[2]
            yield {
                "id": f"strap-judged/{system}/{number}",
                "input": text,
                "output": out,
                "style": _OTHER[target],
                "target": target,
                "system": system,
                "references": [gold],
                "scores": {
                    "accuracy": float(predicted == target),
                    "sim_ref": float(similarity),
                    "fluency": float(acceptability == "acceptable"),
                },
            }

    return {system: partial(read, system) for system in _JUDGED}


def strap_shakespeare(files: Files) -> Rows:
    """The published STRAP's outputs on the Shakespeare test, greedy (p = 0.0) and sampled (p = 0.6)."""

    def read(part: str, name: str) -> Iterator[Record]:
        columns = [files.texts(f"systems/strap_shakespeare/{name}.txt") for name in ("inputs", name, "gold", "labels")]
        for number, (text, out, gold, style) in enumerate(zip(*columns, strict=True), start=1):
            yield {
                "id": f"strap-shakespeare/{part}/{number}",
                "input": text,
                "output": out,
                "style": style,
                "target": _OTHER[style],
                "system": f"STRAP {part}",
                "references": [gold],
            }

    return {f"p{p}": partial(read, f"p{p}", f"generated_p_{p.replace('.', '')}") for p in ("0.0", "0.6")}


def strap_cds(files: Files) -> Rows:
    """Sentences of CDS with STRAP's diverse paraphrase, and its `outputs` in the ten other styles.

    `index` counts from 0: row n of a style is the input of line n + 1 of its sample.
    """

    def read() -> Iterator[Record]:
        path = files.path("cds/strap_outputs.jsonl.gz")
        for row in read_records(path, text_column="input"):
            style, index = row.pop("source"), row["index"]
            yield {**row, "id": f"strap-cds/{style}/{index}", "style": style}

    return {"outputs": read}


def strap_mturk(files: Files) -> Rows:
    """Judgements of paraphrases behind STRAP's Table 2, and which judged outputs had the style that was asked for."""

    def judgements() -> Iterator[Record]:
        for row in files.rows("human/strap_mturk.tsv", text="text1"):
            yield {
                "id": f"strap-mturk/judgements/{row['id']}",
                "text": row["text"],
                "output": row["text2"],
                **{key: row[key] for key in ("experiment", "batch", "rater", "label")},
            }

    def labels(experiment: str) -> Iterator[Record]:
        for part in _batches(files, experiment):
            folder = f"human/strap_mturk_labels/{experiment}"
            inputs = files.rows(f"{folder}/input_{part}.csv", text="text1")
            verdicts = files.rows(f"{folder}/label_{part}.csv", text="verdict")
            for row, verdict in zip(inputs, verdicts, strict=True):
                yield {
                    "id": f"strap-mturk/{experiment}/{part}:{row['id']}",
                    "text": row["text"],
                    "output": row["text2"],
                    # The labels say whether the classifier knew the style of the input: incorrect is a success.
                    "transferred": verdict["text"] == "incorrect",
                    "labels": [verdict["target"], verdict["predicted"]],
                }

    parts: dict[str, Callable[[], Iterator[Record]]] = {"judgements": judgements}
    return parts | {experiment: partial(labels, experiment) for experiment in _experiments(files)}


def _experiments(files: Files) -> list[str]:
    return sorted({file.path.split("/")[2] for file in files.entry.files if "strap_mturk_labels" in file.path})


def _batches(files: Files, experiment: str) -> list[str]:
    """`all_0_117` and so on, in the order of their numbers."""
    prefix = f"human/strap_mturk_labels/{experiment}/label_"
    names = [
        file.path.removeprefix(prefix)[: -len(".csv")] for file in files.entry.files if file.path.startswith(prefix)
    ]
    return sorted(names, key=lambda name: int(name.split("_")[1]))


def li2018_ratings(files: Files) -> Rows:
    """Ratings of several systems; a slot is not a fixed system, so outputs are matched with `systems` by their text."""

    def read(part: str) -> Iterator[Record]:
        for row in files.rows(f"human/li2018_{part}.tsv", text="output"):
            yield {
                "id": f"li2018-ratings/{part}/{row['id']}",
                "input": row["orig"],
                "output": row["text"],
                "target": row["target"],
                **{key: row[key] for key in ("item", "slot", "rater")},
                "scores": {key: _rating(row, key) for key in ("grammaticality", "style", "topic")},
            }

    return {part: partial(read, part) for part in ("yelp", "amazon", "captions")}


def _rating(row: Record, key: str) -> float | None:
    """A rating from 1 to 5; None where the rater gave none."""
    if not row[key]:
        return None
    if not row[key].isdigit():
        raise InputError(f"{row['source']}, line {row['line']}: {row[key]!r} is no rating from 1 to 5")
    return float(row[key])
