"""The store's own kinds of jobs: audits and indexing. They do not change records."""

import time
from dataclasses import asdict

from recordsilo import Silo
from recordsilo.audit import Audit, Finding
from recordsilo.audit.passes import Pass
from silowork.errors import Interrupted, JobRefused
from silowork.forms import Field, Input, JobForm
from silowork.values import Ending, Problem
from silowork.work import Asked, Fields, Kind, Work

SECONDS_BETWEEN_MARKS = 2.0


def audit(work: Work) -> Ending:
    """Compare disk and manifests, and read ``share`` of the records byte for byte (1: all).

    Raises:
        Interrupted: The job was asked to end; another run continues.
    """
    so_far = _begin(work)
    found: list[Problem] = []
    noted = time.monotonic()
    for step in Audit(work.silo_path, share=so_far.share, seed=so_far.seed).steps(so_far.place):
        found += map(_problem, step.findings)
        so_far = so_far.after(step)
        work.advanced(so_far.records, _total(work))
        asked = work.stop() and step.place is not None
        if step.place is not None and (asked or time.monotonic() - noted > SECONDS_BETWEEN_MARKS):
            work.keep(asdict(so_far), found)
            found, noted = [], time.monotonic()
        if asked:
            raise Interrupted("the audit was interrupted")
    work.keep({}, found)
    return _ending(so_far)


def _begin(work: Work) -> Pass:
    if work.mark:
        return Pass(**work.mark)
    return Pass(seed="job", share=float(work.arguments.get("share", 1.0)))


def _total(work: Work) -> int | None:
    """The number of records, as given when the job was created."""
    total = work.arguments.get("records")
    return int(total) if total else None


def _problem(finding: Finding) -> Problem:
    known = finding.as_json()
    reason = (
        f"{known['code']} {known['meaning']} ({known['path']}): expected {known['expected']}, "
        f"found {known['found']}"
    )
    return Problem(finding.identifier, reason)


def _ending(looked: Pass) -> Ending:
    counts = {
        "records": looked.records,
        "read byte for byte": looked.hashed,
        "warnings": looked.warnings,
        "damage": looked.damage,
    }
    text = "\n".join(f"{number:>12,}  {name}" for name, number in counts.items())
    clean = not looked.warnings and not looked.damage
    notes = [] if clean else ["What to do: silo check, silo repair (silo help audit)."]
    report = {**counts, "notes": notes}
    return Ending(clean, "\n".join([text, *notes]), report, counts, problems=None)


def reindex(work: Work) -> Ending:
    """Update the index from the manifests."""

    def show(done: int) -> None:
        work.advanced(done)
        work.end_if_asked()

    with Silo(work.silo_path, create=False) as silo:
        total = silo.reindex(show)
        problems = [Problem("", f"{path}: {why}") for path, why in silo.index_problems()]
        read = total - len(silo.unread())
    counts = {"records indexed": read, "not indexed": len(problems)}
    text = "\n".join(f"{number:>12,}  {name}" for name, number in counts.items())
    return Ending(not problems, text, dict(counts), counts, problems)


# --------------------------------------------------------------------------- forms


def _asked_audit(fields: Fields, _silo_path: str, records: int) -> Asked:
    text = fields.get("share", "").strip() or "100"
    try:
        percent = float(text.removesuffix("%"))
    except ValueError:
        percent = 0.0
    if not 0 < percent <= 100:
        raise JobRefused("the share of an audit must be more than 0% and at most 100%")
    title = f"Audit: {percent:g}% of the records byte for byte"
    return Asked(title, {"share": percent / 100, "records": records})


_AUDIT = JobForm(
    "Audit",
    "Compare the files on disk with the manifests of the records. Changes nothing.",
    "Maintenance",
    (
        Field(
            "share", "Records to checksum (%)", Input.NUMBER, required=True, default="100",
            least=0.1, most=100,
        ),
    ),
    order=50,
)  # fmt: skip
_REINDEX = JobForm(
    "Rebuild the index", "Needed only if files were changed by other software.", "Maintenance",
    order=51,
)  # fmt: skip
AUDIT = Kind(
    "audit", "Audit", audit, lane="audit", read=_asked_audit, form=lambda _path: _AUDIT,
    did="{n} checked",
)  # fmt: skip
REINDEX = Kind(
    "reindex",
    "Rebuild the index",
    reindex,
    lane="index",
    read=lambda *_: Asked("Rebuild the index", {}),
    form=lambda _path: _REINDEX,
    begun="Rebuilding the index started",
    result="records indexed",
    did="{n} indexed",
)
