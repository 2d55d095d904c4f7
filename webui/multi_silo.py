"""A directory of Silos as one page: a list of them, and each under ``/silos/<name>/``."""

import contextlib
import logging
import os
import sqlite3
from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, unquote, unquote_to_bytes, urlencode

from recordsilo import Granary, Silo
from silofleet.wishes import wishes_path
from webui import all_silos_search, urls
from webui.app import WsgiApp
from webui.charts.by_year import by_year, years_of_all
from webui.fleet.page import FLEET, METRICS, FleetPage, is_of_fleet
from webui.http import security
from webui.http.errors import UNFORESEEN, MethodNotAllowed, NotFound, WebError
from webui.http.machine_errors import from_machine
from webui.http.messages import (
    Request,
    Response,
    from_environ,
    mounted,
    prefers_json,
    redirect,
    target_path,
)
from webui.open_silos import OpenSilos
from webui.people.authentication import Gate, SignInRequired, require
from webui.people.roles import NOBODY, Role, User
from webui.rendering import PAGE, STATIC, error_answer, html, json_answer, static_content
from webui.shelf_door import SIGN_IN, SIGN_OUT, ShelfDoor
from webui.silo_lines import SiloLines

logger = logging.getLogger("webui")
SILOS = "/silos"
ON_A_PAGE = 50
"""Silos on one page of the list."""


class Shelf:
    """The WSGI application of a directory of Silos.

    Args:
        granary: The directory.
        make_app: A Silo's own application.
        policy: Under which addresses the page answers.
        gate: Who may see the list; by default everybody on this machine.
    """

    def __init__(
        self,
        granary: Granary,
        make_app: Callable[[Silo], WsgiApp],
        policy: security.Policy,
        gate: Gate | None = None,
    ) -> None:
        self._granary, self._policy = granary, policy
        path = os.path.abspath(granary.dir_of_silos)
        self._gate = gate or Gate.of(path, "page", sign_in=False)
        self._door = ShelfDoor(self._gate, self._name)
        self._silos, self._lines = OpenSilos(granary, make_app), SiloLines(granary)
        self._search = all_silos_search.AllSilosSearch(granary)
        is_fleet = os.path.isfile(wishes_path(granary.dir_of_silos))
        self._fleet = FleetPage(granary.dir_of_silos, self._name) if is_fleet else None

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        """Pass the request to the Silo that it names, or show the list."""
        base, path = mounted(environ)
        urls.mount(base)
        parts = path.split("/", 3)
        try:
            if path.startswith(SILOS + "/") and parts[2] and (len(parts) > 3):
                with contextlib.suppress(NotFound):  # `_own` says so, to whom it may
                    below = _below(environ, parts[2])
                    return self._silos.answer(unquote(parts[2]), below, start_response)
            response = self._own(environ)
        except WebError as error:
            response = self._refused(environ, error)
        except (OSError, sqlite3.Error) as error:
            logger.exception("%s cannot be shown", path)
            response = self._refused(environ, from_machine(error))
        except Exception:  # the process boundary: reported here, and without details there
            logger.exception("%s %s", environ["REQUEST_METHOD"], environ["PATH_INFO"])
            response = self._refused(environ, WebError(UNFORESEEN))
        return _sent(response, start_response)

    def close(self) -> None:
        """Close the Silos that were opened."""
        self._silos.close()
        if self._fleet is not None:
            self._fleet.close()

    def _own(self, environ: dict[str, Any]) -> Response:
        """Answer with the list, or one of its static files."""
        request = security.forwarded(from_environ(environ), self._policy)
        security.check(request, self._policy)
        return self._answer(request, as_json=_asks_json(environ))

    def _answer(self, request: Request, *, as_json: bool) -> Response:
        path = request.raw_path
        name = path.removeprefix("/static/")
        if path in {SIGN_IN, SIGN_OUT}:
            return self._door.answer(request, as_json=as_json)
        if not (request.is_safe or (self._fleet and is_of_fleet(path))):
            raise MethodNotAllowed(request.method, ("GET", "HEAD"))
        if path.startswith("/static/") and name in STATIC:
            return Response(200, static_content(name), STATIC[name])
        user = self._gate.user_of(request, Role.VIEWER)
        try:
            require(user, Role.VIEWER)
        except SignInRequired:
            if all_silos_search.is_of_node(request, self._granary.dir_of_silos):
                return self._search.answer(request, self._name, as_json=True)
            if as_json or not request.is_safe or path == METRICS:
                raise
            query = f"?{urlencode(request.pairs)}" if request.pairs else ""
            return redirect(urls.sign_in(urls.at(path) + query))
        return self._page(request, user, as_json=as_json)

    def _page(self, request: Request, user: User, *, as_json: bool) -> Response:
        signed_in = user.name if user.session else ""
        path = request.raw_path
        if self._fleet is not None and is_of_fleet(path):
            return self._fleet.answer(request, user, as_json=as_json)
        if path in all_silos_search.PATHS:
            return self._search.answer(request, self._name, as_json=as_json, signed_in=signed_in)
        if path not in {"/", SILOS, SILOS + "/", SILOS + ".json"}:
            return _towards(path, self._granary)
        names = self._lines.names()
        start = min(request.start, max(0, len(names) - 1) // ON_A_PAGE * ON_A_PAGE)
        lines = self._lines.lines(names[start : start + ON_A_PAGE])
        places = {one.name: urls.at(f"{SILOS}/{quote(one.name)}/") for one in lines}
        twin = urls.at(SILOS + ".json")
        if as_json:
            silos = [one.to_json(places[one.name]) for one in lines]
            before, after = _steps(twin, start, len(names))
            steps = {"previous": before, "next": after}
            return json_answer({"total": len(names), **steps, "silos": silos})
        bins = years_of_all(one.years for one in lines)
        before, after = _steps(urls.at("/"), start, len(names))
        told: dict[str, Any] = {
            "site_name": self._name,
            "twin_url": urls.with_query(twin, {"start": start or None}),
            "page_url": urls.at(SILOS),
            "total": len(names),
            "places": places,
            "years": bins and (bins[0].first, bins[-1].last),
            "pictures": {one.name: by_year(one.years, bins) for one in lines if one.years},
            "previous_url": before,
            "next_url": after,
            "fleet_url": urls.at(FLEET) if self._fleet is not None else "",
            "signed_in": signed_in,
        }
        return Response(200, html("silos.mako", **told, user=NOBODY, lines=lines), PAGE)

    @property
    def _name(self) -> str:
        return self._granary.dir_of_silos.rstrip("/").rpartition("/")[2] or "Silos"

    def _refused(self, environ: dict[str, Any], error: WebError) -> Response:
        return error_answer(self._name, error, as_json=_asks_json(environ))


def _asks_json(environ: dict[str, Any]) -> bool:
    is_twin = target_path(environ).endswith(".json")
    return is_twin or prefers_json(environ["REQUEST_METHOD"], environ.get("HTTP_ACCEPT", ""))


def _steps(path: str, start: int, total: int) -> tuple[str | None, str | None]:
    """The addresses of the pages of the list before and after one."""
    before, after = max(0, start - ON_A_PAGE), start + ON_A_PAGE
    return (
        urls.with_query(path, {"start": before or None}) if start else None,
        urls.with_query(path, {"start": after}) if after < total else None,
    )


def _below(environ: dict[str, Any], segment: str) -> dict[str, Any]:
    """Return the request as the Silo of that segment sees it."""
    silo = unquote_to_bytes(f"{SILOS}/{segment}").decode("latin-1")
    below = str(environ.get("PATH_INFO", "")).split("/", 3)[3:]
    script = str(environ.get("SCRIPT_NAME") or "").rstrip("/")
    return environ | {"SCRIPT_NAME": script + silo, "PATH_INFO": "/" + "".join(below)}


def _towards(path: str, granary: Granary) -> Response:
    """Redirect ``/silos/name`` to ``/silos/name/``."""
    name = path.removeprefix(SILOS + "/")
    if path.startswith(SILOS + "/") and granary.issilo(unquote(name)):
        return Response(HTTPStatus.PERMANENT_REDIRECT, headers={"Location": urls.at(path) + "/"})
    raise NotFound("There is no page at this address.")


def _sent(response: Response, start_response: Callable[..., Any]) -> list[bytes]:
    status = HTTPStatus(response.status)
    body = response.body if isinstance(response.body, bytes) else b"".join(response.body)
    headers = {**security.HEADERS, "Content-Type": response.content_type, **response.headers}
    headers["Content-Length"] = str(len(body))
    start_response(f"{int(status)} {status.phrase}", list(headers.items()))
    return [body]
