"""Errors of jobs as answers."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from silowork.errors import JobRefused, JobsError, NoSuchJob
from silowork.schedules import ScheduleNotFound
from webui.http.errors import ChangeConflict, NotFound, as_sentence, refusal
from webui.http.machine_errors import from_machine
from webui.words.texts import text as _

logger = logging.getLogger("webui")


@contextmanager
def sentences() -> Iterator[None]:
    """Convert errors of jobs to answers.

    Raises:
        NotFound: There is no such job or schedule.
        ChangeConflict: The job was refused.
        WebError: The ledger of jobs cannot be read (500, ``jobs_unreadable``), or its disk is
            full or read-only.
    """
    try:
        yield
    except (NoSuchJob, ScheduleNotFound) as error:
        raise NotFound(as_sentence(str(error))) from None
    except JobRefused as error:
        raise ChangeConflict(as_sentence(str(error))) from None
    except JobsError as error:
        if isinstance(error.__cause__, OSError):  # the disk is full or read-only
            raise from_machine(error.__cause__) from error
        logger.exception("jobs")
        sentence = _("The list of jobs cannot be read; see the log of the server.")
        raise refusal(HTTPStatus.INTERNAL_SERVER_ERROR, "jobs_unreadable", sentence) from error
