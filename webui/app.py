"""A site, which is a Silo or a directory of Silos, → a WSGI application, through CherryPy.

Every request takes this way: one table of routes, one boundary of errors, one writer of headers.

CherryPy runs the request; its dispatcher is our route table, and its own answers (its error
pages name its version) are replaced. Nothing global is started: no engine, no signals, no
autoreload, no sessions, so several applications can run in one process.
"""

import contextlib
import functools
import io
import logging
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import replace
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode, urlsplit, urlunsplit

import cherrypy

from recordsilo import Silo
from recordsilo.disk.atomic_file import make_within
from recordsilo.errors import (
    ManifestUnreadable,
    RecordSiloError,
)
from silocuration.errors import CurationError
from webui import routes, urls
from webui.api.document import document
from webui.form_again import SHOWN_AGAIN, form_again
from webui.http import security
from webui.http.bodies import FORM_LIMIT, LIST_LIMIT, content_length, read_form
from webui.http.coding import labelled, packed
from webui.http.errors import WebError, as_web_error
from webui.http.languages import language_of
from webui.http.machine_errors import refusal_of
from webui.http.messages import (
    Request,
    Response,
    WsgiApp,
    conditional,
    from_environ,
    mounted,
    parse_pairs,
    prefers_json,
    redirect,
    target_path,
)
from webui.http.multipart import Form
from webui.http.streams import placed
from webui.job_errors import sentences
from webui.pages import static
from webui.people.authentication import Gate, SignInRequired, require
from webui.people.roles import NOBODY, User
from webui.rendering import PAGE, View, answer, error_answer
from webui.route import Body
from webui.site import AnyCall, AnySite, Call, Site, SiteSettings
from webui.urls import TWIN
from webui.words.texts import speak

logger = logging.getLogger("webui")
_SITE = "silo.site"
"""Where a request has its `Site`."""


def create_app(
    silo: Silo, settings: SiteSettings | None = None, gate: Gate | None = None
) -> WsgiApp:
    """Return the WSGI application that shows a Silo.

    The server in front of it should pass the target as sent (REQUEST_URI, as cheroot
    does): without it, an identifier with a slash is not found by its own URL. The
    application may be mounted anywhere (SCRIPT_NAME).

    Args:
        settings: Of the person who starts the page.
        gate: Who signs in; by default those with an account in the Silo.
    """
    return app_of(Site.of(silo, settings, document, gate))


def app_of(site: AnySite) -> WsgiApp:
    """Return the WSGI application that shows a site; see `create_app`."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        urls.mount(mounted(environ)[0])
        return _application()({**environ, _SITE: site}, start_response)

    return answer


@functools.cache
def _application() -> WsgiApp:
    """CherryPy's application, one for all sites: it would keep a log of each for ever."""
    application = cherrypy.Application(None, "", {"/": {"request.dispatch": _dispatch}})
    application.request_class = _SiloRequest
    application.log.access_log.disabled = True
    return application  # type: ignore[no-any-return]  # cherrypy is untyped


def _dispatch(_path_info: str) -> None:
    """CherryPy's dispatcher: always our handler, which uses the route table."""
    request = cherrypy.serving.request
    request.config = {}  # tools and hooks of a global configuration do not apply
    request.process_request_body = False  # handlers read bodies, within their limits
    request.handler = _handler


def _handler() -> Iterable[bytes]:
    environ = cherrypy.serving.request.wsgi_environ
    return _to_cherrypy(respond(environ[_SITE], environ))


class _SiloRequest(cherrypy._cprequest.Request):  # type: ignore[misc]  # cherrypy is untyped
    show_tracebacks = False
    throw_errors = True  # to the server; `respond` lets none out

    def process_headers(self) -> None:
        """Do nothing: one cookie of another page with an odd name would refuse every request."""

    def process_query_string(self) -> None:
        """Do nothing: CherryPy would answer malformed queries itself; see `from_environ`."""


def _to_cherrypy(response: Response) -> Iterable[bytes]:
    """Copy an answer to CherryPy's response; return the body, as a handler does."""
    sent = cherrypy.serving.response
    sent.status = int(response.status)
    sent.headers.clear()  # CherryPy's own "Server: CherryPy/<version>" among them
    sent.headers.update(_headers(response))
    if isinstance(response.body, bytes):
        return [response.body]
    sent.stream = True  # CherryPy computes no length
    if cherrypy.serving.request.method == "HEAD":
        response.body.close()
        return []
    return response.body


def _headers(response: Response) -> dict[str, str]:
    headers = {**security.HEADERS, "Content-Type": response.content_type, **response.headers}
    if response.content_length is not None:
        headers["Content-Length"] = str(response.content_length)
    return headers


def respond(site: AnySite, environ: dict[str, Any]) -> Response:
    """Answer one request; errors become answers, and our own are logged."""
    as_json, user, request = _asks_json(environ), site.gate.local or NOBODY, None
    speak(language_of(environ, as_json=as_json))
    try:
        request = security.forwarded(from_environ(environ), site.settings.policy)
        security.check(request, site.settings.policy, only_reads=_only_reads(site, request))
        found = routes.table(*site.scopes).find(request.method, request.raw_path)
        as_json = as_json or found.is_twin
        if found.route.handler is not static.show:
            site.check_there()
        user = site.gate.user_of(request, found.route.needs)
        if user.language:
            speak(language_of(environ, user.language, as_json=as_json))
        return _sent(request, _handle(site, request, found, user, as_json=as_json))
    except Exception as error:  # noqa: BLE001  # the process boundary: reported in `_report`
        refusal = refusal_of(error, site.path)
        _report(environ, error, refusal)
        back = _came_from(environ)
        refused = error_answer(site, refusal, as_json=as_json, user=user, back=back)
        return packed(labelled(request, refused)) if request else refused


def _only_reads(site: AnySite, request: Request) -> bool:
    """Whether the address takes a POST that changes nothing."""
    if request.is_safe:
        return True
    try:
        return routes.table(*site.scopes).find(request.method, request.raw_path).route.only_reads
    except WebError:
        return False


def _report(environ: dict[str, Any], error: Exception, refusal: WebError) -> None:
    """Log our own errors and those of the machine; others are for those who asked."""
    asked = (environ["REQUEST_METHOD"], environ["PATH_INFO"])
    if isinstance(error, (WebError, CurationError)):
        return
    if refusal.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        logger.error("%s %s", *asked, exc_info=error)
    elif refusal.status > HTTPStatus.INTERNAL_SERVER_ERROR:
        logger.warning("%s %s: %s", *asked, error)


def _came_from(environ: dict[str, Any]) -> str:
    """The address here of the page that has the form or the link; empty if none is known.

    Host and scheme of the header are left out, so the address never leads to another site.
    """
    with contextlib.suppress(ValueError):
        said = urlsplit(environ.get("HTTP_REFERER", ""))
        path = said.path.lstrip("/\\")
        return urlunsplit(("", "", f"/{path}", said.query, "")) if said.netloc else ""
    return ""


def _asks_json(environ: dict[str, Any]) -> bool:
    """Whether the answer is JSON, even if no route was found."""
    if target_path(environ).endswith(TWIN):
        return True
    return prefers_json(environ["REQUEST_METHOD"], environ.get("HTTP_ACCEPT", ""))


def _handle(
    site: AnySite,
    request: Request,
    found: routes.FoundRoute,
    user: User,
    *,
    as_json: bool,
    may_show_form: bool = True,
) -> Response:
    route = found.route
    try:
        require(user, route.needs)
    except SignInRequired:
        if not (route.admits and route.admits(request, site.path)):
            if as_json or route.is_for_programs or not request.is_safe:
                raise
            return redirect(urls.sign_in(_asked(request)))
    if not request.is_safe and isinstance(site, Site) and "record" in found.params:
        _check_there(site, found.params["record"])
    if _awaits_body(site, request, route.body):
        return Response(HTTPStatus.CONTINUE)
    with _form(site, request, route.body) as form:
        call = site.call(site, request, found.params, form, as_json, found.is_twin, user)
        try:
            outcome = _handled(call, found)
        except (WebError, CurationError, RecordSiloError) as error:
            again = None if as_json or not may_show_form else _form_again(call, error)
            if again is None:
                raise
            outcome = again
    if isinstance(outcome, View):
        origin = security.public_origin(request, site.settings.policy)
        outcome = answer(site, outcome, as_json=as_json, user=user, origin=origin)
    return outcome


def _sent(request: Request, response: Response) -> Response:
    """The answer as it is sent: with its tag, if it is not known already; in its coding."""
    response = conditional(request, labelled(request, response))
    if request.method != "HEAD":
        response = placed(response, request.remote_addr)
    return packed(response)


def _form_again(call: AnyCall, error: Exception) -> Response | None:
    """The page that has the form, filled in as it was sent, with the error; None if there is none.

    A form that only asks is on the page itself, which keeps the words of a search unless a field
    of the form is wrong; that of a change is on the page from which the request came.
    """
    asks = call.request.is_safe and not getattr(error, "field", "")
    words = (("q", q),) if asks and (q := call.request.query.get("q")) else ()
    return (_form_with(call, error, words) if words else None) or _form_with(call, error, ())


def _form_with(
    call: AnyCall, error: Exception, words: tuple[tuple[str, str], ...]
) -> Response | None:
    """See `_form_again`; ``words`` are asked for if the form is on the page itself."""
    request, refusal = call.request, as_web_error(error, call.site.path)
    came = urlsplit(_came_from({"HTTP_REFERER": request.headers.get("referer", "")}))
    path = came.path.removeprefix(urls.at("/").rstrip("/"))
    if request.is_safe and path != request.raw_path:
        came, path = urlsplit(""), request.raw_path
    if refusal.status not in SHOWN_AGAIN or not path:
        return None
    given = request.query if request.is_safe else call.form.fields
    pairs = parse_pairs(came.query) or words
    asked = replace(
        request, method="GET", raw_path=path, query=dict(pairs), pairs=pairs, body=io.BytesIO(),
        headers={n: v for n, v in request.headers.items() if not n.startswith(("if-", "content-"))},
    )  # fmt: skip
    try:
        found = routes.table(*call.site.scopes).find("GET", path)
        page = _handle(call.site, asked, found, call.user, as_json=False, may_show_form=False)
    except (WebError, CurationError, RecordSiloError, OSError, sqlite3.Error):
        return None
    if not isinstance(page.body, bytes):
        page.body.close()
        return None
    if page.status != HTTPStatus.OK or page.content_type != PAGE:
        return None
    body = form_again(page.body, urls.at(request.raw_path), request.method, given, refusal)
    return None if body is None else Response(refusal.status, body, PAGE, refusal.headers)


def _handled(call: AnyCall, found: routes.FoundRoute) -> View | Response:
    """The handler's answer; a record that cannot be read is noted in the index at once."""
    try:
        with sentences():
            outcome: View | Response = found.route.handler(call)
            return outcome
    except ManifestUnreadable:
        if isinstance(call, Call) and (record := found.params.get("record")):
            call.site.silo.rows([call.site.identifier(record)])
        raise


def _check_there(site: Site, record: str) -> None:
    """Refuse a change to a record that does not exist before its body is looked at.

    Raises:
        RecordNotFound: There is no such record.
    """
    identifier = site.identifier(record)
    if identifier not in site.silo:
        site.silo[identifier]  # says whether it was removed


def _asked(request: Request) -> str:
    """The requested address, with its query."""
    query = urlencode(request.pairs)
    return urls.at(request.raw_path) + (f"?{query}" if query else "")


def _awaits_body(site: AnySite, request: Request, body: Body) -> bool:
    """Request a body that has not been received, unless it will be refused anyway."""
    largest = {
        Body.LIST: LIST_LIMIT,
        Body.FILE: site.settings.max_upload + FORM_LIMIT,
        Body.RAW: site.settings.max_upload,
    }.get(body, 0)
    if request.await_body is None or content_length(request.headers) > largest:
        return False
    make_within(site.path, site.spool_dir)
    request.await_body(site.spool_dir)
    return True


def _form(site: AnySite, request: Request, body: Body) -> Form:
    if body is Body.FIELDS:
        return read_form(request)
    if body is Body.LIST:
        return read_form(request, LIST_LIMIT, fields_limit=LIST_LIMIT)
    if body is Body.FILE:
        return read_form(request, site.settings.max_upload + FORM_LIMIT, site.spool_dir)
    return Form()
