"""What describes a package: valid for its schemas, for BagIt and its profile, and for E-ARK."""

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import bagit
import bagit_profile
import pytest
from lxml import etree
from real_eark import check_documents, findings

from infopackages.mets import described_files
from infopackages.premis import NAMESPACE
from silocrawl.packages.describing import PROFILE_ID, describe, profile
from silocrawl.packages.layout import bag_file, payload_file, warc_path
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.store import open_store
from silocrawl.packages.values import (
    Package,
    PackageState,
    PackagingError,
    VirusCheck,
    WarcOfPackage,
)
from silocrawl.packages.work import PackageWork

ID = "own-cp00001-20260301120000"
AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
WARCS = {"a-1.warc.gz": b"a", "a-2.warc.gz": b"b" * 1000, "bad.warc.gz": b"c"}
PREMIS = {"p": NAMESPACE}
SETTINGS = StoreSettings(
    bag_info={"Source-Organization": "A library"},
    rights={
        "basis": "statute", "note": "Legal deposit.", "document": "https://example.org/law",
        "act": "replicate, disseminate", "granted-from": "2026-01-01",
    },
)  # fmt: skip


def package() -> Package:
    warcs = tuple(
        WarcOfPackage(
            name,
            f"/crawl/{name}",
            len(content),
            hashlib.sha512(content).hexdigest(),
            f"ark:/99999/s1{number}",
            name.startswith("bad"),
            "Eicar-Test-Signature" if name.startswith("bad") else "",
        )
        for number, (name, content) in enumerate(WARCS.items())
    )
    return Package(
        ID, "ark:/99999/s1x", "own", "cp00001-20260301120000", "20260301110000", "Heritrix 3.13.0",
        AT - timedelta(hours=1), AT, store="/store", warcs=warcs,
        scan=VirusCheck("ClamAV 1.4/27000", AT),
        history=((PackageState.BEGUN, AT), (PackageState.PACKAGED, AT + timedelta(minutes=1))),
    )  # fmt: skip


@pytest.fixture
def work(tmp_path: Path) -> PackageWork:
    silo = str(tmp_path / "silo")
    for name in ("logs.zip", "configuration.zip", "warc-arks.txt"):
        path = Path(payload_file(silo, ID, f"documentation/{name}"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "store").mkdir()
    return PackageWork(silo, package(), open_store(str(tmp_path / "store")))


def with_warcs(work: PackageWork, warcs: Mapping[str, bytes] = WARCS) -> Path:
    """The bag as it will be in the store."""
    for one in work.package.warcs:
        path = Path(payload_file(work.silo_path, ID, warc_path(one.name, is_viral=one.is_viral)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(warcs[one.name])
    return Path(bag_file(work.silo_path, ID))


def contents(bag: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(bag)): path.read_bytes() for path in bag.rglob("*") if path.is_file()
    }


def texts(bag: Path, below: str, path: str) -> list[str]:
    document = etree.parse(str(bag / "data" / ID / below / "metadata/preservation/premis.xml"))
    return [str(one) for one in document.xpath(path, namespaces=PREMIS)]


def test_bag_is_whole_without_reading_a_warc_file(work: PackageWork) -> None:
    assert describe(work, SETTINGS) == work.package
    bag = bagit.Bag(str(with_warcs(work)))
    bag.validate()
    assert bag.info["External-Identifier"] == "ark:/99999/s1x"
    assert bag.info["Source-Organization"] == "A library"
    assert bag.info["Bagging-Date"] == "2026-03-01"
    assert bag.info["BagIt-Profile-Identifier"] == PROFILE_ID
    conforming = bagit_profile.Profile(PROFILE_ID, profile=json.loads(profile()))
    assert conforming.validate(bag), conforming.report.errors
    shutil.rmtree(bag_file(work.silo_path, ID, "data/" + ID + "/documentation"))
    assert not bag.is_valid()


def test_done_again_it_writes_the_same(work: PackageWork) -> None:
    describe(work, SETTINGS)
    bag = Path(bag_file(work.silo_path, ID))
    before = contents(bag)
    (bag / "bag-info.txt").write_text("half")
    later = replace(work.package, history=(*work.package.history, (PackageState.DESCRIBED, AT)))
    describe(replace(work, package=later), SETTINGS)
    assert contents(bag) == before


def test_every_file_of_the_payload_is_in_mets(work: PackageWork) -> None:
    describe(work, SETTINGS)
    payload = with_warcs(work) / "data" / ID
    found = {}
    for mets in payload.rglob("METS.xml"):
        below = mets.parent.relative_to(payload)
        with mets.open("rb") as file:
            found |= {
                str(below / one.path): (one.size, one.sha512) for one in described_files(file)
            }
    real = {
        path: (len(content), hashlib.sha512(content).hexdigest())
        for path, content in contents(payload).items()
        if path != "METS.xml"
    }
    assert found == real
    assert "representations/crawl/data/viral/bad.warc.gz" in found


def test_premis_has_an_object_for_each_warc_file_and_says_what_happened(work: PackageWork) -> None:
    describe(work, SETTINGS)
    bag = with_warcs(work)
    assert check_documents(bag) == 4
    below = "representations/crawl"
    assert texts(bag, below, "//p:object/p:originalName/text()") == list(WARCS)
    assert texts(bag, below, "//p:object/p:objectIdentifier[1]/p:objectIdentifierValue/text()") == [
        one.ark for one in work.package.warcs
    ]
    assert texts(bag, below, "//p:messageDigest/text()") == [
        hashlib.sha512(content).hexdigest() for content in WARCS.values()
    ]
    assert texts(bag, "", "//p:event/p:eventType/text()") == [
        "capture", "virus check", "virus check", "message digest calculation",
        "information package creation",
    ]  # fmt: skip
    assert texts(bag, "", "//p:eventOutcomeDetailNote/text()")[1] == "Eicar-Test-Signature"
    assert "Heritrix 3.13.0" in texts(bag, "", "//p:agentName/text()")
    assert texts(bag, "", "//p:rightsGranted/p:act/text()") == ["replicate", "disseminate"]
    dc = etree.parse(str(bag / "data" / ID / "metadata/descriptive/dc.xml")).getroot()
    assert "ark:/99999/s1x" in [one.text for one in dc]
    assert texts(bag, "", "//p:statuteCitation/text()") == ["https://example.org/law"]


@pytest.mark.long
@pytest.mark.parametrize(
    "settings", [SETTINGS, StoreSettings()], ids=["with rights", "with nothing"]
)
def test_commons_ip_finds_no_error_and_no_warning(
    work: PackageWork, settings: StoreSettings
) -> None:
    describe(work, settings)
    assert findings(with_warcs(work) / "data" / ID) == ("VALID", [])


@pytest.mark.long
def test_commons_ip_finds_one_byte_more_in_a_warc_file(work: PackageWork) -> None:
    describe(work, SETTINGS)
    bag = with_warcs(work, {**WARCS, "a-2.warc.gz": WARCS["a-2.warc.gz"] + b"x"})
    result, some = findings(bag / "data" / ID)
    assert (result, bool(some)) == ("INVALID", True)


def test_what_is_missing_is_told_in_a_sentence(work: PackageWork) -> None:
    waiting = replace(work.package.warcs[1], sha512="")
    early = replace(work.package, warcs=(work.package.warcs[0], waiting))
    with pytest.raises(PackagingError, match=r"^a-2\.warc\.gz of own-cp0.* is not in the store"):
        describe(replace(work, package=early), SETTINGS)
    shutil.rmtree(payload_file(work.silo_path, ID))
    with pytest.raises(PackagingError, match=r"^own-cp0.* cannot be described: .*documentation"):
        describe(work, SETTINGS)


@pytest.mark.parametrize(
    "document",
    [
        b"", b"<mets", b"<html/>",
        b'<mets xmlns="http://www.loc.gov/METS/"><file CHECKSUMTYPE="MD5"/></mets>',
        b'<mets xmlns="http://www.loc.gov/METS/"><file CHECKSUMTYPE="SHA-512" SIZE="x"/></mets>',
    ],
)  # fmt: skip
def test_what_is_no_mets_is_refused(document: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(document)
    with path.open("rb") as file, pytest.raises(ValueError, match=r"mets|SHA-512|int"):
        assert list(described_files(file)) == "refused"
