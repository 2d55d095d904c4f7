"""The kinds of jobs of this distribution, loaded: what the processes of jobs are forked with.

Loading them starts no threads, opens no files or connections, and loads neither DuckDB nor numpy,
which a job loads itself if it needs them. So a child can do all that a new process can, and the
memory of a job ends with it. What other packages contribute may not be so, and is not loaded here.
"""

from collections.abc import Mapping
from typing import Any

from recordsilo.contributions import ContributionBroken, load, points
from silowork import running
from silowork.kinds import ENTRY_POINTS, own_names

__all__ = ["KINDS", "running"]


def _loaded() -> Mapping[str, Any]:
    found = {}
    for name in own_names():
        try:
            found[name] = load(points(ENTRY_POINTS)[name])
        except ContributionBroken:  # the job's process says why
            continue
    return found


KINDS = _loaded()
"""Entry point → kind or step."""
