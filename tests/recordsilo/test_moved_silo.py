"""A Silo is moved away while it is open: nothing is made in its place, and it can come back."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from moved_silo import check_written_within

from recordsilo import Silo, SiloGone, cli
from recordsilo.disk.atomic_file import append_lines, make_within
from recordsilo.disk.locks import Locks
from recordsilo.disk.toml_files import TomlFiles

Use = Callable[[Silo], object]


def _batch(silo: Silo) -> None:
    with silo.batch(["oai:x:3"]) as batch:
        batch["oai:x:3"].put("1", "oai_dc", b"<dc/>")


USES: dict[str, Use] = {
    "list": list,
    "count": len,
    "search": lambda silo: silo.search("solar"),
    "write": lambda silo: silo.get_item("oai:x:2").put_stream("a", b"b"),
    "batch": _batch,
    "stage": lambda silo: silo.staging.new_path(),
    "lock": lambda silo: Locks.of_silo(silo.path, in_silo=True).hold_name("x").__enter__(),
    "reindex": lambda silo: silo.reindex(),
    "remove": lambda silo: silo.restore_removed(["oai:x:1"]),
}


@pytest.fixture
def moved(silo: Silo, harvest: Any) -> tuple[Silo, str]:
    """An open Silo, and where its directory is now."""
    harvest(silo, "oai:x:1", title="Solar cells")
    assert silo.search("solar").total == 1
    away = f"{silo.path}-away"
    os.rename(silo.path, away)
    return silo, away


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_nothing_is_made_where_a_silo_was(moved: tuple[Silo, str], use: Use) -> None:
    silo, away = moved
    with pytest.raises(SiloGone, match="is no longer there: it was moved or deleted"):
        use(silo)
    assert not os.path.lexists(silo.path)
    os.rename(away, silo.path)
    assert (list(silo), silo.search("solar").total) == (["oai:x:1"], 1)
    silo.get_item("oai:x:2").put_stream("a", b"b")
    assert len(silo) == 2


def test_nothing_is_made_in_another_directory_that_took_its_place(moved: tuple[Silo, str]) -> None:
    silo, _ = moved
    os.mkdir(silo.path)
    for name, use in USES.items():
        with pytest.raises(SiloGone):
            use(silo)
        assert os.listdir(silo.path) == [], name


def test_a_command_that_lost_its_silo_says_that_it_can_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error = OSError("the ledger cannot be used")
    error.__cause__ = SiloGone("/silos/a")
    for one in (SiloGone("/silos/a"), error):
        monkeypatch.setattr(cli.silo_command, "main", Mock(side_effect=one))
        assert cli._run() == cli.ExitCode.STOPPED
        assert str(one) in capsys.readouterr().err


@pytest.mark.parametrize(
    "use",
    [
        lambda silo: append_lines(f"{silo}/curation/log", [b"a"], silo),
        lambda silo: TomlFiles(f"{silo}/curation/rules", re.compile("a"), silo).store("a", {}),
        lambda silo: TomlFiles(f"{silo}/curation/rules", re.compile("a"), silo).add("a", {}),
    ],
)
def test_files_are_written_below_a_silo_that_is_there(
    tmp_path: Path, use: Callable[[str], None]
) -> None:
    check_written_within(tmp_path, use)


def test_directories_are_made_below_a_silo_and_never_it(tmp_path: Path) -> None:
    silo = tmp_path / "silo"
    with pytest.raises(SiloGone):
        make_within(f"{silo}/", f"{silo}/.silo/locks")
    assert os.listdir(tmp_path) == []
    silo.mkdir()
    for _ in range(2):
        make_within(f"{silo}/", f"{silo}/.silo/locks")
    assert [*silo.rglob("*")] == [silo / ".silo", silo / ".silo" / "locks"]
    (silo / "curation").write_text("a file")
    with pytest.raises(FileExistsError):
        make_within(str(silo), f"{silo}/curation/jobs")
