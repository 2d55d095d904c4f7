"""The commands that change: `put`, `clone`, `rm`, `state`."""

import io
import json
import os
from pathlib import Path

import pytest
from cli_results import Run, only_sentence

from recordsilo import Silo
from recordsilo.cli import ExitCode

# -- put, clone, rm ---------------------------------------------------------------------


def test_put_into_a_curated_version(run: Run, myrepo: str, tmp_path: Path) -> None:
    (tmp_path / "licence.txt").write_text("CC BY")
    result = run(
        "put", myrepo, "2", str(tmp_path / "licence.txt"), "-m", "cleared", "--agent", "Ada"
    )
    assert result == (0, "oai:x:2: licence.txt is in version workingcopy\n", "")
    assert run("put", myrepo, "2", "-", "--as", "d/text.txt", stdin=b"piped").code == 0
    with Silo(myrepo) as silo:
        record = silo["2"]
        assert record.paths() == ["oai_dc", "licence.txt", "d/text.txt"]
        assert "Ada: cleared" in record.versionlog[-2]
        with record.get_stream("d/text.txt") as stream:
            assert stream.read() == b"piped"


def test_put_says_what_it_needs(run: Run, myrepo: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    file = str(tmp_path / "f")
    assert "--as" in only_sentence(run("put", myrepo, "2", "-"), ExitCode.USAGE)
    assert "silo clone" in only_sentence(run("put", myrepo, "1", file), ExitCode.USAGE)
    assert "no record" in only_sentence(run("put", myrepo, "new", file), ExitCode.USAGE)
    bad = run("put", myrepo, "2", file, "--as", "../x")
    assert "cannot name a file" in only_sentence(bad, ExitCode.USAGE)
    assert run("put", myrepo, "2", str(tmp_path / "none")).code == ExitCode.USAGE


@pytest.mark.parametrize("more", [["--as", "oai_dc"], ["--as", "mods.xml", "--metadata"],
                                  ["--as", "marcxml", "--metadata"]])  # fmt: skip
def test_put_refuses_malformed_metadata(run: Run, myrepo: str, more: list[str]) -> None:
    before = run("show", myrepo, "2", "--json")
    sentence = only_sentence(
        run("put", myrepo, "2", "-", *more, stdin=b"<dc>\n<title>"), ExitCode.USAGE
    )
    assert "malformed metadata: " in sentence
    assert "line 2" in sentence
    assert run("show", myrepo, "2", "--json") == before


def test_put_takes_metadata_that_is_not_xml(run: Run, myrepo: str) -> None:
    more = ("--as", "record.json", "--metadata")
    assert run("put", myrepo, "2", "-", *more, stdin=b"{}").code == 0
    assert run("cat", myrepo, "2", "record.json").out == "{}"


def test_put_makes_a_record_if_told(run: Run, myrepo: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("<x/>")
    assert run("put", myrepo, "new", str(tmp_path / "f"), "--new", "--metadata").code == 0
    assert run("put", myrepo, "2", str(tmp_path / "f"), "--new").code == 0
    with Silo(myrepo) as silo:
        assert silo["new"].metadata_files == {"1": ["f"]}
        assert silo["2"].files == ["oai_dc", "f"]


def test_clone_tells_where_the_clone_lies(run: Run, myrepo: str) -> None:
    result = run("clone", myrepo, "1", "-m", "to mend")
    first, place = result.out.splitlines()
    assert first == "oai:x:1: version 1 is cloned to workingcopy"
    assert os.listdir(place) == ["oai_dc"]
    assert run("clone", myrepo, "1", "1", "second").code == 0
    with Silo(myrepo) as silo:
        assert silo["1"].versions == ["1", "workingcopy", "second"]
        assert silo["1"].origin("workingcopy").message == "to mend"


def test_rm_deletes_a_file_a_version_or_a_record_and_remembers_that(run: Run, myrepo: str) -> None:
    assert run("clone", myrepo, "2", "workingcopy", "x").code == 0
    assert run("rm", myrepo, "2", "--yes", "-f", "oai_dc").out == "deleted file oai_dc of oai:x:2\n"
    assert run("rm", myrepo, "2", "--yes", "-v", "x").out == "deleted version x of oai:x:2\n"
    assert run("rm", myrepo, "2", "--yes", "-m", "a test").out == "deleted oai:x:2\n"
    with Silo(myrepo) as silo:
        assert silo.removed() == {"oai:x:2"}
        assert "2" not in silo
    assert only_sentence(run("rm", myrepo, "2", "--yes"), ExitCode.USAGE)


@pytest.mark.parametrize("what", [(), ("-v", "workingcopy"), ("-f", "oai_dc")])
def test_rm_deletes_nothing_if_nobody_can_be_asked(
    run: Run, myrepo: str, what: tuple[str, ...]
) -> None:
    sentence = only_sentence(run("rm", myrepo, "2", *what), ExitCode.USAGE)
    assert "give --yes" in sentence
    with Silo(myrepo) as silo:
        assert silo["2"].versions == ["1", "workingcopy"]
        assert silo["2"].files == ["oai_dc"]


def test_rm_asks_at_a_terminal(run: Run, myrepo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    for answer, code in ((b"n\n", ExitCode.INTERRUPTED), (b"y\n", ExitCode.OK)):
        with monkeypatch.context() as patch:
            patch.setattr(io, "TextIOWrapper", Terminal)
            result = run("rm", myrepo, "2", stdin=answer)
        assert "Delete oai:x:2?" in result.out + result.err
        assert result.code == code
    with Silo(myrepo) as silo:
        assert "2" not in silo


# -- states -----------------------------------------------------------------------------


def test_state_prints_and_sets_the_state_of_a_version(myrepo: str, run: Run) -> None:
    assert run("state", myrepo, "2").out == "in work\n"
    assert run("state", myrepo, "2", "1").out == "none\n"
    done = run("state", myrepo, "2", "--set", "ready", "-m", "checked", "--agent", "ada")
    assert (done.code, done.out) == (0, "oai:x:2: version workingcopy is ready\n")
    assert run("state", myrepo, "2").out == "ready\n"
    shown = run("show", myrepo, "2").out
    assert "clone of 1 by" in shown
    assert "[ready]  ← current" in shown
    assert "ada: checked]" in run("show", myrepo, "2", "--json").out
    versions = json.loads(run("show", myrepo, "2", "--json").out)["version_list"]
    assert [version["state"] for version in versions] == [None, "ready"]
    assert run("state", myrepo, "2", "--set", "none").out.endswith("is without a status\n")
    assert run("state", myrepo, "2").out == "none\n"


def test_ls_by_state_goes_with_the_other_filters(myrepo: str, run: Run) -> None:
    def listed(*filters: str) -> list[str]:
        result = run("ls", myrepo, "--state", "ready", *filters)
        assert result.code == 0
        return [line.split("\t")[0] for line in result.out.splitlines()]

    assert listed() == []
    for name in ("1", "2", "3/4"):
        run("state", myrepo, name, "--set", "ready")
    assert listed() == ["oai:x:1", "oai:x:2", "oai:x:3/4"]
    assert listed("--curated") == ["oai:x:2"]
    assert listed("--set", "a") == ["oai:x:1"]
    assert listed("--from", "oai:x:2", "-n", "1") == ["oai:x:2"]
    assert listed("--deleted") == []
    assert run("search", myrepo, "--filter", "state=ready").err == "3 found\n"


def test_a_state_there_is_not_is_wrong_input(myrepo: str, run: Run) -> None:
    for arguments in (["state", myrepo, "2", "--set", "done"], ["ls", myrepo, "--state", "done"]):
        assert run(*arguments).code == ExitCode.USAGE
