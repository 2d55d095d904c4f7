"""The report of a probe: text that can be sent to the repository, or JSON (pure)."""

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from oaipmhclient.probe.checks import CHECKS
from oaipmhclient.probe.values import (
    TOPICS,
    Evidence,
    ProbeCheck,
    ProbeFinding,
    ProbeSeverity,
    counted,
    judge_all,
)

_SPECIFICATION = "http://www.openarchives.org/OAI/openarchivesprotocol.html"
_WIDTH = 78


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """The findings of one probe.

    Attributes:
        evidence: The exchanges.
        findings: One for each check that could be made, in the order of docs/probe.md.
        unseen: The checks that could not be made.
    """

    evidence: Evidence
    findings: tuple[ProbeFinding, ...]
    unseen: tuple[ProbeCheck, ...]

    @classmethod
    def of(cls, evidence: Evidence) -> "ProbeReport":
        """Make all checks."""
        findings, unseen = judge_all(CHECKS, evidence)
        return cls(evidence, tuple(findings), tuple(unseen))

    def of_severity(self, severity: ProbeSeverity) -> list[ProbeFinding]:
        """Return the findings of this severity."""
        return [one for one in self.findings if one.severity is severity]

    @property
    def has_faults(self) -> bool:
        """Whether anything violates the specification."""
        return bool(self.of_severity(ProbeSeverity.FAULT))

    def to_json(self) -> dict[str, Any]:
        """Return the report as `silo probe --json` prints it; see docs/probe.md."""
        evidence = self.evidence
        return {
            "base_url": evidence.base_url,
            "moved_to": evidence.moved_to or None,
            "began": f"{evidence.began:%Y-%m-%dT%H:%M:%SZ}",
            "ended": f"{evidence.ended:%Y-%m-%dT%H:%M:%SZ}",
            "requests": len(evidence.asked),
            "stopped": evidence.stopped or None,
            "counts": {str(one): len(self.of_severity(one)) for one in ProbeSeverity},
            "findings": [one.to_json() for one in self.findings],
            "not_checked": [one.code for one in self.unseen],
        }

    def text(self) -> str:
        """Return the report as text that needs no knowledge of this program."""
        lines = [
            *self._heading(),
            *_part(
                "Faults: violations of the specification", self.of_severity(ProbeSeverity.FAULT)
            ),
            *_part("Worth knowing", self.of_severity(ProbeSeverity.NOTE)),
            *self._in_order(),
            *self._not_checked(),
            f"The specification: {_SPECIFICATION}",
        ]
        return "\n".join(lines)

    def _heading(self) -> Iterator[str]:
        evidence = self.evidence
        faults, notes, well = (
            len(self.of_severity(one))
            for one in (ProbeSeverity.FAULT, ProbeSeverity.NOTE, ProbeSeverity.OK)
        )
        seconds = (evidence.ended - evidence.began).total_seconds()
        yield f"The OAI-PMH repository at {evidence.base_url}"
        yield (
            f"Checked on {evidence.began:%Y-%m-%d at %H:%M} UTC,"
            f" with {_number(len(evidence.asked), 'request')} in"
            f" {_number(max(1, math.ceil(seconds)), 'second')}."
        )
        yield ""
        yield f"{_number(faults, 'fault')}, {_number(notes, 'note')}, {well} in order."
        if evidence.stopped:
            yield evidence.stopped
        yield ""

    def _in_order(self) -> Iterator[str]:
        yield from _title("In order")
        for digit, topic in TOPICS.items():
            found = [
                one for one in self.of_severity(ProbeSeverity.OK) if one.check.code[1] == digit
            ]
            if found:
                yield f"{topic}"
            for one in found:
                yield from _wrapped(one.sentence, f"  {one.check.code}  ")
        yield ""

    def _not_checked(self) -> Iterator[str]:
        if self.unseen:
            yield from _title("Not checked, because nothing showed it")
            for check in self.unseen:
                yield f"  {check.code}  {check.title}"
            yield ""


def _part(title: str, findings: Sequence[ProbeFinding]) -> Iterator[str]:
    if not findings:
        return
    yield from _title(title)
    for one in findings:
        yield f"{one.check.code}  {one.check.title}"
        yield from _wrapped(one.sentence, "  Seen:       ")
        yield f"  Source:     OAI-PMH 2.0, section {one.check.section}"
        if one.request:
            yield f"  To repeat:  {one.request}"
        yield from _wrapped(one.check.handling, "  Harvester:  ")
        yield ""


def _title(words: str) -> Iterator[str]:
    yield words
    yield "-" * len(words)
    yield ""


def _wrapped(sentence: str, before: str) -> list[str]:
    """Wrap a sentence at spaces only, so that addresses stay whole."""
    return textwrap.wrap(
        " ".join(sentence.split()),
        _WIDTH,
        initial_indent=before,
        subsequent_indent=" " * len(before),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _number(count: int, what: str) -> str:
    return counted(count, what) if count else f"no {what}s"
