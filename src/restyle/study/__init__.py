"""Judging by people: a study from its sample to the table in the paper."""

from restyle.study._controls import controls, read_controls
from restyle.study._items import Item, Judged, Vote, read_judged
from restyle.study._protocol import Protocol, load_protocol, protocol_names
from restyle.study._sampling import SamplingSettings, sample

__all__ = [
    "Item",
    "Judged",
    "Protocol",
    "SamplingSettings",
    "Vote",
    "controls",
    "load_protocol",
    "protocol_names",
    "read_controls",
    "read_judged",
    "sample",
]
