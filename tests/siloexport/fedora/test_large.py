"""Sizes and numbers that take minutes; run by `make slow`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fedora_server import serving
from fedora_simulator import Simulator
from fedora_support import ADMIN, QUICK, Fedora, metadata

from recordsilo import Origin, Silo
from siloexport.engine.export import Export
from siloexport.plan import Policy, Versions
from siloexport.targets.fedora import FedoraClient, FedoraTarget
from siloexport.values import ActionKind

BIG = 200 << 20
RECORDS = int(os.environ.get("FEDORA_RECORDS", "2000"))

MEASURED = """
import runpy, sys
from processes import peak_megabytes
sys.argv = ["exporting.py", *sys.argv[1:]]
try:
    runpy.run_module("exporting", run_name="__main__")
except SystemExit as end:
    assert end.code == 0, end.code
print(round(peak_megabytes() * 1024))
"""


def peak(silo_dir: str, url: str) -> int:
    """Memory at most, in KiB, of an export in a process of its own."""
    here, benchmarks = Path(__file__).parent, Path(__file__).parents[3] / "benchmarks"
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, silo_dir, url],
        env={**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{benchmarks}"},
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    return int(done.stdout.split()[-1])


@pytest.mark.long
def test_a_file_of_200_mb_goes_in_flat_memory(empty: Silo, tmp_path: Path) -> None:
    big = tmp_path / "big"
    with open(big, "wb") as file:
        file.truncate(BIG)
    small = empty.get_item("oai:example.org:small")
    small.put_stream("data", b"small")
    with serving(Simulator("6.0.0"), str(tmp_path)) as root, FedoraClient(root, ADMIN) as client:
        before = peak(empty.path, f"{root}/exports")
        with open(big, "rb") as source:
            empty.get_item("oai:example.org:big").put_stream("data", source)
        after = peak(empty.path, f"{root}/exports")
        target = FedoraTarget(f"{root}/exports", client)
        uri = f"{target.uri_of('oai:example.org:big')}/data"
        assert client.send("HEAD", uri).headers["Content-Length"] == str(BIG)
    assert after - before < 20_000


@pytest.mark.slow
def test_thousands_of_records_go_to_a_real_server_and_come_out_right(
    real: Fedora, empty: Silo
) -> None:
    identifiers = [f"oai:example.org:{number}" for number in range(RECORDS)]
    for start in range(0, RECORDS, 500):
        part = identifiers[start : start + 500]
        with empty.batch(part) as batch:
            for identifier in part:
                edit = batch.edit(identifier)
                for name in ("1", "2"):
                    date = f"2024-05-0{name}T00:00:00"
                    edit.add_version(name, date=date, origin=Origin("harvest"))
                    content = metadata(f"<dc:title>{identifier} {name}</dc:title>")
                    edit.put(name, "oai_dc", content, metadata=True)
    export = Export(
        empty, FedoraTarget(real.container(), real.client), Policy(versions=Versions.ALL), QUICK
    )
    report = export.run(jobs=4)
    assert report.whole, report.problems
    assert report.actions == {ActionKind.CREATE: RECORDS, ActionKind.ADD_VERSION: RECORDS}
    verified = export.verify()
    assert (verified.versions, verified.differences) == (2 * RECORDS, 0)
    assert export.run(jobs=4).actions == {ActionKind.NOTHING: RECORDS}
    for identifier in identifiers[::10]:
        empty[identifier].clone_version("2", "workingcopy")
        empty[identifier].put_stream("note", "curated")
    again = export.run(jobs=4)
    assert again.actions[ActionKind.ADD_VERSION] == len(identifiers[::10])
    assert export.verify().differences == 0
