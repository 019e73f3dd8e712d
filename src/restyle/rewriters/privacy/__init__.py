"""Privacy-aware rewriting (after Xu et al. 2019): hide who wrote a text, keep what it says; neutralise, never flip.

The body of the paper could not be had: this is a re-implementation with inferred objective (docs/privacy.md).
"""

from restyle.rewriters.privacy._choosing import Choice, LeakChooser
from restyle.rewriters.privacy._lexical import Lexical
from restyle.rewriters.privacy._paraphrase import Paraphrase
from restyle.rewriters.privacy._rerank import RiskRerank

__all__ = ["Choice", "LeakChooser", "Lexical", "Paraphrase", "RiskRerank"]
