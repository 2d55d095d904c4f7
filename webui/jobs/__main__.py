"""The processes beside the page's: ``python -m webui.jobs run SILO JOB`` and ``work SILO``.

Both are begun with a pipe as standard input, and end when that does.
"""

import logging
import os
import sys

from webui.jobs import running
from webui.jobs.errors import JobsError
from webui.jobs.queue import Broker
from webui.jobs.worker import run_worker


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
        logging.getLogger("webui.jobs").error("%s", error)  # noqa: TRY400  # a sentence is all
        return os.EX_UNAVAILABLE


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
