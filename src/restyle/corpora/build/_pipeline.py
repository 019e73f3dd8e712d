"""From sources to a corpus folder, in two passes.

The first reads, judges each sentence alone and puts those that pass into a spool. From the numbers that the spool holds
it is told which ones are duplicates, and which split each belongs to. The second pass writes what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from restyle.corpora._corpus import SPLITS, Corpus
from restyle.corpora.build._fates import Fates, fates_of
from restyle.corpora.build._folder import load_built, new_folder, target_folder, write_card
from restyle.corpora.build._language import language_stage, why_no_languages
from restyle.corpora.build._pieces import Piece, Stage, opened
from restyle.corpora.build._report import BuildReport, Example, InputReport
from restyle.corpora.build._settings import BuildSettings
from restyle.corpora.build._sources import Source, sources_of
from restyle.corpora.build._spool import Spool
from restyle.errors import InputError
from restyle.progress import progress_bar
from restyle.records import ReadingReport, RecordWriter
from restyle.settings import to_dict


def build(
    inputs: Sequence[str | Path],
    name: str,
    *,
    settings: BuildSettings | None = None,
    out: str | Path | None = None,
    examples: int = 5,
    progress: bool | None = None,
) -> tuple[Corpus, BuildReport]:
    """Build a corpus of your own from files, folders or stdin (`-`), and say what became of every piece of them.

    It is written to `out`, or to `built/NAME` in the cache, and takes the place of the corpus that was built there
    before. The same inputs and settings give the same bytes. A sentence's split depends on its content alone: it stays
    where it is when the inputs grow.

    Raises InputError when an input cannot be read or nothing of it is left, OutputError when the corpus cannot be
    written.

    >>> corpus, report = build(["noir.txt"], "noir")  # doctest: +SKIP
    >>> report.read, report.kept, report.dropped  # doctest: +SKIP
    """
    settings = settings or BuildSettings()
    report = BuildReport(name, most_examples=examples)
    target = target_folder(name, out)
    with new_folder(target) as folder:
        sources = sources_of(inputs, name, settings, folder.parent)
        write_splits(sources, folder, report, settings, progress=progress)
        write_card(folder, report, to_dict(settings))
    report.folder = target
    return load_built(target), report


def write_splits(
    sources: Sequence[Source],
    folder: Path,
    report: BuildReport,
    settings: BuildSettings,
    *,
    stage: Stage | None = None,
    held_out: int | None = None,
    progress: bool | None = None,
) -> None:
    """Write the splits of a corpus into a new folder. Sources with a split of their own are to come first.

    `stage` works on the pieces that the rules leave. `held_out` is how many sentences of each style go to the valid
    and to the test split, at most a tenth of them; without it, the settings' shares decide.
    """
    spool = Spool(folder.parent / "spool")
    with spool, progress_bar("reading", None, shown=progress) as advance:
        for number, source in enumerate(sources):
            for piece in _pieces(source, settings, report, stage):
                advance(1)
                if piece.dropped:
                    report.drop(piece.dropped, Example(piece.text, piece.source or source.name, piece.line))
                else:
                    spool.add(number, piece.style, piece.source or source.name, piece.line, piece.text)
    if not len(spool):
        raise InputError(_nothing_left(report))
    fates = fates_of(spool, [source.split for source in sources], settings, held_out)
    with progress_bar("writing", len(spool), shown=progress) as advance:
        _write(spool, fates, folder, report, advance)
    _add_notes(report, settings)


def _pieces(source: Source, settings: BuildSettings, report: BuildReport, stage: Stage | None) -> Iterator[Piece]:
    """The pieces of one source, with its line in the report."""
    reading = ReadingReport()
    text = opened(source, settings, reading)
    entry = InputReport(source.name, source.style, text.layout, sha256=source.sha256, note=source.note)
    report.inputs.append(entry)
    pieces = text.pieces
    if source.split is None:
        for each in (language_stage(settings), stage):
            pieces = each(pieces) if each else pieces
    for piece in pieces:
        entry.pieces += 1
        yield piece
    if reading.skipped:
        entry.pieces += reading.skipped
        report.drop("unreadable", count=reading.skipped)
        for problem in reading.problems:
            report.drop("unreadable", Example(problem, source.name, 0), count=0)


def _write(spool: Spool, fates: Fates, folder: Path, report: BuildReport, advance: Callable[[int], None]) -> None:
    wanted = _partners_of_examples(fates, report.most_examples)
    seen: dict[int, str] = {}
    with ExitStack() as stack:
        writers = [stack.enter_context(RecordWriter(folder / f"{split}.jsonl")) for split in SPLITS]
        for row, (sentence, content) in enumerate(zip(spool, spool.contents, strict=True)):
            advance(1)
            if row in wanted:
                seen[row] = sentence.text
            if reason := fates.reason(row):
                like = seen.get(fates.partner(row), "")
                report.drop(reason, Example(sentence.text, sentence.source, sentence.line, like))
                continue
            number = int(fates.splits[row])
            report.keep(sentence.style, SPLITS[number])
            writers[number].write(
                {
                    "id": f"{report.name}/{SPLITS[number]}/{sentence.style}/{int(content):016x}",
                    "text": sentence.text,
                    "style": sentence.style,
                    "split": SPLITS[number],
                    "source": sentence.source,
                    "line": sentence.line,
                }
            )


def _partners_of_examples(fates: Fates, most: int) -> set[int]:
    """The rows whose text is shown beside the first duplicates."""
    near = np.where(fates.repeats < 0, fates.near, -1)
    return {int(row) for partners in (fates.repeats, near) for row in partners[partners >= 0][:most]}


def _add_notes(report: BuildReport, settings: BuildSettings) -> None:
    if settings.language != "any" and (why := why_no_languages()):
        report.notes.append(why)
    for style, counts in report.counts.items():
        empty = [split for split, count in counts.items() if not count]
        if empty and (settings.valid_share and settings.test_share):
            report.notes.append(f"{style} has no sentence in {' and '.join(empty)}: it is too small")


def _nothing_left(report: BuildReport) -> str:
    if not report.read:
        names = ", ".join(entry.name for entry in report.inputs[:3]) or "the input"
        return f"{names} is empty; a corpus needs at least one sentence"
    dropped = ", ".join(f"{reason} {count:,}" for reason, count in report.dropped.items())
    return f"nothing is left to build {report.name} from; of {report.read:,} pieces were dropped: {dropped}"
