"""The client of Heritrix: what it does in each state, and with answers that are none."""

import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import self_signed
from fake_heritrix import PERMITTED, FakeHeritrix, fake_heritrix, job_xml
from raw_server import KEEP, raw_server

from silocrawl.heritrix.client import Heritrix
from silocrawl.heritrix.connection import AddressRefused, Connection
from silocrawl.heritrix.errors import (
    ActionRefused,
    AnswerInvalid,
    FileNotThere,
    HeritrixJobNotFound,
    LoginRefused,
    NoAnswer,
    ScriptFailed,
    TookTooLong,
)
from silocrawl.heritrix.states import HeritrixAction, HeritrixState, Next, job_of, next_of

SEND, WAIT, DONE, NO = Next.SEND, Next.WAIT, Next.DONE, str
STATES = ["", "NASCENT", "PREPARING", "RUNNING", "EMPTY", "PAUSING", "PAUSED", "FINISHED"]
EXPECTED = {
    HeritrixAction.BUILD: [SEND, DONE, DONE, DONE, DONE, DONE, DONE, NO],
    HeritrixAction.LAUNCH: [NO, SEND, WAIT, DONE, DONE, DONE, DONE, NO],
    HeritrixAction.PAUSE: [NO, NO, WAIT, SEND, SEND, WAIT, DONE, NO],
    HeritrixAction.UNPAUSE: [NO, NO, WAIT, DONE, DONE, SEND, SEND, NO],
    HeritrixAction.CHECKPOINT: [NO, NO, WAIT, SEND, SEND, WAIT, SEND, NO],
    HeritrixAction.TERMINATE: [DONE, DONE, SEND, SEND, SEND, SEND, SEND, DONE],
    HeritrixAction.TEARDOWN: [DONE, SEND, NO, NO, NO, NO, NO, SEND],
}


@pytest.fixture
def fake() -> Iterator[FakeHeritrix]:
    with fake_heritrix() as made:
        yield made


@pytest.fixture
def client(fake: FakeHeritrix) -> Heritrix:
    return Heritrix(fake.url, "admin", "pä:ss", timeout=60)


@pytest.mark.parametrize("action", HeritrixAction)
def test_each_state_permits_waits_has_done_or_refuses(action: HeritrixAction) -> None:
    for state, expected in zip(STATES, EXPECTED[action], strict=True):
        found = next_of(action, job_of(job_xml(state)), is_sent=False)
        assert isinstance(found, str) if expected is NO else found is expected, state


def test_what_heritrix_does_not_offer_is_not_asked_for(
    fake: FakeHeritrix, client: Heritrix
) -> None:
    broken = job_xml("NASCENT", "2026-11-28T10:00:00Z SEVERE no seeds").replace(
        b"<value>launch</value>", b""
    )
    fake.answer = lambda method, *_: (200, broken) if method == "GET" else None
    with pytest.raises(ActionRefused, match=r"permits no launch; its log says: .* SEVERE no"):
        client.launch("site")
    assert not fake.posted


def test_a_life_of_a_job_in_which_all_is_done_twice(fake: FakeHeritrix, client: Heritrix) -> None:
    for action in (
        HeritrixAction.LAUNCH,
        HeritrixAction.PAUSE,
        HeritrixAction.UNPAUSE,
        HeritrixAction.TERMINATE,
        HeritrixAction.TEARDOWN,
    ):
        assert client.act("site", action).is_new
        assert not client.act("site", action).is_new
    told = [one["action"] for one in fake.posted]
    assert told == ["build", "launch", "pause", "unpause", "terminate", "teardown"]


def test_a_checkpoint_is_told_by_its_name_and_only_one_that_is_new_is(
    fake: FakeHeritrix, client: Heritrix
) -> None:
    fake.states = ["PAUSED"]

    def made(method: str, _path: str, form: dict[str, str]) -> None:
        if form.get("action") == "checkpoint" and len(fake.posted) == 1:
            fake.checkpoints.append("cp00001-20261128100000")

    fake.answer = made
    first, second = client.checkpoint("site"), client.checkpoint("site")
    assert (first.is_new, first.checkpoint) == (True, "cp00001-20261128100000")
    assert (second.is_new, second.checkpoint) == (False, "cp00001-20261128100000")


def test_a_launch_goes_on_from_a_checkpoint_that_there_is(
    fake: FakeHeritrix, client: Heritrix
) -> None:
    fake.checkpoints = ["cp00002-20261128110000", "cp00001-20261128100000"]
    assert client.launch("site", "latest").checkpoint == "cp00002-20261128110000"
    assert fake.posted[-1]["checkpoint"] == "cp00002-20261128110000"
    assert client.launch("site", "latest").checkpoint == ""
    fake.states = ["NASCENT"]
    with pytest.raises(ActionRefused, match="has no checkpoint nope; those it has: cp00002"):
        client.launch("site", "nope")
    fake.checkpoints = []
    with pytest.raises(ActionRefused, match="has no checkpoint latest; those it has: none"):
        client.launch("site", "latest")


def test_waiting_has_a_limit(fake: FakeHeritrix, client: Heritrix) -> None:
    fake.states = ["PAUSING"]
    with pytest.raises(TookTooLong, match=r"is PAUSING after 0\.3 seconds of waiting for"):
        client.act("site", HeritrixAction.PAUSE, 0.3)
    fake.states = ["PAUSING", "PAUSED"]
    assert not client.act("site", HeritrixAction.PAUSE, 60).is_new


def test_an_action_whose_answer_does_not_come_is_done_when_the_state_says_so(
    fake: FakeHeritrix,
) -> None:
    client, until = Heritrix(fake.url, "admin", "x", timeout=60), threading.Event()

    def hang(method: str, *_: object) -> None:
        if method == "POST" and len(fake.posted) == 1:
            threading.Timer(0.1, fake.states.__setitem__, (0, "NASCENT")).start()
            until.wait(60)

    fake.answer = hang
    assert client.act("site", HeritrixAction.BUILD, 1.0).is_new
    until.set()


HOSTILE = {
    "entities": b'<!DOCTYPE job [<!ENTITY a SYSTEM "file:///etc/passwd">]><job>&a;</job>',
    "laughs": b'<!DOCTYPE j [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><job>&b;</job>',
    "another": b"<engine/>",
    "cut": b"<job><shortName>",
    "empty": b"",
    "page": b"<html>Sorry</html>",
    "state": b"<job><crawlControllerState>DANCING</crawlControllerState></job>",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=list(HOSTILE))
def test_an_answer_that_is_none_is_a_sentence(
    fake: FakeHeritrix, client: Heritrix, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocrawl.heritrix.asking.PAUSES", (0.0,))
    fake.answer = lambda *_: (200, body)
    with pytest.raises(AnswerInvalid, match=r"^(the answer of )?Heritrix "):
        client.job("site")


def test_an_answer_without_a_body_is_asked_for_again(fake: FakeHeritrix, client: Heritrix) -> None:
    answers = [b"", b""]
    fake.answer = lambda *_: (200, answers.pop()) if answers else None
    assert client.job("site").name == "site"
    assert not answers


def test_an_answer_without_end_is_not_read_to_the_end(
    fake: FakeHeritrix, client: Heritrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("silocrawl.heritrix.connection.MOST_BYTES", 1000)
    fake.answer = lambda *_: (200, b"<job>" + b" " * 2000)
    with pytest.raises(AnswerInvalid, match="sends more than 1,000 bytes"):
        client.job("site")


def test_numbers_of_java_are_numbers() -> None:
    told = "<currentDocsPerSecond>NaN</currentDocsPerSecond>"
    job = job_of(job_xml("RUNNING", rateReport=told, alertCount="Infinity", launchCount="x"))
    assert (job.rate, job.alerts, job.launches) == (0.0, 0, 0)


def test_what_fails_is_told_in_a_sentence(fake: FakeHeritrix, client: Heritrix) -> None:
    with pytest.raises(HeritrixJobNotFound, match="no job 'nope'"):
        client.job("nope")
    fake.answer = lambda *_: (401, b"")
    with pytest.raises(LoginRefused, match="does not accept the login of admin"):
        client.engine()
    fake.answer = lambda *_: (500, b"<h2>Cause: java.lang.Boom: no\nmore</h2>")
    with pytest.raises(AnswerInvalid, match=r"answers HTTP 500: java\.lang\.Boom: no$"):
        client.job("site")
    fake.answer = lambda *_: (503, b"")
    with pytest.raises(AnswerInvalid, match=r"answers HTTP 503$") as raised:
        client.engine()
    assert raised.value.status == 503
    for torn in (b"", b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n<job>", b"nonsense\r\n\r\n"):
        fake.answer = lambda *_, torn=torn: (0, torn)  # type: ignore[misc]
        with pytest.raises((NoAnswer, AnswerInvalid)):
            client.engine()
    with pytest.raises(
        NoAnswer, match=r"^http://127\.0\.0\.1:1 gives no answer: the connection was ref"
    ):
        Heritrix("http://127.0.0.1:1", "admin", "x").engine()
    with pytest.raises(NoAnswer, match=r"^https://127\.0\.0\.1:1 gives no answer: "):
        Heritrix("https://127.0.0.1:1", "admin", "x").engine()


def test_a_connection_that_was_closed_meanwhile_is_made_again() -> None:
    challenge = b'WWW-Authenticate: Digest realm="a", nonce="b", qop="auth"\r\n'
    told = b"<engine><heritrixVersion>1</heritrixVersion></engine>"

    def answer(head: bytes) -> list[bytes]:
        if b"Authorization" not in head:
            return [b"HTTP/1.1 401 No\r\n" + challenge + b"Content-Length: 0\r\n\r\n", KEEP]
        if server.connections == 1:
            return []
        return [b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(told) + told]

    with raw_server(answer) as server:
        assert Heritrix(server.url, "admin", "x").engine().version == "1"
        assert server.connections == 2


@pytest.mark.long
def test_a_certificate_made_anew_on_this_machine_is_accepted_but_not_a_pinned_one(
    tmp_path: Path,
) -> None:
    contexts, files = [], []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        files.append(self_signed(tmp_path / name))
        contexts.append(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
        contexts[-1].load_cert_chain(files[-1])
    body = b"<engine/>"
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with raw_server(lambda _: [reply], contexts[0]) as server:
        free, pinned = (
            Heritrix(server.url, "admin", "x", certificate=text)
            for text in ("", files[0].read_text())
        )
        assert not free.engine().jobs
        assert not pinned.engine().jobs
        server.tls = contexts[1]
        assert not free.engine().jobs
        with pytest.raises(LoginRefused, match="another certificate"):
            pinned.engine()


def test_a_script_that_fails_is_an_error_and_an_unbuilt_job_is_asked_nothing(
    fake: FakeHeritrix, client: Heritrix
) -> None:
    with pytest.raises(ActionRefused, match="is not built"):
        client.script("site", "x")
    fake.states = ["RUNNING"]
    told = b"<script><rawOutput>a &lt; b\n</rawOutput></script>"
    fake.answer = lambda _method, path, _: (200, told) if "script" in path else None
    assert client.script("site", "x") == "a < b\n"
    told = b"<script><rawOutput>a</rawOutput><exception>Boom: no</exception></script>"
    with pytest.raises(ScriptFailed, match="failed: Boom: no"):
        client.script("site", "x")


def test_files_are_read_from_a_position_also_where_it_is_ignored(
    fake: FakeHeritrix, client: Heritrix
) -> None:
    client.write("site", "action/a.seeds", b"0123456789")
    assert fake.files == {"action/a.seeds": b"0123456789"}
    assert client.read("site", "action/a.seeds") == b"0123456789"
    assert client.read("site", "action/a.seeds", 4, 3) == b"456"
    assert client.read("site", "action/a.seeds", 10) == b""
    fake.answer = lambda method, *_: (206, b"456") if method == "GET" else None
    assert client.read("site", "action/a.seeds", 4, 3) == b"456"
    fake.answer = lambda *_: None
    with pytest.raises(FileNotThere, match="the job site has no latest/nope"):
        client.read("site", "latest/nope")
    fake.answer = lambda _method, path, _: (500, b"") if "jobdir" in path else None
    with pytest.raises(HeritrixJobNotFound):  # as 3.13.0 answers
        client.read("nope", "latest/nope")
    for wrong in ("../x", "a//b", "a/../b", "/etc/passwd", "a\nb", ".", "a\\b"):
        with pytest.raises(AddressRefused):
            client.read("site", wrong)
        with pytest.raises(AddressRefused):
            client.job(wrong if "/" not in wrong else "..")


@pytest.mark.parametrize(
    "url",
    ["", "127.0.0.1:8443", "ftp://127.0.0.1", "http://example.org", "https://a:b@example.org",
     "https://", "https://127.0.0.1:x", "https://127.0.0.1:99999", "https://[::1"],
)  # fmt: skip
def test_an_address_that_is_none_or_not_secure_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        Connection(url, "admin", "secret")


def test_the_password_is_not_shown() -> None:
    assert "secret" not in repr(Connection("https://127.0.0.1:1", "admin", "secret"))


def test_states_of_the_fake_are_those_of_heritrix() -> None:
    assert set(PERMITTED) - {""} <= set(HeritrixState)
