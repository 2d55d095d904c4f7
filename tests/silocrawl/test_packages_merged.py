"""Packages on access nodes: only what was verified and may be shown, once, whatever is killed."""

import hashlib
import json
import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import fsspec
import pytest
import real_pywb
import requests
from click.testing import CliRunner
from killing import KILLED, exit_code_of
from object_store import BUCKET, s3_server, use_s3
from packages_made import AT, SETTINGS, made, url_of

from recordsilo.cli import silo_command
from silocrawl.cdxj import Segments
from silocrawl.errors import CrawlingError
from silocrawl.packages.checking import check_package
from silocrawl.packages.indexing import digests_text, index
from silocrawl.packages.layout import (
    cdx_digests_name,
    cdx_name,
    merged_name,
    places_name,
    receipt_name,
    verified_name,
    warc_name,
)
from silocrawl.packages.merging import AccessNode, Merged, check_merged
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.store import FileStore, open_store
from silocrawl.packages.submitting import submit
from silocrawl.packages.values import PackageInvalid, PackageLater
from silocrawl.packages.verifying import NotVerified, digests_to_verify, verify
from silocrawl.packages.work import PackageWork
from silocrawl.places import read_places

NOW = datetime(2026, 4, 1, tzinfo=UTC)
ID = "own-cp00001"


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return open_store(str(tmp_path / "store"), is_new=True)


@pytest.fixture
def node(tmp_path: Path) -> AccessNode:
    return AccessNode(str(tmp_path / "access"), "reading-room")


def _verified(
    tmp_path: Path, store: FileStore, name: str = ID, settings: StoreSettings = SETTINGS
) -> PackageWork:
    work = made(tmp_path / "silo", store, name)
    for step in (submit, index, verify):
        step(work, settings)
    return work


def _merged(node: AccessNode, store: FileStore, now: datetime = NOW) -> list[Merged]:
    return list(node.merge(store, now))


def _lines(node: AccessNode) -> list[str]:
    return list(Segments(os.path.join(node.directory, "index")).find("", is_prefix=True))


def test_a_package_is_merged_once(tmp_path: Path, store: FileStore, node: AccessNode) -> None:
    work = _verified(tmp_path, store)
    assert _merged(node, store) == [Merged(ID, 6)]
    lines = _lines(node)
    assert len(lines) == 6
    places = read_places(os.path.join(node.directory, "places.tsv"))
    assert places == {
        one.name: (store.place(warc_name(ID, one.name)),) for one in work.package.warcs
    }
    assert (store.read(merged_name(ID, "reading-room")) or b"").startswith(b"2026-04-01T")
    assert _merged(node, store) == []
    assert _lines(node) == lines
    _verified(tmp_path, store, "own-cp00002")
    assert _merged(node, store) == [Merged("own-cp00002", 6)]
    assert len(_lines(node)) == 12
    assert node.check(ID, store) == Merged(ID, 4)


def test_a_file_that_is_no_receipt_is_named_and_stops_no_merge(
    tmp_path: Path, store: FileStore, node: AccessNode
) -> None:
    _verified(tmp_path, store)
    receipts = tmp_path / "store" / "receipts"
    (receipts / "own cp00001 (1).json").write_bytes(b"{}")
    (receipts / "own-cp00003.json").symlink_to(receipts / f"{ID}.json")
    (tmp_path / "store" / "merged").mkdir()
    (tmp_path / "store" / "merged" / "a b").write_bytes(b"")
    *refused, merged = _merged(node, store)
    assert merged == Merged(ID, 6)
    assert all(one.is_fault and not one.package for one in refused)
    assert [one.why.partition(" there is ")[2] for one in refused if "valid" in one.why] == [
        "'merged/a b', which is not a valid name; it is passed over",
        "'receipts/own cp00001 (1).json', which is not a valid name; it is passed over",
    ]
    assert sum("own-cp00003.json is not a regular file" in one.why for one in refused) == 1
    assert len(_merged(node, store)) == 3
    arguments = ["--store", store.address, "--node", node.name, node.directory]
    command = ["crawl", "merge", *arguments]
    told = CliRunner().invoke(silo_command, command, standalone_mode=False)
    assert told.return_value == 1
    assert "\nsilo: in " in "\n" + told.output
    assert "is not merged" not in told.output


def test_what_was_not_verified_or_is_under_embargo_waits(
    tmp_path: Path, store: FileStore, node: AccessNode
) -> None:
    assert _merged(node, store) == []
    work = made(tmp_path / "silo", store)
    submit(work, SETTINGS)
    assert _merged(node, store) == [Merged(ID, why="it was not verified yet")]
    index(work, SETTINGS)
    assert _merged(node, store) == [Merged(ID, why="it was not verified yet")]
    _verified(tmp_path, store, "own-cp00002", replace(SETTINGS, embargo_days=31))
    (_, two) = _merged(node, store)
    assert two == Merged("own-cp00002", why="it is under embargo until 2026-04-01")
    (_, two) = _merged(node, store, AT.replace(month=4, hour=13))
    assert two == Merged("own-cp00002", 6)
    assert len(_lines(node)) == 6


def test_what_waits_for_the_nodes_goes_when_all_have_it(
    tmp_path: Path, store: FileStore, node: AccessNode
) -> None:
    work = _verified(tmp_path, store)
    with pytest.raises(PackageLater, match="waits for reading-room, web to merge it"):
        check_merged(work, SETTINGS)
    _merged(node, store)
    with pytest.raises(PackageLater, match="waits for web"):
        check_merged(work, SETTINGS)
    assert check_merged(work, replace(SETTINGS, nodes=())) == work.package
    assert len(store.names("cdx-to-merge")) == 3
    _merged(AccessNode(str(tmp_path / "web"), "web"), store)
    for _ in range(2):
        assert check_merged(work, SETTINGS) == work.package
        assert store.names("cdx-to-merge") == []
    verify(work, SETTINGS)
    sentence = check_package(store, ID).sentence("2027")
    assert sentence.endswith("; on reading-room, web")
    assert node.check(ID, store) == Merged(ID, 4)
    late = AccessNode(str(tmp_path / "late"), "late")
    assert _merged(late, store) == [Merged(ID, 6)]
    assert _lines(late) == _lines(node)
    assert late.check(ID, store) == Merged(ID, 4)


def test_what_changed_after_it_was_verified_is_not_merged(
    tmp_path: Path, store: FileStore, node: AccessNode
) -> None:
    _verified(tmp_path, store)
    other = _verified(tmp_path, store, "own-cp00002")
    content = store.read(cdx_name(ID)) or b""
    store.put(cdx_name(ID), content.replace(b"200", b"404"), replaces=True)
    one, two = _merged(node, store)
    assert (one.is_fault, two) == (True, Merged("own-cp00002", 6))
    assert "cdx-to-merge/own-cp00001.cdxj is damaged" in one.why
    store.put(cdx_name(ID), content, replaces=True)
    receipt = store.read(receipt_name(ID)) or b""
    store.put(receipt_name(ID), receipt.replace(b'": "ark', b'":  "ark'), replaces=True)
    (one,) = _merged(node, store)
    assert "damaged, or was changed" in one.why
    store.put(receipt_name(ID), receipt, replaces=True)
    store.put(verified_name(ID), b"{", replaces=True)
    (one,) = _merged(node, store)
    assert "damaged; verify the package again" in one.why
    assert store.read(merged_name(ID, "reading-room")) is None
    assert store.read(merged_name(other.package.id, "reading-room")) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"offset": "', b'"offset": "-'),
        (b'"offset": "', b'"offset": "9999999'),
        (b'"offset": "', b'"offset": "x'),
        (b"/0 2", b"/0\0 2"),
        (b"/0 2", b"/0 x2"),
        (b"own-cp00001-1.warc.gz", b"../own-cp00001-1.warc.gz"),
    ],
)
def test_lines_of_a_hostile_store_are_not_merged(
    tmp_path: Path, store: FileStore, node: AccessNode, old: bytes, new: bytes
) -> None:
    _verified(tmp_path, store)
    content = (store.read(cdx_name(ID)) or b"").replace(old, new)
    store.put(cdx_name(ID), content, replaces=True)
    places = (store.read(places_name(ID)) or b"").decode()
    digests = digests_text(ID, hashlib.sha512(content).hexdigest(), places)
    store.put(cdx_digests_name(ID), digests.encode(), replaces=True)
    mark = digests_to_verify(store, ID, store.read(receipt_name(ID)) or b"")
    store.put(verified_name(ID), json.dumps(mark).encode(), replaces=True)
    (one,) = _merged(node, store)
    assert "of its index is none" in one.why
    assert _lines(node) == []


def test_a_node_that_lost_something_is_told(
    tmp_path: Path, store: FileStore, node: AccessNode
) -> None:
    _verified(tmp_path, store)
    _merged(node, store)
    places = Path(node.directory, "places.tsv")
    text = places.read_text()
    places.write_text(text.splitlines(keepends=True)[0])
    assert "places.tsv has not own-cp00001-2.warc.gz at /" in node.check(ID, store).why
    places.write_text(text)
    (segment,) = Path(node.directory, "index").glob("*.cdxj")
    lines = segment.read_text().splitlines(keepends=True)
    segment.write_text("".join(lines[:-1]))
    assert "the index has not own-cp00001-2.warc.gz at byte" in node.check(ID, store).why
    store.remove(warc_name(ID, "own-cp00001-1.warc.gz"))
    assert "1.warc.gz is missing, or has another size" in node.check(ID, store).why


def test_names_of_nodes_and_packages_that_lead_elsewhere_are_refused(
    tmp_path: Path, store: FileStore, node: AccessNode
) -> None:
    for name in ("../x", "a/b", "", "."):
        with pytest.raises(PackageInvalid):
            AccessNode(str(tmp_path), name)
    store.put("receipts/x y.json".replace(" ", "~"), b"{}")
    (found,) = _merged(node, store)
    assert found.is_fault


def test_two_merges_at_once_are_refused(tmp_path: Path, store: FileStore, node: AccessNode) -> None:
    _verified(tmp_path, store)
    merging = node.merge(store, NOW)
    next(merging)
    other = AccessNode(node.directory, node.name)
    with pytest.raises(CrawlingError, match="another process is merging"):
        _merged(other, store)
    merging.close()


@pytest.mark.long
def test_a_merge_that_is_killed_at_any_step_goes_on(
    tmp_path: Path, store: FileStore, node: AccessNode
) -> None:
    _verified(tmp_path, store)
    program = str(Path(__file__).parent / "killed_merge.py")
    number = 1
    while exit_code_of(program, store.address, node.directory, str(number)) == KILLED:
        number += 1
        lines = _lines(node)
        assert len(lines) == len(set(lines))
        assert len(lines) in (0, 6)
        if store.read(merged_name(ID, "reading-room")) is not None:
            assert len(lines) == 6
    assert number > 5
    assert node.check(ID, store) == Merged(ID, 4)
    assert len(list(Path(node.directory, "index").glob("*.cdxj"))) == 1


@pytest.mark.long
def test_a_package_goes_to_s3_is_verified_and_merged_there(
    tmp_path: Path, node: AccessNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    with s3_server() as address:
        use_s3(monkeypatch, address)
        service = fsspec.filesystem("s3", skip_instance_cache=True)
        service.mkdir(BUCKET)
        store = open_store(f"s3://{BUCKET}/crawls")
        settings = replace(SETTINGS, sips=True)
        work = _verified(tmp_path, store, settings=settings)
        submit(work, settings)
        assert check_package(store, ID).captures == 6
        assert _merged(node, store) == [Merged(ID, 6)]
        assert node.check(ID, store) == Merged(ID, 4)
        places = read_places(os.path.join(node.directory, "places.tsv"))
        (place,) = places[f"{ID}-1.warc.gz"]
        assert place.startswith(f"s3://{BUCKET}/crawls/packages/")
        content = bytearray(service.cat_file(place))
        content[len(content) // 2] ^= 1
        service.pipe_file(place, bytes(content))
        service.pipe_file(f"s3://{BUCKET}/crawls/packages/{ID}/data/x y", b"1")
        with pytest.raises(
            NotVerified, match="'packages/own-cp00001/data/x y', which is not a valid name"
        ):
            verify(work, settings)
        service.rm_file(f"s3://{BUCKET}/crawls/packages/{ID}/data/x y")
        with pytest.raises(NotVerified, match=rf"{ID}-1\.warc\.gz is damaged: its SHA-512"):
            verify(work, settings)


@pytest.mark.long
def test_a_package_is_replayed_by_pywb_from_an_access_node(
    tmp_path: Path, store: FileStore, node: AccessNode, program: str
) -> None:
    _verified(tmp_path, store)
    _merged(node, store)
    with real_pywb.serving(program, node.directory) as root:
        for number in (0, 5):
            seen = requests.get(f"{root}/2026id_/{url_of(ID, number)}", timeout=30)
            assert (seen.status_code, seen.text) == (200, f"page {number}" * 50)
        _verified(tmp_path, store, "own-cp00002")
        _merged(node, store)
        seen = requests.get(f"{root}/2026id_/{url_of('own-cp00002', 3)}", timeout=30)
        assert (seen.status_code, seen.text) == (200, "page 3" * 50)
