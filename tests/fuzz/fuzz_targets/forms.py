"""Requests to the page: every address, forms in each of their kinds, and odd heads."""

import io
import json
import logging
import os
import re
import shutil
from collections.abc import Hashable, Iterable, Sequence
from email.utils import formatdate
from random import Random
from urllib.parse import quote, urlencode

from fuzzing.mutators import changed_json
from fuzzing.target import Target

from fuzz_targets.rules import DC
from recordsilo import Silo
from webui.app import create_app
from webui.route import Scope
from webui.routes import table
from webui.site import SiteSettings

_RECORD = "oai:x:1"
_REAL = {"record": quote("oai+x+1"), "version": "w", "path...": "oai_dc", "name": "tidy",
         "action": "stop", "job": "1", "token": "1", "topic": "search", "form": "harvest",
         "part": "top", "key": "author:" + "0" * 32, "report": "pr",
         "queue": "uris-to-crawl", "number": "1", "picture": "crawled.png",
         "engine": "main", "package": "own-cp00001-20261128110000"}  # fmt: skip
_FIELDS = {
    "identifier": "oai:x:9", "name": "w2", "clone_of": "1", "comment": "why", "path": "a.txt",
    "new_path": "b/c.txt", "title": "Kept", "search": "q=tides", "do": "preview", "changes": "1",
    "change-0-do": "replace pattern", "change-0-field": "title", "change-0-pattern": "T(i)",
    "change-0-by": "\\1", "content": DC.decode(), "revision": "3", "kind": "harvest", "state": "",
    "url": "http://127.0.0.1:9/oai", "username": "ada", "password": "secret", "n": "1", "sort": "",
    "field": "subject", "values": "physics", "value": "Physics", "record": _RECORD, "mark": "x",
    "0-name": "title", "0-text": "T", "0-lang": "en", "from": "1", "decision": "ours", "set": "a",
    "version": "w", "confirm": "yes", "page": "1", "file": "oai_dc", "limit": "10", "parent": "1",
}  # fmt: skip
_BOUNDARY = "xyz"
_LOGGED = "fuzzed request"


class Forms(Target):
    promise = (
        "No request to the page is answered with a 5xx, a traceback or a head that was "
        "broken by what was sent; a refusal of JSON has the one shape of errors, or COUNTER's."
    )
    words = (
        b"GET", b"POST", b"PUT", b"DELETE", b"HEAD", b"\n", b"\n\n", b"Accept: application/json",
        b"Content-Type: ", b"multipart/form-data; boundary=xyz", b"boundary*=idna''%ff",
        b"application/json", b"application/x-www-form-urlencoded", b"--xyz\r\n", b"--xyz--",
        b"Content-Disposition: form-data; ", b'name="', b'filename="', b"filename*=idna''%ff",
        b"filename*0*=utf-8''%E9", b'"\r\n\r\n', b"Range: bytes=0-", b"If-Match: ",
        b"If-None-Match: *",        b"If-Modified-Since: ", b"Cookie: silo=", b"X-Forwarded-For: ",
        b"Accept-Language: ",
        b"Accept-Encoding: gzip",
        b"Sec-Fetch-Site: cross-site", b"Origin: ", b"Host: ", b"%2e%2e", b"%2F", b"%00", b"%FF",
        b"\\ud800", b"%ED%A0%80", b"&", b"=", b"?", b".json", b"..", b"//", b"oai%2Bx%2B1",
        b"Content-Length: ", b"Transfer-Encoding: chunked", b"{", b"}", b"[", b'":"', b"null",
        *(name.encode() for name in _FIELDS),
    )  # fmt: skip
    largest = 16_384
    iterations = 100
    seconds = 5.0

    def __init__(self, scratch: str) -> None:
        super().__init__(scratch)
        self._pristine = os.path.join(scratch, "pristine")
        with Silo(self._pristine) as silo:
            for number in range(3):
                record = silo.get_item(f"oai:x:{number}")
                record.put_stream("oai_dc", DC, "1", True)
                record.clone_version("1", "w")
            silo.search("tides")
        self._silo: Silo | None = None
        self._log = _Errors()
        logging.getLogger("webui").addHandler(self._log)
        self._begin()

    def _begin(self) -> None:
        """Serve the Silo as it was at first."""
        if self._silo is not None:
            self._silo.close()
        path = os.path.join(self.scratch, "silo")
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(self._pristine, path)
        self._silo = Silo(path, create=False)
        # by_worker: jobs are noted and not done, so nothing is harvested from anywhere
        self._app = create_app(self._silo, SiteSettings(agent="fuzz", by_worker=True))

    def close(self) -> None:
        self._silo.close()
        logging.getLogger("webui").removeHandler(self._log)

    def seeds(self) -> Iterable[bytes]:
        found = []
        for number, route in enumerate(table(Scope.SILO).routes):
            if "/events" in route.pattern:
                continue  # a stream without end
            path = re.sub(r"\{([^}]*)\}", lambda match: _REAL[match[1]], route.pattern)
            if route.method == "GET":
                accept = ("text/html", "application/json")[number % 2]
                found.append(f"GET {path}\nAccept: {accept}\n\n".encode())
            else:
                found.append(_request(route.method, path, number % 3))
        return found

    def mutated(self, random: Random, pool: Sequence[bytes]) -> bytes:
        data = super().mutated(random, pool)
        head, blank, body = random.choice(pool).partition(b"\n\n")
        if body[:1] == b"{" and random.random() < 0.7:
            data = head + blank + changed_json(random, body, list(_FIELDS))
        return data

    def check(self, data: bytes) -> Hashable:
        """The input: method and target, heads, a line each; a blank line; the body."""
        environ = _environ(data)
        if environ["PATH_INFO"].endswith("/events"):
            return "a stream"
        begun: list[tuple[str, list[tuple[str, str]]]] = []
        self._log.told.clear()
        answer = self._app(environ, lambda status, heads, _=None: begun.append((status, heads)))
        body = b"".join(answer)
        getattr(answer, "close", lambda: None)()
        [(line, heads)] = begun
        status = int(line[:3])
        if status < 400 and environ["REQUEST_METHOD"] not in {"GET", "HEAD"}:
            self._begin()
        assert status < 500, f"answered {line}: {body[:500]!r} {self._log.told}"
        assert not self._log.told
        for name, value in heads:
            assert not re.search(r"[\x00-\x1f]", _text(name) + _text(value)), (name, value)
        kind = dict(heads).get("Content-Type", "")
        if status >= 400 and "json" in _text(kind) and environ["REQUEST_METHOD"] != "HEAD":
            told = json.loads(body)
            if "r51" in environ["PATH_INFO"] and "error" not in told:  # as COUNTER's API has it
                return environ["REQUEST_METHOD"], status, told["Code"], bool(told["Message"])
            error = told["error"]
            assert error["status"] == status
            return environ["REQUEST_METHOD"], status, error["code"]
        return environ["REQUEST_METHOD"], status


class _Errors(logging.Handler):
    """What the page logs as an error."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.told.append(self.format(record))


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


def _request(method: str, path: str, kind: int) -> bytes:
    if kind == 0:
        body, name = urlencode(_FIELDS).encode(), "application/x-www-form-urlencoded"
    elif kind == 1:
        body, name = json.dumps(_FIELDS).encode(), "application/json"
    else:
        parts = [f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
                 for key, value in list(_FIELDS.items())[:20]]  # fmt: skip
        parts.append(
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="part"; filename="a.csv"\r\n'
            "Content-Type: text/csv\r\n\r\nidentifier,mark,title\noai:x:1,m,T\r\n"
        )
        body = ("".join(parts) + f"--{_BOUNDARY}--\r\n").encode()
        name = f"multipart/form-data; boundary={_BOUNDARY}"
    date = formatdate(0, usegmt=True)
    return f"{method} {path}\nContent-Type: {name}\nIf-Modified-Since: {date}\n\n".encode() + body


def _environ(data: bytes) -> dict:
    head, _, body = data.partition(b"\n\n")
    first, *lines = head.decode("latin-1").split("\n")
    method, _, target = first.partition(" ")
    target = target if target.startswith("/") else "/" + target
    path, _, query = target.partition("?")
    environ = {
        "REQUEST_METHOD": method or "GET", "PATH_INFO": _unquoted(path), "QUERY_STRING": query,
        "REQUEST_URI": target, "SCRIPT_NAME": "", "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "127.0.0.1",
        "REMOTE_ADDR": "127.0.0.1", "wsgi.url_scheme": "http", "wsgi.errors": io.StringIO(),
        "wsgi.version": (1, 0), "wsgi.multithread": True, "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }  # fmt: skip
    for line in lines[:40]:
        name, colon, value = line.partition(":")
        if colon and re.fullmatch(r"[A-Za-z0-9-]+", name):
            key = name.upper().replace("-", "_")
            prefix = "" if key in {"CONTENT_TYPE", "CONTENT_LENGTH"} else "HTTP_"
            environ[prefix + key] = value.strip().replace("\0", "")
    environ["CONTENT_LENGTH"] = str(len(body))
    environ["wsgi.input"] = io.BytesIO(body)
    return environ


def _unquoted(path: str) -> str:
    """As servers give it: decoded once, one character a byte."""
    return re.sub(r"%([0-9A-Fa-f]{2})", lambda match: chr(int(match[1], 16)), path)
