"""The process of one job, started by a worker.

It is forked from a warm one (`run_in_child`) or, if that cannot be, `python -m silowork run SILO
JOB`, whose standard input is a pipe that the worker holds open and never writes to (`main`).
Either ends when the worker is ending or was killed.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial

from recordsilo.child_process import end_with_parent, interrupt, wait_for_end_of
from recordsilo.disk.full_disk import is_full_disk
from recordsilo.disk.locks import Locks
from recordsilo.errors import RecordSiloError
from silowork.errors import Interrupted, JobsError
from silowork.kinds import kind_of, steps_after
from silowork.ledger import JobLedger
from silowork.stop import Stop
from silowork.values import Ending, Job, Problem, State, Wish
from silowork.warm_children import Parent
from silowork.work import Kind, Work

MOST_CRASHES = 3
SECONDS_FOR_LAST_RUN = 20.0
"""How long to wait for the process of a killed worker, which needs a moment to notice."""
SECONDS_BETWEEN_LOOKS = 0.5
UNFORESEEN = "an unexpected error occurred; the worker's log has the details"
DISK_FULL = "no space left on the disk; make room, then retry the job, which continues"
FORESEEN = (RecordSiloError, JobsError, OSError)

logger = logging.getLogger("silowork")


def run_job(silo_path: str, job_id: str, stop: Stop | None = None) -> State | None:
    """Run the rest of a job in this thread, and return its state afterwards.

    Args:
        stop: Asks the job to end early.

    Returns:
        None if there was nothing to do: the job is over, paused, or run by another process.

    Raises:
        NoSuchJob: There is no such job.
        LedgerUnreadable: The ledger cannot be read.
    """
    ledger = JobLedger(silo_path)
    with _held(silo_path, job_id) as is_held:
        job = ledger.claim(job_id, MOST_CRASHES) if is_held else None
        if job is None:
            return None
        _carry_out(ledger, job, stop or Stop())
    return ledger.job(job_id).state


def run_here(silo_path: str, job_id: str) -> State | None:
    """Run a job like `run_job`, and watch for requests of the page to pause or stop it.

    It runs in the calling thread, so a harvest is not interrupted by a signal.
    """
    stop, ended = Stop(), threading.Event()
    looking = (silo_path, job_id, ended, stop.ask)
    threading.Thread(target=_watch, args=looking, daemon=True).start()
    try:
        return run_job(silo_path, job_id, stop)
    finally:
        ended.set()


def main(silo_path: str, job_id: str, held: int) -> int:
    """Run the process of a job.

    Args:
        held: The descriptor of a pipe that is closed when the worker ends.
    """
    stop = Stop()
    end_with_parent(partial(wait_for_end_of, held), stop.on_signal)
    return _run_watched(silo_path, job_id, stop)


def run_in_child(parent: Parent, silo_path: str, job_id: str) -> None:
    """Run a job in a child of a warm process.

    Args:
        parent: The worker.
    """
    os.setsid()  # so that only the worker handles Ctrl-C
    log_with_times()
    sys.exit(_run_watched(silo_path, job_id, parent.stop))


def log_with_times() -> None:
    """Let a process of a worker or job log lines with their times."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("kombu").setLevel(logging.ERROR)  # its warnings concern hosts


def _run_watched(silo_path: str, job_id: str, stop: Stop) -> int:
    """Run a job and let the page interrupt it; return the exit code: whether it could be run."""
    looking = (silo_path, job_id, stop, interrupt)
    threading.Thread(target=_watch, args=looking, daemon=True).start()
    try:
        run_job(silo_path, job_id, stop)
    except JobsError as error:
        logger.error("%s", error)  # noqa: TRY400  # a sentence is all
        return os.EX_UNAVAILABLE
    return os.EX_OK


# --------------------------------------------------------------------------- the work


def _carry_out(ledger: JobLedger, job: Job, stop: Stop) -> None:
    """Run the kind's function, and store the result or the error."""
    foreseen: tuple[type[Exception], ...] = FORESEEN
    work = Work(ledger, job, stop)
    try:
        kind = kind_of(job.kind)
        foreseen = (*FORESEEN, *kind.foreseen)
        with stop.interrupting() if kind.by_signal else nullcontext():
            ending = _ending(kind, work)
        ledger.end(job.job_id, ending)
    except (Interrupted, KeyboardInterrupt):
        ledger.interrupt(job.job_id)
    except Exception as error:  # process boundary: details of the unforeseen go to the log only
        if is_full_disk(error):
            sentence = DISK_FULL
        elif isinstance(error, foreseen):
            sentence = _without_directory(_told(error), ledger.silo_path)
        else:
            logger.exception("job %s", job.job_id)
            sentence = UNFORESEEN
        ledger.end(job.job_id, _failed(sentence))


def _ending(kind: Kind, work: Work) -> Ending:
    """Do the kind's own work, unless an earlier run did; then the steps of other packages."""
    steps = steps_after(kind.name)
    ending = work.ended
    if ending is None:
        ending = kind.run(work)
        if steps:
            ending = work.note_ended(ending)
    with work.keeping_progress():
        for step in steps:
            ending = step(work, ending)
    return ending


def _told(error: Exception) -> str:
    """An error as a sentence; one of the operating system without its number."""
    if isinstance(error, OSError) and error.strerror and not isinstance(error, RecordSiloError):
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _without_directory(sentence: str, silo_path: str) -> str:
    """The sentence with the Silo's name for its place on the server, which viewers may not know."""
    return sentence.replace(silo_path, os.path.basename(os.path.abspath(silo_path)))


def _failed(sentence: str) -> Ending:
    return Ending(False, sentence=sentence, problems=[Problem("", sentence)])


@contextmanager
def _held(silo_path: str, job_id: str) -> Iterator[bool]:
    """Wait briefly for the job's lock; yields whether it is held."""
    end = time.monotonic() + SECONDS_FOR_LAST_RUN
    while True:
        with Locks.of_silo(silo_path).hold_name_if_free(f"run-{job_id}") as is_held:
            if is_held or time.monotonic() > end:
                yield is_held
                return
        time.sleep(0.1)


def _watch(
    silo_path: str, job_id: str, ended: threading.Event | Stop, ask: Callable[[], object]
) -> None:
    """Poll for a request of the page to pause or stop the job; then call ``ask`` once."""
    ledger = JobLedger(silo_path)
    while not ended.wait(SECONDS_BETWEEN_LOOKS):
        try:
            wish = ledger.job(job_id).wish
        except JobsError as error:
            logger.warning("%s", error)
            continue
        if wish is not Wish.NONE:
            ask()
            return
