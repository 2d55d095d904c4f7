"""The groups of probable duplicates of each Silo, which are looked for beside the requests.

A thread looks for them when a page wants them and the records have changed; in a large Silo a
process of its own does, so that no page waits for it. What was found before is shown meanwhile.
"""

import logging
import subprocess
import sys
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from recordsilo import Silo
from recordsilo.errors import RecordSiloError
from silocuration.review.kept_duplicates import (
    KeptDuplicates,
    after_marks,
    find_and_keep,
    mark_of,
    read_kept,
)

logger = logging.getLogger("webui")
PATIENCE = 0.05
"""Seconds that a request waits for what was just begun: enough for some hundred records."""
LARGE = 5000
"""Records from which a process of its own looks for duplicates."""
FACTOR = 20
"""They are looked for again after this multiple of the time it took."""


AFTER_A_FAILURE = 60.0
"""Seconds after which they are looked for again if that failed."""


@dataclass(slots=True)
class _Known:
    """What is known of a Silo.

    Attributes:
        since: When the last look ended, by `time.monotonic`.
    """

    kept: KeptDuplicates | None = None
    thread: threading.Thread | None = None
    since: float = float("-inf")
    lock: threading.Lock = field(default_factory=threading.Lock)


_KNOWN: WeakKeyDictionary[Silo, _Known] = WeakKeyDictionary()
_LOCK = threading.Lock()


def _known(silo: Silo) -> _Known:
    with _LOCK:
        if silo not in _KNOWN:
            _KNOWN[silo] = _Known(read_kept(silo.path))
        return _KNOWN[silo]


def last_found(silo: Silo) -> KeptDuplicates | None:
    """What was found last; nothing is looked for."""
    return _known(silo).kept


def found_duplicates(silo: Silo) -> tuple[KeptDuplicates | None, bool]:
    """What was found last, and whether that is of the records as they are now.

    Raises:
        IndexProblem: The index cannot be used now.
    """
    known, mark = _known(silo), mark_of(silo)
    with known.lock:
        kept, thread = known.kept, known.thread
        is_running = thread is not None and thread.is_alive()
        if not is_running and (kept is None or kept.mark != mark) and _is_due(known):
            thread = known.thread = threading.Thread(
                target=_look, args=(silo, known), name="duplicates", daemon=True
            )
            thread.start()
    if thread is not None:
        thread.join(PATIENCE)
    kept = known.kept
    return kept, kept is not None and kept.mark == mark


def _is_due(known: _Known) -> bool:
    rest = AFTER_A_FAILURE if known.kept is None else FACTOR * known.kept.seconds
    return time.monotonic() - known.since > rest


def _look(silo: Silo, known: _Known) -> None:
    try:
        kept = _from_process(silo) if len(silo) > LARGE else find_and_keep(silo)
        with known.lock:
            known.kept, known.since = kept, time.monotonic()
    except (RecordSiloError, OSError) as error:
        known.since = time.monotonic()
        logger.warning("probable duplicates cannot be looked for: %s", error)


def _from_process(silo: Silo) -> KeptDuplicates:
    command = [sys.executable, "-m", "silocuration.review.kept_duplicates", silo.path]
    with subprocess.Popen(  # noqa: S603 - a module of ours
        command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as process:
        code = process.wait()
    kept = read_kept(silo.path) if code == 0 else None
    return kept or find_and_keep(silo)  # where nothing can be written, nothing is kept


def note_marks(silo: Silo, identifiers: Collection[str]) -> None:
    """Leave out what was decided about some records, or list them again."""
    known = _known(silo)
    with known.lock:
        if known.kept is not None:
            known.kept = after_marks(silo, known.kept, identifiers)
