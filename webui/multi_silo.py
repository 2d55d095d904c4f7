"""A directory of Silos as one page: a list of them, and each under ``/silos/<name>/``."""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, unquote, unquote_to_bytes

from oaipmhscraper.errors import ScraperError
from recordsilo import Granary, Silo
from recordsilo.errors import RecordSiloError
from recordsilo.index import PageRequest
from webui import urls
from webui.app import WsgiApp
from webui.charts.by_year import by_year, years_of_all
from webui.harvest_lines import harvest_lines
from webui.http import security
from webui.http.errors import MethodNotAllowed, NotFound, WebError, from_store
from webui.http.messages import (
    Request,
    Response,
    from_environ,
    mounted,
    prefers_json,
    target_path,
)
from webui.people.roles import NOBODY
from webui.rendering import PAGE, STATIC, error_answer, html, json_answer, static_content
from webui.site import repository_name

SILOS = "/silos"
logger = logging.getLogger("webui")


class Shelf:
    """The WSGI application of a directory of Silos; each is opened on its first request.

    Args:
        granary: The directory.
        make_app: A Silo's own application.
        policy: Under which addresses the page answers.
    """

    def __init__(
        self, granary: Granary, make_app: Callable[[Silo], WsgiApp], policy: security.Policy
    ) -> None:
        self._granary, self._make_app, self._policy = granary, make_app, policy
        self._open: dict[str, tuple[Silo, WsgiApp]] = {}
        self._counted: dict[str, tuple[object, Mapping[str, int]]] = {}
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        """Pass the request to the Silo that it names, or show the list."""
        base, path = mounted(environ)
        urls.mount(base)
        parts = path.split("/", 3)
        if path.startswith(SILOS + "/") and parts[2] and (len(parts) > 3):
            try:
                return self._app(unquote(parts[2]))(_below(environ, parts[2]), start_response)
            except WebError as error:
                return _sent(self._refused(environ, error), start_response)
        return _sent(self._own(environ), start_response)

    def close(self) -> None:
        """Close the Silos that were opened."""
        with self._lock:
            for silo, _app in self._open.values():
                silo.close()
            self._open.clear()

    def _app(self, name: str) -> WsgiApp:
        with self._lock:
            if name not in self._open:
                if not self._granary.issilo(name):
                    raise NotFound("There is no Silo with this name in this directory.")
                try:
                    silo = self._granary.get_silo(name, create=False)
                except RecordSiloError as error:
                    raise from_store(error, "") from error
                self._open[name] = silo, self._make_app(silo)
            return self._open[name][1]

    def _own(self, environ: dict[str, Any]) -> Response:
        """Answer with the list, or one of its static files."""
        try:
            request = from_environ(environ)
            security.check(request, self._policy)
            if not request.is_safe:
                raise MethodNotAllowed(request.method, ("GET", "HEAD"))
            return self._page(request, environ)
        except WebError as error:
            return self._refused(environ, error)

    def _page(self, request: Request, environ: dict[str, Any]) -> Response:
        path = request.raw_path
        name = path.removeprefix("/static/")
        if path.startswith("/static/") and name in STATIC:
            return Response(200, static_content(name), STATIC[name])
        if path not in {"/", SILOS, SILOS + "/", SILOS + ".json"}:
            return _towards(path, self._granary)
        lines = self._lines()
        if path.endswith(".json") or prefers_json(request.method, environ.get("HTTP_ACCEPT", "")):
            silos = [
                one | {"last_harvest": (last := one["last_harvest"]) and last.to_json()}
                for one in lines
            ]
            return json_answer({"silos": silos})
        told: dict[str, Any] = {
            "site_name": self._name,
            "twin_url": urls.at(SILOS + ".json"),
            "page_url": urls.at(SILOS),
        }
        bins = years_of_all(one["years"] for one in lines)
        told["years"] = bins and (bins[0].first, bins[-1].last)
        told["pictures"] = {
            one["name"]: by_year(one["years"], bins) for one in lines if one["years"]
        }
        return Response(200, html("silos.mako", **told, user=NOBODY, lines=lines), PAGE)

    @property
    def _name(self) -> str:
        return self._granary.dir_of_silos.rstrip("/").rpartition("/")[2] or "Silos"

    def _lines(self) -> list[dict[str, Any]]:
        """The Silos, each with a unique name."""
        lines = [self._line(name) for name in self._granary.silos]
        titles = Counter(line["title"] for line in lines)
        for line in lines:
            if titles[line["title"]] > 1:
                line["title"] = ""
        return lines

    def _line(self, name: str) -> dict[str, Any]:
        said = self._granary.description_of(name)
        title = str(said.get("title") or said.get("description") or "")
        line: dict[str, Any] = {
            "name": name,
            "title": title,
            "url": urls.at(f"{SILOS}/{quote(name)}/"),
            "records": None,
            "years": {},
            "last_harvest": None,
        }
        try:
            with self._granary.get_silo(name, create=False) as silo:
                line["title"] = title or repository_name(silo.path)
                line["records"] = len(silo)
                line["years"] = self._years(name, silo)
                line["last_harvest"] = next(iter(harvest_lines(silo.path, 1)), None)
        except (RecordSiloError, ScraperError, OSError):
            logger.exception("the Silo %s cannot be read", name)
        return line

    def _years(self, name: str, silo: Silo) -> Mapping[str, int]:
        """Year → number of a Silo's records; counted again when its index has changed."""
        stamp = silo.index_stamp()
        known = self._counted.get(name)
        if known is None or stamp is None or known[0] != stamp:
            page = PageRequest(limit=1, whole_facets=("year",))
            found = silo.search("", None, ["year"], page=page).facets["year"]
            known = self._counted[name] = stamp, {one.value: one.count for one in found}
        return known[1]

    def _refused(self, environ: dict[str, Any], error: WebError) -> Response:
        accept = environ.get("HTTP_ACCEPT", "")
        as_json = target_path(environ).endswith(".json") or prefers_json(
            environ["REQUEST_METHOD"], accept
        )
        return error_answer(self._name, error, as_json=as_json)


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
