"""An audit beside writers finds nothing, and changes nothing."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.audit import Audit, Severity
from recordsilo.audit.repair import MendedFinding, SiloRepair

Box = Any

WRITER = """
import os, random, sys
from recordsilo import Origin, Silo

path, seed, enough = sys.argv[1], int(sys.argv[2]), sys.argv[3]
dice = random.Random(seed)
with Silo(path, create=False) as silo:
    print("ready", flush=True)
    while not os.path.exists(enough):
        name = f"w{seed}:{dice.randrange(5)}"
        kind = dice.randrange(6)
        if kind == 0:
            with silo.batch([f"{name}:{n}" for n in range(5)]) as batch:
                for n in range(5):
                    edit = batch.edit(f"{name}:{n}")
                    if not edit.exists:
                        edit.add_version("1", date="2004-06-24", origin=Origin("harvest"))
                        edit.put("1", "oai_dc", b"<dc/>", metadata=True)
                    edit.set_metadata("seen", dice.random())
        elif kind == 1:
            for n in range(5):
                if f"{name}:{n}" in silo:
                    silo.del_item(f"{name}:{n}")
        elif kind == 2:
            silo.get_item(name).put_stream(f"docs/{dice.randrange(3)}.txt", str(dice.random()))
        elif kind == 3 and name in silo and len(silo[name].versions) < 4:
            silo[name].increment_version(clone_previous_version=True)
        elif kind == 4 and name in silo and len(silo[name].versions) > 1:
            silo[name].del_version(silo[name].versions[0])
        elif kind == 5 and name in silo:
            silo.del_item(name)
"""


@contextmanager
def writing(silo: Path, count: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Let so many processes write until the block ends; all have begun."""
    enough = silo.with_name("enough")
    enough.unlink(missing_ok=True)
    writers = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", WRITER, str(silo), str(seed), str(enough)],
            stdout=subprocess.PIPE,
        )
        for seed in range(count)
    ]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"ready\n"
        yield writers
        enough.touch()
        for writer in writers:
            writer.wait(timeout=60)
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()


def audit_beside_writers(silo: Path, count: int, audits: int) -> None:
    with writing(silo, count) as writers:
        for _ in range(audits):
            assert list(Audit(str(silo)).findings()) == []
            assert [writer.poll() for writer in writers] == [None] * count
    assert [writer.returncode for writer in writers] == [0] * count
    assert list(Audit(str(silo)).findings()) == []


@pytest.mark.long
def test_writers_beside_an_audit_are_never_reported(box: Box) -> None:
    audit_beside_writers(box.silo, count=3, audits=20)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_writers_beside_an_audit_are_never_reported_for_minutes(box: Box) -> None:
    audit_beside_writers(box.silo, count=4, audits=500)


def damage_after_kills(silo: Path, kills: int) -> set[str]:
    """Kill writers at work again and again; codes of what the audits told of it."""
    told = set()
    dice = random.Random(kills)
    for _ in range(kills):
        with writing(silo, count=2) as writers:
            time.sleep(0.1 + dice.random() / 2)
            for writer in writers:
                writer.kill()
        findings = list(Audit(str(silo)).findings())
        assert not [one for one in findings if one.severity is Severity.DAMAGE], findings
        told |= {one.code.number for one in findings}
        outcomes = list(SiloRepair(str(silo)).run())
        assert all(isinstance(one, MendedFinding) for one in outcomes), outcomes
        assert list(Audit(str(silo)).findings()) == []
    return told


@pytest.mark.long
def test_what_killed_writers_left_is_no_damage_and_is_mended_whole(box: Box) -> None:
    damage_after_kills(box.silo, kills=6)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_what_many_killed_writers_left_is_no_damage_and_is_mended_whole(box: Box) -> None:
    assert len(damage_after_kills(box.silo, kills=300)) > 2


def test_an_audit_changes_nothing(
    box: Box, snapshot: Callable[[Path], dict[str, tuple[int, bytes]]]
) -> None:
    (box.record / "__workingcopy/notes.txt").write_text("edited")
    (box.record / "__2").mkdir()
    (box.record.parent / "zz").mkdir()
    index = (box.silo / ".silo/index.sqlite").read_bytes()
    before = snapshot(box.silo)
    assert len(list(Audit(str(box.silo)).findings())) == 3
    assert snapshot(box.silo) == before
    assert (box.silo / ".silo/index.sqlite").read_bytes() == index


def test_an_audit_beside_an_open_index_leaves_it_as_it_is(box: Box) -> None:
    with Silo(str(box.silo)) as silo:
        silo["oai:example.org:12"].put_stream("more.txt", "x")
        log = (box.silo / ".silo/index.sqlite-wal").read_bytes()
        assert log
        assert list(Audit(str(box.silo)).findings()) == []
        assert (box.silo / ".silo/index.sqlite-wal").read_bytes() == log


@pytest.mark.long
def test_an_audit_waits_for_the_writer_of_a_record_it_doubts(box: Box) -> None:
    started = time.monotonic()
    with Silo(str(box.silo)) as silo, silo.batch(["oai:example.org:12"]) as batch:
        script = (
            "import sys, recordsilo.audit\n"
            "print([f.code.number for f in recordsilo.audit.Audit(sys.argv[1]).findings()])"
        )
        stray = box.record / "__2"
        stray.mkdir()
        audit = subprocess.Popen(
            [sys.executable, "-c", script, str(box.silo)], stdout=subprocess.PIPE, text=True
        )
        with pytest.raises(subprocess.TimeoutExpired):
            audit.wait(timeout=2)
        stray.rmdir()
        assert batch.edits == []
    assert audit.communicate(timeout=60)[0] == "[]\n"
    assert time.monotonic() - started > 2
