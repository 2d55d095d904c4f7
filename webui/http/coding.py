"""Answers under gzip, for clients that accept it; the entity tag of each form of an answer.

A page holds no secret that other sites could guess by its length: forms have no tokens (the
origin of a change is checked), passwords and sessions are never shown. The contents of records
may be secret as well, so what another site makes a browser request is not compressed.

Source: RFC 9110, sections 8.4, 8.8.3.3 and 12.5.3; RFC 1952; BREACH (Gluck, Harris, Prado, 2013).
"""

import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from http import HTTPStatus

from politeweb.codings import accepts_gzip
from webui.http.messages import (
    GZIP_TAG,
    REVISION,
    Request,
    Response,
    Streamed,
)

KINDS = frozenset(
    {
        "text/html",
        "text/css",
        "text/javascript",
        "text/csv",
        "text/xml",
        "application/json",
        "application/jsonl",
        "image/svg+xml",
    }
)
"""The media types that are compressed; stored files, which are text, XML or others, are not."""
LEAST = 1000
"""Bytes below which an answer fits one packet anyway."""
_LEVEL = 5  # of a search page: 0.6 ms for 88 kB, which become 12; level 9 takes 1.2 ms, for 0.3 kB
_WITH_HEADER = 31
_OTHER_SITES = frozenset({"cross-site", "same-site"})


def labelled(request: Request, response: Response) -> Response:
    """Give an answer its entity tag, and its coding if it is to be compressed.

    What is sent under gzip has a tag of its own, because tags are strong (RFC 9110, section
    8.8.3.3); `webui.http.messages.entity_tags` takes both for the same.
    """
    headers, tag = dict(response.headers), _tag(request, response)
    if _is_coded(request, response):
        headers["Content-Encoding"] = "gzip"
        tag = tag and f'{tag[:-1]}{GZIP_TAG}"'
    return replace(response, headers={**headers, **({"ETag": tag} if tag else {})})


def packed(response: Response) -> Response:
    """Compress the body of an answer if it is labelled so."""
    if "Content-Encoding" not in response.headers:
        return response
    if not isinstance(response.body, bytes):
        return replace(response, body=_Packed(response.body), content_length=None)
    is_kept = "immutable" in response.headers.get("Cache-Control", "")
    return replace(response, body=(_packed_once if is_kept else _pack)(response.body))


def _tag(request: Request, response: Response) -> str:
    """The given tag, followed by a digest if it is a revision; else a digest of the body.

    A page shows more than the record's revision: who is signed in, names of sets, files that
    were changed with other tools.
    """
    tag = response.headers.get("ETag", "")
    if not isinstance(response.body, bytes) or (tag and not REVISION.fullmatch(tag)):
        return tag
    if not tag and not (request.is_safe and response.status == HTTPStatus.OK):
        return ""
    digest = hashlib.sha256(response.body).hexdigest()[:16]
    return f'{tag[:-1]}-{digest}"' if tag else f'"{digest}"'


def _is_coded(request: Request, response: Response) -> bool:
    if response.content_type.partition(";")[0] not in KINDS:
        return False
    if isinstance(response.body, bytes) and len(response.body) < LEAST:
        return False
    if request.headers.get("sec-fetch-site") in _OTHER_SITES:
        return False
    return accepts_gzip(request.headers.get("accept-encoding", ""))


def _pack(body: bytes) -> bytes:
    return zlib.compress(body, _LEVEL, wbits=_WITH_HEADER)


_packed_once = lru_cache(maxsize=32)(_pack)  # static files


class _Packed:
    """A streamed body under gzip: each block is sent when it is made."""

    def __init__(self, body: Streamed) -> None:
        self._body, self._is_ended = body, False
        self._packer = zlib.compressobj(_LEVEL, wbits=_WITH_HEADER)

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._is_ended:
            raise StopIteration
        block = next(self._body, None)
        if block is not None:
            return self._packer.compress(block) + self._packer.flush(zlib.Z_SYNC_FLUSH)
        self._is_ended = True
        return self._packer.flush()

    def close(self) -> None:
        """Close the body."""
        self._body.close()
