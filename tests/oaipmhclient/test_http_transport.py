"""The transport against a real socket on loopback; clock, sleep and chance are injected."""

import gzip
import itertools
import socket
import socketserver
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from time import monotonic

import pytest

from oaipmhclient.transport.http_transport import HttpTransport
from oaipmhprotocol.queries import Verbatim
from politeweb.answers import Exchange
from politeweb.errors import (
    EndpointUnreachable,
    HTTPStatusError,
    MovedElsewhere,
    RedirectRefused,
    RequestRefused,
    ResponseTooLarge,
    ResponseTooSlow,
    RetryLater,
)
from politeweb.pace import Pace
from politeweb.settings import HttpSettings

OAI = b'<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><Identify/></OAI-PMH>'
IDENTIFY = {"verb": "Identify"}
Reply = Callable[[str], bytes | Iterable[bytes]]


def http(body: bytes = OAI, status: str = "200 OK", **headers: object) -> bytes:
    lines = {"Content-Length": len(body), **{k.replace("_", "-"): v for k, v in headers.items()}}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


class _Handler(socketserver.StreamRequestHandler):
    """Reads requests and sends what the test's function gives, bytes for bytes."""

    def handle(self) -> None:
        self.server.connections.append(self)
        self.wfile.write(self.server.greeting)
        while head := self._read_head():
            reply = self.server.reply(head)
            for piece in [reply] if isinstance(reply, bytes) else reply:
                try:
                    self.wfile.write(piece)
                except OSError:
                    return
            if not isinstance(reply, bytes) or b"Content-Length" not in reply or not reply:
                return

    def _read_head(self) -> str:
        lines = []
        while (line := self.rfile.readline().decode("latin-1")) not in {"\r\n", ""}:
            lines.append(line)
        length = [int(x.split(":")[1]) for x in lines if x.lower().startswith("content-length")]
        body = self.rfile.read(length[0]).decode() if length else ""
        return "".join(lines) + body


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, reply: Reply) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.connections: list[_Handler] = []
        self.greeting = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/oai"


@pytest.fixture
def serve() -> Iterator[Callable[[Reply], _Server]]:
    """Start servers, each with a function from a request's head to the bytes it gets."""
    servers: list[tuple[_Server, threading.Thread]] = []

    def start(reply: Reply) -> _Server:
        server = _Server(reply)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        servers.append((server, thread))
        return server

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Time:
    """A clock that goes on only when somebody sleeps."""

    now: datetime = datetime(2026, 1, 1, 12, tzinfo=UTC)
    slept: list[float] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.now.timestamp()

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def time() -> Time:
    return Time()


@contextmanager
def transport(url: str, time: Time, **settings: object) -> Iterator[HttpTransport]:
    clock = settings.pop("monotonic", time.monotonic)
    more = {name: settings.pop(name) for name in ("pace", "on_exchange") if name in settings}
    with HttpTransport(
        url,
        HttpSettings(**settings),
        now=lambda: time.now,
        monotonic=clock,
        sleep=time.sleep,
        random=lambda: 1.0,
        **more,
    ) as made:
        yield made


def script(*replies: bytes | Iterable[bytes]) -> tuple[Reply, list[str]]:
    """Reply one after the other, the last again and again; the heads seen."""
    seen: list[str] = []

    def reply(head: str) -> bytes | Iterable[bytes]:
        seen.append(head)
        return replies[min(len(seen), len(replies)) - 1]

    return reply, seen


def test_a_malformed_header_hides_no_other(serve, time, caplog):
    reply, _ = script(http().replace(b"\r\n", b"\r\nnonsense\r\nX-After: 1\r\n", 1))
    with transport(serve(reply).url, time) as sender:
        answer = sender.fetch(IDENTIFY)
    assert (answer.body, answer.headers["x-after"]) == (OAI, "1")
    assert "content-length" in answer.headers
    assert caplog.records == []


def test_a_transport_beside_another_uses_its_connection_and_leaves_it_open(serve, time):
    reply, seen = script(http())
    server = serve(reply)
    with transport(server.url, time) as own:
        assert own.fetch(IDENTIFY).body == OAI
        with HttpTransport(server.url, has_answered=True, beside=own) as other:
            assert other.fetch(IDENTIFY).body == OAI
            assert (own.traffic.sent, other.traffic.sent) == (1, 1)
        assert own.fetch(IDENTIFY).body == OAI
        other.abort()  # of the connection that nobody uses now
        assert own.fetch(IDENTIFY).body == OAI
    assert len(seen) == 4
    assert len(server.connections) == 2


# --- what is sent


def test_requests_are_gets_over_one_kept_connection(serve, time):
    reply, seen = script(http())
    server = serve(reply)
    with transport(server.url, time) as sender:
        for _ in range(3):
            assert sender.fetch({"verb": "ListRecords", "resumptionToken": "a b+c|é"}).body == OAI
    assert len(server.connections) == 1
    assert seen[0].startswith(
        "GET /oai?verb=ListRecords&resumptionToken=a%20b%2Bc%7C%C3%A9 HTTP/1.1\r\n"
    )
    assert "Accept-Encoding: gzip, deflate\r\n" in seen[0]
    assert "User-Agent: recordsilo/" in seen[0]
    assert "From:" not in seen[0]


def test_a_contact_is_told_in_user_agent_and_from(serve, time):
    reply, seen = script(http())
    with transport(serve(reply).url, time, contact="me@library.example") as sender:
        sender.fetch(IDENTIFY)
    assert "(+me@library.example)\r\n" in seen[0]
    assert "From: me@library.example\r\n" in seen[0]


@pytest.mark.parametrize("contact", ["me\r\nX-Evil: 1", "mé@x"])
def test_a_contact_that_cannot_stand_in_a_header_is_refused(contact):
    with pytest.raises(RequestRefused, match="contact"):
        HttpTransport("http://127.0.0.1/", HttpSettings(contact=contact))


def test_post_sends_the_arguments_as_a_form(serve, time):
    reply, seen = script(http())
    with transport(serve(reply).url + "?page=oai", time, post=True) as sender:
        sender.fetch(IDENTIFY)
    assert seen[0].startswith("POST /oai?page=oai HTTP/1.1\r\n")
    assert "Content-Type: application/x-www-form-urlencoded\r\n" in seen[0]
    assert seen[0].endswith("verb=Identify")


def test_credentials_are_sent_and_in_no_answer_and_no_error(serve, time):
    reply, seen = script(http(), http(b"no", "403 Forbidden"))
    url = serve(reply).url.replace("http://", "http://user:secret@")
    with transport(url, time) as sender:
        answer = sender.fetch(IDENTIFY)
        assert "Authorization: Basic dXNlcjpzZWNyZXQ=\r\n" in seen[0]
        assert "secret" not in answer.url + sender.base_url
        with pytest.raises(HTTPStatusError, match="HTTP 403 Forbidden") as raised:
            sender.fetch(IDENTIFY)
    assert "secret" not in str(raised.value) + raised.value.url


def test_a_token_can_be_sent_as_it_stands(serve, time):
    reply, seen = script(http())
    token = Verbatim("oai_dc/10:a=b+c%2Fd%7Ee|f g&h#é")
    with transport(serve(reply).url, time) as sender:
        sender.fetch({"verb": "ListRecords", "resumptionToken": token})
    assert seen[0].startswith(
        "GET /oai?verb=ListRecords"
        "&resumptionToken=oai_dc/10:a=b+c%2Fd%7Ee%7Cf%20g&h%23%C3%A9 HTTP/1.1\r\n"
    )


# --- the pace


def test_requests_keep_their_distance(serve, time):
    reply, _ = script(http())
    with transport(serve(reply).url, time, delay=2.5) as sender:
        for _ in range(3):
            sender.fetch(IDENTIFY)
    assert time.slept == [2.5, 2.5]


def test_a_request_that_began_late_delays_the_next_one(serve, time, monkeypatch):
    reply, _ = script(http())
    sleep = time.sleep
    monkeypatch.setattr(time, "sleep", lambda seconds: sleep(seconds + 2))
    with transport(serve(reply).url, time, delay=2.5) as sender:
        for _ in range(3):
            sender.fetch(IDENTIFY)
    assert time.slept == [4.5, 4.5]


def test_redirects_and_retries_keep_their_distance_too(serve, time):
    reply, _ = script(http(b"", "302 Found", Location="/b"), http(b"", "500 X"), http())
    with transport(serve(reply).url, time, delay=2) as sender:
        sender.fetch(IDENTIFY)
    assert time.slept == [2, 1, 1]


def test_one_who_is_refused_holds_all_that_share_the_pace(serve, time):
    pace = Pace(monotonic=time.monotonic)
    refusing, _ = script(http(b"", "429 X", Retry_After="30"), http())
    reply, _ = script(http())
    with (
        transport(serve(refusing).url, time, pace=pace, attempts=2) as one,
        transport(serve(reply).url, time, pace=pace) as other,
    ):
        one.fetch(IDENTIFY)
        assert time.slept == [30]
        pace.hold(12)
        pace.hold(3)
        other.fetch(IDENTIFY)
    assert time.slept == [30, 12]


@pytest.mark.long
def test_every_attempt_is_told_with_its_outcome(serve, time):
    stop = threading.Event()

    def silence() -> Iterator[bytes]:
        stop.wait(60)
        yield b""

    reply, _ = script(
        http(b"busy", "503 X"), http(b"", "500 X"), b"", silence(), http(OAI[:-3]), http()
    )
    told: list[Exchange] = []
    with transport(
        serve(reply).url, time, attempts=6, read_timeout=4, on_exchange=told.append
    ) as sender:
        sender.fetch(IDENTIFY)
    stop.set()
    assert [(one.outcome.name, one.status, one.received) for one in told] == [
        ("REFUSED", 503, 4),
        ("FAILED", 500, 0),
        ("FAILED", None, 0),
        ("TIMED_OUT", None, 0),
        ("FAILED", 200, len(OAI) - 3),
        ("ANSWERED", 200, len(OAI)),
    ]


# --- what comes back


def test_a_packed_answer_is_unpacked_and_counted_as_sent(serve, time):
    packed = gzip.compress(OAI)
    reply, _ = script(http(packed, Content_Encoding="gzip"))
    with transport(serve(reply).url, time) as sender:
        assert sender.fetch(IDENTIFY).body == OAI
        assert sender.traffic.received == len(packed)


@pytest.mark.parametrize("status", ["404 Not Found", "422 Unprocessable", "500 Oops"])
def test_an_oai_answer_in_an_http_error_is_an_answer(serve, time, status):
    reply, _ = script(http(OAI, status))
    with transport(serve(reply).url, time) as sender:
        assert sender.fetch(IDENTIFY).status == int(status[:3])
    assert time.slept == []


def test_busy_servers_are_asked_again_after_growing_pauses(serve, time):
    replies = [http(b"", f"{status} X") for status in (429, 500, 502, 504)]
    reply, seen = script(*replies, http())
    with transport(serve(reply).url, time) as sender:
        assert sender.fetch(IDENTIFY).body == OAI
        assert (sender.traffic.sent, sender.traffic.retried) == (5, 4)
    assert time.slept == [1, 2, 4, 8]
    assert len(seen) == 5


def test_a_server_that_has_not_answered_yet_is_asked_less_often(serve, time):
    bad = http(b"", "502 Bad Gateway")
    reply, seen = script(bad, bad, bad, http(), bad, bad, bad, http())
    with transport(serve(reply).url, time, first_attempts=2) as sender:
        with pytest.raises(HTTPStatusError, match="HTTP 502 Bad Gateway, 2 times"):
            sender.fetch(IDENTIFY)
        assert len(seen) == 2
        assert sender.fetch(IDENTIFY).body == OAI
        assert sender.fetch(IDENTIFY).body == OAI  # with three failures before it
    assert len(seen) == 8


def test_the_last_failure_is_told_when_nothing_helps(serve, time):
    reply, seen = script(http(b"", "502 Bad Gateway"))
    with (
        transport(serve(reply).url, time, attempts=3) as sender,
        pytest.raises(HTTPStatusError, match="HTTP 502 Bad Gateway, 3 times"),
    ):
        sender.fetch(IDENTIFY)
    assert len(seen) == 3


def test_retry_after_seconds_and_dates_are_waited_for(serve, time):
    reply, _ = script(
        http(b"", "503 Busy", Retry_After="7"),
        http(b"", "503 Busy", Retry_After="Thu, 01 Jan 2026 12:01:07 GMT"),
        http(),
    )
    with transport(serve(reply).url, time) as sender:
        sender.fetch(IDENTIFY)
    assert time.slept == [7, 60]


def test_a_retry_after_beyond_the_cap_is_told_with_its_deadline(serve, time):
    reply, seen = script(http(b"", "429 Slow down", Retry_After="86400"))
    with (
        transport(serve(reply).url, time) as sender,
        pytest.raises(RetryLater, match="a pause until 2026-01-02 12:00:00") as r,
    ):
        sender.fetch(IDENTIFY)
    assert r.value.deadline == datetime(2026, 1, 2, 12, tzinfo=UTC)
    assert (len(seen), time.slept) == (1, [])


def test_a_reset_and_a_body_cut_short_are_asked_again(serve, time):
    short = http(OAI)[:-20]
    reply, seen = script(b"", [short], [short[:-20]], http())
    with transport(serve(reply).url, time) as sender:
        assert sender.fetch(IDENTIFY).body == OAI
    assert len(seen) == 4


def test_a_chunked_body_cut_short_is_asked_again(serve, time):
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n" + OAI[:16]
    reply, seen = script([chunked], http())
    with transport(serve(reply).url, time) as sender:
        assert sender.fetch(IDENTIFY).body == OAI
    assert len(seen) == 2


def test_an_answer_without_its_end_tag_is_asked_again_and_handed_over_in_the_end(serve, time):
    reply, seen = script(http(OAI[:-3]))
    with transport(serve(reply).url, time, attempts=2) as sender:
        assert sender.fetch(IDENTIFY).body == OAI[:-3]
    assert len(seen) == 2


def test_what_came_of_an_answer_cut_short_is_handed_over_in_the_end(serve, time):
    reply, seen = script([http(OAI)[:-30]])
    with transport(serve(reply).url, time, attempts=2) as sender:
        answer = sender.fetch(IDENTIFY)
    assert (answer.body, answer.cut) == (OAI[:-30], "the response was cut short")
    assert len(seen) == 2


def test_what_unpacks_of_a_packed_answer_cut_short_is_handed_over(serve, time):
    text = OAI.replace(b"<Identify/>", b"".join(b"<a>%d</a>" % (n * n) for n in range(5000)))
    packed = http(gzip.compress(text), Content_Encoding="gzip")
    reply, _ = script([packed[: len(packed) // 2]])
    with transport(serve(reply).url, time, attempts=1) as sender:
        answer = sender.fetch(IDENTIFY)
    assert len(answer.body) > 10_000
    assert text.startswith(answer.body)
    assert answer.raw == packed[: len(packed) // 2].partition(b"\r\n\r\n")[2]
    assert answer.cut


def test_a_damaged_packed_answer_is_handed_over_up_to_the_damage(serve, time):
    text = OAI.replace(b"<Identify/>", b"".join(b"<a>%d</a>" % (n * n) for n in range(5000)))
    packed = bytearray(gzip.compress(text))
    packed[len(packed) // 2 :] = b"\xff" * (len(packed) // 2)
    reply, seen = script(http(bytes(packed), Content_Encoding="gzip"))
    with transport(serve(reply).url, time, attempts=2) as sender:
        answer = sender.fetch(IDENTIFY)
    assert answer.cut.startswith("a damaged compressed response")
    assert text.startswith(answer.body[:8000])
    assert len(answer.body) > 8000
    assert len(seen) == 2


def test_nothing_of_oai_pmh_in_an_answer_cut_short_is_no_answer(serve, time):
    reply, _ = script([http(b"<html>" * 50)[:-30]])
    with (
        transport(serve(reply).url, time, attempts=2) as sender,
        pytest.raises(EndpointUnreachable, match="after 2 attempts: the response was cut short"),
    ):
        sender.fetch(IDENTIFY)


def test_a_whole_answer_is_taken_whatever_length_was_announced(serve, time):
    reply, seen = script([http(OAI).replace(b"Content-Length: 75", b"Content-Length: 99")])
    with transport(serve(reply).url, time) as sender:
        assert sender.fetch(IDENTIFY).body == OAI
    assert (len(seen), time.slept) == (1, [])


def test_connections_that_end_after_some_requests_are_opened_anew(serve, time):
    """UMich reset every connection after about 15 requests (MarcEdit's blog)."""
    count = itertools.count(1)
    reply, _ = script(http())

    def tired(head: str) -> bytes | Iterable[bytes]:
        return b"" if next(count) % 15 == 0 else reply(head)

    server = serve(tired)
    with transport(server.url, time) as sender:
        for _ in range(40):
            assert sender.fetch(IDENTIFY).body == OAI
        assert (sender.traffic.sent, sender.traffic.retried) == (42, 2)
    assert len(server.connections) == 3


def test_html_is_asked_again_only_where_the_endpoint_answered_before(serve, time):
    reply, seen = script(http(b"<html>"), http(b"<html>"), http())
    with transport(serve(reply).url, time) as sender:
        assert [sender.fetch(IDENTIFY).body for _ in range(3)] == [b"<html>", b"<html>", OAI]
    assert (len(seen), len(time.slept)) == (3, 0)
    reply, seen = script(http(), http(b"<html>"), http(b""), http())
    with transport(serve(reply).url, time) as sender:
        sender.fetch(IDENTIFY)
        assert sender.fetch(IDENTIFY).body == OAI
    assert (len(seen), len(time.slept)) == (4, 2)


def test_cookies_are_sent_back_to_the_host_that_set_them(serve, time):
    first, seen = script(http(Set_Cookie="session=7; Path=/"), http(), http(b"", "302 Found"))
    other, elsewhere = script(http(), http())
    with transport(serve(first).url, time) as sender:
        sender.fetch(IDENTIFY)
        sender.fetch(IDENTIFY)
    assert [("Cookie: session=7" in head) for head in seen] == [False, True]
    away = serve(other).url.replace("127.0.0.1", "localhost")
    moved, _ = script(http(b"", "302 Found", Location=away, Set_Cookie="session=7; Path=/"))
    with transport(serve(moved).url, time) as sender:
        sender.fetch(IDENTIFY)
    assert "Cookie" not in elsewhere[0]


def test_logins_of_netrc_are_sent_to_their_own_host_also_after_a_redirect(
    serve, time, tmp_path, monkeypatch
):
    path = tmp_path / "netrc"
    path.write_text("machine localhost login me password mine\n", encoding="utf-8")
    path.chmod(0o600)
    monkeypatch.setenv("NETRC", str(path))
    other, elsewhere = script(http())
    away = serve(other).url.replace("127.0.0.1", "localhost")
    moved, seen = script(http(b"", "302 Found", Location=away))
    with transport(serve(moved).url, time) as sender:
        sender.fetch(IDENTIFY)
    assert "Authorization" not in seen[0]
    assert "Authorization: Basic bWU6bWluZQ==" in elsewhere[0]


# --- bounds


def test_an_answer_larger_than_allowed_is_not_read_on(serve, time):
    endless = iter([b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 1000] * 100_000])
    reply, _ = script(endless)
    with (
        transport(serve(reply).url, time, max_response=200_000) as sender,
        pytest.raises(ResponseTooLarge, match="200,000 bytes"),
    ):
        sender.fetch(IDENTIFY)
    assert next(endless, None) is not None


def test_an_answer_that_unpacks_beyond_what_is_allowed_is_refused(serve, time):
    reply, _ = script(http(gzip.compress(bytes(10_000_000)), Content_Encoding="gzip"))
    with (
        transport(serve(reply).url, time, max_response=100_000) as sender,
        pytest.raises(ResponseTooLarge),
    ):
        sender.fetch(IDENTIFY)


def test_an_answer_that_drips_is_ended_by_the_total_time(serve, time):
    stop = threading.Event()

    def drip() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
        while not stop.wait(0.02):
            yield b"x"

    reply, seen = script(drip())
    with (
        transport(serve(reply).url, time, total_timeout=0.3, monotonic=monotonic) as sender,
        pytest.raises(ResponseTooSlow, match=r"within 0\.3 seconds"),
    ):
        sender.fetch(IDENTIFY)
    stop.set()
    assert len(seen) == 1


def test_a_head_that_drips_is_ended_by_the_total_time(serve, time):
    stop = threading.Event()

    def drip() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nX-Slow: "
        while not stop.wait(0.02):
            yield b"x"

    reply, seen = script(drip())
    with (
        transport(serve(reply).url, time, total_timeout=0.3, monotonic=monotonic) as sender,
        pytest.raises(ResponseTooSlow, match=r"within 0\.3 seconds"),
    ):
        sender.fetch(IDENTIFY)
    stop.set()
    assert len(seen) == 1


@pytest.mark.long
def test_silence_is_a_timeout_and_asked_again(serve, time):
    stop = threading.Event()

    def silence() -> Iterator[bytes]:
        stop.wait(60)
        yield b""

    reply, seen = script(silence(), http())
    with transport(serve(reply).url, time, read_timeout=4) as sender:
        assert sender.fetch(IDENTIFY).body == OAI
    stop.set()
    assert (len(seen), time.slept) == (2, [1])


# --- redirects


def test_redirects_are_followed_and_lost_arguments_put_back(serve, time):
    def reply(head: str) -> bytes:
        if head.startswith("GET /oai/?verb=Identify "):
            return http()
        return http(b"moved", "301 Moved", Location="/oai/")

    with transport(serve(reply).url, time) as sender:
        assert sender.fetch(IDENTIFY).url.endswith("/oai/?verb=Identify")


def test_a_lasting_redirect_is_followed_once_and_told(serve, time):
    def reply(head: str) -> bytes:
        if head.startswith("GET /new?verb=Identify "):
            return http()
        return http(b"", "301 Moved", Location="/new?verb=Identify")

    with transport(serve(reply).url, time) as sender:
        for _ in range(3):
            sender.fetch(IDENTIFY)
        assert sender.traffic.sent == 4
        assert sender.moved_to.endswith("/new")
        assert sender.base_url.endswith("/oai")


@pytest.mark.parametrize("status", ["302 Found", "303 See", "307 Temporary"])
def test_a_redirect_for_now_is_followed_each_time_and_told(serve, time, status):
    def reply(head: str) -> bytes:
        return http() if "/new" in head else http(b"", status, Location="/new")

    with transport(serve(reply).url, time) as sender:
        for _ in range(2):
            sender.fetch(IDENTIFY)
        assert sender.traffic.sent == 4
        assert sender.moved_to.endswith("/new")


def test_a_redirect_to_a_page_for_people_is_not_remembered(serve, time):
    def reply(head: str) -> bytes:
        return http(b"<html>") if "/login" in head else http(b"", "301 M", Location="/login")

    with transport(serve(reply).url, time) as sender:
        assert sender.fetch(IDENTIFY).body == b"<html>"
        assert sender.moved_to == ""


def test_a_client_that_stays_tells_where_a_redirect_leads(serve, time):
    def reply(head: str) -> bytes:
        if "/else" in head:
            return http(b"", "302 Found", Location="http://other.example.org/oai")
        return http() if "/new" in head else http(b"", "301 Moved", Location="/new")

    url = serve(reply).url
    with transport(url, time, stays=True) as sender:
        assert sender.fetch(IDENTIFY).status == 200
    with transport(f"{url}/else", time, stays=True) as sender:
        with pytest.raises(MovedElsewhere) as moved:
            sender.fetch(IDENTIFY)
        assert moved.value.target == "http://other.example.org/oai"
        assert sender.traffic.sent == 1


def test_post_stays_post_over_redirects(serve, time):
    def reply(head: str) -> bytes:
        if head.startswith("POST /new ") and head.endswith("verb=Identify"):
            return http()
        return http(b"", "307 Temporary", Location="/new")

    with transport(serve(reply).url, time, post=True) as sender:
        assert sender.fetch(IDENTIFY).body == OAI


def test_credentials_are_not_told_to_another_host(serve, time):
    other, seen = script(http())
    target = serve(other).url
    reply, _ = script(http(b"", "302 Found", Location=target))
    url = serve(reply).url.replace("http://", "http://user:secret@")
    with transport(url, time) as sender:
        sender.fetch(IDENTIFY)
    assert "Authorization" not in seen[0]


def test_redirects_without_end_are_refused(serve, time):
    reply, seen = script(http(b"", "302 Found", Location="/oai"))
    with (
        transport(serve(reply).url, time, max_redirects=3) as sender,
        pytest.raises(RedirectRefused, match="more than 3 times"),
    ):
        sender.fetch(IDENTIFY)
    assert len(seen) == 4


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://h/x", "http://[x/"])
def test_redirects_out_of_http_are_refused(serve, time, location):
    reply, _ = script(http(b"", "302 Found", Location=location))
    with (
        transport(serve(reply).url, time) as sender,
        pytest.raises(RedirectRefused, match="not HTTP"),
    ):
        sender.fetch(IDENTIFY)


def test_a_redirect_is_followed_without_reading_its_body(serve, time):
    moved = b"HTTP/1.1 302 Found\r\nLocation: /new\r\nContent-Length: 99999999\r\n\r\n"

    def reply(head: str) -> bytes | Iterable[bytes]:
        return http() if head.startswith("GET /new") else itertools.chain([moved], [b"x" * 99])

    with transport(serve(reply).url, time) as sender:
        assert sender.fetch(IDENTIFY).body == OAI


# --- nobody there


def test_an_address_where_nobody_listens_is_told_at_once(time):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/oai"
        with (
            transport(url, time) as sender,
            pytest.raises(EndpointUnreachable, match="the connection was refused"),
        ):
            sender.fetch(IDENTIFY)
    assert time.slept == []


def test_a_server_that_went_away_is_waited_for(serve, time):
    reply, _ = script(http(OAI, Connection="close"))
    server = serve(reply)
    with transport(server.url, time, attempts=3) as sender:
        sender.fetch(IDENTIFY)
        server.shutdown()
        server.server_close()
        with pytest.raises(EndpointUnreachable, match="after 3 attempts"):
            sender.fetch(IDENTIFY)
    assert time.slept == [1, 2]


def test_a_server_that_speaks_no_tls_is_told_at_once(serve, time):
    reply, _ = script(http())
    server = serve(reply)
    server.greeting = http(b"", "400 Bad Request")
    url = server.url.replace("http:", "https:")
    with transport(url, time) as sender, pytest.raises(EndpointUnreachable, match="TLS failed"):
        sender.fetch(IDENTIFY)
    assert time.slept == []
