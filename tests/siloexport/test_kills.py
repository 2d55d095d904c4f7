"""Exports killed with SIGKILL repeatedly; each continues where the last one was killed."""

import random
from collections.abc import Callable
from pathlib import Path

import killed_export
import pytest
from examples import examples, family
from killing import KILLED, exit_code_of
from ocfl.validator import Validator
from test_ocfl import is_valid

from recordsilo import Silo
from siloexport import Export, Policy, Target, Versions

KILLS = examples(20, least=6)


@pytest.mark.parametrize("form", family(["files", "bags", "sips", "ocfl", "ocfl by renames"], 1))
@pytest.mark.long
def test_an_export_killed_again_and_again_ends_whole(
    silo: Silo, tmp_path: Path, harvest: Callable[..., None], form: str
) -> None:
    out = str(tmp_path / "out")
    chance = random.Random(20)
    for number in range(5, 40):
        harvest(silo, f"oai:example.org:{number}", f"Title {number}")
    changed = ["oai:example.org:2", *(f"oai:example.org:{n}" for n in range(5, 10))]
    for identifier in changed[1:]:
        silo[identifier].clone_version("1", "workingcopy")
    killed = 0
    for turn in range(KILLS):
        with silo.batch(changed) as batch:
            for identifier in changed:
                edit = batch.edit(identifier)
                edit.put(edit.manifest.current_version, "turn.txt", str(turn).encode())
        step = chance.randrange(1, 14)
        code = exit_code_of(killed_export.__file__, silo.path, out, form, str(step))
        assert code in {0, KILLED}
        killed += code == KILLED
        for path in (tmp_path / "out").rglob("0=ocfl_object_1.1"):
            if "extensions" not in path.parts:
                assert Validator(log_warnings=True).validate_object(str(path.parent))
    assert killed >= KILLS / 2
    target: Target = killed_export.target_of(form, out)
    export = Export(silo, target, Policy(Versions.ALL))
    report = export.run()
    assert report.whole, report.problems
    found = export.verify()
    outdated = found.outdated if form.startswith("ocfl") else 0  # states that only its history has
    assert (found.records, found.outdated, found.differences) == (38, outdated, 0)
    assert export.run().written == 0
    assert not [path.name for path in (tmp_path / "out").glob(".silo-export-*")]
    if form.startswith("ocfl"):
        assert is_valid(tmp_path / "out") == 38
