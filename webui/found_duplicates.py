"""The groups of probable duplicates of each Silo, kept because they take long to compute."""

from silocuration.review.duplicates import DuplicateGroup
from webui.timed_cache import TimedCache

DUPLICATES: TimedCache[list[DuplicateGroup]] = TimedCache()
