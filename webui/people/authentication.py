"""The user of a request: the local user, a signed-in user, or one named by a trusted proxy.

On loopback there is one user, who started the page. If sign-in is required, the user is known
by the cookie of a session, or by a header that only a trusted proxy may send.
"""

import hashlib
import logging
import re
from dataclasses import dataclass, replace
from http import HTTPStatus

from webui import urls
from webui.http.errors import WebError
from webui.http.messages import Request, cookie
from webui.people.accounts import (
    Account,
    AccountNotFound,
    AccountRefused,
    TooBusy,
    canonical,
    load_account,
    signed_in,
)
from webui.people.roles import NOBODY, Role, User
from webui.people.sessions import LONGEST, Sessions
from webui.people.sign_in_attempts import Attempts
from webui.words.texts import text as _

logger = logging.getLogger("webui")


class SignInRequired(WebError):
    """This address requires sign-in."""

    status = HTTPStatus.UNAUTHORIZED
    code = "sign_in_required"

    def __init__(self) -> None:
        super().__init__(
            _("Sign in first; nothing was changed."),
            {"WWW-Authenticate": f'Form path="{urls.sign_in()}"'},
        )


class NotAllowed(WebError):
    """The user may not do that."""

    status = HTTPStatus.FORBIDDEN
    code = "not_allowed"


class SignInFailed(WebError):
    """The name or the password is wrong; the message does not say which."""

    status = HTTPStatus.FORBIDDEN
    code = "sign_in_failed"


class SignInsBusy(WebError):
    """Too many sign-ins at this moment."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    code = "busy"


@dataclass(frozen=True, slots=True)
class Gate:
    """Sign-in to one Silo, or to a directory of Silos.

    Attributes:
        path: The Silo or the directory, with the accounts.
        local: The user if no sign-in is required; None if it is.
        user_header: Name, in lower case, of the header in which a trusted proxy names the
            signed-in user; empty: no such header is trusted.
        is_below: Whether the page is that of one Silo, and the accounts are those of its
            directory; a session then holds for all its Silos.
    """

    path: str
    local: User | None
    user_header: str
    sessions: Sessions
    attempts: Attempts
    is_below: bool = False

    @classmethod
    def of(cls, path: str, agent: str, *, sign_in: bool, user_header: str = "") -> "Gate":
        """Make a gate; `agent` is the local user if no sign-in is required.

        Args:
            path: The Silo, or the directory of Silos.
            agent: Name of the local user.
            sign_in: Whether sign-in is required.
            user_header: Header with the user's name from a trusted proxy; empty: none.
        """
        local = None if sign_in else User(agent, Role.MANAGER)
        return cls(path, local, user_header.lower(), Sessions(path), Attempts())

    def below(self) -> "Gate":
        """Return the gate for the Silos of the directory, with the same sessions and attempts."""
        return replace(self, is_below=True)

    def user_of(self, request: Request, needed: Role) -> User:
        """Return the user of a request; `NOBODY` if unknown.

        Args:
            needed: The role that it needs.

        Raises:
            NotAllowed: The proxy names a user without an account, and one is needed.
        """
        if self.local is not None:
            return self.local
        named = request.headers.get(self.user_header, "") if self.user_header else ""
        if named and request.by_proxy:
            account = self._account(named)
            if account is not None:
                return _user(account, session=False)
            if needed is Role.ANYONE:
                return NOBODY
            raise NotAllowed("You are signed in at the proxy, but have no account here.")
        session = self.sessions.find(self.secret_of(request))
        account = self._account(session.name) if session is not None else None
        if session is None or account is None or account.stamp != session.stamp:
            return NOBODY
        return _user(account, session=True)

    def begin(self, request: Request, name: str, password: str) -> tuple[User, str]:
        """Sign a user in; return the user and the cookie's header.

        The session is always a new one, and the request's old one ends, so nobody can
        prepare a session for someone else.

        Raises:
            SignInFailed, TooManyAttempts, Busy: See there.
        """
        counted = canonical(name)[:64]
        self.attempts.note(counted, request.remote_addr)
        try:
            account = signed_in(self.path, name, password)
        except TooBusy:
            raise SignInsBusy(
                "Too many people are signing in at the moment. Try again.", {"Retry-After": "5"}
            ) from None
        if account is None:
            logger.warning("sign-in of %r from %s failed", counted, request.remote_addr)
            raise SignInFailed("Wrong name or password.")
        self.attempts.forget(counted, request.remote_addr)
        self.sessions.end(self.secret_of(request))
        secret = self.sessions.begin(account.name, account.stamp)
        return _user(account, session=True), self._cookie(request, secret)

    def end(self, request: Request) -> str:
        """Sign out; return the header that deletes the cookie."""
        self.sessions.end(self.secret_of(request))
        return self._cookie(request, "")

    def secret_of(self, request: Request) -> str:
        """Return the value of the session's cookie; empty if there is none."""
        return cookie(request, self._cookie_name(request))

    def _cookie_name(self, request: Request) -> str:
        """Each Silo has its own, because a browser shares cookies between ports.

        Browsers accept a name that begins with ``__Host-`` only for the path ``/``.
        """
        over_tls = "__Host-" if self._cookie_path == "/" else "__Secure-"
        own = hashlib.sha256(self.path.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        return f"{over_tls if request.scheme == 'https' else ''}silo-{own}"

    @property
    def _cookie_path(self) -> str:
        return urls.above_shelf() if self.is_below else urls.at("/")

    def _cookie(self, request: Request, secret: str) -> str:
        parts = [f"{self._cookie_name(request)}={secret}", f"Path={self._cookie_path}"]
        parts += ["HttpOnly", "SameSite=Lax"]
        parts.append(f"Max-Age={LONGEST if secret else 0}")
        if request.scheme == "https":
            parts.append("Secure")
        return "; ".join(parts)

    def _account(self, name: str) -> Account | None:
        try:
            return load_account(self.path, name)
        except AccountNotFound:
            return None
        except AccountRefused as error:
            logger.error("%s", error)  # noqa: TRY400  # a sentence for the administrator
            return None


ONLY = {
    Role.CURATOR: "Only curators and managers can do this. You are signed in as {name} ({role}).",
    Role.MANAGER: "Only managers can do this. You are signed in as {name} ({role}).",
}
"""English texts of the catalogue."""


def require(user: User, needed: Role) -> None:
    """Check that a user has at least a role.

    Raises:
        SignInRequired: The user is not signed in.
        NotAllowed: The user's role is too low.
    """
    if user.may(needed):
        return
    if not user.may(Role.VIEWER):
        raise SignInRequired
    raise NotAllowed(
        ONLY[needed],
        name=user.name,
        role=_(user.role.label),
    )


_OWN_PATH = re.compile(r"/(?![/\\])[!-\[\]-~]*")


def own_path(text: str) -> str:
    """Return a path of this page for a redirect; the home page for any other address."""
    home = urls.at("/")
    return text if _OWN_PATH.fullmatch(text) and text.startswith(home) else home


def _user(account: Account, *, session: bool) -> User:
    return User(account.name, account.role, session, account.language, has_account=True)
