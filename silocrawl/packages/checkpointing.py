"""A crawl that is running makes checkpoints: when somebody asks for one, or after a while."""

import logging
import os
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from silocrawl.moments import moment_of
from silocrawl.packages.layout import state_file
from silocrawl.packages.own_checkpoints import (
    checkpoint_names,
    is_wanted,
    make_checkpoint,
    stream_of_checkpoint,
    was_made,
)
from silocrawl.packages.settings import StoreSettings, load_settings
from silocrawl.packages.values import PackagingError, checkpoint_message
from silowork.queues.values import Queues

if TYPE_CHECKING:
    from politeweb.warc.writing import WarcFiles

_SECONDS_BETWEEN_LOOKS, _SECONDS_BETWEEN_SETTINGS = 1.0, 60.0

logger = logging.getLogger("silocrawl")


def checkpoint_now(
    silo_path: str, queues: Queues, settings: StoreSettings, run: Mapping[str, Any] | None = None
) -> str | None:
    """Make a checkpoint, and put its message; see `make_checkpoint`.

    Returns:
        Its name; None if nothing was crawled since the last one.
    """
    name = make_checkpoint(silo_path, settings.stream, run)
    if name is not None:
        queues.put([checkpoint_message(settings.stream, name)])
    was_made(silo_path)
    return name


def put_unknown(silo_path: str, queues: Queues) -> None:
    """Put the messages of checkpoints whose maker was killed before it did.

    Raises:
        CheckpointUnreadable: One is damaged.
    """
    names = checkpoint_names(silo_path)
    packages = [(stream_of_checkpoint(silo_path, name), name) for name in names]
    queues.put(
        checkpoint_message(stream, name)
        for stream, name in packages
        if not os.path.exists(state_file(silo_path, f"{stream}-{name}"))
    )


class Checkpointing:
    """What the thread that keeps the results of a crawl asks now and then.

    Args:
        archive: The WARC file that is written; ended by a checkpoint.
        run: How it is crawled; kept with each checkpoint.
    """

    def __init__(
        self, silo_path: str, queues: Queues, archive: "WarcFiles", run: Mapping[str, Any]
    ) -> None:
        self._silo, self._queues, self._archive, self._run = silo_path, queues, archive, run
        self._looked = self._loaded = float("-inf")
        self._settings = StoreSettings()
        self._last, self._began = "", time.time()
        self._told = ""

    def look(self) -> None:
        """Make a checkpoint if it is time for one; what fails is told in the log once.

        Raises:
            OSError: The disk refused.
        """
        now = time.monotonic()
        if now - self._looked < _SECONDS_BETWEEN_LOOKS:
            return
        self._looked = now
        try:
            is_first = self._loaded == float("-inf")
            if now - self._loaded >= _SECONDS_BETWEEN_SETTINGS or is_wanted(self._silo):
                self._loaded = now
                self._settings = load_settings(self._silo)
            if is_first:
                put_unknown(self._silo, self._queues)
            self._follow(is_first=is_first)
            if is_wanted(self._silo) or self._is_due():
                self._make()
        except PackagingError as error:
            was_made(self._silo)
            if str(error) != self._told:
                self._told = str(error)
                logger.warning("no checkpoint was made: %s", error)

    def _follow(self, *, is_first: bool) -> None:
        """End the file that is written when another process has made a checkpoint."""
        last = max(checkpoint_names(self._silo), default="")
        if last != self._last and not is_first:
            self._archive.end_file()
        self._last = last

    def _is_due(self) -> bool:
        every = self._settings.checkpoint_every
        if every is None:
            return False
        last = self._began
        if self._last:
            last = max(last, moment_of(self._last[-14:]).timestamp())
        return time.time() - last >= every.total_seconds()

    def _make(self) -> None:
        self._archive.end_file()
        name = checkpoint_now(self._silo, self._queues, self._settings, self._run)
        self._began = time.time()
        if name is not None:
            self._last = name
            logger.info("checkpoint %s", name)
