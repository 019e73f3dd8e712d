"""Files that come from elsewhere, corpora and models: from a local mirror, else the cache, else their origin."""

from restyle.assets._download import RemoteFile, fetch, locate
from restyle.assets._places import cache_home, mirror
from restyle.assets._wheels import ModelWheel, accept_terms, find_model, model_folder, model_wheels

__all__ = [
    "ModelWheel",
    "RemoteFile",
    "accept_terms",
    "cache_home",
    "fetch",
    "find_model",
    "locate",
    "mirror",
    "model_folder",
    "model_wheels",
]
