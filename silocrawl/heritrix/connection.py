"""Requests to a Heritrix: its certificate pinned, with limits, errors as sentences.

Source: Heritrix 3 REST API. It makes itself a certificate for no host, so that only the pinned
certificate says who answers.
"""

import hashlib
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import requests
import urllib3
from requests.auth import HTTPBasicAuth, HTTPDigestAuth

from politeweb.addresses import is_loopback, parts_of
from politeweb.connections import ClosedBefore
from politeweb.failures import causes_of, reason_of
from politeweb.sessions import BoundedAdapter
from politeweb.settings import HttpSettings
from silocrawl.heritrix.errors import AnswerInvalid, HeritrixError, LoginRefused, NoAnswer

MOST_BYTES = 64 * 1024 * 1024
"""Of an answer that is read as a whole."""
_PIECE = 65_536
_SECONDS_TO_CONNECT = 10.0
_SETTINGS = HttpSettings(connect_timeout=_SECONDS_TO_CONNECT)
SECONDS_OF_ANSWER = 60.0
"""For one wait; a whole answer may take `_LONGEST`."""
_LONGEST = 900.0
_TRUST = "give --certificate FILE; silo crawl heritrix trust shows it"


class AddressRefused(HeritrixError, ValueError):
    """The address of a Heritrix, a job or a file that cannot be one."""


class Unanswered(NoAnswer):
    """The request was sent, and no answer came in time: it may yet be carried out."""


class _Pinned(BoundedAdapter):
    """Connects only to a server that has a certificate."""

    def __init__(self, digest: str) -> None:
        self._digest = digest
        super().__init__(_LONGEST)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, assert_fingerprint=self._digest, **kwargs)


def fingerprint(certificate: str, algorithm: str = "sha256") -> str:
    """Return the digest of the first certificate in PEM, as hexadecimal digits.

    Raises:
        ValueError: There is none.
    """
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    first = certificate[certificate.index(begin) :].partition(end)[0] + end
    return hashlib.new(algorithm, ssl.PEM_cert_to_DER_cert(first)).hexdigest()


def served_certificate(url: str) -> str:
    """Return the certificate that a server has now, in PEM; it may be anybody's.

    Raises:
        NoAnswer: There is no TLS server.
    """
    parts = parts_of(url)
    try:
        where = (parts.hostname or "", parts.port or 443)
        return ssl.get_server_certificate(where, timeout=_SECONDS_TO_CONNECT)
    except (OSError, ValueError) as error:
        raise NoAnswer(url, reason_of(error, _SETTINGS)) from None


@dataclass(slots=True)
class Connection:
    """Sends requests to one Heritrix; threads may share it.

    Args:
        url: Such as ``https://127.0.0.1:8443``; ``http:`` only on this machine.
        user: The login.
        password: Likewise.
        certificate: The server's own, in PEM. Without it, on this machine, the one that the
            server has when it is first asked; elsewhere one signed by a public authority.
        basic: Send the password itself, as a proxy may want; else only digests of it.
        timeout: Seconds for one wait.

    Raises:
        AddressRefused: The address is none.
    """

    url: str
    user: str
    password: str = field(repr=False)
    certificate: str = ""
    basic: bool = False
    timeout: float = SECONDS_OF_ANSWER
    _own: threading.local = field(default_factory=threading.local, repr=False)

    def __post_init__(self) -> None:
        parts = parts_of(self.url)
        self.url = f"{parts.scheme}://{parts.netloc}"
        try:
            is_valid = bool(parts.hostname) and (parts.port or 443) > 0
        except ValueError:
            is_valid = False
        if parts.scheme not in {"https", "http"} or not is_valid or "@" in parts.netloc:
            raise AddressRefused("the address of Heritrix is one such as https://127.0.0.1:8443")
        if not (self.user.isascii() and self.user.isprintable()):
            raise AddressRefused(f"{self.user!r} is not a login of a Heritrix")
        if parts.scheme == "http" and not self.is_local:
            raise AddressRefused(f"{self.url} is not secure: use https")

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        return is_loopback(parts_of(self.url).hostname or "")

    @contextmanager
    def answer(
        self,
        method: str,
        path: str,
        *,
        form: Mapping[str, str] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        read_timeout: float | None = None,
    ) -> Iterator[requests.Response]:
        """Send a request, and give its answer with the body unread; redirects are not followed.

        Args:
            path: Quoted, from the root.
            form: Sent as a form.
            body: Sent as it is.
            headers: More of them.
            read_timeout: Seconds for one wait, instead of `timeout`.

        Raises:
            NoAnswer: The connection failed; `Unanswered` if only the answer did not come.
            LoginRefused: The server does not accept the login, or is not the right one.
        """
        limits = (_SECONDS_TO_CONNECT, self.timeout if read_timeout is None else read_timeout)
        asked = {
            "data": form if body is None else body, "timeout": limits,
            "headers": {"Accept": "application/xml", "Accept-Encoding": "identity",
                        **(headers or {})},
        }  # fmt: skip
        with self._errors(), self._sent(method, self.url + path, asked) as found:
            if found.status_code in {401, 403}:
                self._own.session = None
                raise LoginRefused(f"{self.url} does not accept the login of {self.user}")
            yield found

    def _sent(self, method: str, url: str, asked: dict[str, Any]) -> requests.Response:
        for is_again in (False, True):
            try:
                return self._session().request(
                    method, url, allow_redirects=False, stream=True, **asked
                )
            except requests.exceptions.SSLError:
                # Started anew, a Heritrix of this machine may have made another certificate.
                self._own.session = None
                if is_again or self.certificate or not self.is_local:
                    raise
            except requests.ConnectionError as error:
                # 3.13.0 may close the connection after it has refused a POST without a login.
                if is_again or not any(isinstance(one, ClosedBefore) for one in causes_of(error)):
                    raise
        raise AssertionError

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._own, "session", None)
        if session is None:
            session = self._own.session = self._new_session()
        return session

    def _new_session(self) -> requests.Session:
        session = requests.Session()
        session.trust_env = False  # no netrc, no proxy, no REQUESTS_CA_BUNDLE
        login = self.user.encode(), self.password.encode()
        digest_login = HTTPDigestAuth(self.user, self.password)
        session.auth = HTTPBasicAuth(*login) if self.basic else digest_login
        if self.url.startswith("http:") or not (self.certificate or self.is_local):
            session.mount("http://", adapter := BoundedAdapter(_LONGEST))
            session.mount("https://", adapter)
            return session
        try:
            digest = fingerprint(self.certificate or served_certificate(self.url))
        except ValueError:
            raise LoginRefused("the file of the certificate holds none in PEM") from None
        session.mount("https://", _Pinned(digest))
        session.verify = False  # the digest is what is verified
        return session

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except requests.exceptions.SSLError as error:
            if self.certificate:
                said = f"{self.url} has another certificate than the one given"
            else:
                said = f"the certificate of {self.url} cannot be verified ({error}); {_TRUST}"
            raise LoginRefused(said) from None
        except requests.exceptions.ReadTimeout:
            raise Unanswered(self.url, "none came in time") from None
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            raise NoAnswer(self.url, reason_of(error, _SETTINGS)) from None

    def whole(self, method: str, path: str, **more: Any) -> tuple[int, bytes]:
        """Send a request, and return its status and body; see `answer`.

        Raises:
            AnswerInvalid: It is larger than `MOST_BYTES`.
        """
        with self.answer(method, path, **more) as found:
            read = bytearray()
            for piece in pieces(found):
                read += piece
                if len(read) > MOST_BYTES:
                    raise AnswerInvalid(f"{self.url}{path} sends more than {MOST_BYTES:,} bytes")
            return found.status_code, bytes(read)


def pieces(answer: requests.Response) -> Iterator[bytes]:
    """Yield the body as it comes."""
    while piece := answer.raw.read1(_PIECE):
        yield piece


def quoted(*names: str) -> str:
    """Return the path of names, each quoted.

    Raises:
        AddressRefused: One of them is empty, leads elsewhere, or is not printable.
    """
    for name in names:
        if name in {"", ".", ".."} or not name.isprintable() or "/" in name or "\\" in name:
            raise AddressRefused(f"{name!r} is not a valid name of a job or a file")
    return "".join(f"/{quote(name, safe='')}" for name in names)
