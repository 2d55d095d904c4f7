"""How a run ended, from the receipts of its harvests or the error that ended them. Pure."""

import errno
from collections.abc import Sequence
from datetime import datetime

from oaipmhscraper.errors import HarvestRunning
from oaipmhscraper.receipt import HarvestStopped, ListReceipt, Receipt
from oaipmhscraper.receipt import Outcome as Listed
from politeweb.errors import HTTPStatusError, MovedElsewhere, RetryLater, shortened
from recordsilo.wording import counted
from silofleet.values import BeforeRun, Ended, RunOutcome

REFUSED = frozenset({401, 403})
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT})
MOST_SAID = 2_000
"""Characters of what is said of a run; addresses and identifiers may have megabytes."""


def of_receipts(
    receipts: Sequence[Receipt], before: BeforeRun, records: int, at: datetime
) -> Ended:
    """Return the end of a run whose harvests came to their ends.

    Args:
        receipts: One for each set, or one.
        before: What was known before.
        records: Records in the Silo now.
    """
    full = [one for each in receipts for one in each.lists if one.from_ is None and not one.owed]
    whole = all(one.whole for one in receipts)
    promised = _promised(full)
    changed = sum(one.counts.written for one in receipts)
    listed = sum(one.counts.distinct for one in receipts)
    doubt = _doubt(receipts, before, promised)
    if doubt:
        outcome, said = RunOutcome.SUSPICIOUS, doubt
    elif whole:
        outcome, said = RunOutcome.WHOLE, _said(receipts)
    else:
        losses = [sentence for one in receipts for sentence in one.losses]
        outcome = RunOutcome.PARTIAL
        more = f", and {len(losses) - 1:,} more" if len(losses) > 1 else ""
        said = (shortened(losses[0], MOST_SAID) if losses else "it was interrupted") + more
    return Ended(
        outcome, said, at, records=records, promised=promised, changed=changed, listed=listed
    )


def with_size(ended: Ended, before: BeforeRun, living: int, listed: int | None) -> Ended:
    """Return the end of a whole update after its repository said how many records it lists.

    The measure is the last list or number, and the records in the Silo, unless the former was
    that much smaller already: then somebody accepted that. Without a measure, the number is it.

    Args:
        ended: The end of a run that asked only for what changed.
        before: What was known before.
        living: Records in the Silo that are not deleted.
        listed: The number; None if the repository did not say it.
    """
    known, least = before.promised, 1 - before.fewer
    held = max(living, ended.records or 0, known or 0)
    if listed is None or listed * least > held:  # more than there can be: of another list
        return ended
    said = f"the repository lists {counted(listed, 'record')}, and "
    if known is not None and known >= least * living > listed:
        return ended._replace(outcome=RunOutcome.SUSPICIOUS, said=f"{said}the Silo has {living:,}")
    if listed < least * (known or 0):
        return ended._replace(outcome=RunOutcome.SUSPICIOUS, said=f"{said}listed {known:,} before")
    return ended._replace(promised=listed)


def of_error(
    error: BaseException, at: datetime, records: int | None = None, path: str = ""
) -> Ended:
    """Return the end of a run that an error ended.

    Args:
        error: Of the harvest, the store or the disk.
        records: Records in the Silo; None if there is none, or it is unknown.
        path: The directory of the Silo.
    """
    cause, changed, listed = error, 0, 0
    if isinstance(error, HarvestStopped):
        counts = error.receipt.counts
        cause, changed, listed = error.cause, counts.written, counts.distinct
    if has_no_room(cause):
        said = (  # an index that could not be written counts fewer records, or none
            f"the disk of {path or 'the Silo'} is full, and perhaps not all its records are"
            " counted; the run goes on when there is room"
        )
        end = Ended(RunOutcome.CUT, said, at, records=records, changed=changed, listed=listed)
        return end._replace(is_disk_full=True)
    outcome = _outcome(cause)
    if isinstance(error, HarvestStopped) and outcome is RunOutcome.FAILED:
        outcome = RunOutcome.PARTIAL if error.receipt.counts.listed else outcome
    return Ended(
        outcome,
        shortened(str(error), MOST_SAID),
        at,
        records=records,
        changed=changed,
        listed=listed,
        hold=cause.deadline if isinstance(cause, RetryLater) else None,
        moved_to=cause.target if isinstance(cause, MovedElsewhere) else "",
    )


def has_no_room(error: BaseException | None) -> bool:
    """Whether an error, or what caused it, is a full disk or a quota that is used up."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _outcome(cause: BaseException) -> RunOutcome:
    if isinstance(cause, RetryLater):
        return RunOutcome.HELD
    if isinstance(cause, MovedElsewhere):
        return RunOutcome.MOVED
    if isinstance(cause, HTTPStatusError) and cause.status in REFUSED:
        return RunOutcome.BLOCKED
    if isinstance(cause, KeyboardInterrupt | HarvestRunning):
        return RunOutcome.CUT
    return RunOutcome.FAILED


def _promised(full: Sequence[ListReceipt]) -> int | None:
    """Records of the full lists of one format; None if no list was full."""
    sizes: dict[str, int] = {}
    for one in full:
        size = max(one.expected or 0, one.counts.distinct)
        prefix = one.metadata_prefix
        sizes[prefix] = sizes.get(prefix, 0) + size
    return max(sizes.values()) if sizes else None


def _doubt(receipts: Sequence[Receipt], before: BeforeRun, promised: int | None) -> str:
    """Why the lists are suspicious; empty if they are not."""
    known = before.promised or 0
    if promised is not None and promised < (1 - before.fewer) * known:
        return f"the repository lists {counted(promised, 'record')}, and listed {known:,} before"
    deleted = sum(one.counts[Listed.DELETED] for one in receipts)
    if before.records and deleted > before.fewer * before.records:
        return f"the repository deleted {deleted:,} of {counted(before.records, 'record')}"
    return ""


def _said(receipts: Sequence[Receipt]) -> str:
    written = sum(one.counts.written for one in receipts)
    listed = sum(one.counts.listed for one in receipts)
    if not listed:
        return "nothing new"
    return f"{counted(listed, 'record')} listed, {written:,} changed"
