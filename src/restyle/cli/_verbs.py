"""The verbs, each loaded when it is typed: what a module imports delays its own verb only."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from restyle.registry import Registry

# A verb is a function, or an app of its own with verbs beneath it.
verbs: Registry[Any] = Registry("command")
for _name, _target, _summary in (
    ("rewrite", "rewrite:rewrite", "Rewrite text in another style."),
    ("learn", "learn:learn", "Learn a style from plain sentences, and say what the result is worth."),
    ("select", "select:select", "Choose the checkpoint of a training without references, and say why."),
    ("thresholds", "thresholds:app", "The thresholds of GM: learn them from what people prefer."),
    ("score", "score:score", "Score rewrites: metrics, J with intervals, baselines, a signature."),
    ("compare", "compare:compare", "Compare systems: intervals, paired tests, one HTML report."),
    ("reproduce", "reproduce:reproduce", "Reproduce a published experiment from its recipe, and print its tables."),
    ("study", "study:app", "Judging by people: draw a sample, run the study, make the tables."),
    ("judge", "judge:app", "Judges of style and fluency: list them, look into one, train your own."),
    ("obfuscate", "obfuscate:obfuscate", "Rewrite text so that it no longer tells who wrote it."),
    ("privacy", "privacy:app", "Privacy: what texts give away of their authors, before and after rewriting."),
    ("filter", "filter:filter_pairs", "Keep the paraphrase pairs that say the same thing in other words."),
    ("pairs", "pairs:app", "Paraphrase pairs: build a training set, or measure one."),
    ("similarity", "similarity:app", "Similarity of meaning: score pairs, or train the model that does."),
    ("text", "text:app", "Text cleaned, tokenised, cut into pieces, masked, told by its language."),
    ("corpora", "corpora:app", "Corpora: list, fetch, look into them, and build your own."),
    ("styles", "lists:styles", "List the styles that can be written, and those that corpora hold."),
    ("systems", "lists:systems", "List the systems that rewrite text."),
    ("metrics", "lists:metrics", "List the metrics that judge a rewrite."),
    ("models", "models:app", "Pretrained models: list them, or fetch them ahead of time."),
    ("doctor", "doctor:doctor", "Say what is installed, and what is missing for which command."),
):
    verbs.add(_name, f"restyle.cli.{_target}", _summary)


class LazyVerbs(TyperGroup):
    """The group of all verbs; its help is drawn from their summaries alone.

    Contexts and formatters are Any here: Typer keeps the classes that it inherits their types from to itself.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        # Known by name from the start, so that a typo is answered with the nearest.
        self.commands = {entry.name: self for entry in verbs.in_order()}

    def list_commands(self, context: Any) -> list[str]:
        """The verbs, in the order in which a newcomer meets them."""
        return list(self.commands)

    def get_command(self, context: Any, name: str) -> Any:
        """The verb, its module imported now; None when there is no such verb."""
        if name not in self.commands:
            return None
        # Plain help is drawn without importing rich, three times as fast, and reads the same in docs/cli.md.
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        verb = verbs[name]
        if not isinstance(verb, typer.Typer):
            app.command(name)(verb)
            return typer.main.get_command(app)
        app.add_typer(verb, name=name)
        return typer.main.get_group(app).commands[name]

    def format_commands(self, context: Any, formatter: Any) -> None:
        """Write the summaries."""
        with formatter.section("Commands"):
            formatter.write_dl([(entry.name, entry.summary) for entry in verbs.in_order()])
