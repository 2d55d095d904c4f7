"""Fetching files over a real socket on loopback: bounds, politeness, addresses."""

import gzip
import socket
from collections.abc import Iterator

import pytest
from files_server import PDF, FilesServer, Reply, files_server
from hypothesis import given
from hypothesis import strategies as st
from raw_server import raw_server

from politeweb.errors import RetryLater
from politeweb.exchange import Known
from politeweb.files import (
    FileHead,
    FileRefused,
    FileRules,
    FileTransport,
    FileUnavailable,
    NotChanged,
)
from politeweb.public_hosts import is_public
from politeweb.robots import LONGEST_DELAY, Robots
from politeweb.settings import HttpSettings


@pytest.fixture
def server() -> Iterator[FilesServer]:
    with files_server() as started:
        yield started


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def fetch(server, slept):
    """Fetch a path (or URL) whole; keywords are those of `FileRules` and `HttpSettings`."""
    opened = []

    def fetch_with(path: str, known: Known | None = None, base: str = "/oai", **more):
        rules = {name: more.pop(name) for name in list(more) if name in FileRules.__slots__}
        transport = FileTransport(
            server.url + base if base.startswith("/") else base,
            HttpSettings(**{"attempts": 2, "first_pause": 0.25} | more),
            FileRules(**{"delay": 0.0} | rules),
            sleep=slept.append,
        )
        opened.append(transport)
        url = path if "://" in path else server.url + path
        return transport.fetch(url, lambda head, content: (head, b"".join(content)), known)

    yield fetch_with
    for transport in opened:
        transport.close()


def test_a_file_comes_with_what_the_server_says_of_it(server, fetch):
    headers = {"Content-Type": "Application/PDF; x=y", "ETag": '"1"', "Last-Modified": "then"}
    url = server.serve("/a.pdf", PDF, 200, headers | {"Content-Disposition": "inline"})
    assert fetch("/a.pdf#page=3", contact="me@x.example") == (
        FileHead(url, "application/pdf", "inline", len(PDF), '"1"', "then"),
        PDF,
    )
    _, sent = server.requests[-1]
    assert sent["accept-encoding"] == "identity"
    assert sent["from"] == "me@x.example"


def test_a_packed_file_is_unpacked_and_its_length_is_not_taken_for_the_files(server, fetch):
    packed = gzip.compress(PDF)
    server.serve("/a", packed, 200, {"Content-Encoding": "gzip"})
    head, content = fetch("/a")
    assert (head.length, content) == (None, PDF)


def test_a_file_known_already_is_not_sent_again(server, fetch):
    server.answers["/a"] = lambda headers: Reply(
        b"", 304 if headers.get("if-none-match") == '"1"' else 200
    )
    with pytest.raises(NotChanged):
        fetch("/a", Known('"1"'))
    assert fetch("/a", Known('"2"', "then"))[1] == b""
    assert server.requests[-1][1]["if-modified-since"] == "then"


@pytest.mark.parametrize("status", [404, 410, 403, 401, 204])
def test_a_file_that_is_not_there_is_asked_for_once(server, fetch, status):
    server.serve("/a", b"", status)
    with pytest.raises(FileRefused, match=f"HTTP {status}") as refused:
        fetch("/a")
    assert not isinstance(refused.value, FileUnavailable)
    assert server.paths == ["/a"]


def test_a_busy_server_is_asked_again_after_the_pause_it_asks_for(server, fetch, slept):
    replies = [Reply(b"", 503, {"Retry-After": "7"}), Reply()]
    server.answers["/a"] = lambda _headers: replies.pop(0)
    assert fetch("/a")[1] == PDF
    assert 7.0 in slept


def test_a_server_that_stays_busy_leaves_the_file_for_another_time(server, fetch, slept):
    server.serve("/a", b"", 500)
    with pytest.raises(FileUnavailable, match="after 2 attempts: HTTP 500"):
        fetch("/a")
    assert server.paths == ["/a", "/a"]


def test_a_long_pause_is_told_and_not_waited_for(server, fetch, slept):
    server.serve("/a", b"", 429, {"Retry-After": "86400"})
    with pytest.raises(RetryLater, match="requests a pause until"):
        fetch("/a")
    assert max(slept) == 0.0


def test_a_file_cut_short_is_fetched_again(server, fetch):
    replies = [Reply(PDF[:100], length=len(PDF)), Reply()]
    server.answers["/a"] = lambda _headers: replies.pop(0)
    assert fetch("/a")[1] == PDF


def test_nobody_there_is_told_at_once(fetch, slept):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/a"
        with pytest.raises(FileUnavailable, match="the connection was refused"):
            fetch(url, private=True, robots=False)
    assert max(slept) == 0.0


def test_a_file_beyond_the_size_is_not_read_to_its_end(server, fetch):
    read = []

    def endless() -> Iterator[bytes]:
        while True:
            read.append(1)
            yield bytes(100_000)

    server.answers["/told"] = lambda _headers: Reply(endless(), length=10**9)
    server.answers["/untold"] = lambda _headers: Reply(endless(), length=None)
    server.serve("/bomb", gzip.compress(bytes(10**7)), 200, {"Content-Encoding": "gzip"})
    for path in ("/told", "/untold", "/bomb"):
        with pytest.raises(FileRefused, match="larger than the 1,000,000 bytes allowed"):
            fetch(path, max_size=1_000_000)
    assert len(read) < 500


def test_redirects_are_followed_and_bounded(server, fetch):
    server.serve("/a", b"", 302, {"Location": "/b"})
    url = server.serve("/b", PDF)
    server.serve("/round", b"", 301, {"Location": "/round"})
    assert fetch("/a")[0].url == url
    with pytest.raises(FileRefused, match="redirects more than 5 times"):
        fetch("/round")


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://r.example/a", "http://", "javascript:1", "http://[x/"]
)
def test_a_redirect_out_of_http_is_refused(server, fetch, location):
    server.serve("/a", b"", 302, {"Location": location})
    with pytest.raises(FileRefused):
        fetch("/a")


# --------------------------------------------------------------------------- addresses


def test_a_link_to_a_private_address_is_refused_before_anything_is_sent(server, fetch):
    with files_server() as inside:
        url = inside.serve("/secret", PDF)
        for address in (url, url.replace("127.0.0.1", "localhost")):
            with pytest.raises(FileRefused, match="has an address that is not public"):
                fetch(address, robots=False)
        server.serve("/a", b"", 302, {"Location": url})
        with pytest.raises(FileRefused, match="has an address that is not public"):
            fetch("/a", robots=False)
        assert inside.requests == []
        assert fetch(url, private=True)[1] == PDF


def test_without_a_repository_no_private_address_is_allowed(server, fetch):
    server.serve("/a")
    with pytest.raises(FileRefused, match="not public"):
        fetch("/a", base="http://repo.example/oai", robots=False)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2001:0:5db8:d822::f5ff:fffe", False),  # Teredo, of 10.0.0.1
        ("::127.0.0.1", False),
        ("::93.184.216.34", False),
        ("::ffff:0:127.0.0.1", False),
        ("64:ff9b:1::7f00:1", False),
        ("64:ff9b:1:a:7f:0:100::", False),
        ("fec0::1", False),
        ("192.0.0.192", False),
        ("::ffff:192.0.0.192", False),
        ("64:ff9b::c000:c0", False),
        ("2002:c000:c0::", False),
        ("192.0.1.1", True),
        ("192.88.99.1", False),
        ("100:0:0:1::1", False),
        ("3fff::1", False),
        ("5f00::1", False),
        ("64:ff9b::5db8:d822", True),
        ("no address", False),
    ],
)
def test_which_addresses_are_public(address, public):
    assert is_public(address) is public


@given(st.ip_addresses())
def test_any_address_is_judged(address):
    is_public(str(address))


def test_credentials_go_to_the_repositorys_host_only(server, fetch, monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine localhost login x password y")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    server.serve("/a")
    base = server.url.replace("//", "//me:secret@") + "/oai"
    fetch("/a", base=base, secret_headers=(("X-Key", "k"),))
    assert {"authorization", "x-key"} <= server.requests[-1][1].keys()
    elsewhere = server.url.replace("127.0.0.1", "localhost") + "/a"
    fetch(elsewhere, base=base, private=True, secret_headers=(("X-Key", "k"),))
    assert not {"authorization", "x-key"} & server.requests[-1][1].keys()
    server.serve("/wrong", b"", 404)
    with pytest.raises(FileRefused) as refused:
        fetch(base.replace("/oai", "/wrong"), base=base)
    assert "secret" not in str(refused.value)


# --------------------------------------------------------------------------- politeness


def test_robots_txt_is_heeded_unless_told_otherwise(server, fetch, slept):
    server.serve("/robots.txt", b"User-agent: *\nDisallow: /closed/\nCrawl-delay: 5\n")
    server.serve("/closed/a")
    server.serve("/open")
    with pytest.raises(FileRefused, match=r"excluded by its host's robots.txt"):
        fetch("/closed/a")
    assert server.paths == []
    assert fetch("/closed/a", robots=False)[1] == PDF
    slept.clear()
    fetch("/open")
    assert max(slept) <= 5.0
    assert fetch("/open")[1] == PDF


def test_the_hosts_crawl_delay_and_ours_are_kept(server, slept):
    server.serve("/robots.txt", b"User-agent: *\nCrawl-delay: 5\n")
    server.serve("/a")
    with FileTransport(server.url, rules=FileRules(delay=1.0), sleep=slept.append) as transport:
        for _ in range(3):
            transport.fetch(server.url + "/a", lambda _head, content: b"".join(content))
    assert sum(slept) > 9.9


def test_a_host_whose_robots_txt_does_not_answer_is_left_alone(server, fetch):
    server.serve("/robots.txt", b"", 503)
    server.serve("/a")
    with pytest.raises(FileUnavailable, match=r"does not answer for robots.txt"):
        fetch("/a")
    assert server.paths == []


def test_rules_of_a_host_are_asked_for_once():
    asked = []
    robots = Robots(lambda url: asked.append(url) or "User-agent: recordsilo\nDisallow: /no")
    assert [robots.allows(f"http://r.example/{p}") for p in ("no", "yes", "no")] == [
        False,
        True,
        False,
    ]
    assert robots.delay("http://r.example/x") == 0.0
    assert asked == ["http://r.example/robots.txt"]


@pytest.mark.parametrize(
    "line",
    ["Crawl-delay: \u00b2", "Crawl-delay: " + "9" * 5000, "Request-rate: \u00b2/1", "Allow: //["],
)
def test_a_malformed_line_of_robots_txt_is_left_out_and_the_others_count(line):
    robots = Robots(lambda _: f"User-agent: *\n{line}\nDisallow: /no\nCrawl-delay: 7")
    assert [robots.allows(f"http://r.example/{path}") for path in ("no", "yes")] == [False, True]
    assert robots.delay("http://r.example/yes") == 7.0


def test_the_longest_match_decides_also_with_wildcards():
    rules = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /*.pdf$\n"
    robots = Robots(lambda _: rules)
    paths = {"a/x": False, "a/b/x": True, "a/b/x.pdf": False, "x.pdf?y": True, "": True}
    assert {path: robots.allows(f"http://r.example/{path}") for path in paths} == paths


def test_rules_hold_for_a_day_and_a_silent_host_is_asked_again_sooner():
    now, texts = [0.0], iter([None, "", "User-agent: *\nDisallow: /"])
    robots = Robots(lambda _: next(texts), monotonic=lambda: now[0])
    for moment, is_allowed in (
        (0, False),
        (599, False),
        (601, True),
        (86_900, True),
        (87_100, False),
    ):
        now[0] = float(moment)
        assert robots.allows("http://r.example/x") is is_allowed, moment


def test_a_crawl_delay_of_centuries_is_the_longest_one():
    robots = Robots(lambda _: "User-agent: *\nCrawl-delay: " + "9" * 300)
    assert robots.delay("http://r.example/yes") == LONGEST_DELAY


def test_a_link_whose_host_is_none_once_decoded_is_no_error():
    Robots(lambda _: "").allows("http://r%5B.example/x")


def test_a_length_that_is_no_number_to_python_is_malformed(server, fetch):
    server.serve("/a.pdf", PDF, 200, {"Content-Length": "9" * 5000}, None)
    with pytest.raises(FileUnavailable, match="malformed: its Content-Length is no number"):
        fetch("/a.pdf")


def test_a_file_whose_headers_are_cut_is_not_an_empty_file(slept) -> None:
    cut = b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-Len"
    with (
        raw_server(lambda _head: [cut]) as server,
        FileTransport(
            settings=HttpSettings(attempts=2), rules=FileRules(0, 0.0, robots=False, private=True),
            sleep=slept.append,
        ) as transport,
        pytest.raises(FileUnavailable, match="the connection broke"),
    ):  # fmt: skip
        transport.fetch(server.url, lambda _head, content: b"".join(content))
    assert len(server.heads) == 2


def test_turns_of_others_are_kept(server) -> None:
    class Turns:
        interval = 1.0

        def reserve(self) -> float:
            return 7.0

        def hold(self, seconds: float) -> None:
            raise AssertionError

    slept: list[float] = []
    asked: list[tuple[str, float]] = []

    def turns(url: str, interval: float) -> Turns:
        asked.append((url, interval))
        return Turns()

    url = server.serve("/a.pdf", PDF, 200, {})
    rules = FileRules(delay=2.0, robots=False, private=True)
    with FileTransport(rules=rules, turns=turns, sleep=slept.append) as transport:
        for _ in range(2):
            transport.fetch(url, lambda _head, content: b"".join(content))
    assert slept == [7.0, 7.0]
    assert [interval for _, interval in asked] == [2.0]


def test_a_busy_host_keeps_its_crawl_delay(server) -> None:
    server.serve("/robots.txt", b"User-agent: *\nCrawl-delay: 50\n")
    replies = [Reply(b"", 503, {"Retry-After": "0"}), Reply(), Reply()]
    url = server.serve("/a")
    server.answers["/a"] = lambda _headers: replies.pop(0)
    slept: list[float] = []
    settings, rules = HttpSettings(attempts=2), FileRules(delay=1.0)
    with FileTransport(server.url, settings, rules, sleep=slept.append) as transport:
        for _ in range(2):
            transport.fetch(url, lambda _head, content: b"".join(content))
    waits = [one for one in slept if one > 1]
    assert len(waits) == 2, "before the second attempt, and before the second file"
    assert 5 < waits[0] < waits[1], "less what has passed meanwhile"


def test_the_host_that_is_busy_is_held_and_not_the_one_that_led_there(server) -> None:
    held: list[tuple[str, float]] = []

    class Turns:
        interval = 0.0

        def __init__(self, url: str) -> None:
            self.place = url.split("/")[2]

        def reserve(self) -> float:
            return 0.0

        def hold(self, seconds: float) -> None:
            held.append((self.place, seconds))

    elsewhere = server.url.replace("127.0.0.1", "localhost")
    url = server.serve("/a", b"", 302, {"Location": f"{elsewhere}/b"})
    replies = [Reply(b"", 429, {"Retry-After": "7"}), Reply()]
    server.answers["/b"] = lambda _headers: replies.pop(0)
    rules = FileRules(delay=0.0, robots=False, private=True)
    with FileTransport(
        rules=rules, turns=lambda url, _interval: Turns(url), sleep=lambda _seconds: None
    ) as transport:
        transport.fetch(url, lambda _head, content: b"".join(content))
    assert held == [(elsewhere.removeprefix("http://"), 7.0)]


def test_the_beginning_of_a_long_robots_txt_counts(server, fetch) -> None:
    rules = b"User-agent: *\nDisallow: /closed\n"
    server.serve("/robots.txt", rules + b"# much\n" * 100_000 + b"Disallow: /open\n")
    server.serve("/closed")
    server.serve("/open")
    with pytest.raises(FileRefused, match=r"robots.txt"):
        fetch("/closed")
    assert fetch("/open", max_size=10_000)[1] == PDF, "that is beyond what is read of it"


def test_a_host_without_robots_txt_allows_all(server, fetch) -> None:
    server.serve("/a")
    server.serve("/robots.txt", b"User-agent: *\nDisallow: /", 404)
    assert fetch("/a")[1] == PDF


def test_rules_behind_a_redirect_are_those_of_the_host(server, fetch) -> None:
    server.serve("/robots.txt", b"", 301, {"Location": "/rules"})
    server.serve("/rules", b"User-agent: *\nDisallow: /a")
    server.serve("/a")
    with pytest.raises(FileRefused, match=r"robots.txt"):
        fetch("/a")


def test_robots_txt_of_a_redirects_target_is_heeded_too(server, fetch) -> None:
    with files_server() as other:
        other.serve("/robots.txt", b"User-agent: *\nDisallow: /b")
        url = server.serve("/a", b"", 302, {"Location": other.serve("/b")})
        with pytest.raises(FileRefused, match=r"/b is excluded by its host's robots.txt"):
            fetch(url, private=True)
        assert other.paths == []


@pytest.mark.parametrize("is_told", [True, False], ids=["announced", "not announced"])
def test_a_file_of_just_the_largest_size_is_fetched(server, fetch, *, is_told: bool) -> None:
    server.answers["/a"] = lambda _headers: Reply(PDF, length=-1 if is_told else None)
    assert fetch("/a", max_size=len(PDF))[1] == PDF
    with pytest.raises(FileRefused, match="is larger than"):
        fetch("/a", max_size=len(PDF) - 1)


@pytest.mark.parametrize(("status", "times"), [(408, 2), (500, 2), (599, 2), (400, 1), (418, 1)])
def test_which_errors_pass(server, fetch, status: int, times: int) -> None:
    server.serve("/a", b"", status)
    with pytest.raises(FileRefused, match=f"HTTP {status}"):
        fetch("/a")
    assert len(server.paths) == times


def test_as_many_redirects_as_allowed_are_followed(server, fetch) -> None:
    for number in range(3):
        server.serve(f"/{number}", b"", 307, {"Location": f"/{number + 1}"})
    server.serve("/3")
    assert fetch("/0", max_redirects=3)[1] == PDF
    with pytest.raises(FileRefused, match="redirects more than 2 times"):
        fetch("/0", max_redirects=2)


def test_a_file_that_its_taker_refuses_is_not_read_and_the_next_one_is(server) -> None:
    server.serve("/a")
    server.serve("/b")

    def refuse(head: FileHead, _content: Iterator[bytes]) -> bytes:
        raise FileRefused(head.url, "is no picture")

    rules = FileRules(delay=0.0, robots=False, private=True)
    with FileTransport(rules=rules) as transport:
        with pytest.raises(FileRefused, match="/a is no picture"):
            transport.fetch(server.url + "/a", refuse)
        assert transport.fetch(server.url + "/b", lambda _, content: b"".join(content)) == PDF
