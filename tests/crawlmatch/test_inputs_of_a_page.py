"""The result does not depend on which inputs tell of a page, in which order, and in what parts."""

import gzip
import random
from pathlib import Path
from typing import Any

import pytest
from examples import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from known_truth import CASES, HTML, PDF, Crawl, crawls, detailed, indexed
from test_inputs import warc_of
from truth_rows import rows_of

from crawlmatch.matching import MatchRequest, match_into
from crawlmatch.rules import LineRules
from crawlmatch.shards import write_shard

HOST = "http://h.example.org"
PAGES = tuple(f"{HOST}/{name}" for name in ("a", "b", "c", "d.pdf", "e.pdf", "f.css"))
TYPES = {"pdf": PDF, "css": "text/css"}
HEADER = " CDX N b a m s k r M S V g\n"


def lines_of(steps: list[tuple[int, int, str, int]]) -> Crawl:
    """A log of (page, the page before, hop, status): pages may come again, by another way."""
    crawl = Crawl()
    for page, before, hop, status in steps:
        url = PAGES[page]
        mime = TYPES.get(url.rpartition(".")[2], HTML)
        via = "-" if hop == "-" else PAGES[before]
        crawl.tick += 39  # another second
        crawl.log(url, status, mime, via=via, hops=hop)
    crawl.lines = detailed(crawl.lines)
    return crawl


def answers(crawl: Crawl) -> bytes:
    """A WARC of what the log says was answered."""
    found = []
    for line in crawl.lines:
        f = line.split()
        if f[1].isdigit():
            body = b"x" * 54321
            found.append(("response", f[3], int(f[1]), {"Content-Type": f[6]}, body))
    return warc_of(*found)


STEP = st.tuples(
    st.integers(0, len(PAGES) - 1),
    st.integers(0, len(PAGES) - 1),
    st.sampled_from(["-", "L", "E", "X", "R", "LR", "RL", "RE", "S", "M"]),
    st.sampled_from([200, 200, 200, 302, 301, 404, -2]),
)
AFTER = ("final_cdx",)
"""Columns in which an index or a WARC may say more than a log."""


def told(rows: list[Any]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in AFTER} for row in rows]


class Matches:
    """Matches inputs in a directory of their own, each in another one."""

    def __init__(self, directory: Path) -> None:
        self.directory, self._count = directory, 0

    def path(self, name: str, data: str | bytes) -> str:
        path = self.directory / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return str(path)

    def __call__(self, *inputs: str, **how: Any) -> list[Any]:
        self._count += 1
        out = self.directory / f"out-{self._count}"
        out.mkdir()
        seeds = how.pop("seeds", [(url, f"id:{n}") for n, url in enumerate(PAGES[:4])])
        match_into(str(out), MatchRequest(inputs, seed_rows=seeds, **how), tables=False)
        return rows_of(out / "crawl_result.sqlite")

    def shard(self, *inputs: str) -> str:
        self._count += 1
        path = str(self.directory / f"shard-{self._count}")
        write_shard(path, inputs, LineRules())
        return path


@pytest.mark.long
@settings(
    max_examples=examples(8, least=4), suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(STEP, min_size=1, max_size=14), st.randoms())
def test_which_inputs_tell_of_a_page_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[int, int, str, int]],
    chance: random.Random,
) -> None:
    match = Matches(tmp_path_factory.mktemp("inputs"))
    crawl = lines_of(steps)
    log = match.path("log", "".join(f"{line}\n" for line in crawl.lines))
    index = match.path("cdx", HEADER + "".join(f"{line}\n" for line in indexed(crawl)))
    warc = match.path("w.warc.gz", answers(crawl))
    rows = match(log)
    for more in ([log, index], [log, warc], [log, index, warc], [match.shard(log), index]):
        chance.shuffle(more)
        assert told(match(*more)) == told(rows), more
    with_index = match(log, index)
    assert match(index, log) == with_index
    assert match(match.shard(index), match.shard(log)) == with_index
    assert match(match.shard(index, log)) == with_index
    half = len(crawl.lines) // 2
    parts = [
        match.path(name, "".join(f"{line}\n" for line in lines))
        for name, lines in (("one", crawl.lines[: half + 1]), ("two", crawl.lines[half:]))
    ]
    chance.shuffle(parts)
    assert match(index, *parts) == with_index


def test_where_an_index_leads_its_line_stays(tmp_path: Path) -> None:
    """A redirect leads to what the log has as an image of another page: that is an end."""
    crawl = Crawl()
    page = crawl.log(f"{HOST}/page", 200, HTML)
    image = crawl.log(f"{HOST}/image.png", 200, "image/png", via=page, hops="E")
    sent = crawl.log(f"{HOST}/sent", 302, HTML)
    lines = indexed(crawl)
    crawl.index(sent, HTML, "302", redirect=image)
    lines.append(crawl.cdx[-1])
    match = Matches(tmp_path)
    log = match.path("log", "\n".join(crawl.lines))
    for name, found in (("one", lines), ("other", lines[::-1])):
        index = match.path(name, HEADER + "\n".join(found))
        for inputs in ((log, index), (index, log), (match.shard(index), log)):
            (row,) = match(*inputs, seeds=[(sent, "x")])
            assert (row["final_url"], row["outcome"]) == (image, "wrong-type")
            assert row["final_cdx"] in lines
            assert f" {image} " in row["final_cdx"]


def test_addresses_that_begin_alike_keep_their_own_lines(tmp_path: Path) -> None:
    crawl = Crawl()
    urls = [crawl.log(f"{HOST}/a{'a' * n}", 200, PDF, sha1="A" * 32) for n in range(4)]
    match = Matches(tmp_path)
    log = match.path("log", "\n".join(crawl.lines))
    index = match.path("cdx", HEADER + "\n".join(indexed(crawl)))
    rows = match(log, index, seeds=[(url, "x") for url in urls])
    assert [row["final_cdx"].split()[2] for row in rows] == urls


def test_an_address_that_json_escapes_keeps_its_line(tmp_path: Path) -> None:
    crawl = Crawl()
    url = crawl.log(f"{HOST}/x&y.pdf", 200, PDF)
    other = f"{HOST}/only&here.pdf"
    match = Matches(tmp_path)
    log = match.path("log", "\n".join(crawl.lines))
    stamp = crawl.lines[0].split()[8][:14]
    lines = [
        rf'k {stamp} {{"url": "{one.replace("&", chr(92) + "u0026")}", "mime": "{PDF}",'
        rf' "status": "200", "digest": "{"B" * 32}"}}'
        for one in (url, other)
    ]
    index = match.path("cdxj", "\n".join(lines))
    rows = match(log, index, seeds=[(url, "x"), (other, "y")])
    assert [(row["final_url"], row["final_cdx"], row["outcome"]) for row in rows] == [
        (other, lines[1], "fulltext"), (url, lines[0], "fulltext"),
    ]  # fmt: skip


@pytest.mark.long
def test_an_index_of_an_earlier_crawl_is_none_of_this_one(tmp_path: Path) -> None:
    """Also where it is read after the logs, beside the index of this crawl."""
    crawl = crawls(len(CASES))
    match = Matches(tmp_path)
    log = match.path("log.gz", gzip.compress("\n".join(crawl.lines).encode()))
    index = match.path("cdx", HEADER + "\n".join(crawl.cdx))
    before = match.path("before", HEADER + "\n".join(indexed(crawl)))
    rows = match(log, index, seeds=crawl.seeds, earlier=[before])
    assert told(rows) == told(match(match.shard(index, log), seeds=crawl.seeds, earlier=[before]))
    assert told(match(log, index, seeds=crawl.seeds)) == told(rows)
