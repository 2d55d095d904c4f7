"""Values of a probe: requests, responses and findings (pure, frozen)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from lxml import etree

from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhprotocol import Identify, OAIError
from politeweb.answers import Answer


class ProbeSeverity(StrEnum):
    """How much a finding matters to harvesters."""

    OK = "ok"
    NOTE = "note"
    """Allowed or minor, but worth knowing."""
    FAULT = "fault"
    """Violates the specification."""


@dataclass(frozen=True, slots=True)
class ProbeExchange:
    """One request of a probe, with its response.

    Attributes:
        role: Its purpose, such as ``window/empty``.
        params: As sent.
        url: The URL that repeats it, without credentials; for a POST, a command line.
        answer: The response; None if there was none.
        failure: Why there was none, as text.
        status: The HTTP status; None if there was none.
        seconds: From sending to the last byte, without pauses between requests.
        root: The root element, if the response is well-formed.
        unreadable: Why a strict parser refuses it; empty if it does not.
        repairs: Kinds of repair that made it readable.
        errors: The error conditions in it.
        page: Records, headers, sets or formats.
        identify: The content of Identify.
    """

    role: str
    params: Mapping[str, str]
    url: str
    answer: Answer | None = None
    failure: str = ""
    status: int | None = None
    seconds: float = 0.0
    root: etree._Element | None = field(default=None, repr=False, compare=False)
    unreadable: str = ""
    repairs: tuple[str, ...] = ()
    errors: tuple[OAIError, ...] = ()
    page: ListPage[Any] | None = field(default=None, repr=False)
    identify: Identify | None = field(default=None, repr=False)

    @property
    def items(self) -> Sequence[Any]:
        """Return the items listed; empty without a page."""
        return self.page.items if self.page is not None else ()

    @property
    def codes(self) -> tuple[str, ...]:
        """Return the codes of the error conditions, in the order sent."""
        return tuple(error.code for error in self.errors)

    @property
    def is_list(self) -> bool:
        """Whether there is a list, which may be empty with an error condition."""
        return self.page is not None and (bool(self.items) or self.codes == ("noRecordsMatch",))

    @property
    def outcome(self) -> str:
        """Describe the response in a few words."""
        if self.answer is None:
            return self.failure or "no response"
        if self.errors:
            return "the error " + ", ".join(self.codes)
        if self.unreadable:
            return f"a response that {self.unreadable}"
        if self.page is None:
            return "a response"
        return {0: "an empty list", 1: "one entry"}.get(
            len(self.items), f"{len(self.items)} entries"
        )


def counted(number: int, thing: str) -> str:
    """Such as ``1 record`` or ``1,234 records``."""
    return f"{number:,} {thing if number == 1 else f'{thing}s'}"


@dataclass(frozen=True, slots=True)
class Evidence:
    """All exchanges of a probe.

    Attributes:
        base_url: The address probed.
        prefix: The format in which records were requested.
        asked: Role → exchange, in the order of the requests.
        began: Aware UTC.
        ended: Aware UTC.
        moved_to: The target of redirects; empty without redirects.
        retried: Number of attempts that had to be repeated.
        stopped: Why the probe ended early; empty if it did not.
    """

    base_url: str
    prefix: str
    asked: Mapping[str, ProbeExchange]
    began: datetime
    ended: datetime
    moved_to: str = ""
    retried: int = 0
    stopped: str = ""

    def get(self, role: str) -> ProbeExchange | None:
        """Return the exchange of a role, if there was a response or at least a status.

        A failed connection says nothing about the repository's behaviour.
        """
        one = self.asked.get(role)
        return one if one is not None and one.status is not None else None

    @property
    def seen(self) -> dict[str, ProbeExchange]:
        """Return the exchanges that `get` returns, by role."""
        return {role: one for role, one in self.asked.items() if one.status is not None}

    def answered(self, *roles: str) -> list[ProbeExchange]:
        """Return the exchanges with a response: those of the roles, or all."""
        chosen = [self.asked[role] for role in roles if role in self.asked] if roles else None
        return [one for one in chosen or self.asked.values() if one.answer is not None]

    @property
    def identify(self) -> Identify | None:
        """Return the content of Identify, as far as it can be read."""
        one = self.get("identify")
        return one.identify if one is not None else None

    @property
    def pages(self) -> list[ProbeExchange]:
        """Return the pages of the list, in order."""
        return [one for role, one in self.asked.items() if role.startswith("page/") and one.is_list]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of a check.

    Attributes:
        severity: See `ProbeSeverity`.
        sentence: What was found, for the repository's operators.
        asked: The exchange that shows it.
    """

    severity: ProbeSeverity
    sentence: str
    asked: ProbeExchange | None = None


def ok(sentence: str, asked: ProbeExchange | None = None) -> Judgement:
    """Return a verdict that the check passed."""
    return Judgement(ProbeSeverity.OK, sentence, asked)


def note(sentence: str, asked: ProbeExchange | None = None) -> Judgement:
    """Return a verdict that is worth knowing."""
    return Judgement(ProbeSeverity.NOTE, sentence, asked)


def fault(sentence: str, asked: ProbeExchange | None = None) -> Judgement:
    """Return a verdict that the specification is violated."""
    return Judgement(ProbeSeverity.FAULT, sentence, asked)


Judge = Callable[[Evidence], Judgement | None]


def of(role: str, judge: Callable[[ProbeExchange], Judgement | None]) -> Judge:
    """Return the judge of one exchange, which the evidence may lack."""

    def judged(evidence: Evidence) -> Judgement | None:
        asked = evidence.get(role)
        return judge(asked) if asked is not None else None

    return judged


def refused(role: str, what: str, code: str) -> Judge:
    """Return the judge of an invalid request, whose answer must be an error condition."""
    return of(role, lambda asked: answers_error(asked, what, code))


def answers_error(asked: ProbeExchange, what: str, code: str) -> Judgement:
    """Check that an invalid request returned the required error condition."""
    if code not in asked.codes:
        return fault(f"{what} returns {asked.outcome} instead of {code}.", asked)
    return ok(f"{what} returns {code}.", asked)


@dataclass(frozen=True, slots=True)
class ProbeCheck:
    """One check.

    Attributes:
        code: ``P`` and three digits; the first one is the part of the report.
        title: The requirement.
        section: Of OAI-PMH 2.0.
        handling: What the harvester does if the requirement is not met.
        judge: Evidence → verdict; None if the check could not be made.
    """

    code: str
    title: str
    section: str
    handling: str
    judge: Judge


TOPICS = {
    "1": "Identify",
    "2": "Formats and sets",
    "3": "Lists and resumption tokens",
    "4": "Dates and windows",
    "5": "Deleted records",
    "6": "Errors",
    "7": "HTTP",
    "8": "XML",
    "9": "Speed",
}


@dataclass(frozen=True, slots=True)
class ProbeFinding:
    """A check with its result.

    Attributes:
        severity: See `ProbeSeverity`.
        sentence: What was found.
        request: The `ProbeExchange.url` of the exchange that shows it; empty if no single one does.
    """

    check: ProbeCheck
    severity: ProbeSeverity
    sentence: str
    request: str = ""

    def to_json(self) -> dict[str, str]:
        """Return the finding as `silo probe --json` prints it; see docs/probe.md."""
        return {
            "code": self.check.code,
            "severity": str(self.severity),
            "title": self.check.title,
            "found": self.sentence,
            "section": self.check.section,
            "request": self.request,
            "harvester": self.check.handling,
        }


def judge_all(
    checks: Sequence[ProbeCheck], evidence: Evidence
) -> tuple[list[ProbeFinding], list[ProbeCheck]]:
    """Make all checks.

    Returns:
        The findings, in the order of the checks, and the checks that could not be made.
    """
    findings: list[ProbeFinding] = []
    unseen: list[ProbeCheck] = []
    for check in checks:
        verdict = check.judge(evidence)
        if verdict is None:
            unseen.append(check)
            continue
        request = verdict.asked.url if verdict.asked is not None else ""
        findings.append(ProbeFinding(check, verdict.severity, verdict.sentence, request))
    return findings, unseen
