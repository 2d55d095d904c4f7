"""What a bulk change would do, looked at before it is done."""

from typing import Any

from silocuration.batch.job import Preview, preview
from silocuration.batch.specs import JobSpec
from webui.site import Call

LOOKED_AT = 20_000
"""Records of a preview: about seven seconds of them."""
SECONDS = 15.0
"""For which a request looks at records."""
SAMPLES = 8


def look(call: Call, spec: JobSpec) -> Preview:
    """What a change would do to the first `LOOKED_AT` records, or fewer: a request does not
    wait for a million, nor for longer than some `SECONDS`.
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
