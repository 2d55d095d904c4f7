"""Check the arguments of a request.

Source: OAI-PMH 2.0, sections 3.1.1 and 3.6.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from oaipmhprotocol import BadArgument, BadVerb, DatestampError, Granularity, OAIError, Verb
from oaipmhprotocol.datestamps import parse_datestamp
from oaipmhprotocol.words import ARGUMENT_RULES, Argument
from oaipmhprovider.source import Selection

Arguments = Sequence[tuple[str, str]]
"""Names and values in the order received, with repeated arguments."""

_UNRESERVED = r"[A-Za-z0-9\-_.!~*'()]+"
_PREFIX = re.compile(_UNRESERVED)
SET_SPEC = re.compile(rf"{_UNRESERVED}(?::{_UNRESERVED})*")
_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.\-]*:"
    r"(?://[A-Za-z0-9.\-]*(?::[0-9]{0,5})?(?=[/?]|$))?"
    r"(?!//)(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2}|[\u00a0-\ud7ff\uf900-\ufdcf])+"
)
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""A character that XML 1.0 does not allow (section 2.2)."""

_LONGEST_NAME_QUOTED = 40


class CannotBeAnswered(Exception):
    """A request cannot be answered.

    Attributes:
        conditions: The errors, in the order found; at least one.
    """

    def __init__(self, conditions: Sequence[OAIError]) -> None:
        self.conditions = tuple(conditions)
        super().__init__("; ".join(str(condition) for condition in conditions))


@dataclass(frozen=True, slots=True)
class LegalRequest:
    """A request whose arguments are legal, complete, single and well-formed."""

    verb: Verb
    arguments: Mapping[Argument, str]

    @property
    def attributes(self) -> dict[str, str]:
        """Return the attributes of the response's ``request`` element (section 3.2).

        They are empty if the identifier is not a URI, because OAI-PMH.xsd allows only URIs there.
        """
        identifier = self.arguments.get(Argument.IDENTIFIER)
        if identifier is not None and not _URI.fullmatch(identifier):
            return {}
        echoed = {str(name): value for name, value in self.arguments.items()}
        return {str(Argument.VERB): self.verb, **echoed}


def read_request(received: Arguments) -> LegalRequest:
    """Check the arguments of a request, except values that depend on the repository.

    Raises:
        Refused: With badVerb, or with a badArgument for each error.
    """
    verb = _read_verb([value for name, value in received if name == Argument.VERB])
    others = [(name, value) for name, value in received if name != Argument.VERB]
    faults = [*_faults_of_names(verb, [name for name, _ in others])]
    faults += _faults_of_values(others)
    if faults:
        raise CannotBeAnswered([BadArgument(fault) for fault in faults])
    return LegalRequest(verb, {Argument(name): value for name, value in others})


def _read_verb(values: Sequence[str]) -> Verb:
    if len(values) != 1:
        how = "is missing" if not values else "is repeated"
        raise CannotBeAnswered([BadVerb(f"the argument verb {how}")])
    try:
        return Verb(values[0])
    except ValueError:
        verbs = ", ".join(Verb)
        raise CannotBeAnswered([BadVerb(f"the verb must be one of {verbs}")]) from None


def _faults_of_names(verb: Verb, names: Sequence[str]) -> Iterator[str]:
    rules = ARGUMENT_RULES[verb]
    given = set(names)
    legal = {*rules.required, *rules.optional} | ({rules.exclusive} if rules.exclusive else set())
    for name in sorted(given - legal):
        yield f"{verb} does not take the argument {_quoted(name)}"
    for name in sorted(given & legal):
        if names.count(name) > 1:
            yield f"the argument {name} is repeated"
    if rules.exclusive is not None and rules.exclusive in given:
        if len(given) > 1:
            yield f"{rules.exclusive} must be the only argument besides verb"
    else:
        for missing in sorted(rules.required - given):
            yield f"{verb} needs the argument {missing}"


def _quoted(name: str) -> str:
    if len(name) > _LONGEST_NAME_QUOTED or not name.isprintable() or NOT_XML.search(name):
        return "of that name"
    return f'"{name}"'


def _faults_of_values(arguments: Arguments) -> Iterator[str]:
    for name, value in dict(arguments).items():
        if NOT_XML.search(value):
            yield f"the argument {_quoted(name)} has a character that XML does not allow"
        elif fault := _fault_of_value(name, value):
            yield fault


def _fault_of_value(name: str, value: str) -> str | None:
    if name == Argument.METADATA_PREFIX and not _PREFIX.fullmatch(value):
        return "metadataPrefix consists of letters, digits and -_.!~*'()"
    if name == Argument.SET and not SET_SPEC.fullmatch(value):
        return "set consists of letters, digits and -_.!~*'(), its levels divided by single colons"
    if name == Argument.IDENTIFIER and not value:
        return "identifier is empty"
    if name in (Argument.FROM, Argument.UNTIL):
        try:
            parse_datestamp(value)
        except DatestampError:
            return f"{name} is not a day (YYYY-MM-DD) or a second in UTC (YYYY-MM-DDThh:mm:ssZ)"
    return None


def read_selection(request: LegalRequest, granularity: Granularity) -> Selection:
    """Return the selection of a list request without a token.

    Days are extended to the source's granularity: ``until`` with a day includes the day's last
    second.

    Raises:
        Refused: From and until differ in granularity, or are finer than the repository's, or
            from is later than until.

    Source: OAI-PMH 2.0, section 2.7.1.
    """
    from_ = request.arguments.get(Argument.FROM)
    until = request.arguments.get(Argument.UNTIL)
    faults = [*_faults_of_dates(from_, until, granularity)]
    if faults:
        raise CannotBeAnswered([BadArgument(fault) for fault in faults])
    return Selection(
        request.arguments[Argument.METADATA_PREFIX],
        _filled(from_, granularity, "T00:00:00Z"),
        _filled(until, granularity, "T23:59:59Z"),
        request.arguments.get(Argument.SET),
    )


def _faults_of_dates(
    from_: str | None, until: str | None, granularity: Granularity
) -> Iterator[str]:
    given = {Granularity.of(text) for text in (from_, until) if text is not None}
    if granularity is Granularity.DAY and Granularity.SECOND in given:
        yield f"the granularity of this repository is {granularity}"
    elif len(given) > 1:
        yield "from and until differ in granularity"
    elif from_ is not None and until is not None and from_ > until:
        yield "from is later than until"


def _filled(text: str | None, granularity: Granularity, rest_of_day: str) -> str | None:
    if text is None or Granularity.of(text) is granularity:
        return text
    return text + rest_of_day
