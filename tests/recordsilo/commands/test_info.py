"""`silo info` and `silo shell`."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from cli_results import MAIN, Run, only_sentence

from recordsilo import Granary, Silo
from recordsilo.cli import ExitCode
from recordsilo.facts import Fact, Facts
from recordsilo.overview import Overview, Size, overview, size_on_disk, size_text
from recordsilo.wording import with_unit

# -- info -------------------------------------------------------------------------------


def test_info_says_what_there_is(run: Run, myrepo: str) -> None:
    with Silo(myrepo, create=False) as silo:
        silo.del_item("1", remember=True)
        silo["2"].put_stream("oai_dc", "<dc><title>Terns</title></dc>", metadata=True)
    result = run("info", myrepo)
    assert result.code == 0
    rows = dict(line.split(maxsplit=1) for line in result.out.splitlines())
    assert rows["records"] == "3; 2 curated, 1 removed here"
    assert rows["versions"] == "4"
    assert rows["formats"] == "oai_dc (2)"
    assert rows["sets"] == "1: ab (1)"
    assert rows["size"].startswith(("1", "2", "3", "4", "5", "6", "7", "8", "9"))
    assert "; of it index " in rows["size"]


def test_info_as_json_has_all_of_it(run: Run, myrepo: str) -> None:
    found = json.loads(run("info", myrepo, "--json").out)
    assert (found["records"], found["curated"], found["versions"]) == (4, 2, 5)
    assert found["formats"] == {"oai_dc": 3}
    assert found["sets"] == {"a:b": 1, "ab": 1}
    assert found["size"]["bytes"] > found["size"]["index"] > 0
    assert found["repository"] is None


@pytest.mark.long
def test_an_empty_silo_has_nothing(run: Run, tmp_path: Path) -> None:
    Silo(str(tmp_path / "empty")).close()
    out = run("info", str(tmp_path / "empty")).out
    assert out.splitlines()[:5] == [
        "records     0", "versions    0", "formats     none", "sets        none",
        "findings    none",
    ]  # fmt: skip


def test_a_large_silo_is_not_measured_file_by_file(
    run: Run, myrepo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordsilo.overview.MEASURED", 2)
    out = run("info", myrepo).out
    assert "the 4 records are measured with --size, file by file" in out
    assert json.loads(run("info", myrepo, "--json").out)["size"]["bytes"] is None
    assert "; of it index" in run("info", myrepo, "--size").out


@pytest.mark.long
def test_the_size_is_that_of_all_files(myrepo: str) -> None:
    told = subprocess.run(["du", "-s", "-B1", myrepo], capture_output=True, text=True, check=True)
    with Silo(myrepo, create=False) as silo:
        len(silo)
        measured = size_on_disk(silo, 4)
    assert measured.whole is not None
    assert abs(measured.whole - int(told.stdout.split()[0])) < 100_000
    assert size_text(Size(2_500_000, 1_000_000, 712), 4) == (
        "2.5 MB; of it index 1.0 MB, responses 712 bytes"
    )
    assert [with_unit(size) for size in (1, 999_999, 12_345_678, 10**15)] == [
        "1 byte", "1.0 MB", "12 MB", "1,000 TB",
    ]  # fmt: skip


def test_a_directory_of_silos_has_a_line_for_each(run: Run, myrepo: str, tmp_path: Path) -> None:
    Silo(str(tmp_path / "empty")).close()
    broken = tmp_path / "broken"
    Silo(str(broken)).close()
    (broken / "persisted_state.json").write_text("{")
    result = run("info", str(tmp_path))
    assert result.code == ExitCode.LOSSES
    assert result.out == "broken\t?\nempty\t0\t\t\nmyrepo\t4\t2 curated\t\n"
    assert "broken: " in result.err
    lines = [json.loads(line) for line in run("info", str(tmp_path), "--json").out.splitlines()]
    assert [one["name"] for one in lines] == ["broken", "empty", "myrepo"]
    assert "error" in lines[0]
    assert lines[2]["records"] == 4
    assert Granary(str(tmp_path), create=False).silos == ["broken", "empty", "myrepo"]


def test_packages_contribute_facts(run: Run, myrepo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_silo: Silo) -> Fact:
        raise ValueError("the counts are damaged")

    contributed = [
        Facts("usage", 2, broken),
        Facts("none", 1, lambda _silo: None),
        Facts("harvests", 1, lambda _silo: Fact(("one", "two\x1b[1m"), "brief", {"n": 2})),
    ]
    monkeypatch.setattr("recordsilo.facts.contributions", lambda *_of: iter(contributed))
    result = run("info", myrepo)
    assert result.code == ExitCode.LOSSES
    assert result.out.splitlines()[-3:] == [
        "harvests    one",
        "            two\\x1b[1m",
        "usage       cannot be read: the counts are damaged",
    ]
    found = json.loads(run("info", myrepo, "--json").out)
    assert (found["harvests"], found["usage"]) == ({"n": 2}, {"error": "the counts are damaged"})


@pytest.mark.long
def test_info_of_no_silo_says_which_there_are(run: Run, myrepo: str) -> None:
    told = only_sentence(run("info", myrepo + "x"), ExitCode.USAGE)
    assert f"did you mean '{myrepo}'?" in told


def test_an_overview_names_the_most_frequent() -> None:
    many = {f"f{number:02}": number for number in range(20)}
    one = Overview("", "", 5, 1, 0, 0, 0, 2, 7, many, many, {"Q202": 3}, {"f19": "Nine" * 20})
    rows = dict(one.lines())
    assert rows["records"] == "5; 1 deleted at the source, 2 cannot be read"
    assert rows["formats"].endswith("f10 (10), and 10 more")
    assert rows["sets"].startswith("20: NineNine")
    assert rows["findings"] == "Q202 invalid date (3)"


# -- shell ------------------------------------------------------------------------------


def test_a_program_on_standard_input_has_the_silo(run: Run, myrepo: str) -> None:
    program = b"print(len(silo), silo['2'].versions, recordsilo.__name__)\n"
    assert run("shell", myrepo, stdin=program).out == "4 ['1', 'workingcopy'] recordsilo\n"


def test_errors_of_a_program_are_its_own_and_those_of_the_store_are_sentences(
    run: Run, myrepo: str
) -> None:
    told = only_sentence(run("shell", myrepo, stdin=b"silo['nope']"), ExitCode.USAGE)
    assert "has no record 'nope'" in told
    broken = run("shell", myrepo, stdin=b"1/0")
    assert (broken.code, broken.err.splitlines()[-1]) == (1, "ZeroDivisionError: division by zero")
    assert "recordsilo" not in broken.err
    for wrong in (b"x = (", b"\xff\xfe", b"x\0y"):
        assert "SyntaxError" in run("shell", myrepo, stdin=wrong).err
    with pytest.raises(SystemExit) as ended:
        run("shell", myrepo, stdin=b"exit(3)")
    assert ended.value.code == 3


@pytest.mark.long
@pytest.mark.parametrize("with_ipython", [True, False])
def test_at_a_terminal_there_is_a_prompt(myrepo: str, tmp_path: Path, with_ipython: bool) -> None:
    hidden = "" if with_ipython else "import sys; sys.modules['IPython'] = None; "
    main, end = pty.openpty()
    environment = os.environ | {"TERM": "dumb", "HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path)}
    command = [sys.executable, "-c", hidden + MAIN, "shell", myrepo]
    with subprocess.Popen(command, stdin=end, stdout=end, stderr=end, env=environment) as prompt:
        os.close(end)
        os.write(main, b"silo['nope']\nprint('records:', len(silo))\nexit()\n")
        told = b""
        try:
            while some := os.read(main, 4096):
                told += some
        except OSError:  # the terminal was closed
            pass
    os.close(main)
    assert prompt.returncode == 0, told.decode()
    text = told.decode()
    assert "silo: 4 records in oai_dc" in text
    assert "Try silo['local']" in text
    assert "RecordNotFound: the Silo" in text
    assert "silo.py" not in text
    assert "records: 4" in text


@pytest.mark.long
def test_the_overview_follows_the_silo(silo: Silo) -> None:
    assert overview(silo).records == 0
    silo.get_item("one").put_stream("a.txt", "x")
    assert overview(silo).records == 1
