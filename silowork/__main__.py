"""The processes beside the page's: ``python -m silowork run SILO JOB`` and ``work SILO``.

Both are begun with a pipe as standard input, and end when that does.
"""

import logging
import os
import sys

from silowork import running
from silowork.errors import JobsError
from silowork.queue import Broker
from silowork.worker_process import run_worker


def main(what: str, silo_path: str, job_id: str = "") -> int:
    """Do what the command line says; the exit code says whether it could be begun."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    logging.getLogger("kombu").setLevel(logging.ERROR)  # else: that files have no host name
    try:
        if what == "run":
            return running.main(silo_path, job_id, sys.stdin.fileno())
        run_worker(Broker(silo_path), sys.stdin.fileno())
        return os.EX_OK
    except JobsError as error:
        logging.getLogger("silowork").error("%s", error)  # noqa: TRY400  # a sentence is all
        return os.EX_UNAVAILABLE


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
