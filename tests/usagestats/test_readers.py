"""Each format of logs: which lines are of it, what is read of them, and how it is told apart."""

import json
from typing import Any

import pytest

from usagestats.errors import FormatUnknown
from usagestats.lines.readers import (
    NAMES,
    IISReader,
    JSONReader,
    OwnReader,
    WebServerReader,
    detected,
    reader_of,
    text_of,
)
from usagestats.lines.requests import NONE, read_request, read_target
from usagestats.values import Hit

MOMENT = 1_791_799_201
TIME = "12/Oct/2026:10:00:01 +0000"
FOX = "Mozilla/5.0 (X11) Firefox/140.0"
COMMON = f'203.0.113.7 - - [{TIME}] "GET /3002/?a=b HTTP/1.1" 200 912'
COMBINED = f'{COMMON} "https://example.org/" "{FOX}"'


def hit(reader: Any, line: str) -> Hit:
    found = reader.read(line.encode())
    assert isinstance(found, Hit), line
    return found


# --------------------------------------------------------------------------- Apache and nginx


def test_a_combined_line_gives_all_its_parts() -> None:
    assert hit(reader_of("combined"), COMBINED) == Hit(
        MOMENT, "203.0.113.7", "", FOX, "GET", "/3002/", "a=b", 200, "https://example.org/", "", 912
    )


def test_a_common_line_has_no_agent_and_nothing_after_its_size() -> None:
    reader = reader_of("common")
    assert not reader.has_agent
    assert hit(reader, COMMON) == Hit(MOMENT, "203.0.113.7", "", "", "GET", "/3002/", "a=b", 200,
                                      size=912)  # fmt: skip
    assert reader.read(COMBINED.encode()) is None
    assert reader_of("combined").read(COMMON.encode()) is None


def test_the_host_of_a_virtual_host_is_read() -> None:
    reader = reader_of("vhost_combined")
    assert hit(reader, f"example.org:443 {COMBINED}").host == "example.org:443"
    absolute = COMBINED.replace("GET /", "GET http://other.example.org/")
    assert hit(reader, f"example.org:443 {absolute}").host == "other.example.org"
    assert hit(reader_of("combined"), absolute).host == "other.example.org"


@pytest.mark.parametrize(
    ("old", "new", "name", "value"),
    [
        (" - - [", " - anna [", "user", "anna"),
        (" - - [", " - anna b [", "user", "anna b"),
        (" - - [", " ident - [", "user", ""),
        (" - - [", ' - "" [', "user", '""'),
        ("203.0.113.7", "2001:db8::7", "address", "2001:db8::7"),
        ("203.0.113.7", "pc7.example.org", "address", "pc7.example.org"),
        ("https://example.org/", "-", "referrer", ""),
        ("https://example.org/", "", "referrer", ""),
        (FOX, "-", "agent", "-"),
        (FOX, "", "agent", ""),
        (FOX, 'A \\"b\\" c', "agent", 'A \\"b\\" c'),
        (" 912 ", " - ", "size", None),
        (" 912 ", " 0 ", "size", 0),
        (" 912 ", f" {'9' * 18} ", "size", int("9" * 18)),
        (" 912 ", f" {'9' * 19} ", "size", None),
        (" 200 ", " 999 ", "status", 999),
        ("GET /3002/?a=b HTTP/1.1", "GET /3002/#x?y HTTP/1.1", "path", "/3002/"),
        ("GET /3002/?a=b HTTP/1.1", "-", "method", ""),
        (TIME, "12/Oct/2026:11:00:01 +0100", "moment", MOMENT),
    ],
)
def test_the_parts_of_a_combined_line(old: str, new: str, name: str, value: object) -> None:
    assert getattr(hit(reader_of("combined"), COMBINED.replace(old, new)), name) == value


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("203.0.113.7 - - [", "203.0.113.7 - ["),
        (f"[{TIME}]", TIME),
        (f"[{TIME}]", "[]"),
        (TIME, TIME.replace("+0000", "GMT")),
        (" 200 ", " 20 "),
        (" 200 ", " 2000 "),
        (" 200 ", " 20x "),
        (" 912 ", " 9,1 "),
        (" 912 ", " "),
        ('"GET', "GET"),
        (f'"{FOX}"', f'"{FOX}"x'),
        (f'"{FOX}"', f'"{FOX}\\"'),
    ],
)
def test_what_is_no_combined_line(old: str, new: str) -> None:
    changed = COMBINED.replace(old, new)
    assert changed != COMBINED
    assert reader_of("combined").read(changed.encode()) is None


def test_bytes_that_are_not_utf_8_stay_apart() -> None:
    assert text_of(b"caf\xe9 \xc3\xa9") == "caf\\xe9 é"
    one, other = (
        reader_of("combined").read(COMBINED.replace(FOX, "F{}").encode().replace(b"{}", byte))
        for byte in (b"\xe9", b"\xe8")
    )
    assert one is not None
    assert other is not None
    assert one.agent != other.agent


# --------------------------------------------------------------------------- IIS

FIELDS = ("date", "time", "cs-method", "cs-uri-stem", "cs-uri-query", "cs-username", "c-ip",
          "cs(User-Agent)", "cs(Referer)", "cs-host", "sc-status", "sc-bytes")  # fmt: skip
VALUES = ("2026-10-12", "10:00:01", "GET", "/3002/", "a=b", "anna", "203.0.113.7",
          "Mozilla/5.0+(X11)+Firefox/140.0", "https://example.org/", "h.example.org", "200",
          "912")  # fmt: skip


def iis(**changes: str) -> Hit | None:
    """Read a line of IIS in which some fields, by their name without signs, are others."""
    names = {"".join(filter(str.isalpha, one)).lower(): one for one in FIELDS}
    changed = {names[name]: value for name, value in changes.items()}
    line = " ".join(changed.get(name, value) for name, value in zip(FIELDS, VALUES, strict=True))
    return IISReader(FIELDS).read(line.encode())


def test_a_line_of_iis_gives_all_its_parts() -> None:
    assert iis() == Hit(
        MOMENT, "203.0.113.7", "anna", FOX, "GET", "/3002/", "a=b", 200, "https://example.org/",
        "h.example.org", 912,
    )  # fmt: skip


def test_a_hyphen_of_iis_is_nothing() -> None:
    found = iis(csuriquery="-", csusername="-", csreferer="-", cshost="-", scbytes="-")
    assert found is not None
    assert (found.query, found.user, found.referrer, found.host, found.size) == (
        "", "", "", "", None,
    )  # fmt: skip


def test_a_hyphen_as_agent_of_iis_is_no_agent() -> None:
    found = iis(csuseragent="-")
    assert found is not None
    assert found.agent == ""


@pytest.mark.parametrize(
    "changes",
    [{"cip": "-"}, {"scstatus": "-"}, {"scstatus": "20"}, {"date": "12.10.2026"}, {"time": "noon"},
     {"csuristem": "/a b"}],
)  # fmt: skip
def test_what_is_no_line_of_iis(changes: dict[str, str]) -> None:
    assert iis(**changes) is None


def test_a_log_of_iis_may_lack_fields() -> None:
    reader = IISReader(("date", "time", "c-ip", "sc-status"))
    found = hit(reader, "2026-10-12 10:00:01 203.0.113.7 200")
    assert (found.method, found.path, found.agent) == ("", "", "")
    assert IISReader(()).read(b"") is None
    assert IISReader(("c-ip", "sc-status")).read(b"203.0.113.7 200") is None  # no time


def test_the_last_directive_of_a_block_counts_and_its_name_alone() -> None:
    first, last = b"#Fields: date time\n", b"#Fields: c-ip\n"
    assert IISReader(()).after(first + b"x\n" + first + last + b"y\n").spec == "iis:c-ip"
    assert IISReader(()).after(b"a #Fields: c-ip\n").spec == "iis:"
    assert [IISReader(()).is_directive(one) for one in (b"#Date: x", b" #Date", b"x")] == [
        True, False, False,
    ]  # fmt: skip


# --------------------------------------------------------------------------- JSON

PLAIN: dict[str, Any] = {
    "time": MOMENT, "remote_addr": "203.0.113.7", "method": "GET", "uri": "/3002/?a=b",
    "status": "200", "http_user_agent": FOX, "http_referer": "-", "remote_user": "-",
    "body_bytes_sent": 912, "server_name": "h.example.org",
}  # fmt: skip


def test_a_line_of_json_gives_all_its_parts() -> None:
    assert hit(reader_of("json"), json.dumps(PLAIN)) == Hit(
        MOMENT, "203.0.113.7", "", FOX, "GET", "/3002/", "a=b", 200, "", "h.example.org", 912
    )


@pytest.mark.parametrize(
    ("changes", "name", "value"),
    [
        ({"time": MOMENT * 1000}, "moment", MOMENT),
        ({"time": "2026-10-12T12:00:01+02:00"}, "moment", MOMENT),
        ({"address": "192.0.2.1"}, "address", "192.0.2.1"),  # the first of the usual names
        ({"request": "POST /x HTTP/1.1"}, "path", "/x"),  # comes before method and path
        ({"status": 404}, "status", 404),
        ({"remote_user": None}, "user", ""),
        ({"http_user_agent": None}, "agent", ""),
        ({"http_user_agent": ["a", "b"]}, "agent", "a"),
        ({"http_user_agent": []}, "agent", ""),
        ({"body_bytes_sent": -1}, "size", None),
        ({"body_bytes_sent": 1.5}, "size", None),
        ({"user": "anna"}, "user", "anna"),
        ({"uri": "no path"}, "path", ""),
    ],
)
def test_the_parts_of_a_line_of_json(changes: dict[str, Any], name: str, value: object) -> None:
    assert getattr(hit(reader_of("json"), json.dumps(PLAIN | changes)), name) == value


@pytest.mark.parametrize(
    "line",
    [
        "", "[1]", "3", '"text"', "{", "{}", "[" * 100_000,
        json.dumps(PLAIN | {"remote_addr": ""}), json.dumps(PLAIN | {"remote_addr": None}),
        json.dumps(PLAIN | {"status": 20}), json.dumps(PLAIN | {"status": True}),
        json.dumps(PLAIN | {"time": "soon"}),
        json.dumps({name: value for name, value in PLAIN.items() if name != "time"}),
    ],
)  # fmt: skip
def test_what_is_no_line_of_json(line: str) -> None:
    assert reader_of("json").read(line.encode()) is None


def test_names_of_ones_own_take_the_place_of_the_usual_ones() -> None:
    line = PLAIN | {"client": {"addr": "192.0.2.9"}, "address": "192.0.2.1"}
    reader = JSONReader({"address": "client.addr"})
    assert hit(reader, json.dumps(line)).address == "192.0.2.9"
    assert reader.read(json.dumps(PLAIN).encode()) is None
    assert hit(reader_of(reader.spec), json.dumps(line)).address == "192.0.2.9"
    assert JSONReader({}).spec == "json"


def test_objects_in_objects_have_names_with_dots_up_to_a_depth() -> None:
    nested: Any = "192.0.2.9"
    for _ in range(5):
        nested = {"a": nested}
    assert hit(JSONReader({"address": "a.a.a.a.a"}), json.dumps(PLAIN | nested)).address
    deep = {"a": nested}
    assert JSONReader({"address": "a.a.a.a.a.a"}).read(json.dumps(PLAIN | deep).encode()) is None


# --------------------------------------------------------------------------- expressions


def test_an_expression_of_ones_own_gives_what_its_groups_find() -> None:
    own = OwnReader(
        r"(?P<host>\S+) (?P<address>\S+) (?P<user>\S+) (?P<time>\S+) (?P<method>\S+) (?P<path>\S+)"
        r" (?P<status>\d+) (?P<size>\S+) (?P<referrer>\S+) (?P<agent>.*)"
    )
    assert own.has_agent
    line = f"h.example.org 203.0.113.7 - {MOMENT} GET /3002/?a=b 200 912 - {FOX}"
    assert hit(own, line) == Hit(
        MOMENT, "203.0.113.7", "", FOX, "GET", "/3002/", "a=b", 200, "", "h.example.org", 912
    )
    assert hit(own, line + "\r").agent == FOX
    assert own.read(("x" + line.replace(str(MOMENT), "never")).encode()) is None
    assert own.read(line.replace(" 200 ", " 2000 ").encode()) is None


def test_a_group_that_took_no_part_is_empty() -> None:
    own = OwnReader(r"(?P<time>\d+) (?P<address>\S+)?(?P<path>/\S*) (?P<status>\d+)(?P<agent>,.*)?")
    assert own.read(f"{MOMENT} /a 200".encode()) is None  # no address
    assert hit(own, f"{MOMENT} 203.0.113.7/a 200").agent == ""


@pytest.mark.parametrize("lacking", ["address", "time", "status", "path"])
def test_an_expression_without_a_needed_group_is_refused(lacking: str) -> None:
    groups = "".join(f"(?P<{one}>x)" for one in ("address", "time", "status", "path")
                     if one != lacking)  # fmt: skip
    with pytest.raises(FormatUnknown, match=rf"needs a group .*\(\?P<{lacking}>…\)"):
        OwnReader(groups)


# --------------------------------------------------------------------------- choosing


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("clf", f"there is no log format 'clf'; there are {', '.join(NAMES)}"),
        ("json:[", "'json:\\[' does not describe a log format"),
        ("json:3", "'json:3' does not describe a log format"),
        ("regex", "'regex' does not describe a log format"),
        ("regex:[1, 2, 3]", "does not describe a log format"),
        ("", "there is no log format ''"),
    ],
)
def test_what_describes_no_format_is_quoted(spec: str, told: str) -> None:
    with pytest.raises(FormatUnknown, match=told):
        reader_of(spec)


def spec_of(*lines: str) -> str:
    found = detected([line.encode() for line in lines])
    return found.spec if found else ""


def test_the_format_that_reads_most_lines_is_chosen() -> None:
    assert spec_of(COMMON, COMMON, COMBINED) == "common"
    assert spec_of(COMMON, COMBINED, COMBINED) == "combined"
    assert spec_of("nonsense", "nonsense", json.dumps(PLAIN)) == "json"
    assert spec_of("", " ", COMBINED) == "combined"
    assert spec_of("", " ") == ""


def test_a_host_before_most_addresses_is_a_virtual_host() -> None:
    virtual = f"example.org:80 {COMBINED}"
    assert spec_of(virtual, virtual, COMBINED) == "vhost_combined"
    assert spec_of(virtual, COMBINED) == "combined"
    assert spec_of(f"192.0.2.1 {COMBINED}") != "vhost_combined"  # two addresses
    # Its host is nobody's address, so another format is not known rather than taken for common.
    assert spec_of(f"example.org:80 {COMMON}") == ""


def test_a_log_of_iis_is_known_by_its_directives_alone() -> None:
    fields = f"#Fields: {' '.join(FIELDS)}"
    assert spec_of("#Software: x", fields) == f"iis:{' '.join(FIELDS)}"
    assert spec_of(fields, "nonsense") == f"iis:{' '.join(FIELDS)}"
    assert spec_of("#Software: x") == ""
    assert isinstance(detected([fields.encode(), " ".join(VALUES).encode()]), IISReader)
    assert isinstance(detected([fields.encode(), COMBINED.encode()]), WebServerReader)


# --------------------------------------------------------------------------- requests


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GET /a#b?c HTTP/1.1", ("GET", "/a", "", "")),
        ("GET /a?b#c HTTP/1.1", ("GET", "/a", "b", "")),
        ("GET HTTP://Example.ORG HTTP/1.1", ("GET", "/", "", "Example.ORG")),
        ("GET https://example.org?a=b HTTP/1.1", NONE),
        ("GET ftp://example.org/a HTTP/1.1", NONE),
        ("GET //example.org/a HTTP/1.1", ("GET", "//example.org/a", "", "")),
        ("OPTIONS * HTTP/1.1", NONE),
        ("PROPFIND /a HTTP/1.1", ("PROPFIND", "/a", "", "")),
        ("GÉT /a HTTP/1.1", NONE),
        ("GET", NONE),
        ("", NONE),
        ("G3T /a HTTP/1.1", NONE),
        ("GET /a HTTP/1.1 HTTP/1.1", ("GET", "/a HTTP/1.1", "", "")),
        ("GET /a FTP/1.1", ("GET", "/a FTP/1.1", "", "")),
    ],
)
def test_request_lines(text: str, expected: tuple[str, ...]) -> None:
    assert read_request(text) == expected


def test_a_target_may_be_an_address() -> None:
    assert read_target("GET", "https://example.org:8080/a?b") == (
        "GET", "/a", "b", "example.org:8080",
    )  # fmt: skip
    assert read_target("", "/a").path == "/a"
    assert read_target("GET", "a/b") == NONE
