"""A batch edit that kills itself with SIGKILL at its n-th step: a rename, a flush, or an entry.

python killed_job.py SILO JOB run|undo N
"""

import os
import sys

from killing import kill_at

from recordsilo import Silo
from silocuration.batch import job as bulk
from silocuration.batch.journal import JobJournal

PAGE = 4
STEPS = [
    (os, "rename"),
    (os, "unlink"),
    (os, "fsync"),
    (JobJournal, "keep"),
    (JobJournal, "move"),
    (bulk, "log_activity"),
]


def main(silo_path: str, job: str, what: str, left: int) -> None:
    bulk.PAGE = PAGE
    kill_at(STEPS, left)
    with Silo(silo_path) as silo:
        if what == "run":
            bulk.run_job(silo, job)
        else:
            bulk.undo_job(silo, job, agent="bob")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
