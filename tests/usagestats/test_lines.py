"""What becomes of a line: readers of each format, requests, robots, and the order of reasons."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from usagestats.errors import FormatUnknown
from usagestats.importing.intern import PADDING, InternTable
from usagestats.lines.readers import (
    NAMES,
    IISReader,
    OwnReader,
    Reader,
    detected,
    reader_of,
    text_of,
)
from usagestats.lines.requests import plain_path, read_request
from usagestats.rules.classify import Classified, Rules, classify
from usagestats.rules.patterns import Patterns
from usagestats.rules.settings import PROFILES, UsageSettings, profile_patterns, settings_from
from usagestats.values import Fate, Use, UseKind

AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
UUID = "0a1b2c3d-0000-4000-8000-00000000000f"
RULES = Rules(UsageSettings(profile="eprints"))
COMBINED = reader_of("combined")


def line(
    request: str = "GET /3002/1/paper.pdf HTTP/1.1", status: int = 200, agent: str = AGENT
) -> bytes:
    time = "12/Oct/2026:10:00:01 +0000"
    return f'203.0.113.7 - - [{time}] "{request}" {status} 912 "-" "{agent}"'.encode()


def became(one: bytes, reader: Reader = COMBINED) -> tuple[Fate, str]:
    found = classify(one, reader, RULES)
    return found.fate, found.reason


@pytest.mark.parametrize(
    ("given_line", "fate", "reason"),
    [
        (line(), Fate.COUNTED, ""),
        (line(status=304), Fate.COUNTED, ""),
        (line(status=206), Fate.OTHER, "status 206"),
        (line(status=404), Fate.OTHER, "not found"),
        (line("HEAD /3002/ HTTP/1.1"), Fate.OTHER, "not GET"),
        (line("GET /style.css HTTP/1.1"), Fate.OTHER, "no pattern fits"),
        (line("\\x16\\x03", status=400), Fate.OTHER, "no HTTP request"),
        (line("GET /style.css HTTP/1.1", agent="Googlebot/2.1"), Fate.BOT, "a robot"),
        (line(agent="gptbot/1.2"), Fate.BOT, "a robot"),
        (line(agent="-"), Fate.BOT, "a robot"),
        (line(agent="python-requests/2.32"), Fate.BOT, "a machine"),
        (line(agent="Mozilla/5.0 (Linux; CUBOT phone) Chrome/140"), Fate.COUNTED, ""),
        (line(agent='said \\"hello\\" Firefox'), Fate.COUNTED, ""),
        (line()[:-1], Fate.UNREADABLE, "not of the log's format"),
        (line().replace(b"Oct", b"Okt"), Fate.UNREADABLE, "not of the log's format"),
        (line().replace(b"12/", b"32/"), Fate.UNREADABLE, "not of the log's format"),
        (b"", Fate.OTHER, "an empty line"),
        (line(agent="caf\\xe9").replace(b"\\xe9", b"\xe9"), Fate.COUNTED, ""),
        (line().replace(b"203.0.113.7", b"2001:db8::7"), Fate.COUNTED, ""),
        (line() + b' "more" 0.01', Fate.COUNTED, ""),
        (line() + b"\r", Fate.COUNTED, ""),
    ],
)
def test_what_becomes_of_a_line(given_line: bytes, fate: Fate, reason: str) -> None:
    assert became(given_line) == (fate, reason)


def test_the_use_of_a_machine_is_known_and_kept_apart() -> None:
    found = classify(line(agent="curl/8.5"), COMBINED, RULES)
    assert (found.machine, found.use) == (True, Use("3002", UseKind.DOWNLOAD, "paper.pdf"))


@given(st.binary(max_size=300))
@pytest.mark.parametrize("name", [name for name in NAMES if name != "regex"])
def test_any_bytes_become_something(name: str, data: bytes) -> None:
    assert isinstance(classify(data, reader_of(name), RULES), Classified)


IIS = (
    b"#Fields: date time cs-method cs-uri-stem cs-uri-query cs-username c-ip cs(User-Agent)"
    b" sc-status"
)
IIS_LINE = b"2026-10-12 10:00:01 GET /3002/ - - 203.0.113.7 Mozilla/5.0+(X11)+Firefox/140.0 200"
JSON = {
    "time_iso8601": "2026-10-12T10:00:01+00:00",
    "remote_addr": "203.0.113.7",
    "request": "GET /3002/ HTTP/1.1",
    "status": 200,
    "http_user_agent": AGENT,
}
CADDY = {
    "ts": 1791799201.5,
    "request": {
        "remote_ip": "203.0.113.7", "method": "GET", "uri": "/3002/?a=b",
        "headers": {"User-Agent": [AGENT]},
    },
    "status": 200,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("combined", [line(), b"nonsense"]),
        ("vhost_combined", [b"example.org:443 " + line()]),
        ("common", [line().partition(b' "-"')[0]]),
        ("iis", [b"#Software: Microsoft Internet Information Services 10.0", IIS, IIS_LINE]),
        ("json", [json.dumps(JSON).encode()]),
        ("json", [json.dumps(CADDY).encode()]),
    ],
)
def test_a_format_is_detected_and_read(name: str, lines: list[bytes]) -> None:
    reader = detected(lines)
    assert reader is not None
    assert reader.spec.partition(":")[0] == name
    assert reader_of(reader.spec).spec == reader.spec
    hit = reader.read(lines[-1]) or reader.read(lines[0])
    assert hit is not None
    assert (hit.moment, hit.address, hit.user, hit.status) == (1791799201, "203.0.113.7", "", 200)
    assert hit.path.startswith("/3002/")
    assert ("Firefox" in hit.agent) == reader.has_agent
    assert became(lines[-1] if name != "combined" else lines[0], reader) == (Fate.COUNTED, "")


def test_the_fields_of_iis_change_within_a_file() -> None:
    reader = IISReader(()).after(IIS + b"\n" + IIS_LINE + b"\n")
    assert reader.read(IIS_LINE) is not None
    later = reader.after(b"#Date: x\n#Fields: date time c-ip cs-uri-stem sc-status\n")
    assert later.read(IIS_LINE) is None
    assert reader.after(IIS_LINE) is reader
    assert became(IIS, reader) == (Fate.OTHER, "a directive")


def test_half_a_character_of_json_is_text() -> None:
    hit = reader_of("json").read(json.dumps(JSON | {"request": "GET /\ud800 HTTP/1.1"}).encode())
    assert hit is not None
    assert hit.path == "/\\ud800"


def test_a_space_of_another_script_ends_no_field_of_iis() -> None:
    spaced = IIS_LINE.replace(b"(X11)", "\u3000".encode())
    assert IISReader(()).after(IIS).read(spaced) is not None


def test_nothing_is_detected_in_nonsense() -> None:
    assert detected([b"nonsense", b"\xff\xfe"]) is None
    assert detected([]) is None


def test_an_expression_of_ones_own() -> None:
    own = OwnReader(
        r"(?P<time>[^|]+)\|(?P<address>[^|]+)\|(?P<path>[^|]+)\|(?P<status>\d+)", "%d.%m.%Y %H:%M"
    )
    hit = reader_of(own.spec).read(b"12.10.2026 10:00|203.0.113.7|/3002/|200")
    assert hit is not None
    assert (hit.moment, hit.method, hit.path) == (1791799200, "GET", "/3002/")
    with pytest.raises(FormatUnknown, match="needs a group"):
        OwnReader("(?P<time>x)")
    with pytest.raises(FormatUnknown, match="is not a valid"):
        OwnReader("(")


@pytest.mark.parametrize(
    ("text", "path", "query", "host"),
    [
        ("GET /a?b=c?d HTTP/1.1", "/a", "b=c?d", ""),
        ("GET http://example.org:80/a HTTP/1.1", "/a", "", "example.org:80"),
        ("GET /a b HTTP/1.1", "/a b", "", ""),
        ("GET /a", "/a", "", ""),
        ("-", "", "", ""),
        ("get /a HTTP/1.1", "", "", ""),
        ("GET * HTTP/1.1", "", "", ""),
    ],
)
def test_requests(text: str, path: str, query: str, host: str) -> None:
    request = read_request(text)
    assert (request.path, request.query, request.host) == (path, query, host)
    assert plain_path(text.encode()) in ("", path)


pieces = st.sampled_from(
    [b"GET", b" ", b"/", b"/a", b"?", b"#", b'"', b"HTTP/1.1", b"\xc3\xa9", b"\n"]
)


@given(st.lists(pieces | st.binary(max_size=2), max_size=8).map(b"".join))
def test_a_plain_path_is_that_of_the_request(line: bytes) -> None:
    assert plain_path(line) in ("", read_request(text_of(line)).path)
    assert plain_path(b"GET /%s?x=%%20 HTTP/1.1" % line.hex().encode()) == f"/{line.hex()}"


@pytest.mark.parametrize(
    ("profile", "path", "use"),
    [
        ("eprints", "/6102/", Use("6102", UseKind.VIEW)),
        ("eprints", "/id/eprint/6102", Use("6102", UseKind.VIEW)),
        ("eprints", "/6102/1/a%20b.pdf", Use("6102", UseKind.DOWNLOAD, "a b.pdf")),
        ("eprints", "/6102/1.hassmallThumbnailVersion/a.pdf", Use("6102", UseKind.OTHER, "a.pdf")),
        ("eprints", "/6102/3/indexcodes.txt", Use("6102", UseKind.OTHER, "indexcodes.txt")),
        ("eprints", "/6102/2/lightbox.jpg", Use("6102", UseKind.OTHER, "lightbox.jpg")),
        ("eprints", "/id/eprint/6102/2/preview.jpg", Use("6102", UseKind.OTHER, "preview.jpg")),
        ("eprints", "/6102/1/thumbnails/a.png", Use("6102", UseKind.OTHER)),
        ("eprints", "/6102/thumbnails/1/medium.png", Use("6102", UseKind.OTHER)),
        ("eprints", "/6102/1/my%20preview.jpg", Use("6102", UseKind.DOWNLOAD, "my preview.jpg")),
        ("eprints", "/6102/1/figures/preview.jpg",
         Use("6102", UseKind.DOWNLOAD, "figures/preview.jpg")),
        ("eprints", "/view/year/2020.html", None),
        ("dspace6", "/handle/1234/56", Use("1234/56", UseKind.VIEW)),
        ("dspace6", "/xmlui/bitstream/handle/1234/56/a.pdf",
         Use("1234/56", UseKind.DOWNLOAD, "a.pdf")),
        ("dspace6", "/bitstream/1234/56/1/a.pdf", Use("1234/56", UseKind.DOWNLOAD, "a.pdf")),
        ("dspace6", "/handle/1234/56/browse", Use("1234/56", UseKind.OTHER)),
        ("dspace7", "/handle/1234/56", Use("1234/56", UseKind.VIEW)),
        ("dspace7", f"/items/{UUID}", Use(UUID, UseKind.VIEW)),
        ("dspace7", f"/bitstreams/{UUID}/download", Use(UUID, UseKind.DOWNLOAD)),
        ("dspace7", f"/server/api/core/bitstreams/{UUID}/content", Use(UUID, UseKind.OTHER)),
        ("ojs", "/index.php/j/article/view/12", Use("article/12", UseKind.VIEW)),
        ("ojs", "/index.php/j/article/view/12/34", Use("article/12", UseKind.DOWNLOAD, "34")),
        ("ojs", "/j/article/download/12/34", Use("article/12", UseKind.DOWNLOAD, "34")),
        ("ojs", "/j/article/view/12/pdf", Use("article/12", UseKind.DOWNLOAD, "pdf")),
        ("ojs", "/j/article/view/12/version/3", Use("article/12", UseKind.OTHER)),
        ("ojs", "/j/article/view/some-slug", Use("/j/article/view/some-slug", UseKind.VIEW)),
        ("ojs", "/j/article/download/some-slug/34/7",
         Use("/j/article/view/some-slug", UseKind.DOWNLOAD, "34/7")),
        ("invenio", "/records/a1b2c-3d4e5", Use("a1b2c-3d4e5", UseKind.VIEW)),
        ("invenio", "/record/12/files/a.pdf", Use("12", UseKind.DOWNLOAD, "a.pdf")),
        ("fedora", "/objects/uuid%3A12-ab/datastreams/ATT01",
         Use("uuid:12-ab", UseKind.DOWNLOAD, "ATT01")),
        ("fedora", "/objects/uuid:12-ab", Use("uuid:12-ab", UseKind.VIEW)),
        ("fedora", "/objects/uuid:12-ab/datastreams/DC", Use("uuid:12-ab", UseKind.OTHER)),
        ("silo", "/records/oai%3Aa%3A1", Use("oai:a:1", UseKind.VIEW)),
        ("silo", "/silos/x/records/oai=1/versions/2/files/a/b.pdf",
         Use("oai=1", UseKind.DOWNLOAD, "a/b.pdf")),
    ],
)  # fmt: skip
def test_profiles(profile: str, path: str, use: Use | None) -> None:
    assert Patterns(profile_patterns(profile)).use(path) == use


def test_a_record_is_found_by_its_link() -> None:
    path = "/index.php/j/article/view/some%20slug"
    held = {path: "oai:a:1"}
    patterns = Patterns(profile_patterns("ojs"), by_link=lambda one: held.get(one, ""))
    assert patterns.use(path) == Use("oai:a:1", UseKind.VIEW)
    assert patterns.use(f"{path}/pdf") == Use("oai:a:1", UseKind.DOWNLOAD, "pdf")
    assert patterns.use(path.replace("view", "download") + "/3") == Use(
        "oai:a:1", UseKind.DOWNLOAD, "3"
    )


def test_a_record_is_found_by_a_uuid() -> None:
    held = {UUID: "oai:a:1"}
    patterns = Patterns(profile_patterns("dspace7"), by_uuid=lambda one: held.get(one, ""))
    assert patterns.use(f"/items/{UUID}") == Use("oai:a:1", UseKind.VIEW)
    assert patterns.use(f"/entities/publication/{UUID}/full") == Use("oai:a:1", UseKind.OTHER)
    for path in (
        f"/bitstreams/{UUID.upper()}/download",
        f"/server/api/core/bitstreams/{UUID}/content",
    ):
        assert patterns.use(path) == Use("oai:a:1", UseKind.DOWNLOAD)


def test_patterns_of_ones_own_come_first() -> None:
    settings = settings_from({
        "profile": "eprints",
        "pattern": [
            {"path": "^/(?P<id>[0-9]+)/2/", "record": "uuid:{id}", "kind": "other"},
        ],
    })  # fmt: skip
    patterns = Patterns(settings.patterns)
    assert patterns.use("/12/2/a.pdf") == Use("uuid:12", UseKind.OTHER)
    assert patterns.use("/12/1/a.pdf") == Use("12", UseKind.DOWNLOAD, "a.pdf")


@pytest.mark.parametrize(
    ("known", "why"),
    [
        ({"windows": 3}, "no setting 'windows'"),
        ({"windows": 3}, "pattern, profile, push, report"),
        ({"patern": [{}]}, "no setting 'patern'"),
        ({"profile": "dspace"}, "no profile 'dspace'"),
        ({"timezone": "Europe/Londn"}, "no time zone"),
        ({"window": 0}, "number of days"),
        ({"robots": ["("]}, "robots: .* is not a valid pattern"),
        ({"pattern": [{"path": "(", "record": "x", "kind": "view"}]}, "path: .* is not a valid"),
        ({"pattern": [{"path": "x", "record": "{id}", "kind": "view"}]}, "names the group 'id'"),
        (
            {"pattern": [{"path": "(?P<id>x)", "record": "{id!x}", "kind": "view"}]},
            "more than names",
        ),
        (
            {"pattern": [{"path": "(?P<id>x)", "record": "{id:99999999999}", "kind": "view"}]},
            "more than names",
        ),
        ({"pattern": [{"path": "x", "record": "x", "kind": "read"}]}, "not 'read'"),
        ({"pattern": [{"path": "x"}]}, "needs a path and a record"),
        (
            {"pattern": [{"path": "x", "record": "{by_uuid}", "kind": "view"}]},
            "names the group 'uuid'",
        ),
        (
            {"pattern": [{"path": "x", "record": "{link}", "link": "/{id}", "kind": "view"}]},
            "the link '/{id}' names the group 'id'",
        ),
        ({"log": {"format": "regex", "line": "("}}, "lines: .* is not a valid"),
        ({"robots": ["(?:(?:(?:x{100}){100}){100}){30}"]}, "too large to compile"),
        (
            {"pattern": [{"path": "(?:x{1000}){1000}", "record": "x", "kind": "view"}]},
            "too large to compile",
        ),
        ({"log": {"format": "regex", "line": "(?:x{1000}){1000}"}}, "too large to compile"),
    ],
)
def test_invalid_settings_are_named(known: dict[str, Any], why: str) -> None:
    with pytest.raises((ValueError, FormatUnknown), match=why):
        settings_from(known)


def test_every_profile_can_be_read() -> None:
    assert all(profile_patterns(name) for name in PROFILES)


@given(st.lists(st.binary(max_size=70) | st.sampled_from([b"", b"\0", b"a", b"a\0", b"ab"])))
def test_each_text_gets_the_number_that_was_asked_for(texts: list[bytes]) -> None:
    asked: list[bytes] = []

    def ask(text: bytes) -> int:
        asked.append(text)
        return len(asked) - 1

    numbers = InternTable(lambda some: map(ask, some), 64, places=4)
    for some in (texts + texts[::2], texts[::-1]):
        ends = np.cumsum([len(one) for one in some], dtype=np.int64)
        starts = ends - np.array([len(one) for one in some], np.int64)
        found = numbers(b"".join(some) + PADDING, starts, ends).tolist()
        assert [asked[one] for one in found] == some
    assert len(asked) == len(set(texts))
