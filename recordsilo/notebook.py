"""What is asked of IPython where it runs: whether this is a notebook, what is typed, an output.

IPython is never loaded here; what is running it has done so.
"""

import re
import sys
import time
from collections.abc import Callable
from typing import Any

_KEY = re.compile(r"""\[\s*[bruBRU]*(?:'([^']*)|"([^"]*))$""")
_SECONDS = 0.2
"""Between two states of an output, which each go to the browser."""


def _shell() -> Any:
    """The IPython that runs this process; None without one."""
    ipython = sys.modules.get("IPython")
    return None if ipython is None else ipython.get_ipython()


def in_notebook() -> bool:
    """Whether cells of a notebook are run here, which show HTML."""
    return getattr(_shell(), "kernel", None) is not None


def typed_key() -> str:
    """What is typed of the key in ``silo["oai:…`` when the TAB key is pressed; may be empty."""
    completer = getattr(_shell(), "Completer", None)
    found = _KEY.search(str(getattr(completer, "text_until_cursor", "")))
    return (found[1] or found[2] or "") if found else ""


class LiveOutput:
    """An output of the cell that is running, which is replaced as work proceeds.

    Args:
        clock: For tests.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._handle: Any = None
        self._shown = 0.0

    def show(self, html: str, text: str, *, last: bool = False) -> None:
        """Show a state, unless one was shown a moment ago.

        Args:
            html: For notebooks.
            text: For programs that show no HTML.
            last: Whether no other follows, so that it has to be shown.
        """
        now = self._clock()
        if self._handle is not None and now - self._shown < _SECONDS and not last:
            return
        self._shown = now
        bundle = {"text/html": html, "text/plain": text}
        if self._handle is None:
            display = sys.modules["IPython"].display.display
            self._handle = display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)
