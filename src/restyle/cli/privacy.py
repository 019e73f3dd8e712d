"""`restyle privacy`: how well an attacker can tell who wrote a text, and by which words."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from restyle.cli._names import told_apart
from restyle.cli._settings import with_settings
from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.errors import UsageError
from restyle.jobs import JobSettings
from restyle.metrics.privacy import AuditSettings
from restyle.records import writing_to
from restyle.rewriters.privacy._training import INFERRED, PrivacyLearnSettings

if TYPE_CHECKING:
    from restyle.metrics.privacy import Rewritten

app = typer.Typer(help="What texts give away of their authors, and how well it is hidden.", no_args_is_help=True)

_FLAGS = ("attackers", "folds", "l2", "fewest", "words", "evaluator", "seed")
FilesArgument = Annotated[
    list[str], typer.Argument(help="Labelled texts, or rewrites of them: .tsv, .csv or .jsonl.", show_default=False)
]
LabelOption = Annotated[str, typer.Option(help="The column that says whose a text is.", show_default=False)]
TextColumnOption = Annotated[
    str | None, typer.Option(help="The column of the texts; output or text when not given.", show_default=False)
]


@app.command("audit")
@with_settings(AuditSettings, only=_FLAGS)
def audit(
    files: FilesArgument,
    label: LabelOption,
    settings: AuditSettings,
    train: Annotated[
        str | None,
        typer.Option(help="Other texts to learn from, by system where they are rewrites; else folds of the same."),
    ] = None,
    text_column: TextColumnOption = None,
    format: FormatOption = TableFormat.text,
) -> None:
    """Say how well an attacker can tell whose texts are, with intervals, and which words give them away.

    Of texts as they were written, attackers learn from four fifths and guess the rest. Of rewrites (records with
    `input`, `output` and the label; several files are several systems) three guess: one that learned from the inputs,
    one retrained on the outputs, and with --attackers network one of another kind. --words 0 prints the attacks alone.

    \b
    restyle privacy audit mine.tsv --label gender
    restyle privacy audit mine.tsv --label gender --attackers words --attackers network
    restyle privacy audit lexical.jsonl rerank.jsonl --label politics --evaluator politics-report --format latex
    """
    from restyle.metrics.privacy import audited, read_rewritten

    systems = _systems(files, label, text_column)
    found = audited(
        systems, settings, train=read_rewritten(train, label, text_column=text_column) if train else (), say=_say
    )
    attacks = [_rounded(dataclasses.asdict(attack)) for attack in found.attacks]
    words = [
        {"label": name, "words that give it away": ", ".join(word for word, _ in top)}
        for name, top in found.words.items()
    ]
    if not settings.words:
        show(attacks, format)
    elif format in (TableFormat.json, TableFormat.jsonl):
        weighed = {name: {word: round(weight, 3) for word, weight in top} for name, top in found.words.items()}
        _print_json({"attacks": attacks, "words": weighed, "notes": list(found.notes)})
    else:
        show(attacks, format)
        typer.echo()
        show(words, format)
    for note in found.notes:
        _say(note)


def _systems(files: Sequence[str], label: str, text_column: str | None) -> list[Rewritten]:
    """What every system in the files wrote, those of one name told apart by their paths."""
    from restyle.metrics.privacy import read_rewritten

    found = [(file, each) for file in files for each in read_rewritten(file, label, text_column=text_column)]
    names = told_apart([(file, each.system) for file, each in found])
    return [dataclasses.replace(each, system=name) for (_, each), name in zip(found, names, strict=True)]


@app.command("words")
def words(
    files: FilesArgument,
    label: LabelOption,
    evaluator: Annotated[
        str | None,
        typer.Option(
            help="A trained attacker whose weights make the bins; else one of these texts.", show_default=False
        ),
    ] = None,
    plot: Annotated[str | None, typer.Option(help="Draw it too: a .png or .svg.", show_default=False)] = None,
    text_column: TextColumnOption = None,
    format: FormatOption = TableFormat.text,
) -> None:
    """Say which words systems choose: the share of their tokens that give one side away, or neither.

    The bins are those of Figure 3 of Xu et al. 2019. They hang on the attacker whose weights they cut, and on its L2.

    \b
    restyle privacy words lexical.jsonl rerank.jsonl --label gender --plot words.svg
    restyle privacy words out.jsonl --label politics --evaluator politics-report --format latex
    """
    from restyle.metrics.leakage import attacker
    from restyle.metrics.privacy import audited, save_plot, word_shares
    from restyle.metrics.privacy._words import bin_names

    systems = _systems(files, label, text_column)
    if evaluator:
        weights = attacker(evaluator, "report").model
    else:
        weights = audited(systems, AuditSettings(attackers=())).weights
    rewritten = {each.system: each.outputs for each in systems if each.outputs != each.inputs}
    texts = {systems[0].originals.system: systems[0].inputs} | rewritten
    shares = word_shares(texts, weights)
    names = bin_names(weights.labels)
    rows = [
        {"system": each.system, "tokens": each.tokens}
        | {name: round(share, 4) for name, share in zip(names, each.shares, strict=True)}
        for each in shares
    ]
    show(rows, format)
    _say(f"bins by the weights of {evaluator or 'an attacker of the inputs'}, L2 {weights.l2:g}")
    if plot:
        save_plot(shares, weights.labels, plot)
        _say(f"drawn into {plot}")


@app.command("learn")
@with_settings(PrivacyLearnSettings)
@with_settings(JobSettings, "jobs", only=("workers", "executor", "address", "num_gpus"), config=False)
def learn(
    name: Annotated[str, typer.Option("--name", help="What to call the pack: letters, digits, hyphens.")],
    *,
    settings: PrivacyLearnSettings,
    output: Annotated[
        str | None, typer.Option("--output", "-o", help="The folder of the pack; without it, among your packs.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(help="The folder of what is unfinished; in the cache, when not given.")
    ] = None,
    jobs: JobSettings,
) -> None:
    """Learn a pack that hides an attribute: Risk, Adv, or the reconstruction alone (inferred objectives).

    The texts are paraphrased, and a small adapter learns the way back, so that what it writes gives less away. The
    system and its inner attacker learn from one part of the texts, the evaluator from the other. A run that was
    interrupted goes on when the same command is given again.

    \b
    restyle privacy learn --name politics-risk --attribute politics --objective risk --alpha 1 \\
        --corpora congress/democrat --corpora congress/republican
    restyle privacy learn --name gender-adv --attribute gender --objective adv --strength 0.5 \\
        --corpora yelp-gender/female --corpora yelp-gender/male
    """
    from restyle.cli._learning import scored
    from restyle.rewriters.privacy._course import learn_to_hide
    from restyle.rewriters.strap._pack import users_folder

    if not name.replace("-", "").replace("_", "").isalnum():
        raise UsageError(f"a pack cannot be called {name!r}; use letters, digits and hyphens")
    pack = learn_to_hide(name, settings, output or users_folder() / name, scored, run=run, jobs=jobs, say=_say)
    for evaluation in pack.card.evaluations:
        told = [
            f"{key} {each.value:.3f} ({each.low:.3f} to {each.high:.3f})" for key, each in evaluation.scores.items()
        ]
        typer.echo(f"{name}, on {evaluation.sentences:,} {evaluation.on}: {'; '.join(told)}")
    typer.echo(f"written to {pack.folder}; {INFERRED}")


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}


def _print_json(values: dict[str, Any]) -> None:
    with writing_to("stdout"):
        sys.stdout.write(json.dumps(values, ensure_ascii=False, indent=2) + "\n")


def _say(line: str) -> None:
    typer.echo(f"restyle: {line}", err=True)
