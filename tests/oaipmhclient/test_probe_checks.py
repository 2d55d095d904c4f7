"""Each check against the sample repository, and against one with exactly that fault.

A repository is a function from a request's parameters to an answer; a fault is a
function from those and the sample's answer to another answer.
"""

import gzip
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from oaipmhclient.errors import PageUnreadable
from oaipmhclient.probe.asking import MOST_REQUESTS, Probe
from oaipmhclient.probe.checks import CHECKS
from oaipmhclient.probe.report import ProbeReport
from oaipmhclient.probe.values import Evidence, ProbeSeverity, counted
from oaipmhprotocol import Granularity
from oaipmhprotocol.queries import Verbatim
from oaipmhprovider import Settings, respond, sample_repository
from oaipmhprovider.sample import SampleRepository
from politeweb.answers import Answer, AttemptOutcome, Exchange
from politeweb.errors import EndpointError, EndpointUnreachable, HTTPStatusError, RetryLater

URL = "http://repo.example/oai"
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
REPOSITORIES = {one: sample_repository(60, granularity=one) for one in Granularity}
DELETED = next(
    record.header.identifier
    for record in (
        REPOSITORIES[Granularity.SECOND].record(f"oai:eprints.example.org:{3000 + n}", "oai_dc")
        for n in range(60)
    )
    if record.header.deleted
)

Params = Mapping[str, str]
Fault = Callable[[Params, Answer], Answer]


def sample_answer(params: Params, source: SampleRepository) -> Answer:
    settings = Settings(base_url=URL, page_size=20, compression=("gzip",))
    body = respond([(k, str(v)) for k, v in params.items()], source, NOW, settings).body
    headers = {"content-type": "text/xml; charset=utf-8", "content-encoding": "gzip"}
    return Answer(body, URL, 200, headers, gzip.compress(body, 1, mtime=0), NOW)


@dataclass
class Repository:
    """The sample repository with a fault in it."""

    fault: Fault = lambda params, answer: answer
    granularity: Granularity = Granularity.SECOND
    moved_to: str = ""
    traffic: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(retried=0))
    requests: list[dict[str, str]] = field(default_factory=list)

    def ask(self, params: Params) -> Answer:
        return sample_answer(params, REPOSITORIES[self.granularity])

    def fetch(self, params: Params) -> Answer:
        self.requests.append(dict(params))
        return self.fault(params, self.ask(params))


def probed(repository: Repository, **options: object) -> ProbeReport:
    options = {"by_post": Repository(granularity=repository.granularity), **options}
    return ProbeReport.of(Probe(repository, URL, now=lambda: NOW, **options).run())


def found(report: ProbeReport) -> dict[str, str]:
    return {
        one.check.code: str(one.severity)
        for one in report.findings
        if one.severity is not ProbeSeverity.OK
    }


def sentence(report: ProbeReport, code: str) -> str:
    return next(one.sentence for one in report.findings if one.check.code == code)


# --------------------------------------------------------------------------- making faults


def when(fault: Fault, **wanted: str | None) -> Fault:
    """The fault, for requests with these parameters (None: without that one)."""
    wanted = {name.rstrip("_"): value for name, value in wanted.items()}

    def chosen(params: Params, answer: Answer) -> Answer:
        fits = all(
            params.get(name) == value if value != "*" else name in params
            for name, value in wanted.items()
        )
        return fault(params, answer) if fits else answer

    return chosen


def text(pattern: str, replacement: str, count: int = 0) -> Fault:
    """Other bytes in the answer; the pattern has to be there."""

    def fault(params: Params, answer: Answer) -> Answer:
        body, number = re.subn(
            pattern, replacement, answer.body.decode(), count=count, flags=re.DOTALL
        )
        assert number, f"{pattern} is not in the answer to {dict(params)}"
        return replace(answer, body=body.encode())

    return fault


def error(code: str) -> Fault:
    """An error condition instead of whatever came."""
    return text(r"</request>.*</OAI-PMH>", f'</request><error code="{code}">No.</error></OAI-PMH>')


def like(granularity: Granularity = Granularity.SECOND, **changed: str | None) -> Fault:
    """What the sample answers to a request with other parameters (None: without that one)."""
    changed = {name.rstrip("_"): value for name, value in changed.items()}

    def fault(params: Params, answer: Answer) -> Answer:
        other = {**params, **changed}
        kept = {name: value for name, value in other.items() if value is not None}
        return sample_answer(kept, REPOSITORIES[granularity])

    return fault


def headers(**changed: str | None) -> Fault:
    names = {name.replace("_", "-"): value for name, value in changed.items()}

    def fault(params: Params, answer: Answer) -> Answer:
        merged = {**answer.headers, **names}
        return replace(answer, headers={k: v for k, v in merged.items() if v is not None})

    return fault


def raises(error: EndpointError) -> Fault:
    def fault(params: Params, answer: Answer) -> Answer:
        raise error

    return fault


def every(*faults: Fault) -> Fault:
    def fault(params: Params, answer: Answer) -> Answer:
        for one in faults:
            answer = one(params, answer)
        return answer

    return fault


IDENTIFY = {"verb": "Identify", "probe": None}
FORMATS = {"verb": "ListMetadataFormats", "identifier": None}
FIRST = {"verb": "ListRecords", "metadataPrefix": "oai_dc"}
HEADERS = {
    "verb": "ListIdentifiers", "metadataPrefix": "oai_dc", "set": None, "from_": None,
    "until": None,
}  # fmt: skip
WINDOW = {"verb": "ListIdentifiers", "from_": "*", "until": "*"}
LIST = {"verb": "ListRecords"}
AHEAD = {**WINDOW, "from_": "2027-01-01"}


def identify(pattern: str, replacement: str) -> Fault:
    return when(text(pattern, replacement), **IDENTIFY)


def second_page(fault: Fault) -> Fault:
    """For the page that the first token brings."""
    first = sample_answer(
        {"verb": "ListRecords", "metadataPrefix": "oai_dc"}, REPOSITORIES[Granularity.SECOND]
    )
    token = re.search(rb"<resumptionToken[^>]*>([^<]+)<", first.body)[1].decode()
    return when(fault, verb="ListRecords", resumptionToken=token)


def last_page(fault: Fault) -> Fault:
    def chosen(params: Params, answer: Answer) -> Answer:
        is_last = params["verb"] == "ListRecords" and b'cursor="40"' in answer.body
        return fault(params, answer) if is_last else answer

    return chosen


def tokens(before: str, after: str) -> Fault:
    """Tokens with something around them."""

    def fault(params: Params, answer: Answer) -> Answer:
        token = params.get("resumptionToken", "").strip()
        if token and token.startswith(before.strip()) and token.endswith(after.strip()):
            token = token.removeprefix(before.strip()).removesuffix(after.strip())
            answer = sample_answer(
                {**params, "resumptionToken": token}, REPOSITORIES[Granularity.SECOND]
            )
        body = re.sub(
            rb"(<resumptionToken[^>]*>)([^<]+)<",
            rb"\1" + before.encode() + rb"\2" + after.encode() + b"<",
            answer.body,
        )
        return replace(answer, body=body)

    return fault


def only_verbatim(params: Params, answer: Answer) -> Answer:
    if "resumptionToken" in params and not isinstance(params["resumptionToken"], Verbatim):
        return error("badResumptionToken")(params, answer)
    return answer


def only_with_prefix(params: Params, answer: Answer) -> Answer:
    """As pycsw 2.6.2."""
    if "resumptionToken" not in params:
        return answer
    if "metadataPrefix" not in params:
        wrong = "badResumptionToken" if params["resumptionToken"] == "no-such-token" else ""
        return error(wrong or "badArgument")(params, answer)
    return like(metadataPrefix=None)(params, answer)


def once_only() -> Fault:
    used: set[str] = set()

    def fault(params: Params, answer: Answer) -> Answer:
        token = params.get("resumptionToken")
        if token in used:
            return error("badResumptionToken")(params, answer)
        used.add(token or "")
        return answer

    return fault


def from_is_ignored(params: Params, answer: Answer) -> Answer:
    return like(from_=None)(params, answer) if "until" not in params else answer


def until_is_ignored(params: Params, answer: Answer) -> Answer:
    return like(until=None)(params, answer) if "from" not in params else answer


def exact(fault: Fault) -> Fault:
    """For the window of one second."""

    def chosen(params: Params, answer: Answer) -> Answer:
        first, last = params.get("from", ""), params.get("until")
        return fault(params, answer) if "T" in first and first == last else answer

    return chosen


def spare_errors(fault: Fault) -> Fault:
    def chosen(params: Params, answer: Answer) -> Answer:
        return answer if b"<error" in answer.body else fault(params, answer)

    return chosen


def metadata_of_the_deleted(params: Params, answer: Answer) -> Answer:
    if params["verb"] != "ListRecords":
        return answer
    more = rb'\1<metadata><gone xmlns="urn:gone"/></metadata>'
    return replace(answer, body=re.sub(rb'(status="deleted">.*?</header>)', more, answer.body,
                                       flags=re.DOTALL))  # fmt: skip


def unpacked(params: Params, answer: Answer) -> Answer:
    return replace(headers(content_encoding=None)(params, answer), raw=None)


def repeat_a_record(params: Params, answer: Answer) -> Answer:
    return text(r"oai:eprints\.example\.org:30\d\d", "oai:eprints.example.org:3000", 1)(
        params, answer
    )


_ONE = "<identifier>oai:eprints.example.org:3001</identifier>"

CASES: list[tuple[str, str, str, Fault]] = [
    # code: what is found besides: which fault
    ("P101", "fault", "", when(error("badArgument"), **IDENTIFY)),
    ("P101", "fault", "", when(raises(HTTPStatusError(URL, 404)), **IDENTIFY)),
    ("P102", "fault", "P804", identify("<repositoryName>.*</repositoryName>", "")),
    ("P102", "fault", "", identify("<protocolVersion>2.0<", "<protocolVersion><")),
    ("P103", "fault", "", identify(f"<baseURL>{URL}<", "<baseURL>http://localhost/<")),
    ("P103", "note", "", identify(f"<baseURL>{URL}<", "<baseURL>https://REPO.example/oai/<")),
    ("P104", "fault", "P804", identify(">2.0</protocolVersion>", ">1.1</protocolVersion>")),
    ("P105", "fault", "P804", identify("<adminEmail>[^<]*<", "<adminEmail>nobody<")),
    ("P106", "fault", "P804", identify("<earliestDatestamp>[^<]*<", "<earliestDatestamp>0000<")),
    ("P106", "fault", "", identify("(<earliestDatestamp>.{10})[^<]*<", r"\1<")),
    ("P106", "note", "", identify("(<earliestDatestamp>)....", r"\g<1>0001")),
    ("P107", "fault", "P804", identify("YYYY-MM-DDThh:mm:ssZ", "yyyy-MM-DDThh:mm:ssZ")),
    ("P108", "fault", "P804", identify(">persistent<", ">sometimes<")),
    ("P109", "fault", "P804", identify("<responseDate>[^<]*<", "<responseDate>2026-03-01 12:00<")),
    ("P109", "note", "", identify("T12:00:00Z</responseDate>", "T10:00:00Z</responseDate>")),
    ("P201", "fault", "", when(text("<schema>[^<]*<", "<schema><", 1), **FORMATS)),
    ("P201", "fault", "", when(error("badVerb"), **FORMATS)),
    ("P202", "fault", "", when(
        text("<metadataFormat>(?:(?!</metadataFormat>).)*oai_dc.*?</metadataFormat>", ""),
        **FORMATS)),
    ("P202", "fault", "", when(
        text(r">[^<]*/2\.0/oai_dc/</metadataNamespace>", ">http://x/</metadataNamespace>"),
        **FORMATS)),
    ("P203", "fault", "", when(
        error("idDoesNotExist"), verb="ListMetadataFormats", identifier="*")),
    ("P204", "fault", "", when(error("badVerb"), verb="ListSets")),
    ("P204", "fault", "P804", when(
        text("<ListSets>.*</ListSets>", "<ListSets/>"), verb="ListSets")),
    ("P205", "fault", "", when(
        text(r"(</datestamp>)(?:\s*<setSpec>[^<]*</setSpec>)+", r"\1", 1),
        verb="ListIdentifiers", set="*")),
    ("P205", "fault", "", when(error("noRecordsMatch"), verb="ListIdentifiers", set="*")),
    ("P301", "fault", "", when(error("badArgument"), **FIRST)),
    ("P301", "note", "P302", when(error("noRecordsMatch"), **FIRST)),
    ("P302", "fault", "", when(text('Size="60"', 'Size="90"'), **HEADERS)),
    ("P302", "fault", "", when(error("badArgument"), **HEADERS)),
    ("P303", "fault", "", when(
        spare_errors(text("<datestamp>20..", "<datestamp>1999")), verb="GetRecord")),
    ("P303", "fault", "", when(
        error("idDoesNotExist"), verb="GetRecord", identifier="oai:eprints.example.org:3000")),
    ("P304", "fault", "", when(
        text(_ONE, "<identifier>3001</identifier>"), **HEADERS)),
    ("P304", "fault", "", when(
        text(_ONE, "<identifier>oai:eprints.example.org:3002</identifier>"), **HEADERS)),
    ("P304", "fault", "P804", when(
        text("<identifier>[^<]*</identifier>", "", 1), **HEADERS)),
    ("P304", "fault", "P804", second_page(text("<identifier>[^<]*</identifier>", "", 1))),
    ("P305", "fault", "", only_verbatim),
    ("P305", "fault", "", only_with_prefix),
    ("P305", "fault", "", when(error("badResumptionToken"), resumptionToken="*")),
    ("P306", "fault", "", once_only()),
    ("P307", "fault", "", last_page(repeat_a_record)),
    ("P308", "fault", "", spare_errors(lambda params, answer: replace(
        answer, body=answer.body.replace(b'Size="60"', b'Size="70"')))),
    ("P308", "fault", "", last_page(text('Size="60"', 'Size="20"'))),
    ("P308", "note", "", when(
        spare_errors(text(r' completeListSize="\d+"', "")), **LIST)),
    ("P309", "fault", "", second_page(text('cursor="20"', 'cursor="1"'))),
    ("P310", "fault", "P804", second_page(text("expirationDate", "expires"))),
    ("P310", "fault", "", when(text('expirationDate="20..', 'expirationDate="1999'), **FIRST)),
    ("P310", "fault", "P804", when(
        text('expirationDate="[^"]*"', 'expirationDate="tomorrow"'), **FIRST)),
    ("P310", "note", "", spare_errors(lambda params, answer: replace(
        answer, body=re.sub(rb' expirationDate="[^"]*"', b"", answer.body)))),
    ("P311", "fault", "", last_page(text("<resumptionToken[^>]*(/>|></resumptionToken>)", ""))),
    ("P312", "note", "", tokens("a/", "")),
    ("P312", "note", "", tokens("\n  ", "\n")),
    ("P401", "fault", "", when(text("(<datestamp>.{10})[^<]*<", r"\1<", 1), **HEADERS)),
    ("P401", "fault", "P804", when(text("(<datestamp>.{10})T", r"\1 ", 1), **HEADERS)),
    ("P402", "fault", "", identify("(<earliestDatestamp>)20..", r"\g<1>2024")),
    ("P403", "fault", "", from_is_ignored),
    ("P403", "fault", "", when(
        error("badArgument"), verb="ListIdentifiers", from_="*", until=None)),
    ("P404", "fault", "", until_is_ignored),
    ("P404", "fault", "", when(
        error("badArgument"), verb="ListIdentifiers", from_=None, until="*")),
    ("P405", "fault", "", exact(error("noRecordsMatch"))),
    ("P405", "fault", "", exact(error("badArgument"))),
    ("P406", "fault", "", when(error("badArgument"), **AHEAD)),
    ("P406", "fault", "", when(like(from_=None, until=None), **AHEAD)),
    ("P410", "fault", "", exact(like(from_=None, until=None))),
    ("P501", "fault", "", identify(">persistent<", ">no<")),
    ("P502", "fault", "", when(text("<metadata>.*?</metadata>", "", 1), **FIRST)),
    ("P502", "fault", "", metadata_of_the_deleted),
    ("P503", "fault", "", when(error("idDoesNotExist"), verb="GetRecord", identifier=DELETED)),
    ("P503", "fault", "", when(text(' status="deleted"', ""), verb="GetRecord",
                               identifier=DELETED)),
    ("P601", "fault", "", when(error("badArgument"), verb="Probe")),
    ("P601", "fault", "", when(raises(HTTPStatusError(URL, 400)), verb="Probe")),
    ("P602", "fault", "", when(
        error("noRecordsMatch"), verb="ListRecords", metadataPrefix=None, resumptionToken=None)),
    ("P603", "fault", "", when(like(probe=None), probe="*")),
    ("P604", "fault", "", when(error("badArgument"), metadataPrefix="no_such_format")),
    ("P605", "fault", "", when(
        error("noRecordsMatch"), identifier="oai:probe.invalid:no-such-record")),
    ("P606", "fault", "", when(raises(HTTPStatusError(URL, 500)), resumptionToken="no-such-token")),
    ("P607", "fault", "", when(lambda params, answer: replace(answer, status=422), verb="Probe")),
    ("P701", "fault", "", when(headers(content_type="text/html"), **FORMATS)),
    ("P701", "fault", "", when(headers(content_type=None), **FORMATS)),
    ("P701", "note", "", when(headers(content_type="application/xml"), **FORMATS)),
    ("P702", "fault", "", when(headers(content_encoding=None), **FORMATS)),
    ("P702", "fault", "", when(
        lambda params, answer: replace(answer, raw=None), **FORMATS)),
    ("P801", "fault", "", when(text("<dc:title>", "<dc:title>\x0b", 1), **FIRST)),
    ("P801", "fault", "", when(text("^", "\n ", 1), verb="ListSets")),
    ("P801", "fault", "", when(text("^", "\ufeff ", 1), verb="ListSets")),
    ("P801", "fault", "", second_page(text("<dc:title", "</dc:title", 1))),
    ("P802", "fault", "", when(text("OAI/2.0/\"", "OAI/1.1/\""), verb="ListSets")),
    ("P803", "fault", "", when(
        headers(content_type="text/xml; charset=iso-8859-1"), verb="ListSets")),
    ("P803", "fault", "", when(
        text(r"<\?xml[^>]*>", '<?xml version="1.0" encoding="ISO-8859-1"?>'), verb="ListSets")),
    ("P804", "fault", "", when(text("<request.*</request>", ""), verb="ListSets")),
    ("P805", "fault", "", when(text(r"(</?)dc:title\b", r"\1dc:headline"), **FIRST)),
]  # fmt: skip


@pytest.mark.parametrize("granularity", list(Granularity))
def test_the_sample_repository_has_no_faults_and_every_check_sees_something(granularity):
    report = probed(Repository(granularity=granularity))
    assert found(report) == {}
    unseen = {one.code for one in report.unseen}
    assert unseen == set()


@pytest.mark.parametrize(
    ("code", "severity", "besides", "fault"),
    CASES,
    ids=[f"{code}-{number}" for number, (code, *_) in enumerate(CASES)],
)
def test_a_fault_is_found_and_no_other(code, severity, besides, fault):
    report = probed(Repository(fault))
    assert found(report) == {code: severity} | dict.fromkeys(besides.split(), "fault")


@pytest.mark.parametrize(
    ("code", "granularity", "fault"),
    [
        ("P407", Granularity.SECOND, lambda params: params["from"] > params["until"]),
        ("P407", Granularity.DAY, lambda params: params["from"] > params["until"]),
        ("P408", Granularity.SECOND, lambda params: len(params["from"]) < len(params["until"])),
        ("P409", Granularity.SECOND, lambda params: "T" not in params["from"]
            and params["until"] == "T"),
        ("P409", Granularity.DAY, lambda params: "T" in params["from"] and "T" in params["until"]),
    ],
)  # fmt: skip
def test_windows_that_are_answered_otherwise_than_is_due_are_found(code, granularity, fault):
    def answered(params: Params, answer: Answer) -> Answer:
        window = {"from": "", "until": "", **params}
        if "from" in params and fault({**window, "until": params.get("until", "T")}):
            return error("noRecordsMatch")(params, answer)
        return answer

    assert found(probed(Repository(answered, granularity))) == {code: "fault"}


def test_a_repository_that_denies_the_records_of_long_lists_is_found():
    def denied(params: Params, answer: Answer) -> Answer:
        is_list = params["verb"] in {"ListRecords", "ListIdentifiers"}
        is_short = params.get("from") is not None and params.get("from") == params.get("until")
        is_whole = "metadataPrefix" in params and params["metadataPrefix"] == "oai_dc"
        is_denied = is_list and is_whole and not is_short
        return error("noRecordsMatch")(params, answer) if is_denied else answer

    report = probed(Repository(denied))
    assert found(report)["P411"] == "fault"
    assert "but the day" in sentence(report, "P411")
    every_list = {"verb": "ListRecords", "metadataPrefix": "oai_dc"}
    nothing = probed(Repository(when(error("noRecordsMatch"), **every_list)))
    assert "P411" not in found(nothing)


def test_a_token_that_leads_to_other_dates_is_found():
    class Confused(Repository):
        is_within = False

        def fetch(self, params: Params) -> Answer:
            answer = super().fetch(params)
            token = params.get("resumptionToken", "no-such-token")
            if self.is_within and token != "no-such-token":
                answer = text("<datestamp>....", "<datestamp>1999")(params, answer)
            if params["verb"] == "ListRecords" and "from" in params:
                self.is_within = True
            return answer

    report = probed(Confused())
    assert found(report) == {"P412": "fault"}
    assert "has oai:eprints.example.org" in sentence(report, "P412")


def test_nothing_compressed_is_noted_and_a_fault_where_it_is_offered():
    assert found(probed(Repository(unpacked), by_post=Repository(unpacked))) == {"P702": "fault"}
    silent = every(unpacked, identify("<compression>gzip</compression>", ""))
    assert found(probed(Repository(silent), by_post=Repository(unpacked))) == {"P702": "note"}


def test_post_that_is_refused_is_found():
    refusing = Repository(raises(HTTPStatusError(URL, 405)))
    assert found(probed(Repository(), by_post=refusing)) == {"P703": "fault"}


def test_redirects_and_retries_are_noted():
    assert found(probed(Repository(moved_to="https://new.example/oai"))) == {"P704": "note"}
    tired = Repository(traffic=SimpleNamespace(retried=3))
    assert found(probed(tired)) == {"P705": "note"}


def test_a_connection_that_fails_is_one_fault_and_says_nothing_of_what_was_asked():
    broken = when(raises(EndpointUnreachable(URL, "the connection broke")), **FIRST)
    report = probed(Repository(broken))
    assert found(report) == {"P705": "fault"}
    assert "the connection broke" in sentence(report, "P705")
    assert {"P301", "P305"} <= {one.code for one in report.unseen}


def test_slow_lists_are_noted():
    exchanges: list[Exchange] = []

    def slow(params: Params, answer: Answer) -> Answer:
        exchanges.append(Exchange(AttemptOutcome.ANSWERED, 25.0, len(answer.body), 200))
        return answer

    report = probed(Repository(slow), exchanges=exchanges)
    assert found(report) == {"P901": "note"}
    assert "A page takes 25.0 s" in sentence(report, "P901")


def test_a_token_that_comes_again_is_found():
    """As archive.org: the token sent is handed out again."""

    def same(params: Params, answer: Answer) -> Answer:
        token = params.get("resumptionToken")
        if params["verb"] != "ListRecords" or token in (None, "no-such-token"):
            return answer
        if not re.search(rb"<resumptionToken[^>]*>[^<]", answer.body):
            return answer
        return text("(<resumptionToken[^>]*>)[^<]+<", rf"\g<1>{token}<")(params, answer)

    report = probed(Repository(same))
    assert found(report)["P307"] == "fault"
    assert "issued a second time" in sentence(report, "P307")


def test_what_a_token_wants_is_told():
    verbatim, both = probed(Repository(only_verbatim)), probed(Repository(only_with_prefix))
    assert "if it is sent without encoding" in sentence(verbatim, "P305")
    assert "if metadataPrefix is sent with it" in sentence(both, "P305")


def test_every_check_has_a_test_that_makes_it_find_something():
    elsewhere = {"P407", "P408", "P409", "P411", "P412", "P703", "P704", "P705", "P901"}
    assert {case[0] for case in CASES} | elsewhere == {check.code for check in CHECKS}


# --------------------------------------------------------------------------- asking


def test_no_probe_asks_more_than_it_promises():
    for fault in (lambda params, answer: answer, only_with_prefix):
        repository = Repository(fault)
        report = probed(repository, by_post=repository)
        assert len(repository.requests) == len(report.evidence.asked) <= MOST_REQUESTS


def test_a_probe_ends_when_its_time_is_up_and_says_so():
    clock = iter(range(10_000))
    report = probed(Repository(), budget=20, monotonic=lambda: float(next(clock)))
    assert 3 <= len(report.evidence.asked) <= 10
    assert found(report) == {"P705": "note"}
    assert "limit of 20 seconds was reached" in report.text()
    assert {"P606", "P703"} <= {one.code for one in report.unseen}


def test_a_repository_that_asks_to_be_left_alone_is():
    later = RetryLater(URL, 429, NOW + timedelta(hours=1))
    repository = Repository(when(raises(later), verb="ListSets"))
    report = probed(repository)
    assert len(repository.requests) == 3
    assert "a pause until 2026-03-01 13:00:00 UTC" in report.text()


def test_a_repository_without_identify_is_probed_all_the_same():
    report = probed(Repository(when(text(".*", "<html></html>", 1), **IDENTIFY)))
    assert found(report) == {"P101": "fault", "P801": "fault"}


def test_an_address_without_oai_pmh_is_unusable():
    html = Repository(lambda params, answer: replace(answer, body=b"<html><body/></html>"))
    with pytest.raises(PageUnreadable, match="not OAI-PMH"):
        probed(html)
    nobody = Repository(raises(EndpointUnreachable(URL, "the connection was refused")))
    with pytest.raises(EndpointError, match="the connection was refused"):
        probed(nobody)
    missing = Repository(raises(HTTPStatusError(URL, 404)))
    with pytest.raises(EndpointError, match=f"{URL} returns HTTP status 404"):
        probed(missing)


def test_a_repository_without_any_record_is_in_order():
    empty = every(
        when(error("noRecordsMatch"), verb="ListRecords", metadataPrefix="oai_dc"),
        when(error("noRecordsMatch"), verb="ListIdentifiers"),
    )
    repository = Repository(empty)
    report = probed(repository)
    assert found(report) == {"P301": "note"}
    assert not any(request["verb"] == "GetRecord" and "3000" in request["identifier"]
                   for request in repository.requests)  # fmt: skip


def test_evidence_of_nothing_is_judged_as_nothing():
    report = ProbeReport.of(Evidence(URL, "oai_dc", {}, NOW, NOW))
    assert {one.check.code for one in report.findings} <= {"P705"}


def test_one_thing_is_said_in_the_singular() -> None:
    assert [counted(number, "set") for number in (0, 1, 1200)] == ["0 sets", "1 set", "1,200 sets"]
