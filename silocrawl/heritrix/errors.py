"""Errors of a Heritrix: a class for each cause, with one sentence."""

from silocrawl.errors import CrawlingError


class HeritrixError(CrawlingError):
    """Base class; the text is for the operator."""


class NoAnswer(HeritrixError):
    """The connection failed, or took too long."""

    def __init__(self, url: str, reason: str) -> None:
        self.url = url
        super().__init__(f"{url} gives no answer: {reason}")


class LoginRefused(HeritrixError):
    """User, password or certificate are not the right ones."""


class AnswerInvalid(HeritrixError):
    """The answer is none to the request: a fault of the server, or too large, or no XML.

    Attributes:
        status: The HTTP status; 0 if it does not matter.
    """

    def __init__(self, sentence: str, status: int = 0) -> None:
        self.status = status
        super().__init__(sentence)


class HeritrixJobNotFound(HeritrixError, ValueError):
    """There is no job of that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"Heritrix has no job {name!r}; see silo crawl heritrix list-jobs")


class FileNotThere(HeritrixError, ValueError):
    """A job has no file of that name, or no directory for it."""

    def __init__(self, job: str, path: str) -> None:
        self.job, self.path = job, path
        super().__init__(f"the job {job} has no {path}")


class ActionRefused(HeritrixError, ValueError):
    """The state of a job does not permit an action, or nothing came of it."""


class TookTooLong(HeritrixError):
    """The state that was waited for did not come in time; to ask again goes on waiting."""


class ScriptFailed(HeritrixError):
    """A script ended with an exception."""
