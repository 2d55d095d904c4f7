"""Exports of records as they were."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.selection import Selection
from siloexport.commands.export import export
from siloexport.engine.export import Export
from siloexport.errors import HoldsNewer
from siloexport.plan import Policy, Versions
from siloexport.targets.files import FilesTarget
from siloexport.targets.ocfl import OcflTarget


def now() -> str:
    time.sleep(0.002)
    return datetime.now(UTC).isoformat()


@pytest.fixture
def moments(tmp_path: Path) -> tuple[Path, list[str]]:
    """A Silo and three moments: a record, then a clone of it, then a changed clone."""
    path, found = tmp_path / "myrepo", []
    with Silo(str(path)) as silo:
        silo.get_item("r").put_stream("note.txt", "one")
        found.append(now())
        silo["r"].clone_version("1", "wc")
        silo["r"].put_stream("more.txt", "two", "wc")
        found.append(now())
        silo["r"].put_stream("more.txt", "three", "wc")
        silo.get_item("s").put_stream("note.txt", "later")
    return path, found


def test_a_target_gets_the_files_of_then(moments: tuple[Path, list[str]], tmp_path: Path) -> None:
    path, (first, second) = moments
    with Silo(str(path)) as silo:
        target = FilesTarget(str(tmp_path / "out"), Versions.ALL)
        export = Export(silo, target, Policy(Versions.ALL))
        assert export.run(Selection(as_of=first)).actions == {"create": 1}
        assert [one.name for one in (tmp_path / "out").rglob("*.txt")] == ["note.txt"]
        report = export.run(Selection(as_of=second))
        assert [one.reason for one in report.problems] == [
            (
                "the file 'more.txt' of version 'wc' of record r was changed or removed after "
                f"{second[:19]}, and its content of then is not kept"
            )
        ]


def test_older_records_do_not_replace_newer_ones(
    moments: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path, (first, _) = moments
    with Silo(str(path)) as silo:
        export = Export(silo, OcflTarget(str(tmp_path / "root"), ""), Policy(Versions.ALL))
        assert export.run(Selection(as_of=first)).actions == {"create": 1}
        assert export.run().actions == {"add version": 1, "create": 1}
        for dry_run in (True, False):
            with pytest.raises(HoldsNewer, match=r"holds records of .* by older ones"):
                export.run(Selection(as_of=first), dry_run=dry_run)
        with pytest.raises(HoldsNewer):
            export.run(Selection(identifiers=("r",), as_of=first))


def test_a_run_is_resumed_as_of_the_same_moment(
    moments: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path, (first, _) = moments
    with Silo(str(path)) as silo:
        export = Export(silo, FilesTarget(str(tmp_path / "out")))
        export.run(Selection(as_of=first))
        assert export.resume().actions == {"nothing": 1}


def test_removed_records_are_losses_only_of_an_export_without_conditions(
    moments: tuple[Path, list[str]], tmp_path: Path
) -> None:
    path, (_, second) = moments
    with Silo(str(path)) as silo:
        silo["r"].put_stream("oai_dc", b"<a>Terns</a>", metadata=True)
        after = now()
        silo.del_item("r", remember=True, message="a test")

    def csv(name: str, *options: str) -> tuple[int, str]:
        arguments = ["csv", str(path), str(tmp_path / name), "--as-of", after, *options]
        result = CliRunner().invoke(export, arguments, standalone_mode=False)
        code = result.return_value or getattr(result.exception, "exit_code", 0)
        return code, result.stderr

    untold = "1 record was removed since; its metadata is not kept, so it cannot be"
    assert csv("all.csv")[0] == 1
    for number, condition in enumerate(
        (("--filter", "has_file=true"), ("--changed-since", second), ("--search", "zzzqq"))
    ):
        code, said = csv(f"{number}.csv", *condition)
        assert (code, said.count(untold), "left out" in said) == (0, 1, False), condition
