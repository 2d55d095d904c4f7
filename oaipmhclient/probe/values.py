"""What a probe asked, what came, and what is found in it: frozen values (pure)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from lxml import etree

from oaipmhclient.pages.requests_and_pages import ListPage
from oaipmhprotocol import Identify, OAIError
from politeweb.answers import Answer


class Severity(StrEnum):
    """How much a finding matters to whoever harvests."""

    OK = "ok"
    NOTE = "note"
    """Allowed, or a small matter; worth knowing."""
    FAULT = "fault"
    """Against the specification."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of a probe and what came of it.

    Attributes:
        role: What it was asked for, as ``window/empty``.
        params: As sent.
        url: The URL that repeats it, without credentials; for a POST, a command line.
        answer: None where none came.
        failure: Why none came, in words.
        status: The HTTP status; None where there was not even one.
        seconds: From sending to the last byte, waits of politeness included in none.
        root: The root element, where the answer is well-formed.
        unreadable: What makes it unreadable to a strict reader; empty where nothing does.
        repairs: Kinds of repair that made it readable.
        errors: The error conditions in it.
        page: Records, headers, sets or formats.
        identify: What the repository says of itself.
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
    def items(self) -> tuple[Any, ...]:
        """What is listed; nothing where there is no page."""
        return self.page.items if self.page is not None else ()

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes of the error conditions, in the order sent."""
        return tuple(error.code for error in self.errors)

    @property
    def is_list(self) -> bool:
        """Whether a list came, be it empty by an error condition."""
        return self.page is not None and (bool(self.items) or self.codes == ("noRecordsMatch",))

    @property
    def outcome(self) -> str:
        """What came, in a few words."""
        if self.answer is None:
            return self.failure or "no answer"
        if self.errors:
            return "the error " + ", ".join(self.codes)
        if self.unreadable:
            return f"an answer that {self.unreadable}"
        if self.page is None:
            return "an answer"
        return {0: "an empty list", 1: "one entry"}.get(
            len(self.items), f"{len(self.items)} entries"
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything a probe has seen.

    Attributes:
        base_url: What was probed.
        prefix: The format that records were asked for in.
        asked: By role, in the order asked.
        began: Aware UTC.
        ended: Aware UTC.
        moved_to: Where redirects lead; empty for nowhere.
        retried: Attempts that had to be repeated.
        stopped: Why the probe ended early; empty where it did not.
    """

    base_url: str
    prefix: str
    asked: Mapping[str, Asked]
    began: datetime
    ended: datetime
    moved_to: str = ""
    retried: int = 0
    stopped: str = ""

    def get(self, role: str) -> Asked | None:
        """The exchange of a role, where it was asked and something came, be it a mere status.

        A connection that failed says nothing of the repository's ways.
        """
        one = self.asked.get(role)
        return one if one is not None and one.status is not None else None

    @property
    def seen(self) -> dict[str, Asked]:
        """The exchanges that `get` returns, by role."""
        return {role: one for role, one in self.asked.items() if one.status is not None}

    def answered(self, *roles: str) -> list[Asked]:
        """Exchanges that brought an answer: those of the roles, or all."""
        chosen = [self.asked[role] for role in roles if role in self.asked] if roles else None
        return [one for one in chosen or self.asked.values() if one.answer is not None]

    @property
    def identify(self) -> Identify | None:
        """What the repository says of itself, as far as it can be read."""
        one = self.get("identify")
        return one.identify if one is not None else None

    @property
    def pages(self) -> list[Asked]:
        """The pages of the list walked, in order."""
        return [one for role, one in self.asked.items() if role.startswith("page/") and one.is_list]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check came to.

    Attributes:
        severity: See `Severity`.
        sentence: What was seen, for the repository's people.
        asked: The exchange that shows it.
    """

    severity: Severity
    sentence: str
    asked: Asked | None = None


def ok(sentence: str, asked: Asked | None = None) -> Verdict:
    """As it should be."""
    return Verdict(Severity.OK, sentence, asked)


def note(sentence: str, asked: Asked | None = None) -> Verdict:
    """Worth knowing."""
    return Verdict(Severity.NOTE, sentence, asked)


def fault(sentence: str, asked: Asked | None = None) -> Verdict:
    """Against the specification."""
    return Verdict(Severity.FAULT, sentence, asked)


Judge = Callable[[Evidence], Verdict | None]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that is looked at.

    Attributes:
        code: ``P`` and three digits; the first says which part of the report.
        title: What should be so.
        section: Of OAI-PMH 2.0.
        handling: What the harvester does where it is not so.
        judge: Evidence → verdict; None where it was not seen.
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


class Checks(list[Check]):
    """Checks in the order of the report; functions are added as they are defined."""

    def add(
        self, code: str, title: str, *, section: str, handling: str
    ) -> Callable[[Judge], Judge]:
        """Make a check of the function that follows."""

        def added(judge: Judge) -> Judge:
            self.append(Check(code, title, section, handling, judge))
            return judge

        return added


@dataclass(frozen=True, slots=True)
class Finding:
    """A check and what it came to.

    Attributes:
        check: What was looked at.
        severity: See `Severity`.
        sentence: What was seen.
        request: The `Asked.url` of what shows it; empty where no single request does.
    """

    check: Check
    severity: Severity
    sentence: str
    request: str = ""

    def to_json(self) -> dict[str, str]:
        """The finding as `silo probe --json` prints it; see docs/probe.md."""
        return {
            "code": self.check.code,
            "severity": str(self.severity),
            "title": self.check.title,
            "found": self.sentence,
            "section": self.check.section,
            "request": self.request,
            "harvester": self.check.handling,
        }


def judge_all(checks: Sequence[Check], evidence: Evidence) -> tuple[list[Finding], list[Check]]:
    """Put every check to the evidence.

    Returns:
        The findings, in the checks' order, and the checks for which nothing was seen.
    """
    findings: list[Finding] = []
    unseen: list[Check] = []
    for check in checks:
        verdict = check.judge(evidence)
        if verdict is None:
            unseen.append(check)
            continue
        request = verdict.asked.url if verdict.asked is not None else ""
        findings.append(Finding(check, verdict.severity, verdict.sentence, request))
    return findings, unseen
