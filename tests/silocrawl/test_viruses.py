"""ClamAV over WARC files: what it finds is kept, what it does not look at is an error."""

import gzip
import os
import shutil
from pathlib import Path

import pytest

from silocrawl.packages.values import PackagingError
from silocrawl.packages.viruses import PROGRAMS, check_for_viruses

_SCANNER = """#!/bin/sh
[ "$1" = --version ] && echo 'ClamAV 1.4.6/27400/Mon' && exit
while [ "$1" != -- ]; do shift; done; shift
for one in "$@"; do
  case "$one" in
    *bad*) echo "$one: Test-Signature FOUND";;
    *large*) echo "$one: Heuristics.Limits.Exceeded.MaxFileSize FOUND";;
    *broken*) echo "$one: Can't open file ERROR" >&2;;
    *) echo "$one: OK";;
  esac
done
"""


@pytest.fixture
def scanner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "bin" / "clamdscan"
    path.parent.mkdir()
    path.write_text(_SCANNER)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
    return path


def named(*names: str) -> dict[str, str]:
    return {name: f"/srv/a: b/{name}" for name in names}


def test_what_is_found_is_told_by_name(scanner: Path) -> None:
    check, found = check_for_viruses(named("a.warc.gz", "bad.warc.gz"))
    assert found == {"bad.warc.gz": "Test-Signature"}
    assert check.agent == "ClamAV 1.4.6/27400/Mon"
    assert check_for_viruses(named(*map(str, range(500))))[1] == {}


@pytest.mark.parametrize("name", ["large.warc.gz", "broken.warc.gz"])
def test_a_file_that_was_not_looked_at_as_a_whole_is_an_error(scanner: Path, name: str) -> None:
    with pytest.raises(PackagingError, match=f"not looked at all of .*{name}"):
        check_for_viruses(named("a.warc.gz", name))


def test_without_a_scanner_a_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(PackagingError, match="apt-get install clamav"):
        check_for_viruses(named("a.warc.gz"))


def test_clamav_finds_something_in_a_compressed_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = shutil.which(PROGRAMS[1])
    if program is None:
        pytest.skip("no clamscan: apt-get install clamav")
    signature = b"this is found by nobody else"
    (tmp_path / "test.ndb").write_text(f"Silo.Test:0:*:{signature.hex()}\n")
    wrapper = tmp_path / "bin" / "clamscan"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {program} --database={tmp_path}/test.ndb "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", str(wrapper.parent))
    for name, content in (("a.warc.gz", os.urandom(200_000)), ("b.warc.gz", signature)):
        members = [gzip.compress(b"WARC/1.1\r\n\r\n" + part) for part in (b"first", content)]
        (tmp_path / name).write_bytes(b"".join(members))
    paths = {name: str(tmp_path / name) for name in ("a.warc.gz", "b.warc.gz")}
    check, found = check_for_viruses(paths)
    assert found.keys() == {"b.warc.gz"}
    assert found["b.warc.gz"].startswith("Silo.Test")
    assert check.agent.startswith("ClamAV")
