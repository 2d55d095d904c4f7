"""The commands `silo crawl …`, on a small crawl."""

import gzip
import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import Result
from crawl_silo import put
from known_truth import HTML, PDF, Crawl, sha1_of

from crawlmatch.kept import crawls
from crawlmatch.outcomes import OWN
from crawlmatch.report import TABLES, CrawlReport
from recordsilo import Silo

Invoke = Callable[..., Result]
Told = Callable[..., Any]
PAPER = "http://repo.example.org/1/paper.pdf"
PAGE = "http://repo.example.org/2/"


@pytest.fixture
def crawl() -> Crawl:
    """A paper behind a redirect, a landing page with nothing, a page that nobody asked for."""
    made = Crawl()
    made.log("http://repo.example.org/1", 302, HTML, size=10)
    made.log(PAPER, 200, PDF, via="http://repo.example.org/1", hops="R")
    made.log(PAGE, 200, HTML)
    top = made.log("http://other.example.org/", 200, HTML)
    made.log("http://other.example.org/o.pdf", 200, PDF, via=top, hops="L")
    return made


@pytest.fixture
def log(crawl: Crawl, tmp_path: Path) -> Path:
    path = tmp_path / "crawl.log.gz"
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in crawl.lines).encode()))
    return path


@pytest.fixture
def records(silo: Silo) -> Silo:
    put(silo, "oai:example.org:1", "http://repo.example.org/1", "https://doi.org/10.1/1")
    put(silo, "oai:example.org:2", PAGE, PAGE)
    return silo


def test_seeds_are_the_links_of_records_each_once(records: Silo, invoke: Invoke) -> None:
    assert invoke("seeds", records.path).stdout.splitlines() == [
        "http://repo.example.org/1\toai:example.org:1\tlanding",
        "https://doi.org/10.1/1\toai:example.org:1\tdoi",
        f"{PAGE}\toai:example.org:2\tlanding",
    ]
    assert invoke("seeds", records.path, "--item", "2").stdout.startswith(PAGE)
    assert "doi" in invoke("seeds", records.path, "--kind", "doi").stdout


def test_outcomes_of_a_record_that_is_removed_for_good_go_with_it(
    records: Silo, log: Path, told: Told
) -> None:
    told("match", records.path, log, "--name", "spring")
    kept = Path(records.path) / "crawls" / "spring"
    records.del_item("oai:example.org:2", remember=True)
    with sqlite3.connect(kept / "crawl_result.sqlite") as connection:
        rows = connection.execute("SELECT DISTINCT identifier FROM crawl_result").fetchall()
    connection.close()
    assert sorted(one for (one,) in rows if one) == ["oai:example.org:1"]
    assert not any(b"example.org:2" in path.read_bytes() for path in kept.glob("*.parquet"))


def test_a_crawl_is_kept_and_a_second_match_changes_nothing(
    records: Silo, log: Path, told: Told, invoke: Invoke
) -> None:
    receipt = told("match", records.path, log, "--name", "spring")
    assert receipt["seed_rows"] == 3 == sum(receipt["outcomes"].values())
    assert receipt["outcomes"]["fulltext"] == 1
    assert receipt["outcomes"]["landing-only"] == 1
    assert receipt["outcomes"]["not-attempted"] == 1
    kept = Path(records.path) / "crawls" / "spring"
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    assert {"crawl.json", "crawl_result.sqlite", "crawl_result.parquet"} <= before.keys()
    assert "Nothing changed" in invoke("match", records.path, log, "--name", "spring").stdout
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before
    assert [one["name"] for one in told("list", records.path)] == ["spring"]


def test_a_kept_crawl_is_replaced_when_its_inputs_differ(
    records: Silo, log: Path, told: Told, invoke: Invoke
) -> None:
    invoke("match", records.path, log)
    other = Crawl()
    other.log("http://other.example.org/", 200, HTML)
    log.write_bytes(gzip.compress(f"{other.lines[0]}\n".encode()))
    assert told("match", records.path, log)["outcomes"]["not-attempted"] == 3
    assert sorted(path.name for path in (Path(records.path) / "crawls").iterdir()) == ["crawl"]


@pytest.mark.parametrize("content", [b"", b"no log\nof a crawl\n"])
def test_useless_inputs_replace_no_earlier_result(
    records: Silo, log: Path, tmp_path: Path, invoke: Invoke, content: bytes
) -> None:
    invoke("match", records.path, log)
    invoke("backward", log, "-o", tmp_path / "b.sqlite")
    crawl, database = Path(records.path, "crawls/crawl/crawl.json"), tmp_path / "b.sqlite"
    before = crawl.read_bytes(), database.read_bytes()
    log.write_bytes(gzip.compress(content))
    assert "0 used" in str(invoke("match", records.path, log, code=2).exception)
    assert "0 used" in str(invoke("backward", log, "-o", database, code=2).exception)
    assert (crawl.read_bytes(), database.read_bytes()) == before


@pytest.mark.timeout(60)
def test_nothing_waits_for_a_receipt_that_is_a_pipe(
    records: Silo, log: Path, invoke: Invoke
) -> None:
    invoke("match", records.path, log)
    receipt = Path(records.path, "crawls/crawl/crawl.json")
    receipt.unlink()
    os.mkfifo(receipt)
    for command in ("list", "report"):
        said = str(invoke(command, records.path, code=2).exception)
        assert said.endswith("crawl.json cannot be read (it is not a regular file)")


def test_lines_of_an_earlier_crawl_do_not_make_inputs_useful(
    records: Silo, log: Path, tmp_path: Path, told: Told, invoke: Invoke
) -> None:
    useless = tmp_path / "useless.log"
    useless.write_bytes(b"no log\nof a crawl\n")
    refused = invoke("match", records.path, useless, "--earlier", log, code=2)
    assert "(2 lines, 0 used)" in str(refused.exception)
    assert not Path(records.path, "crawls/crawl").exists()
    inputs = told("match", records.path, log, "--earlier", log)["inputs"]
    assert [(one["kind"], one["used"] > 0) for one in inputs[:2]] == [
        ("crawl log", True),
        ("earlier crawl", True),
    ]


def test_quiet_matches_are_silent_unless_lines_are_set_aside(
    records: Silo, log: Path, tmp_path: Path, invoke: Invoke
) -> None:
    assert invoke("match", records.path, log, "-q").output == ""
    assert invoke("match", records.path, log, "-q").output == ""  # nothing changed
    assert invoke("backward", log, "-o", tmp_path / "b.sqlite", "-q").output == ""
    assert invoke("map", log, "-o", tmp_path / "shard", "-q").output == ""
    assert invoke("match", records.path, log, "--queue", "-q").stdout == ""
    bad = tmp_path / "bad.log"
    bad.write_bytes(gzip.decompress(log.read_bytes()) + b"no line of a log\n")
    assert "bad.log: " in invoke("match", records.path, bad, "-q", code=1).stdout
    assert "bad.log: " in invoke("map", bad, "-o", tmp_path / "other", "-q", code=1).stdout
    missing = invoke("match", records.path, tmp_path / "nope", "-q", code=2)
    assert missing.exception is not None


def test_identifiers_are_no_seeds(records: Silo, log: Path, tmp_path: Path, invoke: Invoke) -> None:
    seeds = tmp_path / "seeds.tsv"
    seeds.write_text("oai:example.org:1\noai:example.org:2\n")
    refused = invoke("match", records.path, log, "--seeds", seeds, code=2)
    assert "none of the 2 seeds is an address" in str(refused.exception)
    assert not crawls(records.path)
    invoke("everything", seeds, log, "-o", tmp_path / "all.sqlite", code=2)
    seeds.write_text(f"oai:example.org:1\n{PAPER}\toai:example.org:1\n")
    invoke("match", records.path, log, "--seeds", seeds)  # one is enough


def test_what_is_next_for_a_full_text_depends_on_whose_crawl_it_was(
    records: Silo, log: Path, told: Told, invoke: Invoke
) -> None:
    steps = {}
    for name in ("spring", OWN):
        invoke("match", records.path, log, "--name", name)
        steps[name] = [one["next"] for one in told("explain", records.path, "1", "--name", name)]
    assert "silo crawl attach adds the file to the record" in steps["spring"][0]
    assert (
        "silo crawl run attaches the document to its record, or proposes it for review"
        in (steps[OWN][0])
    )
    assert "the seeds of the next crawl" in steps["spring"][1]
    assert "when its target is due" in steps[OWN][1]
    text = invoke("explain", records.path, "1", "--name", OWN).stdout
    assert "next: nothing to do; silo crawl run" in text
    assert "silo crawl attach" not in text


def test_explain_shows_each_hop_with_the_line_of_the_log(
    records: Silo, log: Path, crawl: Crawl, told: Told, invoke: Invoke
) -> None:
    invoke("match", records.path, log)
    first, other = told("explain", records.path, "1")
    assert first["outcome"] == "fulltext"
    assert [hop["url"] for hop in first["ways"][0]] == ["http://repo.example.org/1", PAPER]
    assert first["ways"][0][1]["lines"] == [f"crawl.log.gz:2: {crawl.lines[1]}"]
    assert other["outcome"] == "not-attempted"
    assert other["ways"] == []
    text = invoke("explain", records.path, PAGE).stdout
    assert "landing-only: web page" in text
    assert f"crawl.log.gz:3: {crawl.lines[2]}" in text
    log.unlink()
    assert "crawl.log.gz" not in invoke("explain", records.path, PAGE).stdout
    assert "identifier 'nothing'" in str(
        invoke("explain", records.path, "nothing", code=2).exception
    )


def test_the_report_counts_and_its_outcomes_sum_up(
    records: Silo, log: Path, told: Told, invoke: Invoke
) -> None:
    invoke("match", records.path, log)
    report = told("report", records.path)
    assert report["seed_rows"] == sum(report["outcomes"].values()) == 3
    assert report["full_texts"] == 1
    assert report["unseeded_full_texts"] == 1
    assert report["breadcrumbs_of_full_texts"] == [{"value": "R", "count": 1}]
    lines = invoke("report", records.path, "--csv").stdout.splitlines()
    assert lines[0] == "table,value,count"
    assert "outcome,landing-only,1" in lines
    text = invoke("report", records.path).stdout
    assert "33.3 %" in text
    assert ": 3 seed rows, matched " in text
    said = "\n1 full text behind the seeds, of which 0 (0.0 %) were in earlier crawls; 1 more to"
    assert said in text
    assert "seeds without a full text, by domain" in text


def test_a_report_says_what_statuses_mean_that_are_none_of_http() -> None:
    tables: dict[str, tuple[tuple[str, int], ...]] = dict.fromkeys(TABLES, ())
    tables["status"] = (("200", 5), ("-1", 2), ("", 1))
    text = CrawlReport("spring", "2026-11-29T01:02:03", 8, {}, 5, 0, 0, tables).text()
    assert "2  -1 (no address for the host)\n" in text
    assert "5  200\n" in text


def test_backward_forward_and_everything(log: Path, tmp_path: Path, told: Told) -> None:
    seeds = tmp_path / "seeds.tsv"
    seeds.write_text(f"http://repo.example.org/1\tone\n{PAGE}\n")

    def rows(path: Path) -> list[tuple[Any, ...]]:
        with sqlite3.connect(path) as connection:
            found = connection.execute(
                "SELECT initial_url, identifier, final_url, breadcrumbs, hit"
                " FROM crawl_result ORDER BY 1"
            ).fetchall()
        connection.close()
        return found

    top = ("http://other.example.org/", None, "http://other.example.org/o.pdf", "L", 1)
    told("backward", log, "-o", tmp_path / "b.sqlite")
    assert rows(tmp_path / "b.sqlite") == [top, ("http://repo.example.org/1", None, PAPER, "R", 1)]
    told("forward", seeds, log, "-o", tmp_path / "f.sqlite")
    paper = ("http://repo.example.org/1", "one", PAPER, "R", 1)
    assert rows(tmp_path / "f.sqlite") == [paper, (PAGE, None, PAGE, "-", 0)]
    receipt = told("everything", seeds, log, "-o", tmp_path / "e.sqlite")
    assert rows(tmp_path / "e.sqlite") == [top, paper, (PAGE, None, PAGE, "-", 0)]
    assert receipt["counters"]["backward"]["documents"] == 2
    assert receipt["counters"]["forward"]["existing-id-updated"] == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(".")) == []


def test_an_index_is_traced_back_and_counted(tmp_path: Path, told: Told) -> None:
    index = tmp_path / "crawl.cdx"
    fields = "20240501030405 http://a.example.org/{} {} 200 - - - 9 0 a.warc.gz"
    lines = (
        "x,y) " + fields.format(*one) for one in (("1.pdf", "application/pdf"), ("2", "text/html"))
    )
    index.write_text(
        "".join(f"{line}\n" for line in (" CDX N b a m s k r M S V g", *lines, "x y z"))
    )
    receipt = told("backward", index, "-o", tmp_path / "b.sqlite", code=1)
    assert receipt["counters"]["backward"]["documents"] == 1
    assert receipt["counters"]["backward_cdx"] == {
        "skip-cdx-raw": 1, "pages-without-full-text": 1
    }  # fmt: skip


def test_a_map_serves_in_place_of_its_log(log: Path, tmp_path: Path, told: Told) -> None:
    told("map", log, "-o", tmp_path / "shard")
    shard = told("backward", tmp_path / "shard", "-o", tmp_path / "a.sqlite")
    plain = told("backward", log, "-o", tmp_path / "b.sqlite")
    assert shard["inputs"] == plain["inputs"]
    assert shard["counters"] == plain["counters"]


def test_what_others_found_is_written_by_digest_and_dumped(
    log: Path, tmp_path: Path, invoke: Invoke
) -> None:
    database = tmp_path / "b.sqlite"
    invoke("backward", log, "-o", database)
    statuses = tmp_path / "statuses.tsv"
    statuses.write_text(f"sha1:{sha1_of(PAPER)}\tsuccess\nnone\tx\n{sha1_of('?')}\tlost\nalone\n")
    counts = json.loads(invoke("postprocess", statuses, database).stdout)
    assert counts == {"lines-parsed": 4, "rows-updated": 1, "sha1-not-found": 1,
                      "skip-bad-sha1": 1, "skip-raw-line": 1}  # fmt: skip
    dumped = [json.loads(line) for line in invoke("dump", database).stdout.splitlines()]
    assert {row["final_url"]: row["postproc_status"] for row in dumped} == {
        PAPER: "success", "http://other.example.org/o.pdf": None,
    }  # fmt: skip
    direct = invoke("dump", database, "--only-direct-breadcrumbs").stdout.splitlines()
    assert [json.loads(line)["final_url"] for line in direct] == [PAPER]
    assert invoke("dump", database, "--only-identifier-hits").stdout == ""


def test_web_pages_can_be_what_is_looked_for(log: Path, tmp_path: Path, told: Told) -> None:
    seeds = tmp_path / "seeds.tsv"
    seeds.write_text(f"{PAGE}\ta\n{PAPER}\tb\n")
    receipt = told("forward", seeds, log, "-o", tmp_path / "f.sqlite", "--html-hit")
    assert receipt["outcomes"]["fulltext"] == 1
    assert receipt["outcomes"]["wrong-type"] == 1


def test_rules_add_walls_and_name_media_types(crawl: Crawl, tmp_path: Path, told: Told) -> None:
    crawl.log("http://wall.example.org/stop", 200, HTML)
    crawl.log("http://wall.example.org/are-you-human", 200, HTML)
    crawl.log("http://repo.example.org/b.epub", 200, "application/epub+zip")
    log, seeds, rules = (tmp_path / name for name in ("crawl.log", "seeds.tsv", "rules.toml"))
    log.write_text("\n".join(crawl.lines))
    seeds.write_text(
        "http://wall.example.org/stop\ta\nhttp://repo.example.org/b.epub\tb\n"
        "http://wall.example.org/are-you-human\tc\n"
    )
    rules.write_text(
        "walls = ['//wall\\.']\ndefences = ['/are-you-human']\n"
        "full_texts = ['application/epub+zip']\n"
    )
    told("map", log, "-o", tmp_path / "shard", "--rules", rules)
    for source in (log, tmp_path / "shard"):
        receipt = told("forward", seeds, source, "-o", tmp_path / "f.sqlite", "--rules", rules)
        assert receipt["outcomes"]["cookie-wall"] == 1
        assert receipt["outcomes"]["robot-defence"] == 1
        assert receipt["outcomes"]["fulltext"] == 1


@pytest.mark.parametrize(
    ("rules", "named"),
    [
        ("walls = 'x'", "a list of texts"),
        ("walls = ['(']", "is invalid"),
        ("walls = ['(?=x)']", "look-around"),
        ("walls = ['(?:(?:(?:x{100}){100}){100}){30}']", "too large to compile"),
        ("walls = ['x{2,2000}']", "more than 1,000 times"),
        (f"walls = ['{'x' * 20_000}']", "shorten it"),
        ("#" * (1 << 20) + "\n", "larger than 1 MiB"),
        ("wall = []", "unknown in the rules: wall"),
        ("=", "not TOML"),
    ],
)
def test_rules_that_cannot_be_used_are_refused(
    rules: str, named: str, log: Path, tmp_path: Path, invoke: Invoke
) -> None:
    (tmp_path / "rules.toml").write_text(rules)
    done = invoke("backward", log, "-o", tmp_path / "o", "--rules", tmp_path / "rules.toml", code=2)
    assert named in str(done.exception)
    assert not (tmp_path / "o").exists()


def test_an_earlier_crawl_tells_where_redirects_end(
    records: Silo, log: Path, crawl: Crawl, tmp_path: Path, told: Told, invoke: Invoke
) -> None:
    invoke("match", records.path, log, "--name", "first")
    later, seeds, index = (tmp_path / name for name in ("later.log", "seeds.tsv", "later.cdx"))
    crawl.lines.clear()
    crawl.cdx.clear()
    crawl.log("http://new.example.org/r", 301, HTML, size=9)
    crawl.index("http://new.example.org/r", HTML, "301", redirect=PAPER)
    later.write_text("\n".join(crawl.lines))
    index.write_text("\n".join(crawl.cdx))
    seeds.write_text(f"http://new.example.org/r\tnew\n{PAPER}\tpaper\n")
    alone = told("match", records.path, later, "--cdx", index, "--seeds", seeds)
    assert alone["outcomes"]["redirect-uncaptured"] == 1
    helped = told(
        "match", records.path, later, "--cdx", index, "--seeds", seeds, "--earlier", "first"
    )
    assert helped["outcomes"]["fulltext-duplicate"] == 1
    assert helped["outcomes"]["not-attempted"] == 1  # what an earlier crawl tried, this one did not
    old = tmp_path / "old.parquet"
    with duckdb.connect() as connection:  # as releases before wrote it
        kept = f"{records.path}/crawls/first/crawl_result.parquet"
        connection.execute(
            "COPY (SELECT * EXCLUDE (other_sha1) REPLACE (COALESCE(final_sha1, other_sha1) AS "
            f"final_sha1) FROM '{kept}') TO '{old}'"
        )
    again = told("match", records.path, later, "--cdx", index, "--seeds", seeds, "--earlier", old)
    assert again["outcomes"] == helped["outcomes"]


def test_only_full_texts_have_a_final_digest(log: Path, tmp_path: Path, told: Told) -> None:
    seeds = tmp_path / "seeds.tsv"
    seeds.write_text(f"http://repo.example.org/1\tone\n{PAGE}\ttwo\n")
    told("everything", seeds, log, "-o", tmp_path / "e.sqlite")
    with sqlite3.connect(tmp_path / "e.sqlite") as connection:
        found = connection.execute(
            "SELECT identifier, final_sha1, other_sha1 FROM crawl_result"
            " WHERE terminal = 1 ORDER BY identifier"
        ).fetchall()
        successes = connection.execute(
            "SELECT count(DISTINCT identifier) FROM crawl_result WHERE final_sha1 IS NOT NULL"
        ).fetchone()
    connection.close()
    assert found == [("one", sha1_of(PAPER), None), ("two", None, sha1_of(PAGE))]
    assert successes == (1,)


def test_lines_that_are_none_are_kept_with_the_reason(tmp_path: Path, told: Told) -> None:
    log = tmp_path / "crawl.log"
    log.write_bytes(b"\n\xff\xfe\nonly a few fields\n" + b"x" * ((1 << 20) + 5) + b"\n")
    receipt = told("map", log, "-o", tmp_path / "shard", code=1)["inputs"][0]
    assert receipt["lines"] == 4
    assert receipt["reasons"] == {"blank": 1, "fields": 2, "too-long": 1}
    with gzip.open(tmp_path / "shard" / "set-aside.jsonl.gz", "rt") as file:
        kept = [json.loads(line) for line in file]
    assert [one["reason"] for one in kept] == ["fields", "fields", "too-long"]


def test_a_user_is_told_in_a_sentence(
    records: Silo, log: Path, tmp_path: Path, invoke: Invoke
) -> None:
    def said(*arguments: str | Path, code: int) -> str:
        return str(getattr(invoke(*arguments, code=code).exception, "message", ""))

    assert "nothing.log cannot be read" in said(
        "match", records.path, tmp_path / "nothing.log", code=2
    )
    assert "a directory, but not a shard" in said("match", records.path, tmp_path, code=2)
    assert crawls(records.path) == []
    (tmp_path / "full").mkdir()
    (tmp_path / "rules.toml").write_bytes(b"\xff")
    assert "rules.toml is not UTF-8" in said(
        "backward", log, "-o", tmp_path / "o", "--rules", tmp_path / "rules.toml", code=2
    )
    for arguments in (
        ("map", log, "-o", tmp_path / "full"),
        ("backward", tmp_path / "full", "-o", tmp_path / "o"),
        ("match", records.path, log, "--name", "../x"),
        ("report", records.path),
        ("dump", log),
        ("map", log, "-o", tmp_path / "shard", "--memory", "much"),
    ):
        invoke(*arguments, code=2)


def test_standard_input_is_a_log(crawl: Crawl, tmp_path: Path, told: Told, invoke: Invoke) -> None:
    text = "".join(f"{line}\n" for line in crawl.lines).encode()
    invoke("backward", "-", "-o", tmp_path / "o.sqlite", stdin=text)
    with sqlite3.connect(tmp_path / "o.sqlite") as connection:
        assert connection.execute("SELECT count(*) FROM crawl_result").fetchone() == (2,)
    connection.close()


def test_attach_refuses_what_is_no_warc_before_it_attaches_anything(
    records: Silo, log: Path, tmp_path: Path, invoke: Invoke
) -> None:
    invoke("match", records.path, log)
    place = tmp_path / "warcs"
    place.mkdir()
    (place / "a.warc").write_bytes(b"")
    (place / "b.warc.gz").write_bytes(log.read_bytes())
    done = invoke("attach", records.path, place, code=2)
    assert str(done.exception).startswith(f"{place}/b.warc.gz is not a WARC; name WARC files")
    assert done.output == ""
