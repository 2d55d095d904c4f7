"""Uses are pushed to a gatherer until it acknowledges them, and never after that."""

import dataclasses
import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from examples import family
from gatherer import gatherer

from politeweb.settings import HttpSettings
from recordsilo import Origin, Silo
from recordsilo.cli import silo_command
from recordsilo.formats import Description, Value
from silowork.queues.values import QueueSize
from silowork.stop import Stop
from usagestats.importing.importing import ImportRequest, import_logs
from usagestats.push.openurl import article_of, collected, openurl
from usagestats.push.outbox import QUEUE, Outbox
from usagestats.push.sending import HTTP, Push, Pushed
from usagestats.push.settings import (
    ClientAddress,
    Profile,
    PushSettings,
    push_settings,
    settings_from,
)
from usagestats.values import Hit, Use, UseKind

DC = """<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>On Ships</dc:title>
 <dc:creator>Doe, Jane</dc:creator>{more}</oai_dc:dc>"""
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Firefox/130.0"
ADDRESS = "198.51.100.77"
NOW = datetime.now(UTC) - timedelta(days=2)
QUICK = dataclasses.replace(HTTP, first_pause=0.01, longest_pause=2.0)
IMPATIENT = dataclasses.replace(QUICK, read_timeout=2.0, total_timeout=2.0)


def line(path: str, second: int = 0, agent: str = FIREFOX, status: int = 200) -> str:
    moment = f"{NOW + timedelta(seconds=60 * second):%d/%b/%Y:%H:%M:%S +0000}"
    return f'{ADDRESS} - - [{moment}] "GET {path} HTTP/1.1" {status} 10 "http://ref/" "{agent}"\n'


@pytest.fixture
def pushing(new_silo: Callable[[str], str], tmp_path: Path) -> Callable[..., str]:
    """Make a Silo with records that pushes to a gatherer, and import lines into it."""

    def make(url: str, lines: str, profile: str = "irus", client: str = "token") -> str:
        path = new_silo(
            f'[push]\nprofile = "{profile}"\ngatherer = "{url}"\nsite = "https://e.org"\n'
            f'client = "{client}"\npause = 0\n'
        )
        with Silo(path, create=False) as silo:
            for number, more in (
                (1, "<dc:identifier>https://doi.org/10.5555/12</dc:identifier>"),
                (2, "<dc:source>Ship Journal, 12(3), pp. 1-2. ISSN 1234-567x</dc:source>"),
                (3, ""),
            ):
                identifier = f"oai:example.org:{number}"
                with silo.batch([identifier]) as batch:
                    edit = batch.edit(identifier)
                    edit.add_version("1", date="2024-05-01T00:00:00", origin=Origin("harvest"))
                    edit.put("1", "oai_dc", DC.format(more=more).encode(), metadata=True)
        log = tmp_path / "access.log"
        log.write_text(lines)
        import_logs(path, ImportRequest([str(log)]))
        return path

    return make


def push(path: str, stop: Stop | None = None, http: HttpSettings = QUICK) -> Pushed:
    settings = push_settings(path)
    assert settings
    with Silo(path, create=False) as silo, Outbox(path) as outbox:
        sender = Push(silo, outbox, settings, http)
        try:
            return sender.run(stop or Stop())
        finally:
            sender.close()


def states(path: str) -> tuple[int, int]:
    """How many uses wait, and of how many the key alone is left."""
    with Outbox(path) as outbox:
        done = outbox._queues.sizes().get(QUEUE, QueueSize()).done
        return outbox.waiting(), done


def due_now(path: str) -> None:
    """Let the pauses between runs pass."""
    with sqlite3.connect(f"{path}/usage/push.sqlite") as connection:
        connection.execute("UPDATE message SET due = 0")
    connection.close()


LINES = line("/1/1/paper.pdf") + line("/2/1/paper.pdf", 1) + line("/1/", 2)


def test_irus_gets_one_request_for_each_use(pushing: Callable[..., str]) -> None:
    bots = line("/1/", 3, "Googlebot/2.1") + line("/1/", 4, status=404)
    with gatherer() as server:
        path = pushing(server.url, LINES + LINES + bots)
        assert push(path).sent == 3
        assert push(path).sent == 0
        import_logs(path, ImportRequest([f"{Path(path).parent}/access.log"], again=True))
        assert push(path).sent == 0
    assert len(server.received) == 3
    found = {one["svc_dat"]: one for one in server.received}
    one = found["https://e.org/1/1/paper.pdf"]
    token = one.pop("req_id")
    assert one == {
        "url_ver": "Z39.88-2004", "url_tim": f"{NOW:%Y-%m-%dT%H:%M:%SZ}",
        "req_dat": FIREFOX, "rfr_dat": "http://ref/", "rfr_id": "e.org",
        "svc_dat": "https://e.org/1/1/paper.pdf", "rft_dat": "Request",
        "rft.artnum": "oai:example.org:1",
    }  # fmt: skip
    assert re.fullmatch("[0-9a-f]{32}", token)
    assert found["https://e.org/1/"]["rft_dat"] == "Investigation"


def test_pirus2_gets_downloads_and_the_rest_has_its_own_log(pushing: Callable[..., str]) -> None:
    with gatherer() as server:
        path = pushing(server.url, LINES + line("/3/1/x.pdf", 5) + line("/9/1/x.pdf", 6),
                       "pirus2", "raw")  # fmt: skip
        pushed = push(path)
    assert pushed.sent == 2
    assert pushed.unsent == {
        "the record has no DOI and no journal": 1, "the Silo does not hold the record": 1
    }  # fmt: skip
    found = {one["rft.artnum"]: one for one in server.received}
    assert found["https://e.org/1/1/paper.pdf"] == {
        "url_ver": "Z39.88-2004", "url_tim": f"{NOW:%Y-%m-%dT%H:%M:%SZ}",
        "req_id": f"urn:ip:{ADDRESS}", "req_dat": FIREFOX, "rfr_id": "e.org",
        "svc_dat": "Accepted version", "svc_format": "application/pdf",
        "rft.artnum": "https://e.org/1/1/paper.pdf", "rft_id": "info:doi/10.5555/12",
    }  # fmt: skip
    journal = found["https://e.org/2/1/paper.pdf"]
    assert {name: value for name, value in journal.items() if name.startswith("rft.")} == {
        "rft.artnum": "https://e.org/2/1/paper.pdf", "rft.jtitle": "Ship Journal",
        "rft.issn": "1234-567X", "rft.atitle": "On Ships", "rft.aulast": "Doe",
    }  # fmt: skip
    log = Path(path, "usage", "push-unsent.jsonl").read_text()
    told = [json.loads(one) for one in log.splitlines()]
    assert {(one["record"], one["reason"]) for one in told} == {
        ("oai:example.org:3", "the record has no DOI and no journal"),
        ("9", "the Silo does not hold the record"),
    }
    # What was sent or given up leaves no address in any file.
    assert [file for file in Path(path).rglob("*") if file.is_file()
            and ADDRESS.encode() in file.read_bytes()] == []  # fmt: skip
    assert (Path(path, "usage", "push.sqlite").stat().st_mode & 0o777) == 0o600


@pytest.mark.parametrize(
    "plan",
    family(["500", "close", "503 Retry-After=0", "429 Retry-After=1", "half", "silent", "408"], 2),
)
@pytest.mark.long
def test_a_failure_is_repeated_until_it_is_acknowledged(
    pushing: Callable[..., str], plan: str
) -> None:
    with gatherer(plan, plan) as server:
        path = pushing(server.url, LINES)
        assert push(path, http=IMPATIENT if plan == "silent" else QUICK).sent == 3
    assert len(server.received) == 5
    assert set(server.how_often().values()) == {1}
    if "=1" in plan:
        assert server.times[1] - server.times[0] >= 1


def test_a_gatherer_that_keeps_failing_is_left_alone_and_nothing_is_lost(
    pushing: Callable[..., str],
) -> None:
    with gatherer(*["500"] * 100) as server:
        path = pushing(server.url, LINES)
        pushed = push(path)
        assert (pushed.sent, len(server.received)) == (0, 3 * QUICK.attempts)
        assert "fails: " in pushed.problem
        assert "HTTP 500" in pushed.problem
        assert push(path).sent == 0  # not before a pause
        assert len(server.received) == 3 * QUICK.attempts
        server.plans.clear()
        due_now(path)
        pushed = push(path)
        assert (pushed.sent, pushed.repeated) == (3, 3)
    assert set(server.how_often().values()) == {1}


def test_one_use_that_always_fails_does_not_hold_up_the_others(
    pushing: Callable[..., str],
) -> None:
    with gatherer(*["500"] * QUICK.attempts) as server:
        path = pushing(server.url, LINES)
        assert push(path).sent == 2
        assert states(path) == (1, 2)


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("404", "HTTP 404"),
        ("401", "HTTP 401"),
        ("302 Location=/else", "HTTP 302"),
        ("429 Retry-After=99999", "requests a pause until"),
    ],
)
def test_a_wrong_gatherer_ends_the_push(pushing: Callable[..., str], plan: str, said: str) -> None:
    with gatherer(plan) as server:
        path = pushing(server.url, LINES)
        pushed = push(path)
        assert said in pushed.problem
    assert len(server.received) == 1
    assert states(path) == (3, 0)


def test_a_use_that_the_gatherer_refuses_has_its_own_log(pushing: Callable[..., str]) -> None:
    with gatherer("400") as server:
        pushed = push(pushing(server.url, LINES))
    assert pushed.sent == 2
    assert pushed.unsent == {"the gatherer refuses it (HTTP 400)": 1}


def test_nothing_is_sent_before_somebody_agrees(pushing: Callable[..., str]) -> None:
    def run(*more: str) -> Result:
        return CliRunner().invoke(silo_command, ["usage", "push", path, *more])

    with gatherer() as server:
        path = pushing(server.url, LINES, "irus", "truncated")
        shown = run("--dry-run")
        refused = run()
        assert server.received == []
        assert refused.exit_code == 2
        for said in (shown.output, refused.output):
            assert f"To 127.0.0.1:{server.server_address[1]} go" in said
            assert "the IP address of the client without its last part" in said
            assert "3 uses wait" in said
        assert run("--yes").output.endswith("3 acknowledged, 0 wait\n")
        assert run().exit_code == 0
    assert {one["req_id"] for one in server.received} == {"urn:ip:198.51.100.0"}


@pytest.mark.parametrize("client", ["raw", "token"])
def test_what_waits_of_a_client_can_be_forgotten(pushing: Callable[..., str], client: str) -> None:
    path = pushing("http://127.0.0.1:1/", LINES, client=client)
    for address, left in (("192.0.2.1", (3, 0)), (ADDRESS, (0, 3))):
        CliRunner().invoke(silo_command, ["usage", "forget", "--yes", path, address])
        assert states(path) == left
    assert b"Firefox/130" not in Path(path, "usage", "push.sqlite").read_bytes()


def test_what_waits_longer_than_the_window_is_given_up(pushing: Callable[..., str]) -> None:
    path = pushing("http://127.0.0.1:1/", LINES, client="raw")
    assert ADDRESS.encode() in Path(path, "usage", "push.sqlite").read_bytes()
    import_logs(path, ImportRequest([]), now=datetime.now(UTC) + timedelta(days=100))
    assert states(path) == (0, 0)
    assert ADDRESS.encode() not in Path(path, "usage", "push.sqlite").read_bytes()
    assert "was frozen before" in Path(path, "usage", "push-unsent.jsonl").read_text()


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"profile": "iris"}, 'profile is "pirus2", "irus" or "off"'),
        ({"profile": "irus", "site": "e.org"}, "site is an address"),
        ({"profile": "pirus2", "site": "https://e.org"}, "gatherer is an address"),
        ({"profile": "irus", "site": "https://e.org", "client": "ip"}, "client is"),
        ({"profile": "irus", "site": "https://e.org", "pause": -1}, "pause is"),
        ({"porfile": "irus"}, "no setting 'porfile'"),
    ],
)
def test_wrong_settings_are_named(table: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        settings_from(table)


@pytest.mark.parametrize(
    ("address", "shortened"),
    [("198.51.100.77", "198.51.100.0"), ("2001:db8:1:2::9", "2001:db8:1::"), ("host", "")],
)
def test_truncated_addresses(address: str, shortened: str) -> None:
    settings = PushSettings(Profile.IRUS, "http://g/", "https://e.org", ClientAddress.TRUNCATED)
    hit = Hit(0, address, "", "", "GET", "/1/", "", 200)
    found = collected(settings, hit, Use("i", UseKind.VIEW), "t")
    assert found is not None
    assert found["req_id"] == f"urn:ip:{shortened}"
    assert collected(settings, hit, Use("i", UseKind.OTHER), "t") is None


def test_an_article_without_doi_is_named_by_its_journal() -> None:
    sources = (Value("https://x.org/"), Value("Acta (Berlin) 12, 3-4 (ISSN: 1111-2222)"))
    article = article_of("i", Description(sources=sources, relations=(Value("2222-333X"),),
                                          creators=(Value("Jane Doe"),)))  # fmt: skip
    assert openurl(Profile.PIRUS2, {}, article) == {
        "rft.jtitle": "Acta (Berlin)", "rft.issn": "1111-2222", "rft.eissn": "2222-333X",
        "rft.aulast": "Doe",
    }  # fmt: skip


@pytest.mark.long
def test_killed_pushes_lose_nothing_and_repeat_only_what_was_not_acknowledged(
    pushing: Callable[..., str],
) -> None:
    lines = "".join(line(f"/1/{number}/p.pdf", number) for number in range(60))
    main = "from recordsilo.cli import main; main()"
    with gatherer() as server:
        path = pushing(server.url, lines)
        kills = 0
        while states(path)[0]:
            process = subprocess.Popen(
                [sys.executable, "-c", main, "usage", "push", path, "--yes"],
                stdout=subprocess.DEVNULL,
            )
            seen = len(server.received)
            while process.poll() is None and len(server.received) < seen + 8:
                time.sleep(0.001)
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
            assert kills < 40
    often = server.how_often()
    assert len({one["svc_dat"] for one in server.acknowledged}) == 60
    assert sum(number - 1 for number in often.values()) <= kills


def test_uses_from_before_the_window_are_not_for_the_gatherer(
    pushing: Callable[..., str], tmp_path: Path
) -> None:
    old = f"{NOW - timedelta(days=400):%d/%b/%Y}"
    today = f"{NOW:%d/%b/%Y}"
    path = pushing("http://127.0.0.1:1/", LINES + LINES.replace(today, old))
    assert states(path) == (3, 0)
    assert not Path(path, "usage", "push-unsent.jsonl").exists()


@pytest.mark.parametrize(("status", "is_wrong_use"), [(400, True), (422, True), (403, False)])
def test_which_answers_say_that_a_use_is_wrong(
    pushing: Callable[..., str], status: int, *, is_wrong_use: bool
) -> None:
    with gatherer(str(status)) as server:
        path = pushing(server.url, LINES)
        pushed = push(path)
    assert bool(pushed.unsent) == is_wrong_use
    assert pushed.sent == (2 if is_wrong_use else 0)
    assert bool(pushed.problem) != is_wrong_use
    assert states(path) == ((0, 3) if is_wrong_use else (3, 0))


def test_a_push_that_is_stopped_sends_no_more_and_loses_nothing(
    pushing: Callable[..., str],
) -> None:
    stop = Stop()
    with gatherer() as server:
        path = pushing(server.url, LINES)
        settings = push_settings(path)
        assert settings
        with Silo(path, create=False) as silo, Outbox(path) as outbox:
            sender = Push(silo, outbox, settings, QUICK)
            pushed = sender.run(stop, lambda _pushed: stop.ask())
            sender.close()
        assert (pushed.sent, pushed.problem) == (1, "")
        assert states(path) == (2, 1)
        assert push(path).sent == 2
    assert set(server.how_often().values()) == {1}
