"""Crawls with known outcomes: every seed row has its outcome, its terminals and its rule."""

import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from known_truth import CASES, EMPTY_SHA1, OCTET, PDF, Crawl, Truth, crawls, indexed
from truth_rows import rows_of

from crawlmatch.matching import MatchRequest, match_into
from crawlmatch.outcomes import LinkOutcome
from crawlmatch.receipts import MatchReceipt
from crawlmatch.rules import FULL_TEXTS
from crawlmatch.shards import write_shard

NOISE = tuple(k for k in CASES if k not in {"deep_hop_path", "endless_redirects"})


def written(crawl: Crawl, directory: Path) -> MatchRequest:
    """The files of a crawl, as a request."""
    directory.mkdir(parents=True, exist_ok=True)
    log, index, seeds = (directory / name for name in ("crawl.log", "crawl.cdx", "seeds.tsv"))
    log.write_text("".join(f"{line}\n" for line in crawl.lines))
    index.write_text(" CDX N b a m s k r M S V g\n" + "".join(f"{line}\n" for line in crawl.cdx))
    seeds.write_text("".join(f"{url}\t{identifier}\n" for url, identifier in crawl.seeds))
    return MatchRequest([str(log), str(index)], seeds=[str(seeds)])


def matched(request: MatchRequest, directory: Path, **how: Any) -> tuple[MatchReceipt, list[Any]]:
    """What comes of a request: the receipt, and the rows of crawl_result."""
    directory.mkdir(parents=True, exist_ok=True)
    receipt = match_into(str(directory), request, **how)
    return receipt, rows_of(directory / "crawl_result.sqlite")


def wrong(crawl: Crawl, rows: list[Any]) -> list[tuple[Any, Truth, Any]]:
    """The seed rows of which something else was found than what is true."""
    by_seed = defaultdict(list)
    for row in rows:
        by_seed[row["initial_url"], row["identifier"]].append(row)
    found = []
    for key, truth in crawl.truth.items():
        ends = sorted(by_seed[key], key=lambda row: row["terminal"])
        told = Truth(
            ends[0]["outcome"],
            tuple(sorted(row["final_url"] for row in ends if row["final_url"])),
            ends[0]["final_status_code"],
            ends[0]["match_rule"],
            None if truth.dedupe is None else bool(ends[0]["final_was_dedupe"]),
        )
        expected = Truth(
            truth.outcome, tuple(sorted(truth.finals)), truth.status, truth.rule, truth.dedupe
        )
        if told != expected:
            found.append((key, expected, told))
    return found


def test_every_outcome_has_a_case() -> None:
    assert {one.outcome for one in crawls(len(CASES)).truth.values()} == set(LinkOutcome)


@pytest.mark.parametrize("begin", range(0, len(CASES), 12))
def test_a_few_cases_by_themselves(begin: int, tmp_path: Path) -> None:
    kinds = tuple(CASES)[begin : begin + 12]
    crawl = crawls(2 * len(kinds), kinds=kinds)
    _, rows = matched(written(crawl, tmp_path / "in"), tmp_path / "out", tables=False)
    assert wrong(crawl, rows) == []


def test_all_cases_together(tmp_path: Path) -> None:
    crawl = crawls(5 * len(CASES), noise=2)
    receipt, rows = matched(written(crawl, tmp_path / "in"), tmp_path / "out")
    assert wrong(crawl, rows) == []
    assert receipt.seed_rows == len(crawl.seeds) == sum(receipt.outcomes.values())
    log = next(one for one in receipt.inputs if one.kind == "crawl log")
    assert log.lines == len(crawl.lines)
    assert log.lines == log.used + sum(log.reasons.values())
    assert log.reasons["fields"] + log.reasons["status"] + log.reasons["blank"] == crawl.bad_lines
    assert {row["hit"] for row in rows if row["terminal"] is None} <= {1}
    assert {row["hit"] for row in rows if row["final_sha1"]} == {1}
    assert {row["hit"] for row in rows if row["other_sha1"]} == {0}


def _as_arabesque_counts(line: str) -> str:
    """What arabesque's `backward` counts a line as, written from what its source does."""
    fields = line.split()
    status, size, url, mime, sha1 = (fields[n] for n in (1, 2, 3, 6, 9))
    if url.startswith(("dns:", "whois:")):
        return "skip-log-prereq"
    mime = mime.lower().replace('"', "").replace("'", "").replace(",", "")
    mime = {"unk": OCTET, "unknown": OCTET, "other": OCTET}.get(mime, mime)
    mime = mime.replace("application/x-pdf", PDF)
    if url.startswith("ftp://") and status == "226" and mime == OCTET:
        mime = {".pdf": PDF, ".ps": "application/postscript"}.get(Path(url).suffix.lower(), mime)
    if status not in {"200", "226"} or not mime.startswith(FULL_TEXTS):
        return "skip-log-scope"
    if mime == OCTET and size != "-" and int(size) < 1000:
        return "skip-tiny-octetstream"
    if size == "0" or sha1.removeprefix("sha1:") == EMPTY_SHA1:
        return "skip-empty-file"
    return "full-text-lines"


def test_lines_are_counted_as_arabesque_counts_them(tmp_path: Path) -> None:
    kinds = [*CASES, "direct", "robots_file_is_no_child", "tiny", "empty", "retry"]
    crawl = crawls(2 * len(kinds), kinds=tuple(kinds), noise=1)
    receipt, _ = matched(written(crawl, tmp_path / "in"), tmp_path / "out", tables=False)
    read = [line for line in crawl.lines if len(line.split()) >= 12 and " two - " not in line]
    expected = Counter(map(_as_arabesque_counts, read))
    backward, forward = receipt.counters["backward"], receipt.counters["forward"]
    assert {name: backward[name] for name in expected} == expected
    assert min(expected.values()) > 1
    log = next(one for one in receipt.inputs if one.kind == "crawl log")
    assert sum(expected.values()) == log.used + log.reasons["prerequisite"]
    ways = ("inserted", "existing-id-updated", "existing-complete", "map-url-missing",
            "skip-bad-seed-url")  # fmt: skip
    assert sum(forward[name] for name in ways) == receipt.seed_rows
    full = (LinkOutcome.FULLTEXT, LinkOutcome.DUPLICATE)
    assert forward["existing-id-updated"] == sum(receipt.outcomes[one] for one in full)


@pytest.mark.long
def test_the_order_of_lines_and_the_sharding_change_nothing(tmp_path: Path) -> None:
    crawl = crawls(2 * len(CASES))
    request = written(crawl, tmp_path / "in")
    _, rows = matched(request, tmp_path / "out")
    random.Random(7).shuffle(crawl.lines)
    random.Random(8).shuffle(crawl.cdx)
    random.Random(9).shuffle(crawl.seeds)
    shuffled = written(crawl, tmp_path / "shuffled")
    assert matched(shuffled, tmp_path / "out-shuffled")[1] == rows
    half = len(crawl.lines) // 2
    parts = []
    for number, lines in enumerate((crawl.lines[: half + 50], crawl.lines[half - 50 :])):
        part = tmp_path / f"part-{number}.log"
        part.write_text("".join(f"{line}\n" for line in lines))
        write_shard(str(tmp_path / f"shard-{number}"), [str(part)], request.rules)
        parts.append(str(tmp_path / f"shard-{number}"))
    merged = str(tmp_path / "merged")
    write_shard(merged, [parts[1], parts[0]], request.rules)
    for number, inputs in enumerate(([*parts, *parts], [merged], [merged, parts[0]])):
        sharded = MatchRequest([*inputs, request.inputs[1]], seeds=request.seeds)
        assert matched(sharded, tmp_path / f"out-{number}")[1] == rows


@pytest.mark.long
def test_an_index_of_what_the_log_tells_changes_no_row(tmp_path: Path) -> None:
    crawl = crawls(2 * len(CASES))
    other_hops = {"L": "X", "RL": "RE"}
    for number, line in enumerate(crawl.lines):
        fields = line.split()
        if number % 3 and len(fields) >= 12 and fields[4] in other_hops:
            fields[4] = other_hops[fields[4]]
            crawl.lines[number] = " ".join(fields)
    request = written(crawl, tmp_path / "in")
    _, rows = matched(request, tmp_path / "out")
    assert {row["breadcrumbs"] for row in rows} >= {"X", "L"}, "hops of several kinds"
    index = tmp_path / "in" / "all.cdx"
    header = " CDX N b a m s k r M S V g\n"
    index.write_text(header + "".join(f"{line}\n" for line in indexed(crawl)))
    log, cdx = request.inputs
    for number, inputs in enumerate(([log, cdx, str(index)], [str(index), cdx, log])):
        more = MatchRequest(inputs, seeds=request.seeds)
        _, found = matched(more, tmp_path / f"more-{number}")
        assert [_without_place(row) for row in found] == [_without_place(row) for row in rows]


def _without_place(row: dict[str, Any]) -> dict[str, Any]:
    """A row without the line of the index that says where its bytes are."""
    return {name: value for name, value in row.items() if name != "final_cdx"}


@pytest.mark.long
def test_several_processes_give_the_same_rows(tmp_path: Path) -> None:
    crawl = crawls(len(CASES))
    request = written(crawl, tmp_path / "in")
    one, rows = matched(request, tmp_path / "one")
    two, others = matched(request, tmp_path / "two", processes=2)
    assert others == rows
    assert two.to_json() == one.to_json()


@pytest.mark.slow
def test_a_million_lines_are_all_right(tmp_path: Path) -> None:
    crawl = crawls(
        260_000, kinds=("direct",) * 12 + ("landing_page_with_link",) * 10 + NOISE, noise=2
    )
    assert len(crawl.lines) >= 1_000_000
    assert len(crawl.seeds) >= 250_000
    _, rows = matched(written(crawl, tmp_path / "in"), tmp_path / "out")
    assert wrong(crawl, rows) == []
