"""A file is attached to each of many records; PREMIS is made from each one's history."""

from collections.abc import Callable

import pytest
from lxml import etree

from infopackages.premis import NAMESPACE
from recordsilo import HarvestedRecord, Silo
from recordsilo.selection import Selection
from silocuration.batch.attach import Attachment
from silocuration.batch.job import create_job, preview, run_job, undo_job
from silocuration.batch.journal import Doing
from silocuration.batch.premis import premis_of
from silocuration.batch.specs import attach_job
from silocuration.errors import RuleRefused

Fill = Callable[..., list[str]]
P = {"p": NAMESPACE}


def test_a_licence_is_attached_to_each_record_and_taken_off_again(silo: Silo, fill: Fill) -> None:
    identifiers = fill(3)
    silo[identifiers[0]].clone_version("1", "workingcopy")
    spec = attach_job(Selection(), Attachment("docs/licence.txt", b"CC BY"))
    assert preview(silo, spec).changed == 3
    job = create_job(silo, spec, agent="ada")
    run_job(silo, job)
    for one in identifiers:
        record = silo[one]
        assert record.paths("workingcopy") == ["oai_dc", "docs/licence.txt"]
        assert record.paths("1") == ["oai_dc"]
        assert record.metadata_files["workingcopy"] == ["oai_dc"]
    assert run_job(silo, create_job(silo, spec, agent="ada")).counts == {Doing.UNCHANGED: 3}
    assert undo_job(silo, job, agent="ada").counts == {Doing.UNDONE: 3}
    assert [silo[one].versions for one in identifiers] == [["1", "workingcopy"], ["1"], ["1"]]
    assert silo[identifiers[0]].paths("workingcopy") == ["oai_dc"]


def test_records_deleted_at_the_source_are_left_out(
    silo: Silo, fill: Fill, harvest_again: Callable[..., None]
) -> None:
    first, second = fill(2)
    harvest_again(first)
    spec = attach_job(Selection(), Attachment("licence.txt", b"CC BY"))
    found = preview(silo, spec)
    assert (found.records, found.changed, found.deleted) == (2, 1, 1)
    report = run_job(silo, create_job(silo, spec, agent="ada"))
    assert report.counts == {Doing.DELETED: 1, Doing.DONE: 1}
    assert [silo[one].versions[-1] for one in (first, second)] == ["2", "workingcopy"]


def test_a_record_whose_directory_is_in_the_way_is_passed_over(silo: Silo, fill: Fill) -> None:
    first, second = fill(2)
    with silo.batch([first]) as batch:
        batch.edit(first).put("1", "docs/note.txt", b"there already", allow_frozen=True)
    spec = attach_job(Selection(), Attachment("docs", b"CC BY"))
    assert preview(silo, spec).changed == 1
    report = run_job(silo, create_job(silo, spec, agent="ada"))
    assert report.counts == {Doing.SKIPPED: 1, Doing.DONE: 1}
    assert dict(report.skipped).keys() == {first}
    assert [silo[one].versions for one in (first, second)] == [["1"], ["1", "workingcopy"]]


def description(record: HarvestedRecord) -> bytes:
    with record.get_stream("oai_dc") as stream:
        return stream.read()


def test_a_description_is_not_replaced_by_an_attached_file(silo: Silo, fill: Fill) -> None:
    (identifier,) = fill(1)
    before = description(silo[identifier])
    spec = attach_job(Selection(), Attachment("oai_dc", b"CC BY"))
    assert preview(silo, spec).changed == 0
    report = run_job(silo, create_job(silo, spec, agent="ada"))
    assert report.counts == {Doing.SKIPPED: 1}
    assert "has metadata named oai_dc" in dict(report.skipped)[identifier]
    assert silo[identifier].versions == ["1"]
    assert description(silo[identifier]) == before


def test_premis_tells_versions_files_events_and_agents(silo: Silo, fill: Fill) -> None:
    (identifier,) = fill(1)
    record = silo[identifier]
    record.clone_version("1", "workingcopy", agent="ada", message="to correct it")
    content = premis_of(silo[identifier].state)
    root = etree.fromstring(content)
    assert content == premis_of(silo[identifier].state)
    kinds = root.xpath("p:object/@xsi:type", namespaces={
        **P, "xsi": "http://www.w3.org/2001/XMLSchema-instance",
    })  # fmt: skip
    assert kinds == ["representation", "file", "representation", "file"]
    assert root.xpath("p:event/p:eventType/text()", namespaces=P) == ["capture", "replication"]
    assert root.xpath("p:agent/p:agentName/text()", namespaces=P) == ["ada"]
    digest = silo[identifier].file_info("oai_dc", "1").sha256
    assert root.xpath("(//p:messageDigest)[1]/text()", namespaces=P) == [digest]
    sources = root.xpath(
        "//p:relationship[p:relationshipType='derivation']//p:relatedObjectIdentifierValue/text()",
        namespaces=P,
    )
    assert [one.rpartition("/")[2] for one in sources] == ["1"]
    made = silo[identifier].origin("workingcopy").date
    dates = root.xpath("p:event/p:eventDateTime/text()", namespaces=P)
    assert dates == ["2020-01-01T00:00:00Z", f"{made}Z"]
    assert root.xpath("//p:eventDetail/text()", namespaces=P) == [
        "datestamp of the source: 2020-01-01T00:00:00Z", "to correct it",
    ]  # fmt: skip


def test_premis_is_attached_from_each_records_own_history(silo: Silo, fill: Fill) -> None:
    identifiers = fill(2)
    run_job(
        silo, create_job(silo, attach_job(Selection(), Attachment("premis.xml", None)), agent="a")
    )
    for one in identifiers:
        with silo[one].get_stream("premis.xml") as stream:
            assert one.rpartition(":")[2].encode() in stream.read()


@pytest.mark.parametrize("path", ["", "/etc/passwd", "../x", "a//b", "x\0"])
def test_a_path_out_of_the_version_is_refused(path: str) -> None:
    with pytest.raises(RuleRefused):
        Attachment(path, b"")
