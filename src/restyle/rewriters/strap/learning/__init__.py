"""Learning a style from plain sentences, or a paraphraser from pairs: to a pack with its card, stage by stage."""

from restyle.rewriters.strap.learning._learn import learn
from restyle.rewriters.strap.learning._settings import LearnSettings

__all__ = ["LearnSettings", "learn"]
