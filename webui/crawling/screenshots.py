"""What a browser showed of a page when it was crawled: the whole picture, or its top, small."""

import threading

from silocrawl.captures import CaptureUnreadable, ReplayedCapture
from silocrawl.screenshots import can_make_small, content_of, screenshot, top_of
from webui.crawling.opening import png, told
from webui.http.errors import NotFound, told_as
from webui.http.messages import Response
from webui.record.pictures import made_once, may_be_shown
from webui.site import Call

_WIDTH, _HEIGHT = 480, 360
"""Of a small one; the page shows it half as large, for displays with many points."""
_MISSING = "There is no such picture."
_AT_ONCE, _PATIENCE = threading.BoundedSemaphore(2), 30.0


def show(call: Call) -> Response:
    """Send the screenshot of the page ``url``, crawled ``at`` a time of 14 digits.

    Raises:
        NotFound: There is none, or what is there cannot be shown.
    """
    query, path = call.request.query, call.site.path
    with told(call), told_as((CaptureUnreadable, NotFound)):
        one = screenshot(path, query.get("url", ""), query.get("at", ""))
        if one is None:
            raise NotFound(_MISSING)
        if not query.get("small") or not can_make_small():
            return png(_content(path, one), _MISSING)
        what = f"screenshot-{one.place}-{one.digest}-{_WIDTH}-{_HEIGHT}.png"
        return png(made_once(path, what, lambda: _small(path, one)), _MISSING)


def _content(silo_path: str, one: ReplayedCapture) -> bytes:
    """The picture; empty if a browser should not get it."""
    content = content_of(silo_path, one)
    return content if may_be_shown(content) else b""


def _small(silo_path: str, one: ReplayedCapture) -> bytes | None:
    """Its top; None if it could not be made now, as others are being made for example."""
    if not _AT_ONCE.acquire(timeout=_PATIENCE):
        return None
    try:
        content = _content(silo_path, one)
        return content and top_of(content, _WIDTH, _HEIGHT)
    finally:
        _AT_ONCE.release()
