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
from recordsilo.errors import RecordSiloError
from siloprovider.errors import ProvidingError
from siloprovider.providing import Provided, provided
from siloprovider.settings import ProviderSettings, read_settings
from webui import urls
from webui.http.bodies import content_length
from webui.http.errors import BadRequest, NotFound
from webui.http.messages import Request, Response, parse_pairs
from webui.site import Call

PATH = "/oai"
XML = "text/xml; charset=utf-8"
_FORM = "application/x-www-form-urlencoded"
_LONGEST_FORM = 64 * 1024
_AT_ONCE = 20_000
"""Records that are taken over while the first harvester waits; more are in the background."""
_SECONDS_UNTIL_READY = 30
_FILLED: set[str] = set()
_FILLING = threading.Lock()
logger = logging.getLogger("webui")


def answer(call: Call) -> Response:
    """Answer a request of OAI-PMH.

    Raises:
        NotFound: It is switched off.
        BadRequest: The form is too large, or none.
    """
    path = call.site.silo.path
    settings = settings_of(call)
    if settings is None:
        raise NotFound("This page does not give its records to harvesters.")
    if wait := _seconds_to_wait(call.request, path, settings):
        return _later(TOO_MUCH, wait)
    pairs = (*call.request.pairs, *_form(call.request))
    try:
        with provided(call.site.silo, settings) as one:
            if _is_filled_elsewhere(call.site.silo, one, settings):
                return _later("The list of all records is being made.", _SECONDS_UNTIL_READY)
            base_url = settings.base_url or address(call.request)
            found = respond(pairs, one.source, utc_now(), replace(one.settings, base_url=base_url))
    except (SourceUnavailable, ProvidingError) as error:
        logger.warning("a harvester was answered with 503: %s", error)
        return _later("The repository cannot be asked now; try again later.", 60)
    return Response(found.status, found.body, XML, {"ETag": found.tag} if found.tag else {})


def settings_of(call: Call) -> ProviderSettings | None:
    """How the Silo is provided; None if it is not, or its settings cannot be read."""
    try:
        settings = read_settings(call.site.silo.path)
    except ProvidingError as error:
        logger.warning("nothing is provided: %s", error)
        return None
    return settings if settings.page or call.site.settings.oai else None


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


def _is_filled_elsewhere(silo: Silo, one: Provided, settings: ProviderSettings) -> bool:
    """Whether all records of a large Silo have to be read first; that has begun then."""
    if not one.awaits_all() or len(silo) <= _AT_ONCE:
        return False
    with _FILLING:
        if silo.path not in _FILLED:
            _FILLED.add(silo.path)
            args = (silo.path, settings, _FILLED.discard)
            threading.Thread(target=_fill, args=args, daemon=True).start()
    return True


def _fill(path: str, settings: ProviderSettings, done: Callable[[str], object]) -> None:
    try:
        with Silo(path, create=False) as silo, provided(silo, settings) as one:
            one.catch_up(None)
    except (RecordSiloError, ProvidingError, OSError) as error:
        logger.warning("the list of all records for harvesters cannot be made: %s", error)
    finally:
        done(path)
