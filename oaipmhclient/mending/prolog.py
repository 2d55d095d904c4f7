"""Remove bytes before and after a response (pure).

PHP writes its notices there, proxies their banners, editors a byte order mark.

Source: XML 1.0, sections 2.8, "Prolog and Document Type Declaration", and 4.3.3.
"""

import re
from dataclasses import dataclass

from oaipmhclient.mending.doctypes import Doctype, read_doctype
from oaipmhclient.mending.encodings import utf8_page
from oaipmhclient.mending.repairs import Repair, Repairs

_P = rb"(?:[A-Za-z_][\w.\-]{0,63}:)?"
_ROOT = re.compile(rb"<(?P<prefix>" + _P + rb")OAI-PMH(?P<attributes>(?:\s[^<>]*+)?)>")
_ROOT_END = re.compile(rb"</" + _P + rb"OAI-PMH\s*+>")
_ASIDE = rb"\s++|<\?(?!xml\s)(?:[^<>?]|\?(?!>))*+\?>|<!--(?:[^-]|-(?!->))*+-->"
_SOUND_BEFORE = re.compile(rb"\s*+(?:<\?xml\s(?:[^<>?]|\?(?!>))*+\?>)?(?:" + _ASIDE + rb")*+")
_SOUND_AFTER = re.compile(rb"(?:" + _ASIDE + rb")*+")
_DOCTYPE = re.compile(rb"<!DOCTYPE\b")
_LONGEST_PROLOG = 1 << 20


@dataclass(frozen=True, slots=True)
class SeparatedResponse:
    """A response, separated from other bytes.

    Attributes:
        answer: From the root's begin tag to its end tag, or to the end if that is missing.
        start: Number of bytes before it.
        prefix: The prefix of the root element, with its colon; may be empty.
        attributes: The root's attributes, as written.
        inner: Where the root's contents begin and end in ``answer``.
        is_whole: Whether the root's end tag was received.
        doctype: The document type declaration.
        repairs: Kind of repair → number.
    """

    answer: bytes
    start: int
    prefix: bytes
    attributes: bytes
    inner: tuple[int, int]
    is_whole: bool
    doctype: Doctype
    repairs: Repairs

    @classmethod
    def of(cls, body: bytes) -> "SeparatedResponse | None":
        """Find the response in the bytes received; None if there is none."""
        page, repairs = utf8_page(body)
        found = _find_root(page)
        if found is None:
            return None
        root, doctype, has_junk = found
        over = max(_ROOT_END.finditer(page, root.end()), key=re.Match.start, default=None)
        end = over.end() if over else len(page)
        repairs[Repair.JUNK_BEFORE] += has_junk or page[:1].isspace()
        repairs[Repair.JUNK_AFTER] += not _SOUND_AFTER.fullmatch(page, end)
        repairs[Repair.DOCTYPE] += doctype != Doctype()
        inner = root.end() - root.start(), (over.start() if over else end) - root.start()
        return cls(
            answer=page[root.start() : end],
            start=root.start(),
            prefix=root["prefix"],
            attributes=root["attributes"],
            inner=inner,
            is_whole=over is not None,
            doctype=doctype,
            repairs=+repairs,
        )


def _find_root(page: bytes) -> tuple[re.Match[bytes], Doctype, bool] | None:
    """Return the root's begin tag, the DOCTYPE before it, and whether there is junk before it."""
    begin, limit = len(b"\xef\xbb\xbf") if page.startswith(b"\xef\xbb\xbf") else 0, _LONGEST_PROLOG
    root = _ROOT.search(page, begin, limit)
    declared = _DOCTYPE.search(page, begin, root.start() if root else limit)
    if declared is None:
        return root and (root, Doctype(), not _SOUND_BEFORE.fullmatch(page, begin, root.start()))
    read = read_doctype(page[:limit].decode("latin-1"), declared.end())
    if read is None:
        return None
    doctype, end = read
    root = _ROOT.search(page, end, limit)
    if root is None:
        return None
    is_sound = _SOUND_BEFORE.fullmatch(page, begin, declared.start()) and _SOUND_AFTER.fullmatch(
        page, end, root.start()
    )
    return root, doctype, not is_sound
