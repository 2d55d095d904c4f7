"""Answer a request: the six verbs, for a record source.

Source: OAI-PMH 2.0, sections 3 and 4.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from oaipmhprotocol import (
    BadArgument,
    BadResumptionToken,
    BadVerb,
    CannotDisseminateFormat,
    Granularity,
    Identify,
    NoMetadataFormats,
    NoRecordsMatch,
    NoSetHierarchy,
    OAIError,
    ResumptionToken,
    Verb,
)
from oaipmhprotocol.datestamps import format_datestamp
from oaipmhprotocol.words import Argument
from oaipmhprovider import answers
from oaipmhprovider.arguments import (
    Arguments,
    CannotBeAnswered,
    LegalRequest,
    read_request,
    read_selection,
)
from oaipmhprovider.source import Position, RecordSource, Selection
from oaipmhprovider.tokens import Continuation, decode_token, encode_token


@dataclass(frozen=True, slots=True)
class Settings:
    """How a source is served.

    Attributes:
        base_url: The repository's address; None for the one in the source.
        page_size: Most records or headers in one response; at least 1.
        sets_page_size: Most sets in one response; at least 1.
        token_lifetime: How long a resumption token is valid.
        token_key: The key for checking tokens; the same for all servers of one source.
        compression: Encodings that the transport offers besides identity.
    """

    base_url: str | None = None
    page_size: int = 100
    sets_page_size: int = 200
    token_lifetime: timedelta = timedelta(days=1)
    token_key: bytes = b"oaipmhprovider"
    compression: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.page_size < 1 or self.sets_page_size < 1:
            raise ValueError("the page sizes must be at least 1")


@dataclass(frozen=True, slots=True)
class Response:
    """A response, independent of its transport.

    Attributes:
        status: The HTTP status: 200, also for an error condition.
        headers: HTTP headers of the response.
        body: The XML document, in UTF-8.
        tag: An entity tag of all that it says but its date; empty if it has a resumption token,
            whose date is another one each time.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    tag: str = ""


@dataclass(frozen=True, slots=True)
class _Context:
    request: LegalRequest
    source: RecordSource
    identity: Identify
    now: datetime
    settings: Settings
    base_url: str


DEFAULT_SETTINGS = Settings()
_TOKEN = b"<resumptionToken"


def respond(
    arguments: Arguments,
    source: RecordSource,
    now: datetime,
    settings: Settings = DEFAULT_SETTINGS,
) -> Response:
    """Answer one request.

    Args:
        arguments: Decoded names and values as received, with repeated ones.
        now: The current time, aware.
        settings: See `Settings`.

    Returns:
        A response that is valid against OAI-PMH.xsd: the result, or all error conditions
        found.

    Source: OAI-PMH 2.0, sections 3.2, 3.6 and 4.
    """
    identity = source.identify()
    base_url = settings.base_url or identity.base_url
    attributes: dict[str, str] = {}
    try:
        request = read_request(arguments)
        attributes = request.attributes
        context = _Context(request, source, identity, now, settings, base_url)
        content = _ANSWERS[request.verb](context)
    except CannotBeAnswered as refused:
        content = answers.error_elements(refused.conditions)
        attributes = _echoed(attributes, refused.conditions)
    except OAIError as condition:
        content = answers.error_elements([condition])
        attributes = _echoed(attributes, [condition])
    body = answers.page(now, base_url, attributes, content)
    tag = _tag(base_url, attributes, content)
    return Response(200, (("Content-Type", "text/xml; charset=utf-8"),), body, tag)


def _tag(base_url: str, attributes: Mapping[str, str], content: Sequence[bytes]) -> str:
    if len(content) > 1 and content[-2].startswith(_TOKEN):
        return ""
    digest = hashlib.blake2b(repr((base_url, attributes)).encode(), digest_size=12)
    for piece in content:
        digest.update(piece)
    return f'"{digest.hexdigest()}"'


def _echoed(attributes: dict[str, str], conditions: Sequence[OAIError]) -> dict[str, str]:
    """Return the attributes, or none if the request itself was invalid (section 3.2)."""
    bad = any(isinstance(condition, BadArgument | BadVerb) for condition in conditions)
    return {} if bad else attributes


def _identify(context: _Context) -> list[bytes]:
    compression = context.settings.compression or context.identity.compression
    return answers.identify_element(context.identity, context.base_url, compression)


def _list_metadata_formats(context: _Context) -> list[bytes]:
    identifier = context.request.arguments.get(Argument.IDENTIFIER)
    if identifier is None:
        return answers.formats_element(context.source.formats())
    formats = context.source.formats_of(identifier)
    if not formats:
        raise NoMetadataFormats("this item has no metadata formats")
    return answers.formats_element(formats)


def _get_record(context: _Context) -> list[bytes]:
    arguments = context.request.arguments
    record = context.source.record(
        arguments[Argument.IDENTIFIER], arguments[Argument.METADATA_PREFIX]
    )
    return [b"<GetRecord>\n", answers.record_element(record), b"</GetRecord>\n"]


def _list_sets(context: _Context) -> list[bytes]:
    sets = context.source.sets()
    if not sets:
        raise NoSetHierarchy("this repository has no sets")
    begin = 0
    if (token := _token(context)) is not None:
        if token.size != len(sets):
            raise BadResumptionToken("the sets have changed; begin the list again")
        begin = token.cursor
    end = min(begin + context.settings.sets_page_size, len(sets))
    place = Continuation(Verb.LIST_SETS, begin, len(sets), _expiry(context))
    return [
        b"<ListSets>\n",
        *answers.set_elements(sets[begin:end]),
        *_token_element(context, place, end if end < len(sets) else None),
        b"</ListSets>\n",
    ]


def _list_identifiers(context: _Context) -> list[bytes]:
    place = _begin(context)
    assert place.selection is not None
    limit = context.settings.page_size
    headers = context.source.headers(place.selection, place.after, limit + 1)
    last = Position.of(headers[limit - 1]) if len(headers) > limit else None
    shown = [answers.header_element(header) for header in headers[:limit]]
    return _list_element(context, place, last, shown)


def _list_records(context: _Context) -> list[bytes]:
    place = _begin(context)
    assert place.selection is not None
    limit = context.settings.page_size
    found = answers.written_by(context.source, place.selection, place.after, limit + 1)
    last = found[limit - 1].position if len(found) > limit else None
    return _list_element(context, place, last, [one.element for one in found[:limit]])


def _begin(context: _Context) -> Continuation:
    """Return the beginning of the response: from the token, or the beginning of the list."""
    if (token := _token(context)) is not None:
        return token
    assert context.identity.granularity is not None
    selection = read_selection(context.request, context.identity.granularity)
    _check_selection(context.source, selection)
    size = context.source.count(selection)
    if size == 0:
        raise NoRecordsMatch(_why_none(context.source, selection))
    return Continuation(context.request.verb, 0, size, _expiry(context), selection)


def _why_none(source: RecordSource, selection: Selection) -> str:
    spec = selection.set_spec
    if spec is not None and not any(one.spec == spec for one in source.sets()):
        return f"this repository has no set {spec}; ListSets names those it has"
    return "no records match these arguments"


def _check_selection(source: RecordSource, selection: Selection) -> None:
    conditions: list[OAIError] = []
    if selection.prefix not in {one.prefix for one in source.formats()}:
        conditions.append(CannotDisseminateFormat("this repository has no such metadata format"))
    if selection.set_spec is not None and not source.sets():
        conditions.append(NoSetHierarchy("this repository has no sets"))
    if conditions:
        raise CannotBeAnswered(conditions)


def _token(context: _Context) -> Continuation | None:
    text = context.request.arguments.get(Argument.RESUMPTION_TOKEN)
    if text is None:
        return None
    return decode_token(text, context.request.verb, context.now, context.settings.token_key)


def _expiry(context: _Context) -> datetime:
    return Granularity.SECOND.floor(context.now + context.settings.token_lifetime)


def _list_element(
    context: _Context, place: Continuation, last: Position | None, shown: list[bytes]
) -> list[bytes]:
    if not shown:
        raise BadResumptionToken("this list has no more records; begin it again")
    following = place.cursor + len(shown) if last is not None else None
    name = context.request.verb.encode()
    return [
        b"<%b>\n" % name,
        *shown,
        *_token_element(context, place, following, last),
        b"</%b>\n" % name,
    ]


def _token_element(
    context: _Context, place: Continuation, following: int | None, last: Position | None = None
) -> list[bytes]:
    """Return the token of a response: none for a complete list, an empty one at the end of another.

    ``following`` is the cursor of the next response; None if this is the last one.
    """
    if following is None:
        if place.cursor == 0:
            return []
        return [answers.token_element(ResumptionToken("", place.size, place.cursor))]
    expires = _expiry(context)
    size = max(place.size, following + 1)
    rest = Continuation(place.verb, following, size, expires, place.selection, last)
    token = encode_token(rest, context.settings.token_key)
    expiration = format_datestamp(expires, Granularity.SECOND)
    return [answers.token_element(ResumptionToken(token, size, place.cursor, expiration))]


_ANSWERS: dict[Verb, Callable[[_Context], list[bytes]]] = {
    Verb.IDENTIFY: _identify,
    Verb.LIST_METADATA_FORMATS: _list_metadata_formats,
    Verb.LIST_SETS: _list_sets,
    Verb.LIST_IDENTIFIERS: _list_identifiers,
    Verb.LIST_RECORDS: _list_records,
    Verb.GET_RECORD: _get_record,
}
