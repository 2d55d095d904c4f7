"""``/oai``: the Silo as an OAI-PMH repository, for harvesters, who do not sign in.

It answers only where a manager has switched it on (`webui.providing.pages`), or the page was
started with ``silo serve --oai``.
"""

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from oaipmhprovider.limits import ClientLimit
from oaipmhprovider.provider import respond
from oaipmhprovider.source import SourceUnavailable
from oaipmhprovider.wsgi import TOO_MUCH, utc_now
from politeweb.addresses import is_loopback
from recordsilo import Silo
from recordsilo.errors import IndexProblem, RecordSiloError
from siloprovider.errors import ProvidingError
from siloprovider.providing import PATH, Provided, provided
from siloprovider.settings import ProviderSettings, read_settings
from webui import urls
from webui.directory import DirectoryCall
from webui.http.bodies import content_length
from webui.http.errors import BadRequest, NotFound
from webui.http.messages import Request, Response, parse_pairs
from webui.site import AnyCall, Call

XML = "text/xml; charset=utf-8"
_FORM = "application/x-www-form-urlencoded"
_LONGEST_FORM = 64 * 1024
_SECONDS_TO_FILL = 5.0
"""For which the first harvester waits until all records have been read."""
_SECONDS_UNTIL_AGAIN = 30
_FILLING: dict[str, threading.Thread] = {}
_LOCK = threading.Lock()
logger = logging.getLogger("webui")


def answer(call: Call) -> Response:
    """Answer a request of OAI-PMH about a Silo.

    Raises:
        NotFound: It is switched off.
        BadRequest: The form is too large, or none.
    """
    silo = call.site.silo

    def answered(settings: ProviderSettings) -> Response:
        def fill() -> None:
            with Silo(silo.path, create=False) as own, provided(own, settings) as one:
                one.catch_up(None)

        with provided(silo, settings) as one:
            return _answered(call, one, settings, fill)

    return _or_later(call, answered)


def answer_directory(call: DirectoryCall) -> Response:
    """Answer a request of OAI-PMH about all Silos of a directory.

    Raises:
        NotFound, BadRequest: See `answer`.
    """

    def answered(settings: ProviderSettings) -> Response:
        one = call.site.provider.by(settings)
        return _answered(call, one, settings, lambda: one.catch_up(None))

    return _or_later(call, answered)


def _answered(
    call: AnyCall, one: Provided, settings: ProviderSettings, fill: Callable[[], None]
) -> Response:
    request = call.request
    pairs = (*request.pairs, *_form(request))
    if one.awaits_all() and not _is_filled(call.site.path, fill):
        return _later("The list of all records is being made.", _SECONDS_UNTIL_AGAIN)
    base_url = settings.base_url or address(request)
    found = respond(pairs, one.source, utc_now(), replace(one.settings, base_url=base_url))
    return Response(found.status, found.body, XML, {"ETag": f"W/{found.tag}"} if found.tag else {})


def _or_later(call: AnyCall, answered: Callable[[ProviderSettings], Response]) -> Response:
    """An answer; 503 for who asks too much, or where that may be well soon (the log says why)."""
    try:
        settings = settings_of(call)
        if wait := _seconds_to_wait(call.request, call.site.path, settings):
            return _later(TOO_MUCH, wait)
        return answered(settings)
    except (SourceUnavailable, ProvidingError, IndexProblem, OSError) as error:
        logger.warning("a harvester was answered with 503: %s", error)
        return _later("The repository cannot be asked now; try again later.", _SECONDS_UNTIL_AGAIN)


def settings_of(call: AnyCall) -> ProviderSettings:
    """How the Silo or the directory is provided.

    Raises:
        NotFound: It is not.
        SettingsUnreadable: The file that says it cannot be used.
    """
    settings = read_settings(call.site.path)
    if settings.page or call.site.settings.oai:
        return settings
    raise NotFound("This page does not give its records to harvesters.")


def address(request: Request) -> str:
    """The base URL, as the one who asks sees it."""
    return f"{request.scheme}://{request.headers.get('host', '').strip()}{urls.at(PATH)}"


def _form(request: Request) -> tuple[tuple[str, str], ...]:
    """The arguments of a POST; `parse_pairs` keeps those that are repeated, which is an error."""
    if request.is_safe:
        return ()
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM or content_length(request.headers) > _LONGEST_FORM:
        raise BadRequest("Send the arguments as a form of at most 64 KiB.")
    return parse_pairs(request.body.read(content_length(request.headers)).decode("latin-1"))


@lru_cache(maxsize=1000)
def _limit(_path: str, per_minute: int) -> ClientLimit:
    return ClientLimit(per_minute)


def _seconds_to_wait(request: Request, path: str, settings: ProviderSettings) -> int:
    if is_loopback(request.remote_addr):
        return 0
    return _limit(path, settings.per_minute).seconds_to_wait(request.remote_addr)


def _later(sentence: str, seconds: int) -> Response:
    return Response(503, f"{sentence}\n".encode(), headers={"Retry-After": str(seconds)})


def _is_filled(path: str, fill: Callable[[], None]) -> bool:
    """Whether all records have been read, or are in time; else that goes on in the background."""
    with _LOCK:
        thread = _FILLING.get(path)
        if thread is None or not thread.is_alive():
            thread = threading.Thread(target=_fill, args=(path, fill), daemon=True)
            _FILLING[path] = thread
            thread.start()
    thread.join(_SECONDS_TO_FILL)
    return not thread.is_alive()


def _fill(path: str, fill: Callable[[], None]) -> None:
    try:
        fill()
    except (RecordSiloError, ProvidingError, OSError) as error:
        logger.warning("the list of all records for harvesters cannot be made: %s", error)
    finally:
        with _LOCK:
            del _FILLING[path]
