"""Previews of batch edits."""

from silocuration.batch.job import Preview, preview
from silocuration.batch.specs import JobSpec
from webui.site import Call

LOOKED_AT = 20_000
"""Maximum number of records of a preview; they take about seven seconds."""
SECONDS = 15.0
"""Time limit of a preview in a request, in seconds."""
SAMPLES = 8


def look(call: Call, spec: JobSpec) -> Preview:
    """Preview a change of the first `LOOKED_AT` records, or of fewer after `SECONDS`.

    A request must not wait for a million records.
    """
    return preview(call.site.silo, spec, samples=SAMPLES, most=LOOKED_AT, seconds=SECONDS)
