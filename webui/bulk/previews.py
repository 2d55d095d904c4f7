"""Previews of batch edits."""

from silocuration.batch.job import Preview, preview
from silocuration.batch.specs import JobSpec
from silocuration.review.trials import Trial
from webui.site import Call
from webui.words.texts import counted, numeral
from webui.words.texts import text as _

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


def tried(found: Trial) -> str:
    """What was tried of changes that are being written, in words."""
    if found.of_values:
        said = counted(
            "{n} distinct value changes, of {tried}.",
            "{n} distinct values change, of {tried}.",
            found.changed,
            tried=numeral(found.tried),
        )
    else:
        said = counted(
            "{n} record changes, of {tried}.",
            "{n} records change, of {tried}.",
            found.changed,
            tried=numeral(found.tried),
        )
    return said if found.whole else f"{said} {_('Others were not tried; the preview tries all.')}"
