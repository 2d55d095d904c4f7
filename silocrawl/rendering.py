"""Pages that a browser shows before they are archived: when one can, and how it is asked.

A child of this process has the browser (`silocrawl.browser`). A new one takes its place when it
has shown many pages, takes much memory, or does not answer any more.
"""

import importlib.util
import logging
import os
import shutil
import time
from collections.abc import Callable
from itertools import islice
from multiprocessing.connection import wait
from typing import Any

from politeweb.codings import CodingBroken
from politeweb.errors import ResponseTooLarge
from politeweb.exchange import Taken
from recordsilo.extras import PackageMissing
from silocrawl.browser import BrowserSettings, PageToShow, headers_of, show_pages
from silocrawl.errors import CrawlingError
from silocrawl.fetching import Fetched
from silocrawl.found_links import MOST_BYTES
from silocrawl.messages import CrawlAddress
from silocrawl.scope import Scope
from silocrawl.targets import CrawlTarget
from silowork.warm_children import ChildEnded, WarmChild, warm

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
INSTALL = "apt-get install chromium-headless-shell"
SECONDS_TO_START, SECONDS_OF_A_PAGE = 60.0, 120.0
SECONDS_AFTER_A_FAULT = 5.0
"""Before a page is shown again, after the process that showed it has ended."""
_SECONDS_BETWEEN_LOOKS = 0.2

logger = logging.getLogger("silocrawl")


class BrowserMissing(CrawlingError):
    """There is no browser, or it does not start; what is to be rendered waits."""


def browser_settings(*, has_sandbox: bool, is_private: bool) -> BrowserSettings:
    """Find the browser of this machine.

    Raises:
        BrowserMissing: There is none, or something else it needs is missing.
    """
    if importlib.util.find_spec("playwright") is None:
        raise BrowserMissing(str(PackageMissing("rendering", "playwright", "render")))
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        raise BrowserMissing(f"rendering needs the browser {PROGRAMS[0]}; install it: {INSTALL}")
    if has_sandbox and os.geteuid() == 0:
        raise BrowserMissing(
            "the browser has no sandbox under root; run silo as another user, or give"
            " --no-sandbox where a hostile page can do no harm, as in a container"
        )
    return BrowserSettings(program, has_sandbox, is_private)


class Renderer:
    """Has pages shown, one at a time; one thread uses it.

    Args:
        settings: How pages are shown.
        is_over: Whether the work has ended, so that nobody waits for a page.
    """

    def __init__(
        self, silo_path: str, settings: BrowserSettings, is_over: Callable[[], bool]
    ) -> None:
        self._silo_path, self._settings, self._is_over = silo_path, settings, is_over
        self._child: WarmChild | None = None

    def start(self) -> None:
        """Start the browser, unless it runs.

        Raises:
            BrowserMissing: It does not start; says why.
            OSError: No process can be started.
        """
        if self._child is not None:
            return
        warm("silocrawl.browser")
        self._child = WarmChild(show_pages, os.path.abspath(self._silo_path), self._settings)
        said = self._heard(SECONDS_TO_START)
        if said != "":
            self.close()
            words = str(said or "it does not answer").partition("\nCall log")[0].strip()
            raise BrowserMissing(f"the browser {self._settings.program} does not start: {words}")

    def __call__(self, one: CrawlAddress, taken: Taken, target: CrawlTarget | None) -> Fetched:
        """Show a page; see `silocrawl.fetching.Render`."""
        try:
            body = b"".join(islice(taken.content(MOST_BYTES), None))
        except (CodingBroken, ResponseTooLarge):
            return Fetched(reason="notRendered")
        self.start()
        assert self._child is not None
        scope = target.scope if target is not None else Scope()
        self._child.say(PageToShow(one, taken.began, headers_of(taken), body, scope))
        said = self._heard(SECONDS_OF_A_PAGE)
        if said is None:
            self.close()
            return Fetched(reason="notRendered", again=SECONDS_AFTER_A_FAULT)
        shown, is_last = said
        if is_last:
            self.close()
        assert isinstance(shown, Fetched)
        return shown

    def _heard(self, seconds: float) -> Any:
        """What the child says next; None if it ends, or says nothing in time."""
        assert self._child is not None
        end = time.monotonic() + seconds
        while time.monotonic() < end and not self._is_over():
            if wait([self._child.fileno()], _SECONDS_BETWEEN_LOOKS):
                try:
                    said = self._child.heard()
                except ChildEnded as how:
                    logger.warning("the process of the browser %s", how)
                    return None
                if said:
                    return said[0]
        return None

    def close(self) -> None:
        """End the browser."""
        if self._child is not None:
            self._child.ask_to_end()
            self._child.join(SECONDS_AFTER_A_FAULT)
            self._child = None
