"""What a browser showed of a page when it was crawled, as a picture out of the archive."""

from recordsilo.extras import lacking
from silocrawl.addresses import PICTURE
from silocrawl.captures import Captures, ReplayedCapture
from silocrawl.limited_process import output_of

MOST_BYTES = 20_000_000
"""Of a screenshot that is shown."""
_BEGIN, _END = b"\x89PNG\r\n\x1a\n", b"IEND\xaeB`\x82"


def screenshot(silo_path: str, url: str, timestamp: str) -> ReplayedCapture | None:
    """Return the capture of a page's picture; None if there is none of that time.

    Args:
        url: The page.
        timestamp: 14 digits.
    """
    found = Captures(silo_path).of(f"{PICTURE}{url}")
    return next((one for one in found if one.timestamp == timestamp), None)


def content_of(silo_path: str, one: ReplayedCapture) -> bytes:
    """Read a screenshot; empty if what is there is no whole PNG, or a larger one.

    Raises:
        CaptureUnreadable: It is not where the index says.
    """
    captures = Captures(silo_path)
    whole = captures.with_body(one.url, one.digest) if one.is_revisit else one
    content = captures.begin(whole, MOST_BYTES).content
    return content if content.startswith(_BEGIN) and content.endswith(_END) else b""


def can_make_small() -> bool:
    """Whether Pillow is installed, which only the machine needs that crawls."""
    return lacking("PIL", "small pictures", "render") is None


def top_of(content: bytes, width: int, height: int) -> bytes | None:
    """Return the top of a PNG, made as wide as ``width``, and at most as high as ``height``.

    Strangers may have made it, so a process with limits reads it; it needs Pillow. Empty if it
    cannot be read, and None if the process was killed or took too long.

    Args:
        content: The PNG.
        width, height: Pixels.

    Raises:
        OSError: No process can be started.
    """
    return output_of("top", str(width), str(height), given=content)
