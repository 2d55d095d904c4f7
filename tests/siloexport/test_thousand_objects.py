"""A thousand objects, after three exports and twenty kills: others find no error and no warning.

Validators are ocfl-py, and rocfl where there is one (``cargo install rocfl --version 1.7.0``).
"""

import random
import shutil
import subprocess
from pathlib import Path

import killed_export
import pytest
from killing import KILLED, exit_code_of
from test_ocfl import is_valid

from recordsilo import Silo
from recordsilo.records.manifest import Origin
from siloexport import Export, OcflTarget, Policy, Versions

RECORDS = 1000
DC = (
    b"<metadata><oai_dc:dc xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc/'"
    b" xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>%d</dc:title></oai_dc:dc></metadata>"
)


def named(number: int) -> str:
    return f"oai:example.org:{number}"


def harvest(silo: Silo, version: str, numbers: range) -> None:
    for start in range(numbers.start, numbers.stop, 100):
        some = range(start, min(start + 100, numbers.stop))
        with silo.batch(map(named, some)) as batch:
            for number in some:
                edit = batch.edit(named(number))
                edit.add_version(
                    version, date=f"2024-0{version}-01T00:00:00",
                    origin=Origin("harvest", date=f"2024-0{version}-02T00:00:00"),
                )  # fmt: skip
                edit.put(version, "oai_dc", DC % (number * int(version)), metadata=True)


def check(root: Path) -> None:
    assert is_valid(root) == RECORDS
    if rocfl := shutil.which("rocfl"):
        done = subprocess.run(
            [rocfl, "-r", str(root), "validate"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-2000:]
        assert "Invalid objects: 0" in done.stdout
        assert "Storage issues:  0" in done.stdout
        assert "warning" not in done.stdout.lower()


@pytest.mark.slow
def test_a_thousand_objects_after_three_exports_and_kills(tmp_path: Path) -> None:
    root = tmp_path / "root"
    silo = Silo(str(tmp_path / "myrepo"))
    chance = random.Random(4)
    for version, numbers in (("1", range(RECORDS)), ("2", range(600)), ("3", range(300, 900))):
        harvest(silo, version, numbers)
        for number in range(0, RECORDS, 97):
            if number in numbers:
                silo[named(number)].clone_version(version, f"ed-{version}")
        killed = 0
        for _ in range(7):
            step = str(chance.randrange(1, 30))
            code = exit_code_of(killed_export.__file__, silo.path, str(root), "ocfl", step)
            killed += code == KILLED
        assert killed
        export = Export(silo, OcflTarget(str(root)), Policy(Versions.ALL))
        assert export.run().whole
        check(root)
    assert export.verify().differences == 0
