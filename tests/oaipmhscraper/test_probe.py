"""`silo probe` as a user or a script calls it."""

import json
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from wsgiref.types import StartResponse, WSGIEnvironment

import pytest
from cheroot import wsgi
from click.testing import CliRunner, Result

from oaipmhclient.pages.xml_pages import parse_page
from oaipmhclient.probe.answer_schema import invalidities
from oaipmhclient.probe.asking import MOST_REQUESTS
from oaipmhclient.probe.checks import CHECKS
from oaipmhclient.probe.report import ProbeReport
from oaipmhclient.probe.values import TOPICS, Evidence, ProbeExchange
from oaipmhprovider.sample import sample_repository
from oaipmhprovider.server import SampleServer
from oaipmhprovider.wsgi import ProviderApp
from oaipmhscraper.commands.probe import is_loopback, polite_settings
from politeweb.settings import HttpSettings
from recordsilo.cli import silo_command

DOCUMENT = Path(__file__).parents[2] / "docs" / "probe.md"
CHECKS_DOCUMENT = DOCUMENT.with_name("probe-checks.md")


@pytest.fixture(scope="module")
def server() -> Iterator[SampleServer]:
    with SampleServer(size=120) as running:
        yield running


def silo(*arguments: str) -> Result:
    return CliRunner().invoke(silo_command, ["probe", *arguments])


# --- the command


def test_a_sound_repository_ends_with_0_and_a_report_without_faults(server):
    result = silo(server.base_url)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"The OAI-PMH repository at {server.base_url}\nChecked on ")
    assert "no faults, no notes" in result.stdout
    assert "Wexcombe Research Repository" in result.stdout
    assert result.stderr == ""


def test_json_has_the_keys_that_the_document_names(server):
    report = json.loads(silo(server.base_url, "--json").stdout)
    document = DOCUMENT.read_text(encoding="utf-8")
    section = document.partition("## JSON")[2].partition("\n## ")[0]
    table = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert [name for row in table for name in re.findall(r"`(\w+)`", row)] == list(report)
    finding = report["findings"][0]
    assert set(finding) <= set(re.findall(r"`(\w+)`", section.partition("Each finding")[2]))
    assert report["counts"] == {"ok": len(report["findings"]), "note": 0, "fault": 0}
    assert report["requests"] <= MOST_REQUESTS
    assert finding["request"] == f"{server.base_url}?verb=Identify"


class _Faulty:
    """The sample over HTTP; takes every verb for Identify, which it calls Identity."""

    def __init__(self) -> None:
        self.app = ProviderApp(sample_repository(30), path="/oai")

    def __call__(self, environ: WSGIEnvironment, start: StartResponse) -> list[bytes]:
        environ["HTTP_ACCEPT_ENCODING"] = "identity"
        body = b"".join(self.app(environ, lambda *_: None))
        body = body.replace(b"badVerb", b"noSuchVerb")
        start("200 OK", [("Content-Type", "text/xml"), ("Content-Length", str(len(body)))])
        return [body]


@pytest.fixture
def faulty() -> Iterator[str]:

    server = wsgi.Server(("127.0.0.1", 0), _Faulty(), numthreads=2)
    server.prepare()
    thread = threading.Thread(target=server.serve)
    thread.start()
    yield f"http://127.0.0.1:{server.bind_addr[1]}/oai"
    server.stop()
    thread.join()


def test_faults_end_with_1_and_can_be_sent_to_the_repository(faulty):
    result = silo(faulty.replace("http://", "http://me:s3cret@"))
    assert result.exit_code == 1
    part = result.stdout.partition("P601")[2].partition("\n\n")[0]
    assert "returns the error noSuchVerb instead of badVerb." in " ".join(part.split())
    assert "Source:     OAI-PMH 2.0, section 3.6" in part
    assert f"To repeat:  {faulty}?verb=Probe" in part
    assert "Harvester:  Nothing: it never sends one." in part
    assert "s3cret" not in result.output


def test_what_is_against_nothing_is_no_fault_but_a_note(faulty):
    report = json.loads(silo(faulty, "--json").stdout)
    found = {one["code"]: one["severity"] for one in report["findings"]}
    assert found["P601"] == "fault"
    assert {code for code, severity in found.items() if severity == "fault"} == {
        "P103", "P601", "P702", "P804",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["http://127.0.0.1:1/oai"], 3, "the connection was refused"),
        (["nonsense"], 2, "not an http or https URL"),
        (["http://127.0.0.1:1/", "--budget", "0"], 2, "--budget"),
        (["http://127.0.0.1:1/", "--contact", "mé"], 2, "contact"),
    ],
)
def test_what_cannot_be_probed_is_one_sentence(arguments, code, words):
    result = silo(*arguments)
    assert result.exit_code == code
    assert words in result.stderr
    assert result.stdout == ""


# --- politeness


def test_hosts_elsewhere_are_asked_at_most_once_a_second():
    assert polite_settings("https://repo.example/oai", HttpSettings(), 300).delay == 1.0
    assert polite_settings("https://repo.example/oai", HttpSettings(delay=7), 300).delay == 7
    assert polite_settings("http://127.0.0.1:80/oai", HttpSettings(), 300).delay == 0


def test_no_answer_may_use_up_the_budget():
    settings = polite_settings("https://repo.example/oai", HttpSettings(), 60)
    assert (settings.read_timeout, settings.total_timeout) == (15, 15)
    assert (settings.attempts, settings.longest_pause) == (2, 30)
    assert polite_settings("https://r.example/", HttpSettings(attempts=1), 60).attempts == 1


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://localhost/oai", True), ("http://127.8.0.1:8080/", True), ("http://[::1]/", True),
        ("http://localhost.example/", False), ("https://10.0.0.1/", False), ("http://[x/", False),
        ("nonsense", False),
    ],
)  # fmt: skip
def test_loopback_is_known_by_its_address(url, here):
    assert is_loopback(url) is here


# --- the document


def test_every_check_is_documented_with_its_meaning_section_and_handling():
    document = CHECKS_DOCUMENT.read_text(encoding="utf-8")
    rows = [tuple(row) for row in re.findall(
        r"^\| (P\d{3}) \| (.*?) \| (.*?) \| (.*?) \|$", document, re.MULTILINE
    )]  # fmt: skip
    assert rows == [(one.code, one.title, one.section, one.handling) for one in CHECKS]
    assert re.findall(r"^## (.*)$", document, re.MULTILINE) == list(TOPICS.values())


def test_the_document_states_how_much_is_asked():
    assert f"makes at most {MOST_REQUESTS} requests" in DOCUMENT.read_text(encoding="utf-8")


def test_codes_are_in_order_and_each_is_given_once():
    codes = [one.code for one in CHECKS]
    assert codes == sorted(set(codes))
    assert {code[1] for code in codes} == set(TOPICS)


# --- the report


def test_addresses_stay_whole_in_the_text():
    long = "http://repo.example/" + "x" * 120
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    asked = {
        "identify": ProbeExchange(
            "identify", {"verb": "Identify"}, long, failure="HTTP 404", status=404
        )
    }
    report = ProbeReport.of(Evidence("http://repo.example/", "oai_dc", asked, moment, moment))
    text = report.text()
    assert f"  To repeat:  {long}\n" in text
    assert "1 fault, no notes, 1 in order." in text
    assert "with 1 request in 1 second." in text
    assert "Not checked" in text


# --- the schema


def test_what_is_invalid_is_told_by_where_it_is(page, dc):
    record = (
        "<header><identifier>oai:x:1</identifier><datestamp>2010-01-01</datestamp></header>"
        f"<metadata>{dc('T').replace('dc:title', 'dc:headline')}</metadata>"
    )
    content = f"<ListRecords><record>{record}</record></ListRecords>"
    assert invalidities(parse_page(page(content.replace("dc:headline", "dc:title")))) == ([], [])
    own, contained = invalidities(parse_page(page(content)))
    assert own == []
    assert [one.partition(":")[0] for one in contained] == ["Element 'headline'"]
    own, contained = invalidities(parse_page(page("<ListSets><set/></ListSets>")))
    assert own
    assert contained == []
