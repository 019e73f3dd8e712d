"""Scorecards: what the judges say of each sentence, put together, compared and shown."""

from restyle.evaluation._baselines import NaiveRow, naive_outputs, tuned_copy_probability
from restyle.evaluation._cache import JudgementCache
from restyle.evaluation._comparison import Comparison, compare
from restyle.evaluation._leaderboard import Leaderboard
from restyle.evaluation._numbers import adjusted_gm
from restyle.evaluation._outputs import Outputs
from restyle.evaluation._reading import OutputsSettings, outputs_of, published_outputs, read_outputs
from restyle.evaluation._saving import is_saved, load, save
from restyle.evaluation._score import ScoreSettings, score, score_systems
from restyle.evaluation._scorecard import Interval, Scorecard
from restyle.evaluation._selection import Choice, Rule
from restyle.evaluation._signature import Signature
from restyle.evaluation._significance import PairedTest, Test, holm, paired_tests
from restyle.evaluation._tuning import naive_from_corpus
from restyle.evaluation._unsupervised import UnsupervisedMeasures

__all__ = [
    "Choice",
    "Comparison",
    "Interval",
    "JudgementCache",
    "Leaderboard",
    "NaiveRow",
    "Outputs",
    "OutputsSettings",
    "PairedTest",
    "Rule",
    "ScoreSettings",
    "Scorecard",
    "Signature",
    "Test",
    "UnsupervisedMeasures",
    "adjusted_gm",
    "compare",
    "holm",
    "is_saved",
    "load",
    "naive_from_corpus",
    "naive_outputs",
    "outputs_of",
    "paired_tests",
    "published_outputs",
    "read_outputs",
    "save",
    "score",
    "score_systems",
    "tuned_copy_probability",
]
