"""A match that is killed or runs out of space keeps the earlier result, and can be repeated."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from known_truth import CASES, crawls
from truth_rows import rows_of

from crawlmatch.crawls import match_into_silo
from crawlmatch.errors import CrawlNotFound
from crawlmatch.kept import crawl_named
from crawlmatch.kept import crawls as kept_crawls
from crawlmatch.matching import MatchRequest, match_into
from crawlmatch.shards import whole_directory
from recordsilo import Silo
from silosteps.errors import StepsError

RUN = "from recordsilo.cli import main; main()"


def files(directory: Path, cases: int) -> MatchRequest:
    crawl = crawls(cases)
    log, seeds = directory / "crawl.log", directory / "seeds.tsv"
    log.write_text("".join(f"{line}\n" for line in crawl.lines))
    seeds.write_text("".join(f"{url}\t{identifier}\n" for url, identifier in crawl.seeds))
    return MatchRequest([str(log)], seeds=[str(seeds)])


@pytest.mark.long
@pytest.mark.parametrize(
    "kills", [3, pytest.param(100, marks=[pytest.mark.slow, pytest.mark.timeout(1200)])]
)
def test_a_killed_match_leaves_the_crawl_before_and_begins_again(
    kills: int, silo: Silo, tmp_path: Path
) -> None:
    request = files(tmp_path, 3 * len(CASES))
    expected, _ = match_into_silo(silo.path, "whole", request)
    rows = rows_of(Path(expected.database))
    command = [sys.executable, "-c", RUN, "crawl", "match", silo.path, *request.inputs,
               "--seeds", *request.seeds, "--name", "killed"]  # fmt: skip
    begun = time.monotonic()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 1
    lasts = time.monotonic() - begun
    first = crawl_named(silo.path, "killed")
    chance = random.Random(3)
    for _ in range(kills):
        Path(f"{first.path}/crawl.json").write_text(
            Path(f"{first.path}/crawl.json").read_text().replace(first.fingerprint, "another")
        )
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.2, 1.0) * lasts)  # when it is killed does not matter
        running.send_signal(signal.SIGKILL)
        running.wait()
        assert rows_of(Path(crawl_named(silo.path, "killed").database)) == rows
        assert subprocess.run(command, capture_output=True, check=False).returncode == 1
        assert rows_of(Path(crawl_named(silo.path, "killed").database)) == rows
        assert sorted(os.listdir(f"{silo.path}/crawls")) == ["killed", "whole"]
        first = crawl_named(silo.path, "killed")


def test_a_crawl_that_was_moved_away_is_brought_back(silo: Silo, tmp_path: Path) -> None:
    """As a writer leaves it that is killed between its two renames."""
    request = files(tmp_path, len(CASES))
    kept, _ = match_into_silo(silo.path, "one", request)
    os.rename(kept.path, f"{silo.path}/crawls/.one.replaced")
    assert crawl_named(silo.path, "one").fingerprint == kept.fingerprint
    assert [one.name for one in kept_crawls(silo.path)] == ["one"]
    assert match_into_silo(silo.path, "one", request) == (kept, False)
    assert os.listdir(f"{silo.path}/crawls") == ["one"]


def test_a_directory_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "made"
    with whole_directory(str(path)) as staged:
        Path(staged, "a").write_text("1")
    full = OSError("full")
    with pytest.raises(OSError, match="full"), whole_directory(str(path)) as staged:
        _write_and_fail(staged, full)
    assert [(one.name, one.read_text()) for one in path.iterdir()] == [("a", "1")]
    assert [one.name for one in tmp_path.iterdir()] == ["made"]


def _write_and_fail(directory: str, error: OSError) -> None:
    Path(directory, "a").write_text("2")
    raise error


@pytest.mark.long
def test_where_there_is_no_room_nothing_is_kept(silo: Silo, tmp_path: Path) -> None:
    """Memory for nothing, and no file may be larger than a few bytes: as on a full disk."""
    request = files(tmp_path, len(CASES))
    program = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000)); {RUN}"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "crawl", "match", silo.path, *request.inputs,
         "--seeds", *request.seeds],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("silo: ")
    with pytest.raises(CrawlNotFound):
        crawl_named(silo.path, "crawl")
    assert os.listdir(f"{silo.path}/crawls") == []


def test_too_little_memory_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(StepsError):
        match_into(str(out), files(tmp_path, 20 * len(CASES)), memory="5MB")
    assert not (out / "crawl_result.sqlite").exists()
