"""`restyle thresholds`: what GM asks of a transfer, learned from what people prefer, and held against what they say."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from restyle.cli._tables import FormatOption, TableFormat, show
from restyle.errors import InputError, UsageError
from restyle.records import STDIO, write_records

app = typer.Typer(
    help="The thresholds of GM: learn them from what people prefer, hold its measures against what they say.",
    no_args_is_help=True,
)

RatingsArgument = Annotated[
    str | None,
    typer.Argument(
        help="Ratings: rows with input, output, target, system, grammar, style, content; or a study's export."
    ),
]
PublishedOption = Annotated[str | None, typer.Option(help="Instead of a file, a published study: li2018-yelp.")]
GaugesOption = Annotated[
    str | None, typer.Option(help="The gauges that measure: a folder, or a name; those of the target when not given.")
]
SeedOption = Annotated[int, typer.Option(help="The same seed gives the same numbers.", min=0)]


@app.command("learn")
def learn(
    preferences: Annotated[
        str, typer.Argument(help="Rows with better_acc, better_sim, better_pp, worse_acc, worse_sim, worse_pp.")
    ],
    held: Annotated[
        float,
        typer.Option(help="Share of the pairs that is not learned from, and says what that is worth.", min=0, max=0.9),
    ] = 0.5,
    margin: Annotated[
        float, typer.Option(help="Of the hinge loss: 1 as printed; some 20 where people do not all think alike.", min=0)
    ] = 1.0,
    seed: SeedOption = 0,
    format: FormatOption = TableFormat.text,
) -> None:
    """Learn the four thresholds of GM from pairs of outputs of which people preferred one (Pang & Gimpel, Sec. 3.3).

    Printed are the thresholds, the hinge loss, and the share of pairs in which GM agrees with people: of those that it
    learned from, and of those held back, where the paper's thresholds stand beside it.

    \b
    restyle thresholds learn prefs.tsv
    restyle score out.jsonl --thresholds 60.1 --thresholds 68.2 --thresholds 120.5 --thresholds -20
    """
    from restyle.evaluation._numbers import THRESHOLDS
    from restyle.evaluation._preferences import Preferences, learn_thresholds

    every = Preferences.read(preferences)
    order = np.random.default_rng(seed).permutation(len(every))
    tested = order[: round(len(every) * held)]
    known = order[len(tested) :]
    if not len(known):
        raise InputError(f"of {len(every)} pairs none is left to learn from; lower --held")
    learned = learn_thresholds(every[known], margin=margin, seed=seed)
    table: list[dict[str, Any]] = []
    for name, thresholds in (("learned", learned.thresholds), ("paper", THRESHOLDS)):
        for part, places in (("learned from", known), ("held back", tested)):
            if len(places):
                some = every[places]
                table.append(
                    {"thresholds": name}
                    | {f"t{number}": value for number, value in enumerate(thresholds, start=1)}
                    | {"pairs": part, "n": len(some), "loss": round(some.loss(thresholds, margin), 4)}
                    | {"agrees": round(float(some.agreement(thresholds).mean()), 4)}
                )
    show(table, format)


@app.command("derive")
def derive(
    ratings: RatingsArgument = None,
    published: PublishedOption = None,
    gauges: GaugesOption = None,
    margin: Annotated[float, typer.Option(help="By which the mean rating of the better one is higher.", min=0)] = 0.5,
    output: Annotated[str, typer.Option("--output", "-o", help="Where to write: .tsv, .jsonl; - is stdout.")] = STDIO,
) -> None:
    """Make preferences of ratings: two outputs of one input, of which people rated one better.

    \b
    restyle thresholds derive --published li2018-yelp --gauges runs/gauges -o prefs.tsv
    """
    from restyle.study._validation import preferences

    count = write_records(output, preferences(_measured(ratings, published, gauges), margin))
    typer.echo(f"restyle: {count:,} pairs", err=True)


@app.command("validate")
def validate(
    ratings: RatingsArgument = None,
    published: PublishedOption = None,
    gauges: GaugesOption = None,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples of the intervals.", min=1)] = 1000,
    seed: SeedOption = 0,
    format: FormatOption = TableFormat.text,
) -> None:
    """Hold Acc, Sim and PP against what people said of the same outputs (Pang & Gimpel, Secs. 6.2 and 6.3, Table 5).

    By sentence: how often Acc matches people's judgement of the style; Spearman's rho of Sim with their ratings of the
    content, and of -PP with those of the grammar. By system: the same rankings of systems.

    \b
    restyle thresholds validate --published li2018-yelp --gauges runs/gauges
    restyle thresholds validate ratings.tsv --format markdown
    """
    from restyle.study._correlate import as_rows
    from restyle.study._validation import validation

    found = validation(_measured(ratings, published, gauges), resamples=resamples, seed=seed)
    show(as_rows(found), format)


def _measured(ratings: str | None, published: str | None, gauges: str | None) -> Any:
    from restyle.metrics.gauges import gauges_of
    from restyle.study._published import published as of_paper
    from restyle.study._validation import measured_by, read_ratings

    if (ratings is None) == (published is None):
        raise UsageError("either a file of ratings or --published was expected")
    judged = read_ratings(ratings) if ratings is not None else of_paper(published or "")
    targets = sorted({item.target or "" for item in judged.systems_judged})
    if not targets:
        raise InputError("there are no ratings")
    return measured_by(judged, gauges_of(targets[0], gauges))
