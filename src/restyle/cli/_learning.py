"""`restyle.learn`: the stages of learning, with the scorecards that judge what comes out.

It stands here because this room alone sees both those who rewrite and those who judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from restyle.evaluation import Scorecard, ScoreSettings, score
from restyle.jobs import JobSettings
from restyle.metrics import Metric
from restyle.rewriters.strap import learning
from restyle.rewriters.strap._pack import Pack
from restyle.rewriters.strap.learning import LearnSettings
from restyle.settings import resolve


def learn(
    *files: str | Path,
    name: str,
    recipe: str | Path | None = None,
    pairs: str | Path | None = None,
    output: str | Path | None = None,
    run: str | Path | None = None,
    overwrite: bool = False,
    settings: LearnSettings | None = None,
    jobs: JobSettings | None = None,
    progress: bool | None = False,
    say: Callable[[str], None] = lambda line: None,
    **options: Any,
) -> Pack:
    """Learn a style from text files, and return its pack, with a card that says what it is worth.

    `options` are fields of LearnSettings, such as `minutes=60`; `recipe` names a TOML file of styles instead of files,
    and `pairs` a file that a paraphraser is learned from (`kind="paraphraser"`). The pack goes among the user's own, or
    to the folder `output`. An interrupted call goes on when it is made again.

    >>> pack = restyle.learn("noir.txt", name="noir", minutes=60)  # doctest: +SKIP
    >>> pack.card.evaluations[0].scores["J"]  # doctest: +SKIP
    Score(value=0.41, low=0.36, high=0.46)
    """
    return learning.learn(
        files,
        name=name,
        scorer=scored,
        recipe=recipe,
        pairs=pairs,
        output=output,
        run=run,
        overwrite=overwrite,
        settings=resolve(LearnSettings, overrides=options, base=settings),
        jobs=jobs,
        shown=progress,
        say=say,
    )


def scored(outputs: Sequence[str], inputs: Sequence[str], target: str | None, metrics: Sequence[Metric]) -> Scorecard:
    """The scorecard without baselines: COPY and its like are for comparing systems."""
    return score(outputs, inputs=inputs, target=target, metrics=metrics, settings=ScoreSettings(baselines=False))
