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
from webui.http.messages import WsgiApp, mounted
from webui.http.security import AddressPolicy
from webui.open_silos import OpenSilos
from webui.people.authentication import Gate
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
        name, slash, _rest = path.removeprefix(SILOS).partition("/")
        if not (path.startswith(SILOS) and name and slash):
            return None
        with contextlib.suppress(WebError, OSError, sqlite3.Error):
            below = _below(environ, name)
            return self._site.silos.answer(unquote(name), below, start_response)
        return None


def _below(environ: dict[str, Any], segment: str) -> dict[str, Any]:
    """Return the request as the Silo of that segment sees it."""
    silo = unquote_to_bytes(SILOS + segment).decode("latin-1")
    below = str(environ.get("PATH_INFO", "")).split("/", 3)[3:]
    script = str(environ.get("SCRIPT_NAME") or "").rstrip("/")
    return environ | {"SCRIPT_NAME": script + silo, "PATH_INFO": "/" + "".join(below)}
