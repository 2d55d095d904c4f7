"""One flipped bit in any file that a Silo keeps is found, and the finding names the file."""

import os
import random
from pathlib import Path
from typing import Any

import pytest

from recordsilo.audit import Audit

Box = Any


def files_of(silo: Path) -> list[Path]:
    """The records' files and manifests, and by what a Silo is known."""
    kept = [silo / "pairtree_version0_1", silo / "pairtree_prefix"]
    for directory, _, names in os.walk(silo / "pairtree_root"):
        kept += [Path(directory, name) for name in names]
    return sorted(kept)


def flip(path: Path, place: int, bit: int) -> None:
    with open(path, "r+b") as file:
        file.seek(place)
        octet = file.read(1)[0]
        file.seek(place)
        file.write(bytes([octet ^ (1 << bit)]))


def assert_flips_are_found(silo: Path, times: int, seed: int) -> None:
    files = files_of(silo)
    dice = random.Random(seed)
    for _ in range(times):
        path = dice.choice(files)
        place, bit = dice.randrange(path.stat().st_size), dice.randrange(8)
        flip(path, place, bit)
        named = {finding.path for finding in Audit(str(silo)).findings()}
        flip(path, place, bit)
        assert str(path.relative_to(silo)) in named, (path, place, bit, named)
    assert list(Audit(str(silo)).findings()) == []


@pytest.mark.parametrize("times", [50, pytest.param(500, marks=pytest.mark.long)])
def test_flipped_bits_are_found_and_named(box: Box, times: int) -> None:
    assert_flips_are_found(box.silo, times, seed=2010)


@pytest.mark.long
@pytest.mark.parametrize("name", ["__manifest.json", "__manifest.json.prev"])
def test_every_flipped_bit_of_a_manifest_is_found_and_named(box: Box, name: str) -> None:
    """The last lines bit by bit: there the checksum itself lies."""
    manifest = box.record / name
    size = manifest.stat().st_size
    box.drop_index()
    for place in range(size - 90, size):
        for bit in range(8):
            flip(manifest, place, bit)
            named = {finding.path for finding in Audit(str(box.silo)).findings()}
            flip(manifest, place, bit)
            assert str(manifest.relative_to(box.silo)) in named, (place, bit)


@pytest.mark.slow
def test_10000_flipped_bits_are_found_and_named(box: Box) -> None:
    assert_flips_are_found(box.silo, 10_000, seed=4)
