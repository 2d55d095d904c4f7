"""What runs are forked with: all that each would load, or make, by itself."""

import requests.utils

from politeweb.settings import own_name
from silofleet import run, slots

__all__ = ["NAME", "requests", "run", "slots"]

NAME = own_name()
"""As requests say it; to find the version takes some milliseconds."""
