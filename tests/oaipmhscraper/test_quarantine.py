"""The bytes of unreadable records, kept and listed."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oaipmhclient.pages.requests_and_pages import SetAside
from oaipmhscraper.storing import quarantine as module
from oaipmhscraper.storing.quarantine import (
    LIST_NAME,
    Quarantine,
    QuarantineOrigin,
    QuarantineUnreadable,
    kept_in,
    quarantine_of,
)

ORIGIN = QuarantineOrigin("verb=ListRecords", "oai_dc", datetime(2012, 5, 31, 8, tzinfo=UTC))
ONE = SetAside("oai:x:1", "is torn", "record 1 of the page, from byte 7", b"<record>\xff\0")
TWO = SetAside("", "has no header", "record 2 of the page", b"<record/>")


@pytest.fixture
def directory(tmp_path):
    return quarantine_of(str(tmp_path / "harvests"), "20261121T211331.123456Z")


def raw_bytes(directory, entry):
    return Path(directory, entry.file).read_bytes() if entry.file else b""


def files(directory):
    return sorted(os.listdir(directory))


def test_bytes_are_kept_as_received_and_listed_with_all_that_is_known(directory):
    made = Quarantine(directory).keep([ONE, TWO], ORIGIN)
    found = list(kept_in(directory))
    assert tuple(found) == made
    assert [raw_bytes(directory, entry) for entry in found] == [ONE.raw, TWO.raw]
    first = found[0]
    assert (first.identifier, first.reason, first.where) == (ONE.identifier, ONE.reason, ONE.where)
    assert (first.request, first.metadata_prefix) == ("verb=ListRecords", "oai_dc")
    assert first.received == "2012-05-31T08:00:00+00:00"
    assert (first.size, first.kept) == (len(ONE.raw), len(ONE.raw))


def test_there_is_no_quarantine_where_nothing_was_set_aside(directory):
    assert Quarantine(directory).keep([], ORIGIN) == ()
    assert not os.path.exists(directory)
    assert list(kept_in(directory)) == []


def test_a_page_kept_twice_changes_nothing_also_after_a_restart(directory):
    first = Quarantine(directory)
    first.keep([ONE, ONE], ORIGIN)
    before = files(directory)
    assert first.keep([ONE], ORIGIN) == ()
    assert Quarantine(directory).keep([ONE], ORIGIN) == ()
    assert files(directory) == before
    assert len(list(kept_in(directory))) == 1


def test_the_same_bytes_in_another_format_are_another_entry_and_one_file(directory):
    quarantine = Quarantine(directory)
    quarantine.keep([ONE], ORIGIN)
    quarantine.keep([ONE], QuarantineOrigin("verb=ListRecords", "marc"))
    assert [entry.metadata_prefix for entry in kept_in(directory)] == ["oai_dc", "marc"]
    assert len(files(directory)) == 2


def test_of_a_huge_record_only_its_begin_is_kept_and_its_size_is_told(directory):
    Quarantine(directory, largest_record=4).keep([ONE], ORIGIN)
    (entry,) = kept_in(directory)
    assert (entry.size, entry.kept) == (len(ONE.raw), 4)
    assert raw_bytes(directory, entry) == ONE.raw[:4]


def test_a_full_quarantine_still_lists(directory):
    Quarantine(directory, largest=5).keep([ONE, TWO], ORIGIN)
    assert Quarantine(directory, largest=5).keep(
        [SetAside("oai:x:3", "is torn", "", b"abc")], ORIGIN
    )
    assert [entry.kept for entry in kept_in(directory)] == [len(ONE.raw), 0, 0]
    assert [raw_bytes(directory, entry) for entry in kept_in(directory)][1:] == [b"", b""]


def test_a_record_without_bytes_is_listed_without_a_file(directory):
    Quarantine(directory).keep([SetAside("oai:x:1", "has no valid datestamp", "")], ORIGIN)
    (entry,) = kept_in(directory)
    assert (entry.file, entry.size, entry.sha256) == ("", 0, "")
    assert files(directory) == [LIST_NAME]


def test_a_line_torn_by_a_crash_is_no_entry_and_is_cut_off_by_the_next(directory):
    Quarantine(directory).keep([ONE], ORIGIN)
    with open(os.path.join(directory, LIST_NAME), "ab") as listed:
        listed.write(b'{"identifier": "oai:x:2", "rea')
    assert len(list(kept_in(directory))) == 1
    Quarantine(directory).keep([TWO], ORIGIN)
    assert [entry.reason for entry in kept_in(directory)] == [ONE.reason, TWO.reason]


@pytest.mark.parametrize("damage", [b"no json\n", b"{}\n", b"[]\n", b'"x"\n', b"\xff\n"])
def test_a_damaged_list_is_an_error_and_never_empty(directory, damage):
    Quarantine(directory).keep([ONE], ORIGIN)
    with open(os.path.join(directory, LIST_NAME), "ab") as listed:
        listed.write(damage)
    with pytest.raises(QuarantineUnreadable, match=r"line 2 of .*list\.jsonl"):
        list(kept_in(directory))
    with pytest.raises(QuarantineUnreadable):
        Quarantine(directory).keep([TWO], ORIGIN)


def test_the_list_speaks_of_no_bytes_that_are_not_there(directory, monkeypatch):
    def refused(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_new", refused)
    with pytest.raises(OSError, match="No space"):
        Quarantine(directory).keep([ONE], ORIGIN)
    assert list(kept_in(directory)) == []


@given(st.lists(st.builds(SetAside, st.text(), st.text(), st.text(), st.binary()), max_size=5))
def test_any_identifiers_reasons_and_bytes_come_back(tmp_path_factory, set_aside):
    directory = str(tmp_path_factory.mktemp("q") / "quarantine")
    Quarantine(directory).keep(set_aside, ORIGIN)
    found = list(kept_in(directory))
    wanted = {(one.identifier, one.reason, one.raw) for one in set_aside}
    assert {(e.identifier, e.reason, raw_bytes(directory, e)) for e in found} == wanted


def test_a_harvest_keeps_the_bytes_of_what_it_sets_aside(repository, scraper, silo):
    repository.add("oai:x:1")
    repository.add("oai:x:2", formats={"oai_dc": "<a>"})
    repository.add("x" * 9000)
    receipt = scraper.getRecords("oai_dc")
    named = [one["identifier"][:9] for one in receipt.to_json()["quarantined"]]
    assert named == ["oai:x:2", "x" * 9]
    harvests = os.path.join(silo.path, "harvests")
    (name,) = (name for name in os.listdir(harvests) if name.endswith("-quarantine"))
    directory = os.path.join(harvests, name)
    torn, unstorable = kept_in(directory)
    assert raw_bytes(directory, torn).startswith(b"<record><header><identifier>oai:x:2<")
    assert raw_bytes(directory, unstorable).startswith(b"<metadata ")
    assert torn.request == "verb=ListRecords&metadataPrefix=oai_dc"
