"""A directory of Silos → a WSGI application, with each Silo under ``/silos/<name>/``."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from recordsilo import Granary, Silo
from webui.api.document import document
from webui.app import app_of
from webui.directory import Directory
from webui.http.errors import WebError
from webui.http.messages import WsgiApp, from_environ, mounted
from webui.http.security import AddressPolicy, forwarded
from webui.open_silos import OpenSilos
from webui.people.authentication import Gate
from webui.people.roles import Role
from webui.route import Scope
from webui.routes import ROUTES, table
from webui.site import SiteSettings

SILOS = "/silos/"


class Shelf:
    """The WSGI application of a directory of Silos.

    Args:
        make_app: A Silo's own application.
        policy: Under which addresses the page answers.
        gate: Who may see the list; by default everybody on this machine.
        oai: Whether all records are given to harvesters.
    """

    def __init__(
        self,
        granary: Granary,
        make_app: Callable[[Silo], WsgiApp],
        policy: AddressPolicy,
        gate: Gate | None = None,
        *,
        oai: bool = False,
    ) -> None:
        silos, settings = OpenSilos(granary, make_app), SiteSettings(policy=policy, oai=oai)
        self._site = Directory.of(silos, settings, document, gate)
        self._own = app_of(self._site)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        """Pass the request to the Silo that it names, or answer it as the directory."""
        return self._of_silo(environ, start_response) or self._own(environ, start_response)

    def close(self) -> None:
        """Close the Silos that were opened."""
        self._site.close()

    def _of_silo(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes] | None:
        """The answer of a Silo; None if the request names none, or one that cannot be opened.

        Why it cannot be opened is for those to know who may see the list: the address has a line
        in the route table, whose handler opens the Silo again.
        """
        path = mounted(environ)[1]
        name, slash, rest = path.removeprefix(SILOS).partition("/")
        if not (path.startswith(SILOS) and name and slash) or self._hides(environ, f"/{rest}"):
            return None
        with contextlib.suppress(WebError, OSError, sqlite3.Error):
            below = _below(environ, name)
            return self._site.silos.answer(unquote(name), below, start_response)
        return None

    def _hides(self, environ: dict[str, Any], path: str) -> bool:
        """Whether who asks has to sign in before it is told whether there is such a Silo.

        Args:
            path: Below the Silo. What it gives to programs without a sign-in is not hidden.
        """
        gate, policy = self._site.gate, self._site.settings.policy
        if gate.local is not None:
            return False
        with contextlib.suppress(WebError):
            request = forwarded(from_environ(environ), policy)
            if not request.is_safe or gate.user_of(request, Role.VIEWER).name:
                return False
            route = table(Scope.SILO).find(request.method, path).route
            is_open = route.needs is Role.ANYONE or route.admits is not None
            return not is_open or route in ROUTES
        return True


def _below(environ: dict[str, Any], segment: str) -> dict[str, Any]:
    """Return the request as the Silo of that segment sees it."""
    silo = unquote_to_bytes(SILOS + segment).decode("latin-1")
    below = str(environ.get("PATH_INFO", "")).split("/", 3)[3:]
    script = str(environ.get("SCRIPT_NAME") or "").rstrip("/")
    return environ | {"SCRIPT_NAME": script + silo, "PATH_INFO": "/" + "".join(below)}
