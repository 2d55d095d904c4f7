"""The processes of jobs and workers: ``python -m silowork run SILO JOB`` and ``work DIR``.

Both are started with a pipe as standard input, and end when it is closed.
"""

import logging
import os
import sys

from recordsilo.garbage import collect_rarely
from silowork import running
from silowork.broker import Broker
from silowork.errors import JobsError
from silowork.worker_process import run_worker


def main(what: str, path: str, job_id: str = "") -> int:
    """Run a job or a worker.

    Args:
        what: ``run`` or ``work``.
        path: The Silo's directory; for ``work`` also a directory of Silos.
        job_id: For ``run``, the job.

    Returns:
        The exit code: whether it could be started.
    """
    collect_rarely()
    running.log_with_times()
    try:
        if what == "run":
            return running.main(path, job_id, sys.stdin.fileno())
        run_worker(Broker(path), sys.stdin.fileno())
        return os.EX_OK
    except JobsError as error:
        logging.getLogger("silowork").error("%s", error)  # noqa: TRY400  # a sentence is all
        return os.EX_UNAVAILABLE


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
