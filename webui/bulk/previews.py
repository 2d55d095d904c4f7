"""Previews of batch edits."""

from typing import Any

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


def preview_json(found: Preview) -> dict[str, Any]:
    """A preview as JSON values."""
    return {
        "complete": found.whole,
        "records": found.records,
        "changed": found.changed,
        "values": found.values,
        "copies": found.copies,
        "deleted": found.deleted,
        "skipped": found.skipped,
        "remarks": list(found.remarks),
        "samples": [
            {
                "identifier": one.identifier,
                "before": [list(value) for value in one.before],
                "after": [list(value) for value in one.after],
                "state": one.state,
            }
            for one in found.samples
        ],
    }
