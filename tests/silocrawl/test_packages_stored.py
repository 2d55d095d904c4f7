"""A package submitted, indexed and verified: complete or absent, and what is wrong is named."""

import hashlib
import json
import os
import re
import tarfile
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import bagit
import packages_made
import pytest
from packages_made import SETTINGS, made

from infopackages.mets import described_files
from silocrawl.packages.checking import check_package
from silocrawl.packages.indexing import digests_text, index
from silocrawl.packages.layout import (
    bag_file,
    bag_name,
    cdx_digests_name,
    cdx_name,
    places_name,
    receipt_name,
    sip_name,
    verified_name,
    warc_name,
)
from silocrawl.packages.receipts import (
    MANIFEST,
    TAG_MANIFEST,
    ReceiptInvalid,
    receipt_bytes,
    receipt_of,
)
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.store import FileStore, open_store
from silocrawl.packages.submitting import kept_receipt, submit
from silocrawl.packages.values import PackagingError, StoredFile
from silocrawl.packages.verifying import NotVerified, verify
from silocrawl.packages.work import PackageWork

ID = "own-cp00001"


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return open_store(str(tmp_path / "store"), is_new=True)


@pytest.fixture
def work(tmp_path: Path, store: FileStore) -> PackageWork:
    return made(tmp_path / "silo", store)


def _submitted(work: PackageWork, settings: StoreSettings = SETTINGS) -> PackageWork:
    for step in (submit, index):
        step(work, settings)
    return work


def _flip(store: FileStore, name: str, at: int) -> None:
    path = Path(store.place(name))
    content = bytearray(path.read_bytes())
    content[at % len(content)] ^= 1
    path.write_bytes(content)


def test_a_package_is_submitted_indexed_and_verified(work: PackageWork, store: FileStore) -> None:
    _submitted(work)
    found = verify(work, SETTINGS)
    assert found == work.package
    content = store.read(receipt_name(ID))
    assert content is not None
    assert content == kept_receipt(work.silo_path, ID)
    receipt = receipt_of(content, ID)
    assert receipt.ark == work.package.ark
    assert set(receipt.warcs) == {one.name for one in work.package.warcs}
    assert bagit.Bag(store.place(bag_name(ID))).is_valid()
    checked = check_package(store, ID, kept=content, package=work.package)
    assert (checked.faults, checked.captures, checked.archived) == ([], 6, 6)
    assert checked.sentence("2027").startswith(f"{ID} is well: 16 files, ")
    assert json.loads(store.read(verified_name(ID)) or b"")["package"] == ID


def test_a_step_that_is_done_again_changes_nothing(work: PackageWork, store: FileStore) -> None:
    def files() -> dict[Path, bytes]:
        _submitted(work)
        verify(work, SETTINGS)
        paths = Path(store.address).rglob("*")
        return {path: path.read_bytes() for path in paths if path.is_file()}

    assert files() == files()


def test_a_package_that_differs_is_refused_and_named(work: PackageWork, store: FileStore) -> None:
    _submitted(work)
    info = Path(bag_file(work.silo_path, ID, "bag-info.txt"))
    info.write_text(info.read_text() + "Contact-Name: somebody\n")
    with pytest.raises(PackagingError, match=r"is in .* already, and differs in bag-info.txt"):
        submit(work, SETTINGS)
    warcs = (replace(work.package.warcs[0], sha512="0" * 128), work.package.warcs[1])
    other = replace(work, package=replace(work.package, warcs=warcs))
    with pytest.raises(PackagingError, match=r"own-cp00001-1\.warc\.gz"):
        submit(other, SETTINGS)


def test_a_file_of_others_in_the_place_of_a_package_is_named(
    work: PackageWork, store: FileStore
) -> None:
    store.put(bag_name(ID, "data/other.txt"), b"1")
    with pytest.raises(PackagingError, match=r"data/other\.txt is in the store, and not of this"):
        submit(work, SETTINGS)
    assert store.read(receipt_name(ID)) is None
    store.remove(bag_name(ID, "data/other.txt"))
    store.put(bag_name(ID, "bagit.txt"), b"1")
    with pytest.raises(PackagingError, match=r"bagit\.txt is there with another content"):
        submit(work, SETTINGS)
    assert store.read(receipt_name(ID)) is None


def test_a_warc_file_that_is_not_there_is_copied_again(work: PackageWork, store: FileStore) -> None:
    name = warc_name(ID, work.package.warcs[0].name)
    store.remove(name)
    _submitted(work)
    verify(work, SETTINGS)
    store.remove(receipt_name(ID))
    store.remove(name)
    with open(work.package.warcs[0].path, "ab") as file:
        file.write(b"1")
    with pytest.raises(PackagingError, match="has changed since it was packaged"):
        submit(work, SETTINGS)


def test_the_bag_is_also_one_file(work: PackageWork, store: FileStore, tmp_path: Path) -> None:
    settings = replace(SETTINGS, sips=True)
    _submitted(work, settings)
    verify(work, settings)
    with tarfile.open(store.place(sip_name(ID))) as tar:
        tar.extractall(tmp_path / "out", filter="data")
    assert bagit.Bag(str(tmp_path / "out" / ID)).is_valid()
    _flip(store, sip_name(ID), 700)
    with pytest.raises(NotVerified, match=rf"sips/{ID}\.tar\.gz is damaged"):
        verify(work, settings)


def test_an_embargo_is_told(tmp_path: Path, store: FileStore) -> None:
    settings = replace(SETTINGS, embargo_days=365)
    work = _submitted(made(tmp_path / "silo", store), settings)
    sentence = check_package(store, ID).sentence("2026-05-01T00:00:00Z")
    assert sentence.endswith("; under embargo until 2027-03-01")
    assert "embargo" not in check_package(store, ID).sentence("2027-03-01T12:00:01Z")
    verify(work, settings)


# --------------------------------------------------------------------------- one byte

ROOT = f"packages/{ID}"
PAYLOAD = f"{ROOT}/data/{ID}"
PREMIS = "metadata/preservation/premis.xml"
EACH_KIND = [
    f"{PAYLOAD}/representations/crawl/data/{ID}-1.warc.gz",
    f"{PAYLOAD}/representations/crawl/METS.xml",
    f"{PAYLOAD}/representations/crawl/metadata/preservation/premis.xml",
    f"{PAYLOAD}/METS.xml",
    f"{PAYLOAD}/metadata/preservation/premis.xml",
    f"{PAYLOAD}/documentation/logs.zip",
    f"{PAYLOAD}/documentation/configuration.zip",
    f"{PAYLOAD}/documentation/warc-arks.txt",
    f"{PAYLOAD}/metadata/descriptive/dc.xml",
    f"{PAYLOAD}/schemas/DILCISExtensionMETS.xsd",
    f"{ROOT}/bag-profile.json",
    f"{ROOT}/bagit.txt",
    f"{ROOT}/bag-info.txt",
    f"{ROOT}/manifest-sha512.txt",
    f"{ROOT}/tagmanifest-sha512.txt",
    receipt_name(ID),
    cdx_name(ID),
    places_name(ID),
    cdx_digests_name(ID),
]


@pytest.mark.parametrize(
    "at", [0.5, *(pytest.param(at, marks=pytest.mark.long) for at in (0, 1, 0.3, 0.99, -1))]
)
@pytest.mark.parametrize("name", EACH_KIND)
def test_one_flipped_byte_is_found_and_its_file_named(
    work: PackageWork, store: FileStore, name: str, at: float
) -> None:
    _submitted(work)
    size = store.size(name) or 0
    _flip(store, name, int(at * size) if 0 < at < 1 else int(at))
    with pytest.raises(NotVerified) as failed:
        verify(work, SETTINGS)
    (fault,) = failed.value.checked.faults
    assert fault.startswith(name)
    assert store.read(verified_name(ID)) is None
    without = check_package(store, ID)  # as a node sees it, which has no receipt of its own
    assert without.faults
    assert all(name in one for one in without.faults), without.faults


def test_every_file_of_the_store_is_of_one_of_these_kinds(
    work: PackageWork, store: FileStore
) -> None:
    _submitted(work)
    files = {str(path.relative_to(store.address)) for path in Path(store.address).rglob("*.*")}
    others = {name for name in files if os.path.isfile(store.place(name))} - set(EACH_KIND)
    assert all(name.endswith("-2.warc.gz") for name in others), others


# --------------------------------------------------------------------------- others


def _missing(store: FileStore, name: str) -> str:
    store.remove(name)
    return rf"{name} is missing"


def _more(store: FileStore, name: str) -> str:
    store.put(f"{name}.more", b"1")
    return rf"{name}\.more is not of this package"


@pytest.mark.parametrize(
    ("change", "name"),
    [
        *((_missing, name) for name in EACH_KIND),
        *((_more, name) for name in EACH_KIND if name.startswith(ROOT)),  # else of other packages
    ],
)
def test_what_is_missing_or_too_much_is_named(
    work: PackageWork, store: FileStore, name: str, change: Callable[[FileStore, str], str]
) -> None:
    _submitted(work)
    wanted = change(store, name)
    with pytest.raises(NotVerified, match=wanted):
        verify(work, SETTINGS)


def test_a_log_that_names_what_is_not_there_is_named(
    tmp_path: Path, store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = packages_made._log_line

    def other(given: str) -> str:
        return line(given.replace("-1.warc.gz", "-7.warc.gz"))

    monkeypatch.setattr(packages_made, "_log_line", other)
    work = _submitted(made(tmp_path / "silo", store))
    with pytest.raises(NotVerified, match=r"logs\.zip names 'own-cp00001-7.warc.gz', which is"):
        verify(work, SETTINGS)
    package = replace(work.package, elsewhere={f"{ID}-7.warc.gz": ""})
    store.remove(receipt_name(ID))
    work = replace(work, package=package)
    _submitted(work)
    verify(work, SETTINGS)


def test_a_log_that_names_another_record_is_named(
    tmp_path: Path, store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = packages_made._log_line
    monkeypatch.setattr(
        packages_made, "_log_line", lambda given: line(given.replace("org/own", "org/0wn"))
    )
    work = _submitted(made(tmp_path / "silo", store))
    with pytest.raises(NotVerified, match=r"1\.warc\.gz has not the record at byte \d+ that logs"):
        verify(work, SETTINGS)


@pytest.mark.parametrize("field", ["url", "digest", "offset"])
def test_an_index_that_names_another_record_is_named(
    work: PackageWork, store: FileStore, field: str
) -> None:
    lines = _indexed(work, store)
    key, moment, text = lines[0].split(" ", 2)
    row = json.loads(text)
    row[field] = "12" if field == "offset" else row[field] + "A"
    _put_index(store, [f"{key} {moment} {json.dumps(row)}\n", *lines[1:]])
    with pytest.raises(NotVerified, match=r"has not the record at byte [\d,]+ that cdx-to-merge/"):
        verify(work, SETTINGS)


@pytest.mark.parametrize("left", [0, 3])
def test_an_index_that_lacks_a_line_is_named_though_its_digest_is_right(
    work: PackageWork, store: FileStore, left: int
) -> None:
    _put_index(store, _indexed(work, store)[:left])
    with pytest.raises(NotVerified, match=r"cdx-to-merge/.* has not the record at byte [\d,]+ of"):
        verify(work, SETTINGS)


def _indexed(work: PackageWork, store: FileStore) -> list[str]:
    """The lines of the index of a package that is submitted."""
    _submitted(work)
    return (store.read(cdx_name(ID)) or b"").decode().splitlines(keepends=True)


def _put_index(store: FileStore, lines: list[str]) -> None:
    """Replace an index, with the digests that it then has."""
    store.put(cdx_name(ID), "".join(lines).encode(), replaces=True)
    found = store.stored(cdx_name(ID))
    assert isinstance(found, StoredFile)
    places = (store.read(places_name(ID)) or b"").decode()
    digests = digests_text(ID, found.sha512, places)
    store.put(cdx_digests_name(ID), digests.encode(), replaces=True)


def test_a_viral_file_is_verified_and_in_no_index(tmp_path: Path, store: FileStore) -> None:
    work = _submitted(made(tmp_path / "silo", store, viral=True))
    verify(work, SETTINGS)
    cdx = (store.read(cdx_name(ID)) or b"").decode()
    assert "-1.warc.gz" in cdx
    assert "-2.warc.gz" not in cdx + (store.read(places_name(ID)) or b"").decode()


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("METS.xml", 'SIZE="', r"METS\.xml says another thing of .* than is so"),
        ("METS.xml", "<file ", r"is described by no METS"),
        (PREMIS, "ark:/99999/s1", r"premis\.xml says another thing of .*-1\.warc\.gz than is so"),
        (PREMIS, "originalName>own", r"-1\.warc\.gz is described by no PREMIS"),
        (PREMIS, "</premis>", r"premis\.xml cannot be read: it is not a document premis"),
    ],
)
def test_descriptions_that_say_another_thing_are_named(
    tmp_path: Path, store: FileStore, before: str, after: str, said: str
) -> None:
    """They are described wrongly from the beginning, so all digests agree."""
    work = made(tmp_path / "silo", store)
    bag = Path(bag_file(work.silo_path, ID))
    path = bag / f"data/{ID}/representations/crawl/{before}"
    text = path.read_text()
    changed = {
        'SIZE="': text.replace('SIZE="', 'SIZE="1'),
        "<file ": re.sub(r"<file .*?</file>", "", text, flags=re.DOTALL),
        "</premis>": text.replace("</premis>", ""),
    }.get(after, text.replace(after, after + "0"))
    assert changed != text
    path.write_text(changed)
    _seal(bag)
    _submitted(work)
    with pytest.raises(NotVerified, match=said):
        verify(work, SETTINGS)


def _seal(bag: Path) -> None:
    """Write manifests anew, also for METS, which says digests of others."""
    root = bag / "data" / ID
    representation = root / "representations/crawl"
    for mets, below in ((representation / "METS.xml", representation), (root / "METS.xml", root)):
        text = mets.read_text()
        for one in described_files(BytesIO(text.encode())):
            if (below / one.path).exists():
                content = (below / one.path).read_bytes()
                digest = hashlib.sha512(content).hexdigest()
                text = text.replace(one.sha512, digest).replace(one.sha512.upper(), digest)
                text = re.sub(
                    rf'SIZE="{one.size}"(?=[^>]*{digest})', f'SIZE="{len(content)}"', text
                )
                text = re.sub(
                    rf'({digest}[^>]*)SIZE="{one.size}"', rf'\g<1>SIZE="{len(content)}"', text
                )
        mets.write_text(text)
    for name in (MANIFEST, TAG_MANIFEST):
        lines = (bag / name).read_text().splitlines()
        paths = [line.partition("  ")[2] for line in lines]
        new = {
            path: hashlib.sha512((bag / path).read_bytes()).hexdigest()
            if (bag / path).exists()
            else line.partition("  ")[0]
            for path, line in zip(paths, lines, strict=True)
        }
        (bag / name).write_text("".join(f"{digest}  {path}\n" for path, digest in new.items()))


# --------------------------------------------------------------------------- hostile stores


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table["files"].update({"../../etc/passwd": [1, "0" * 128]}),
        lambda table: table["files"].update({"/etc/passwd": [1, "0" * 128]}),
        lambda table: table["files"].update({"x": [-1, "0" * 128]}),
        lambda table: table["files"].update({"x": [10**30, "0"]}),
        lambda table: table["files"].update({"x": ["1", "0" * 128]}),
        lambda table: table["arks"].update({"../x.warc.gz": "ark:/99999/s1"}),
        lambda table: table["arks"].update({"x.warc.gz": "javascript:alert(1)"}),
        lambda table: table.update(package="../../x"),
        lambda table: table.update(viral=[".."]),
        lambda table: table.update(files=[]),
        lambda table: table.update(shown_from="never"),
        lambda table: table.pop("arks"),
        lambda table: table.update(more=1),
        lambda table: None,
    ],
)
def test_a_receipt_of_others_is_refused(
    work: PackageWork, store: FileStore, change: Callable[[dict[str, object]], object]
) -> None:
    _submitted(work)
    content = store.read(receipt_name(ID)) or b""
    assert receipt_bytes(receipt_of(content, ID)) == content
    table = json.loads(content)
    change(table)
    for other in (json.dumps(table), json.dumps(table, indent=1), "[]", "x", "[" * 100_000):
        with pytest.raises(ReceiptInvalid, match="damaged, or was changed"):
            receipt_of(other.encode(), ID)
    store.put(receipt_name(ID), json.dumps(table).encode(), replaces=True)
    assert "NOT WELL" in check_package(store, ID).sentence("2027")


def test_a_link_in_a_package_is_named(work: PackageWork, store: FileStore, tmp_path: Path) -> None:
    _submitted(work)
    path = Path(store.place(bag_name(ID, "bagit.txt")))
    (tmp_path / "same").write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(tmp_path / "same")
    with pytest.raises(NotVerified, match=r"bagit\.txt is not a regular file"):
        verify(work, SETTINGS)


def test_a_huge_receipt_is_not_read(
    work: PackageWork, store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    _submitted(work)
    monkeypatch.setattr("silocrawl.packages.checking.MOST_SMALL", 10)
    with pytest.raises(NotVerified, match="longer than 10 bytes"):
        verify(work, SETTINGS)
