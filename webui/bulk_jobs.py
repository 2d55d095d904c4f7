"""Where the page hands over a bulk change to be done, or undone, beside its requests."""

import logging
import threading
from collections.abc import Callable

from curation.bulk import JobReport, run_job, undo_job
from curation.errors import CurationError
from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from webui.site import Call

logger = logging.getLogger("webui.bulk")


def start_bulk_job(call: Call, job_id: str) -> None:
    """Begin, or go on with, a planned change; what it comes to is in its journal."""
    _start(call, f"job {job_id}", lambda silo: run_job(silo, job_id))


def start_bulk_undo(call: Call, job_id: str) -> None:
    """Begin to take back what a change did."""
    agent = call.user.name
    _start(call, f"undoing of {job_id}", lambda silo: undo_job(silo, job_id, agent=agent))


def _start(call: Call, what: str, act: Callable[[Silo], JobReport]) -> None:
    """Act in a thread of its own, over a Silo of its own; a stop in the middle is no harm,
    since the journal tells the next run how far this one came."""
    path = call.site.silo.path

    def work() -> None:
        try:
            with Silo(path, create=False) as silo:
                act(silo)
        except (CurationError, RecordSiloError, OSError) as error:
            logger.error("%s ended: %s", what, error)  # noqa: TRY400  # a sentence for operators

    threading.Thread(target=work, name=what, daemon=True).start()
