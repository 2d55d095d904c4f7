"""Checks of errors, HTTP, XML and speed (pure).

Source: OAI-PMH 2.0, sections 3.1, 3.2 and 3.6.
"""

import re
from collections.abc import Sequence
from statistics import median

from oaipmhclient.probe.answer_schema import invalidities
from oaipmhclient.probe.values import (
    Evidence,
    Judge,
    Judgement,
    ProbeExchange,
    counted,
    fault,
    note,
    ok,
)
from oaipmhprotocol.words import OAI_NAMESPACE


def errors_are_answers(evidence: Evidence) -> Judgement | None:
    """OAI-PMH errors are not HTTP errors."""
    answers = [(one, one.answer) for one in evidence.answered() if one.errors]
    for asked, answer in answers:
        if answer is not None and answer.status != 200:
            return fault(
                f"The error {', '.join(asked.codes)} has HTTP status {answer.status}.", asked
            )
    return ok(f"{len(answers)} error conditions had status 200.") if answers else None


def type_is_xml(evidence: Evidence) -> Judgement | None:
    """Check the Content-Type of every response."""
    answers = [(one, one.answer) for one in evidence.answered()]
    for asked, answer in answers:
        stated = answer.headers.get("content-type", "") if answer is not None else ""
        kind = stated.partition(";")[0].strip().lower()
        if kind == "application/xml":
            return note("The type is application/xml; the specification requires text/xml.", asked)
        if kind != "text/xml":
            return fault(f"The type is “{stated}”." if stated else "There is no type.", asked)
    return ok("Every response has the type text/xml.") if answers else None


def compression_is_honest(evidence: Evidence) -> Judgement | None:
    """Compare Content-Encoding with the bytes, and with Identify."""
    answers = [(one, one.answer) for one in evidence.answered()]
    packed = 0
    for asked, answer in answers:
        stated = (
            answer.headers.get("content-encoding", "identity").strip().lower() if answer else ""
        )
        is_gzip = answer is not None and (answer.raw or answer.body).startswith(b"\x1f\x8b")
        if is_gzip and stated not in {"gzip", "x-gzip"}:
            return fault(
                "A response is compressed with gzip, but its headers do not say so.", asked
            )
        if not is_gzip and stated in {"gzip", "x-gzip"}:
            return fault("The headers of a response name gzip, but it is not compressed.", asked)
        packed += stated != "identity"
    return _offer(evidence, packed) if answers else None


def _offer(evidence: Evidence, packed: int) -> Judgement:
    claimed = evidence.identify.compression if evidence.identify is not None else ()
    if packed:
        return ok(f"{packed} responses were compressed.")
    if set(claimed) & {"gzip", "deflate"}:
        return fault(
            f"Identify lists {', '.join(claimed)}, but no response was compressed.",
            evidence.get("identify"),
        )
    return note("No response is compressed; gzip makes XML several times smaller.")


def post_is_answered(evidence: Evidence) -> Judgement | None:
    """Request Identify by POST."""
    asked = evidence.get("post")
    if asked is None or evidence.identify is None:
        return None
    if asked.identify is None:
        return fault(f"Identify by POST returns {asked.outcome}.", asked)
    return ok("POST works.", asked)


def nothing_moved(evidence: Evidence) -> Judgement | None:
    """Check for redirects."""
    if not evidence.answered():
        return None
    if evidence.moved_to:
        return note(f"Requests are redirected to {evidence.moved_to}; harvest that address.")
    return ok("No request was redirected.")


def requests_are_answered(evidence: Evidence) -> Judgement | None:
    """Count requests without a response; other checks report HTTP errors."""
    failed = [one for one in evidence.asked.values() if one.status is None]
    if evidence.stopped:
        return note(evidence.stopped)
    if failed:
        return fault(
            f"{len(failed)} of {len(evidence.asked)} requests got no response."
            f" The first: {failed[0].failure}.", failed[0],
        )  # fmt: skip
    if evidence.retried:
        return note(f"{counted(evidence.retried, 'request')} had to be repeated.")
    return ok(f"All {len(evidence.asked)} requests were answered.")


def answers_are_well_formed(evidence: Evidence) -> Judgement | None:
    """Parse strictly."""
    answers = evidence.answered()
    bad = [one for one in answers if one.root is None or (one.unreadable and one.repairs)]
    if bad:
        mended = f" Needed: {', '.join(bad[0].repairs)}." if bad[0].repairs else ""
        return fault(
            f"{len(bad)} of {len(answers)} responses are not well-formed. The first"
            f" {bad[0].unreadable}.{mended}",
            bad[0],
        )
    return ok(f"All {len(answers)} responses are well-formed.") if answers else None


def namespace_is_right(evidence: Evidence) -> Judgement | None:
    """Check the root element."""
    answers = _readable(evidence)
    for asked, namespace in answers:
        if namespace != OAI_NAMESPACE:
            shown = f"the namespace {namespace}" if namespace else "no namespace"
            return fault(f"A response has {shown}.", asked)
    return ok("Every response has the namespace of OAI-PMH 2.0.") if answers else None


def _readable(evidence: Evidence) -> list[tuple[ProbeExchange, str]]:
    """Yield the well-formed responses, with the namespace of their root."""
    return [
        (one, str(one.root.tag).partition("}")[0][1:] if str(one.root.tag).startswith("{") else "")
        for one in evidence.answered()
        if one.root is not None
    ]


def encoding_is_utf8(evidence: Evidence) -> Judgement | None:
    """Check the XML declaration and Content-Type."""
    answers = evidence.answered()
    for asked in answers:
        for stated in _encodings(asked):
            if stated.lower() not in {"utf-8", "utf8", "us-ascii"}:
                return fault(f"A response declares the encoding {stated}.", asked)
    return ok("Every response is in UTF-8.") if answers else None


def _encodings(asked: ProbeExchange) -> list[str]:
    if asked.answer is None:
        return []
    declared = re.match(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']+)", asked.answer.body)
    charset = re.search(
        r"charset\s*=\s*\"?([\w.:-]+)", asked.answer.headers.get("content-type", "")
    )
    found = [declared[1].decode("latin-1")] if declared else []
    return [*found, charset[1]] if charset else found


def valid(which: int, well: str) -> Judge:
    """Return the judge of the protocol's own elements (0), or of containers (1)."""
    return lambda evidence: _validity(evidence, which, well)


def _validity(evidence: Evidence, which: int, well: str) -> Judgement | None:
    answers = [one for one, namespace in _readable(evidence) if namespace == OAI_NAMESPACE]
    invalid = [(one, found) for one in answers if (found := _invalid(one, which))]
    if invalid:
        asked, found = invalid[0]
        more = f" ({len(found) - 1} more in this response)" if len(found) > 1 else ""
        return fault(
            f"{len(invalid)} of {len(answers)} responses are invalid. The first: {found[0]}{more}.",
            asked,
        )
    return ok(well) if answers else None


def _invalid(asked: ProbeExchange, which: int) -> Sequence[str]:
    return invalidities(asked.root)[which] if asked.root is not None else ()


def lists_come_in_time(evidence: Evidence) -> Judgement | None:
    """Measure seconds per page, and records per second."""
    pages = [one for one in evidence.pages if one.items]
    if not pages:
        return None
    seconds = sum(one.seconds for one in pages)
    size = sum(len(one.answer.raw or one.answer.body) for one in pages if one.answer is not None)
    rate = sum(len(one.items) for one in pages) / max(seconds, 1e-6)
    middle = median(one.seconds for one in pages)
    told = (
        f"A page takes {middle:.1f} s and {size / len(pages) / 1000:,.0f} kB;"
        f" {rate:,.0f} records arrive per second."
    )
    return note(told, pages[0]) if middle > 10 or rate < 1 else ok(told, pages[0])
