"""What a Heritrix says of itself and its jobs, scripts in a job, and the files of a job.

Source: Heritrix 3 REST API; 3.4.0-20220727 and 3.13.0 answer alike.
"""

import re
import time
from collections.abc import Iterator
from contextlib import suppress

from lxml import etree

from silocrawl.heritrix.connection import SECONDS_OF_ANSWER, Connection, pieces, quoted
from silocrawl.heritrix.errors import (
    ActionRefused,
    AnswerInvalid,
    FileNotThere,
    HeritrixJobNotFound,
    ScriptFailed,
)
from silocrawl.heritrix.states import (
    HeritrixEngine,
    HeritrixJob,
    HeritrixState,
    engine_of,
    job_of,
    output_of,
)

PAUSES = (0.2, 1.0, 3.0)
"""Seconds before a question is asked again that a busy Heritrix did not answer."""


class Asking:
    """A Heritrix; threads may share one.

    Args:
        url: Such as ``https://127.0.0.1:8443``.
        user: The login.
        password: Likewise.
        certificate: See `Connection`, as the next ones.
        basic: Whether the password itself is sent.
        timeout: Seconds for one wait for an answer.

    Raises:
        AddressRefused: The address is none.
        HeritrixError: Each method raises its subclasses `NoAnswer`, `LoginRefused` and
            `AnswerInvalid`, and what it says itself.
    """

    def __init__(
        self,
        url: str,
        user: str,
        password: str,
        *,
        certificate: str = "",
        basic: bool = False,
        timeout: float = SECONDS_OF_ANSWER,
    ) -> None:
        self.connection = Connection(url, user, password, certificate, basic, timeout)
        self.url = self.connection.url
        self.is_pinned = bool(certificate) or not self.connection.is_local

    def engine(self) -> HeritrixEngine:
        """Ask for the engine and its jobs."""
        return engine_of(self._get("/engine"))

    def job(self, name: str) -> HeritrixJob:
        """Ask for a job.

        Raises:
            HeritrixJobNotFound: There is none of that name.
        """
        return job_of(self.job_xml(name))

    def job_xml(self, name: str) -> bytes:
        """Return what Heritrix says of a job, as it says it; see `job`."""
        return self._get("/engine/job" + quoted(name), name)

    def script(self, job: str, text: str, language: str = "groovy") -> str:
        """Run a script in a built job; return what it printed.

        Raises:
            HeritrixJobNotFound: There is none of that name.
            ActionRefused: The job is not built.
            ScriptFailed: It ended with an exception.
        """
        if self.job(job).state is HeritrixState.UNBUILT:
            raise ActionRefused(f"the job {job} is not built: it answers no questions")
        form = {"engine": language, "script": text}
        status, body = self.connection.whole("POST", self.path_of(job, "script"), form=form)
        self.check(status, body, job)
        output, exception = output_of(body)
        if exception:
            raise ScriptFailed(f"the script in the job {job} failed: {exception}")
        return output

    # ----------------------------------------------------------------------- files

    def read(self, job: str, path: str, start: int = 0, most: int = 2**24) -> bytes:
        """Return the bytes of a file of a job, from a position on; b"" behind its end.

        Args:
            path: Below its directory, such as ``latest/logs/crawl.log``.
            start: Where to begin.
            most: Return so many bytes at most.

        Raises:
            FileNotThere: There is none.
            HeritrixJobNotFound: Likewise.
        """
        return b"".join(self.pieces(job, path, start, most))

    def pieces(self, job: str, path: str, start: int = 0, most: int = 2**62) -> Iterator[bytes]:
        """Yield the bytes of a file as they come; see `read`."""
        headers = {"Range": f"bytes={start}-{start + most - 1}"} if start or most < 2**62 else {}
        asked = self.connection.answer("GET", self._jobdir(job, path), headers=headers)
        with asked as found:
            if found.status_code == 416:
                return
            if found.status_code not in {200, 206}:
                self.check(found.status_code, b"", job, path)
                raise FileNotThere(job, path)  # 303: a directory
            before = 0 if found.status_code == 206 else start
            for piece in pieces(found):
                wanted = piece[before:][:most]
                before, most = max(before - len(piece), 0), most - len(wanted)
                if wanted:
                    yield wanted
                if not most:
                    return

    def write(self, job: str, path: str, content: bytes) -> None:
        """Put a file into the directory of a job, in place of one of that name.

        Raises:
            FileNotThere: There is no such directory.
            HeritrixJobNotFound: Likewise.
        """
        headers = {"Content-Type": "application/octet-stream"}
        status, body = self.connection.whole(
            "PUT", self._jobdir(job, path), body=content, headers=headers
        )
        self.check(status, body, job, path)

    def names(self, job: str, path: str = "") -> list[str]:
        """Return the names in a directory of a job, sorted.

        Raises:
            FileNotThere: There is none.
            HeritrixJobNotFound: Likewise.
        """
        status, body = self.connection.whole("GET", self._jobdir(job, path) + "/")
        self.check(status, body, job, path or "directory")
        with suppress(etree.ParserError, etree.XMLSyntaxError):
            page = etree.fromstring(body, etree.HTMLParser(no_network=True, encoding="utf-8"))
            found = ((one.text or "").removesuffix("/") for one in page.iter("a"))
            return sorted({one for one in found if one not in {"", ".."} and "/" not in one})
        return []

    # ----------------------------------------------------------------------- requests

    def path_of(self, job: str, *more: str) -> str:
        return "/engine/job" + quoted(job, *more)

    def _jobdir(self, job: str, path: str) -> str:
        return self.path_of(job, "jobdir") + (quoted(*path.split("/")) if path else "")

    def _get(self, path: str, job: str = "") -> bytes:
        """Ask, again if nothing is sent: 3.13.0 now and then answers 200 without a body.

        Seen on 2026-11-29, of a job that was being resumed.
        """
        for pause in (*PAUSES, None):
            status, body = self.connection.whole("GET", path)
            self.check(status, body, job)
            if body or pause is None:
                break
            time.sleep(pause)
        return body

    def check(self, status: int, body: bytes, job: str = "", path: str = "") -> None:
        if status < 400:
            return
        if status == 404 and job and not path:
            raise HeritrixJobNotFound(job)
        if path:
            self.job(job)  # 500 is the answer to a file of a job that is not there
            if status == 404:
                raise FileNotThere(job, path)
        raise AnswerInvalid(f"{self.url} answers HTTP {status}{_cause(body)}", status)


def _cause(body: bytes) -> str:
    """What a page about an error says of its cause."""
    found = re.search(rb"<h2>Cause: (.{1,300}?)</h2>", body, re.DOTALL)
    return f": {found[1].decode(errors='replace').splitlines()[0]}" if found else ""
