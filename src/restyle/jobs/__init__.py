"""Run a function over a stream of records of any length: in order, resumable, on many processes or machines."""

from restyle.jobs._report import JobReport
from restyle.jobs._run import run, stream
from restyle.jobs._settings import JobSettings

__all__ = ["JobReport", "JobSettings", "run", "stream"]
