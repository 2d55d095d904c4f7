"""Reading of every kind of input, with arbitrary bytes; every line is accounted for."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from examples import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from known_truth import HTML, PDF, Crawl, sha1_of
from truth_rows import rows_of

from crawlmatch import inputs
from crawlmatch.errors import NoAddresses, NothingUsed
from crawlmatch.inputs import kind_of_lines, plain_lines
from crawlmatch.matching import MatchRequest, match_into
from crawlmatch.receipts import InputKind, MatchReceipt
from crawlmatch.seeds import read_seeds
from crawlmatch.shards import opened_engine
from crawlmatch.warcs import opened_warc
from silosteps.engine import Engine
from silosteps.errors import InputUnreadable

A, B = "http://a.example.org/a", "http://a.example.org/b.pdf"


@pytest.fixture
def match(tmp_path: Path) -> Callable[..., tuple[MatchReceipt, list[Any]]]:
    """Match inputs with seeds; the receipt, and the rows of seeds."""

    def run(*inputs: Path, seeds: tuple[str, ...] = (A,)) -> tuple[MatchReceipt, list[Any]]:
        out = tmp_path / "out"
        out.mkdir(exist_ok=True)
        (out / "crawl_result.sqlite").unlink(missing_ok=True)
        request = MatchRequest(
            [str(one) for one in inputs], seed_rows=[(url, "x") for url in seeds]
        )
        receipt = match_into(str(out), request, tables=False)
        return receipt, [row for row in rows_of(out / "crawl_result.sqlite") if row["terminal"]]

    return run


@pytest.fixture
def crawl() -> Crawl:
    made = Crawl()
    made.log(A, 302, HTML, size=10)
    made.log(B, 200, PDF, via=A, hops="R", notes="some thing,duplicate:digest",
             extra='{"warcFilename":"w 1.warc.gz","warcFileOffset":77}')  # fmt: skip
    return made


def test_an_address_of_unusual_length_is_set_aside(
    crawl: Crawl, tmp_path: Path, match: Any
) -> None:
    """A megabyte of address, kept in several tables, took more memory than DuckDB may have."""
    crawl.log("http://a.example.org/" + "x" * 65_536, 200, PDF)
    crawl.log("http://a.example.org/c", 200, HTML, via="http://a.example.org/" + "x" * 65_536)
    log = tmp_path / "crawl.log"
    log.write_text("\n".join(crawl.lines))
    receipt, _ = match(log)
    assert receipt.inputs[0].used == 3
    assert receipt.set_aside == 1
    with gzip.open(tmp_path / "out" / "set-aside.jsonl.gz", "rt") as file:
        kept = json.load(file)
    assert kept["reason"] == "address"
    assert len(kept["line"]) == 65_536


def test_annotations_and_json_may_hold_blanks(crawl: Crawl, tmp_path: Path, match: Any) -> None:
    log = tmp_path / "crawl.log"
    log.write_text("\r\n".join(crawl.lines))
    receipt, rows = match(log)
    assert receipt.inputs[0].used == 2
    assert rows[0]["outcome"] == "fulltext-duplicate"
    assert rows[0]["final_cdx"].endswith(" 77 w 1.warc.gz")
    assert rows[0]["final_sha1"] == sha1_of(B)


def test_blank_lines_cost_nothing_and_are_counted(
    crawl: Crawl, tmp_path: Path, match: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[bytes] = []
    passed = Engine.table_of_lines

    def table_of_lines(engine: Engine, name: str, lines: bytes) -> None:
        given.append(lines)
        passed(engine, name, lines)

    monkeypatch.setattr(Engine, "table_of_lines", table_of_lines)
    log, seeds = tmp_path / "crawl.log.gz", tmp_path / "seeds.tsv"
    blank = 2_000_000
    log.write_bytes(gzip.compress(b"\n" * blank + "\n \n".join(crawl.lines).encode()))
    receipt, rows = match(log)
    assert receipt.inputs[0].reasons == {"blank": blank + len(crawl.lines) - 1}
    assert receipt.inputs[0].used == len(crawl.lines)
    assert rows[0]["outcome"] == "fulltext-duplicate"
    assert sum(one.count(b"\n") for one in given) < 10
    seeds.write_bytes(b"\n\n" + A.encode() + b"\n\n\n")
    with opened_engine(str(tmp_path)) as engine:
        assert read_seeds(engine, str(seeds)).reasons == {"blank": 4}


def test_lines_that_are_too_short_for_a_log_are_read_in_parts(
    crawl: Crawl, tmp_path: Path, match: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "_LINES", 50)
    log = tmp_path / "crawl.log"
    short = ["a"] * 49
    log.write_text("\n".join([*short, *crawl.lines, *short, *short]))
    receipt, rows = match(log)
    assert receipt.inputs[0].reasons == {"fields": 3 * 49}
    assert rows[0]["outcome"] == "fulltext-duplicate"
    log.write_text("\n".join(["a"] * 1000))
    with pytest.raises(NothingUsed, match=r"crawl.log tells of no page \(50 lines, 0 used\)"):
        match(log)


def test_a_json_log_says_the_same_as_a_plain_one(crawl: Crawl, tmp_path: Path, match: Any) -> None:
    plain, other = tmp_path / "crawl.log", tmp_path / "crawl.jsonl.gz"
    plain.write_text("\n".join(crawl.lines))
    objects = []
    for line in crawl.lines:
        f = line.split(None, 11)
        objects.append({
            "timestamp": f[0], "status_code": int(f[1]), "size": int(f[2]), "url": f[3],
            "content_length": int(f[2]), "hop_path": "" if f[4] == "-" else f[4],
            "via": None if f[5] == "-" else f[5], "mimetype": f[6], "thread": 3,
            "start_time_plus_duration": f[8], "content_digest": f[9], "seed": "", "host": "h",
            "annotations": f[11].partition(" {")[0],
            "extra_info": {"warcFilename": "w 1.warc.gz", "warcFileOffset": 77},
        })  # fmt: skip
    lines = [json.dumps(one) for one in objects]
    other.write_bytes(gzip.compress("\n".join([*lines, "", "{", '{"url": "x"}']).encode()))
    _, expected = match(plain)
    receipt, rows = match(other)
    assert rows == expected
    assert receipt.inputs[0].kind == InputKind.JSON
    assert receipt.inputs[0].reasons == {"blank": 1, "json": 1, "time": 1}


def test_indexes_with_eleven_and_nine_fields_and_as_cdxj(tmp_path: Path, match: Any) -> None:
    eleven = [
        f"k 20180101000000 {A} text/html 302 {sha1_of('a')} /b.pdf - 100 1 w.warc.gz",
        f"k 20180101000001 {B} application/pdf 200 {sha1_of('b')} - - 100 2 w.warc.gz",
    ]
    nine = [" ".join(line.split()[:7] + line.split()[9:]) for line in eleven]
    names = ("url", "mime", "status", "digest", "redirect")
    cdxj = [
        f"k {f[1]} " + json.dumps(dict(zip(names, f[2:7], strict=True)))
        for f in (line.split() for line in eleven)
    ]
    found = []
    for name, lines in (
        ("eleven.cdx", eleven),
        ("nine.cdx", [" CDX N b a m s k r V g", *nine]),
        ("bare.cdx", nine),
        ("x.cdxj", ["!OpenWayback-CDXJ 1.0", *cdxj]),
    ):
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        receipt, rows = match(path)
        assert receipt.inputs[0].kind == InputKind.CDX, name
        assert receipt.inputs[0].used == 2
        assert rows[0].pop("final_cdx")
        found.append(rows)
    assert found[0][0]["final_url"] == B
    assert found[0][0]["outcome"] == "fulltext"
    assert found[1:] == [found[0]] * 3


def test_a_header_says_where_the_fields_of_an_index_are(tmp_path: Path, match: Any) -> None:
    path = tmp_path / "odd.cdx"
    path.write_text(f" CDX a b s m k\n{B} 20180101000001 200 application/pdf {sha1_of('b')}\n")
    _, rows = match(path, seeds=(B,))
    assert rows[0]["outcome"] == "fulltext"


def warc_of(*answers: tuple[str, str, int, dict[str, str], bytes], packed: bool = True) -> bytes:
    """A WARC of records: type, address, status, headers, body."""
    made = [record("warcinfo", "", b"software: test\r\n")]
    for kind, url, status, headers, body in answers:
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        made.append(record(kind, url, f"HTTP/1.1 {status} X\r\n{fields}\r\n".encode() + body))
    return b"".join(gzip.compress(one) if packed else one for one in made)


def record(kind: str, url: str, content: bytes) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Date: 2018-01-01T00:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{len(content)}>\r\nContent-Length: {len(content)}\r\n"
    )
    if url:
        head += f"WARC-Target-URI: {url}\r\nContent-Type: application/http; msgtype={kind}\r\n"
    return head.encode() + b"\r\n" + content + b"\r\n\r\n"


ANSWERS = (
    ("response", A, 302, {"Location": "b.pdf"}, b""),
    ("response", B, 200, {"Content-Type": "application/pdf; x"}, b"%PDF" + bytes(2000)),
    ("request", B, 200, {}, b""),
)


def test_a_warc_may_be_packed_with_zstandard(tmp_path: Path, match: Any) -> None:
    path = tmp_path / "w.warc.zst"
    whole = zstandard.compress(warc_of(*ANSWERS, packed=False))
    path.write_bytes(whole)
    receipt, rows = match(path)
    assert receipt.inputs[0].kind == InputKind.WARC
    assert rows[0]["outcome"] == "fulltext"
    path.write_bytes(whole[:-20])
    with pytest.raises(InputUnreadable, match="ends in the middle"):
        match(path)


@pytest.mark.parametrize("packed", [True, False])
def test_warcs_say_where_redirects_lead(packed: bool, tmp_path: Path, match: Any) -> None:
    path = tmp_path / "w.warc.gz"
    path.write_bytes(warc_of(*ANSWERS, packed=packed))
    receipt, rows = match(path)
    assert receipt.inputs[0].kind == InputKind.WARC
    assert receipt.inputs[0].lines == 4
    assert receipt.inputs[0].reasons == {"other record": 2}
    assert (rows[0]["final_url"], rows[0]["outcome"]) == (B, "fulltext")
    assert rows[0]["final_cdx"].endswith("w.warc.gz")


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("cut", [1, 40, 200, 900])
def test_a_warc_that_breaks_off_is_read_up_to_there(
    cut: int, packed: bool, tmp_path: Path, match: Any
) -> None:
    path = tmp_path / "w.warc.gz"
    whole = warc_of(*ANSWERS, packed=packed)
    path.write_bytes(whole + whole[: min(cut, len(whole) - 30)])
    receipt, rows = match(path)
    assert rows[0]["outcome"] == "fulltext"
    assert receipt.set_aside == 1
    assert receipt.inputs[0].lines == receipt.inputs[0].used + sum(
        receipt.inputs[0].reasons.values()
    )


def test_an_error_while_a_warc_is_open_is_not_one_of_the_warc(tmp_path: Path) -> None:
    for name, data in (("a.warc", b"WARC/1.1"), ("a.zst", zstandard.compress(b"WARC/1.1"))):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FileNotFoundError), opened_warc(str(tmp_path / name)):
            (tmp_path / "another").read_bytes()
    with pytest.raises(InputUnreadable), opened_warc(str(tmp_path / "none")):
        pass


def test_kinds_are_told_from_the_first_lines() -> None:
    assert kind_of_lines(b"\n\n{}") is InputKind.JSON
    assert kind_of_lines(b" CDX N b a") is InputKind.CDX
    assert kind_of_lines(b"org,x)/ 20180101000000 {}") is InputKind.CDX
    assert kind_of_lines(b"WARC/1.0\r\n") is InputKind.WARC
    assert kind_of_lines(b"2018-01-01T00:00:00.000Z   200 ...") is InputKind.LOG
    assert kind_of_lines(b"") is InputKind.LOG


@given(st.binary(max_size=300))
def test_plain_lines_are_as_many_and_hold_the_same_fields(data: bytes) -> None:
    plain = plain_lines(data)
    assert plain.count(b"\n") == data.count(b"\n")
    assert plain.isascii()
    assert b"  " not in plain
    if data.isascii() and not set(data) - set(b" \nabc"):
        assert [one.split() for one in plain.split(b"\n")] == [
            one.split() for one in data.split(b"\n")
        ]


def test_lines_are_plain_wherever_a_block_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"  a   b \n\n c\n   \n d  e  f\n" * 3
    whole = plain_lines(data)
    assert whole.startswith(b"a b \n\nc\n\nd e f\n")
    for size in range(len(data)):
        monkeypatch.setattr("crawlmatch.inputs._PIECE", size)
        assert plain_lines(data) == whole


PIECES = st.sampled_from(
    [b"2018-01-01T00:00:00.000Z", b"200", b"-2", b"9999999999999", b"-", b" ", b"  ", b"\n", b"\r",
     b"\x00", b"\xff", b"\xc3\xbc", b'{"url":', b"}", b'"', b"http://a/", b"dns:a", b"sha1:X", b"R",
     b"#001", b"20180101000000000+1", b"99999999999999999+1", b"warc/revisit", b"CDX N b a m s k",
     b"application/pdf", b"duplicate:digest", b"\t", b"20180101000000", b"\x01", b"\\u0000"]
)  # fmt: skip


@settings(max_examples=examples(60, least=10))
@given(st.lists(st.one_of(PIECES, st.binary(max_size=5)), max_size=60).map(b"".join))
def test_any_bytes_give_a_receipt_that_sums_up(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    directory = tmp_path_factory.mktemp("any")
    path = directory / "any"
    path.write_bytes(data)
    request = MatchRequest([str(path)], seeds=[str(path)], seed_rows=[("http://a/", "a")])
    if kind_of_lines(data) is InputKind.WARC or data[:2] == b"\x1f\x8b":
        return
    try:
        receipt = match_into(str(directory), request)
    except NoAddresses:  # of some seeds, none is an address
        return
    except InputUnreadable:  # it begins as something compressed
        assert data[:4] == b"\x28\xb5\x2f\xfd"
        return
    for one in receipt.inputs:
        assert one.lines == data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
        assert one.lines == one.used + sum(one.reasons.values())
        assert one.used >= 0
    assert sum(receipt.outcomes.values()) == receipt.seed_rows
