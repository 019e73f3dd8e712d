"""Decoding engines: a base model with its adapters, prompts in, sentences out."""

from restyle.lm.decoding._base import Candidate, Decoding, Engine, Prompt
from restyle.lm.decoding._open import ENGINES, open_engine

__all__ = ["Candidate", "Decoding", "ENGINES", "Engine", "Prompt", "open_engine"]
