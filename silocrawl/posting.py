"""Post the index to an OutbackCDX, so that its readers see the captures, too.

The files of the index are the truth. How far they were posted is a mark beside the queues; what
was not posted, because the server was down, is posted later. A line that is posted twice is one.

Source: OutbackCDX, README ("Loading records"); 11-field CDX lines, many in a request.
"""

import logging
import os
import re
import time
from base64 import b32encode
from contextlib import AbstractContextManager
from itertools import groupby, islice

import urllib3

from silocrawl.cdx_query import as_text, row_of
from silocrawl.cdxj import Segments, number_of
from silocrawl.errors import CrawlingError
from silowork.queues.values import Queues
from silowork.stop import Stop, working

LINES_TOGETHER = 5_000
"""Lines of a request: 100 at once take nine times as long, one by one three hundred times."""
SECONDS_BETWEEN_LOOKS, SECONDS_AFTER_FAILURE, SECONDS_AT_END = 1.0, 30.0, 60.0
_BASE32, _HEX, _ADDED = "[A-Z2-7]{32}", "[0-9a-fA-F]{40}", re.compile(rb"Added (\d+)")
_MOST_SAID = 300

logger = logging.getLogger("silocrawl")


class PostFailed(CrawlingError):
    """The server did not take the lines; they are posted later."""


class Poster:
    """Posts the index to a collection of an OutbackCDX.

    Args:
        url: Of the collection, such as ``http://127.0.0.1:8080/coll``.
        queues: Where the mark is kept.
    """

    def __init__(self, url: str, index: Segments, queues: Queues) -> None:
        self._url, self._index, self._queues = url.rstrip("/"), index, queues
        self._mark = f"posted {self._url}"
        timeout = urllib3.Timeout(connect=5.0, read=60.0)
        self._http = urllib3.PoolManager(retries=False, timeout=timeout)
        self.skipped = 0

    def post(self, until: float = float("inf")) -> int:
        """Post what is new; return how many lines.

        Args:
            until: Time of `time.monotonic` after which no request is begun.

        Raises:
            PostFailed: The server is down, or refused; or it takes too long.
        """
        posted = 0
        names = self._index.names()
        reached = int(self._queues.mark(self._mark) or 0)
        if names and number_of(names[-1]) < reached:
            reached = 0  # the index was made anew
        for number, some in groupby(names, number_of):
            if number > reached:
                try:
                    posted += sum(self._post_file(name, until) for name in some)
                except FileNotFoundError:  # merged meanwhile: its lines have a higher number
                    return posted + self.post(until)
                self._queues.put((), mark=(self._mark, str(number)))
        return posted

    def _post_file(self, name: str, until: float) -> int:
        posted = 0
        with open(os.path.join(self._index.directory, name), encoding="utf-8") as file:
            while lines := [_line_of(line) for line in islice(file, LINES_TOGETHER)]:
                if time.monotonic() > until:
                    raise PostFailed("it takes too long")
                self._send(lines)
                posted += len(lines)
        return posted

    def _send(self, lines: list[str], query: str = "") -> None:
        """Post lines; bad ones, for which a whole request is refused, are told and left out."""
        status, said = self._request("".join(lines).encode(), query)
        if status == 400 and not query:
            logger.warning("%s: %s", self._url, said.decode(errors="replace"))
            self._send(lines, "?badLines=skip")
        elif status == 400 and len(lines) > 1:  # an older server, which cannot leave them out
            for part in (lines[: len(lines) // 2], lines[len(lines) // 2 :]):
                self._send(part, query)
        elif status == 400:
            self._skip(1)
        elif status >= 300:
            raise PostFailed(f"it answers {status}: {said.decode(errors='replace')}")
        elif query and (added := _ADDED.search(said)):
            self._skip(len(lines) - int(added[1]))

    def _skip(self, count: int) -> None:
        self.skipped += count
        if count:
            logger.warning("%s: %d lines were refused, and left out", self._url, count)

    def _request(self, body: bytes, query: str) -> tuple[int, bytes]:
        try:
            answer = self._http.request(
                "POST", self._url + query, body=body, redirect=False, preload_content=False,
                headers={"Content-Type": "text/plain; charset=utf-8"},
            )  # fmt: skip
            try:
                return answer.status, answer.read(_MOST_SAID)
            finally:
                answer.close()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise PostFailed(f"it cannot be reached: {error}") from None


def posting(poster: Poster) -> AbstractContextManager[None]:
    """Post what is new during the block, in a thread, and once more at its end."""

    def work(stop: Stop) -> None:
        is_down = False
        while not stop.wait(SECONDS_AFTER_FAILURE if is_down else SECONDS_BETWEEN_LOOKS):
            is_down = not _posted(poster, float("inf"), is_told=is_down)
        _posted(poster, time.monotonic() + SECONDS_AT_END)

    return working(work, "poster", 2 * SECONDS_AT_END)


def _posted(poster: Poster, until: float, *, is_told: bool = False) -> bool:
    """Post what is new; return whether all of it is there. A crawl goes on in any case."""
    try:
        poster.post(until)
    except PostFailed as error:
        if not is_told:
            logger.warning("the index is not posted now, but later: %s", error)
        return False
    except Exception:  # thread boundary: details go to the log only
        logger.exception("the index is not posted")
        return False
    return True


def _line_of(line: str) -> str:
    """A line of 11 fields; a digest that is no SHA-1 is left out, as it would come back changed."""
    row = row_of(line)
    digest = row.get("digest", "")
    if re.fullmatch(_HEX, digest):
        digest = b32encode(bytes.fromhex(digest)).decode()
    return as_text({**row, "digest": digest if re.fullmatch(_BASE32, digest) else "-"})
