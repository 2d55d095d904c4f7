"""The kinds of jobs: a table."""

from collections.abc import Mapping

from webui.jobs import edits, exports, harvests, looks, proposals
from webui.jobs.errors import JobRefused
from webui.jobs.work import Kind

HARVEST, UPDATE, CHANGE, UNDO = "harvest", "update", "change", "undo"
EXPORT, AUDIT, REINDEX = "export", "audit", "reindex"
PROPOSE, PREVIEW = "propose", "preview"

KINDS: Mapping[str, Kind] = {
    HARVEST: Kind("Harvest", harvests.harvest, lane="harvest", by_signal=True),
    UPDATE: Kind("Update", harvests.update, lane="harvest", by_signal=True),
    CHANGE: Kind("Bulk change", edits.change, lane="change", renew=edits.plan_skipped_again),
    UNDO: Kind("Undo", edits.undo, lane="change"),
    PREVIEW: Kind("Preview", edits.preview, lane="preview"),
    PROPOSE: Kind("Propose", proposals.propose, lane="change"),
    EXPORT: Kind("Export", exports.export, lane="export"),
    AUDIT: Kind("Audit", looks.audit, lane="audit"),
    REINDEX: Kind("Index anew", looks.reindex, lane="index"),
}
"""Jobs of one lane follow each other: one writer of a kind; between lanes the store's own
locks of records hold, so a bulk change goes on beside a long harvest."""


def kind_of(name: str) -> Kind:
    """A kind by its name.

    Raises:
        JobRefused: There is none of that name, as in a ledger of a later release.
    """
    if name not in KINDS:
        raise JobRefused(f"there is no kind of job {name!r}; there are {', '.join(KINDS)}")
    return KINDS[name]
