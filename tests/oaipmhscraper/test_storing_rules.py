"""How a harvest changes records in the Silo, rule by rule."""

import logging

import pytest
from examples import family

from oaipmhscraper.options import HarvestOptions
from oaipmhscraper.storing.storing_rules import Reception
from recordsilo import Origin, Silo
from recordsilo.errors import VersionFrozen
from recordsilo.index.projection import MENDED

ONE = "oai:x:1"


@pytest.fixture
def harvest(scraper):
    """Harvest prefixes in order; return the counts of all lists."""

    def run(*prefixes, **options):
        return scraper.harvest(prefixes or ["oai_dc"], **options).counts.to_json()

    return run


def read(silo, version, path="oai_dc", identifier=ONE):
    with silo[identifier].get_stream(path, version) as stream:
        return stream.read()


def prefixes(silo, version, identifier=ONE):
    return dict(silo[identifier].origin(version).prefixes)


# --- live records


def test_a_new_record_is_version_1_with_the_metadata_element_as_harvested(
    repository, silo, harvest
):
    repository.add(ONE, "2004-06-24", "Title", sets=("a", "b"))
    harvest()
    record = silo[ONE]
    assert record.versions == ["1"]
    assert record.files == ["oai_dc"]
    assert record.metadata_files == {"1": ["oai_dc"]}
    assert record.date == "2004-06-24T00:00:00"
    assert record.metadata == {
        "identifier": ONE,
        "firstSeen": "2004-06-24T00:00:00",
        "setSpec": ["a", "b"],
    }
    assert read(silo, "1").startswith(
        b'<metadata xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:xsi='
    )
    origin = record.origin("1")
    assert (origin.kind, dict(origin.prefixes)) == ("harvest", {"oai_dc": "2004-06-24T00:00:00"})
    assert origin.message == "harvested from http://repo.example/oai"


def test_the_same_again_changes_nothing(repository, silo, harvest):
    repository.add(ONE)
    harvest()
    revision = silo[ONE].revision
    counts = harvest()
    assert (counts["unchanged"], counts["written"]) == (1, 0)
    assert silo[ONE].revision == revision


def test_an_imported_version_gives_way_to_a_harvested_one_and_stays(repository, silo, harvest):
    with silo.batch([ONE]) as batch:
        edit = batch.edit(ONE)
        origin = Origin("import", agent="Ann", date="2024-01-01T00:00:00")
        edit.add_version("v1", date="2003-01-01T00:00:00", origin=origin)
        edit.put("v1", "a.txt", b"x")
    repository.add(ONE, "2004-06-24", "Title")
    assert harvest()["new"] == 1
    assert (silo[ONE].versions, silo[ONE].currentversion) == (["v1", "1"], "1")
    with pytest.raises(VersionFrozen):
        silo[ONE].del_version("v1")
    assert harvest()["unchanged"] == 1


def test_changed_content_is_the_next_version(repository, silo, harvest):
    repository.add(ONE, "2010-01-01", "Old")
    harvest()
    repository.add(ONE, "2010-02-01", "New")
    assert harvest()["updated"] == 1
    assert silo[ONE].versions == ["1", "2"]
    assert silo[ONE].currentversion == "2"
    assert silo[ONE].date == "2010-02-01T00:00:00"
    assert b"Old" in read(silo, "1")
    assert b"New" in read(silo, "2")
    assert silo[ONE].metadata["firstSeen"] == "2010-01-01T00:00:00"


def test_changed_content_under_the_same_datestamp_is_the_next_version(repository, silo, harvest):
    repository.add(ONE, "2010-01-01", "Old")
    harvest()
    repository.add(ONE, "2010-01-01", "New")
    harvest()
    assert silo[ONE].versions == ["1", "2"]
    assert b"New" in read(silo, "2")


def test_the_same_content_under_a_newer_datestamp_is_noted_and_makes_no_version(
    repository, silo, harvest
):
    repository.add(ONE, "2010-01-01")
    harvest()
    repository.add(ONE, "2010-02-01")
    counts = harvest()
    assert (counts["unchanged"], counts["written"]) == (1, 0)
    assert silo[ONE].versions == ["1"]
    assert prefixes(silo, "1") == {"oai_dc": "2010-02-01T00:00:00"}
    assert silo[ONE].date == "2010-01-01T00:00:00"


def test_content_written_another_way_is_the_same(repository, silo, harvest):
    repository.add(ONE, formats={"p": "<a x='1' y='2'>é</a>"})
    harvest("p")
    first = read(silo, "1", "p")
    repository.add(ONE, formats={"p": '<a y="2"   x="1">&#233;</a>'})
    assert harvest("p")["unchanged"] == 1
    assert read(silo, "1", "p") == first


def test_going_back_to_old_content_is_a_version(repository, silo, harvest):
    for title in ("A", "B", "A"):
        repository.add(ONE, "2010-01-01", title)
        harvest()
    assert silo[ONE].versions == ["1", "2", "3"]


def test_a_change_of_sets_makes_no_version(repository, silo, harvest):
    repository.add(ONE, sets=("a",))
    harvest()
    repository.add(ONE, "2010-02-01", sets=("b", "c"))
    assert harvest()["unchanged"] == 1
    assert silo[ONE].versions == ["1"]
    assert silo[ONE].metadata["setSpec"] == ["b", "c"]
    assert silo.set_counts() == {"b": 1, "c": 1}


def test_about_containers_are_kept_only_where_present(repository, silo, harvest):
    repository.add(ONE, about=("<p>1</p>",))
    repository.add("oai:x:2")
    repository.add("oai:x:3", about=("<p>1</p>", "<p>2</p>"))
    harvest()
    assert silo[ONE].files == ["oai_dc", "oai_dc.about"]
    assert silo[ONE].metadata_files == {"1": ["oai_dc"]}
    assert read(silo, "1", "oai_dc.about").startswith(b"<about ")
    assert silo["oai:x:2"].files == ["oai_dc"]
    both = read(silo, "1", "oai_dc.about", "oai:x:3")
    assert both.startswith(b"<record ")
    assert both.count(b"<about") == 2


def test_a_changed_about_container_counts_only_under_a_newer_datestamp(repository, silo, harvest):
    repository.add(ONE, "2010-01-01", about=("<now>1</now>",))
    harvest()
    repository.add(ONE, "2010-01-01", about=("<now>2</now>",))
    assert harvest()["unchanged"] == 1
    repository.add(ONE, "2010-01-02", about=("<now>3</now>",))
    assert harvest()["updated"] == 1
    repository.add(ONE, "2010-01-03")
    assert harvest()["updated"] == 1
    assert silo[ONE].versions == ["1", "2", "3"]
    assert silo[ONE].files == ["oai_dc"]


# --- several formats


def test_a_second_format_of_the_same_datestamp_joins_the_version(repository, silo, harvest, dc):
    repository.add(ONE, formats={"oai_dc": dc("T"), "uketd_dc": "<u/>"})
    counts = harvest("oai_dc", "uketd_dc")
    assert counts["new"] == 2
    assert silo[ONE].versions == ["1"]
    assert silo[ONE].files == ["oai_dc", "uketd_dc"]
    assert silo[ONE].metadata_files == {"1": ["oai_dc", "uketd_dc"]}


def test_a_second_format_joins_a_frozen_version(repository, silo, harvest, dc):
    repository.add(ONE, formats={"oai_dc": dc("T"), "uketd_dc": "<u/>"})
    harvest("oai_dc")
    silo[ONE].clone_version("1", "workingcopy")
    harvest("uketd_dc")
    record = silo[ONE]
    assert record.versions == ["1", "workingcopy"]
    assert record.currentversion == "workingcopy"
    assert record.paths("1") == ["oai_dc", "uketd_dc"]
    assert record.paths("workingcopy") == ["oai_dc"]


def test_a_second_format_of_another_datestamp_is_a_version_of_its_own(
    repository, silo, harvest, dc
):
    repository.add(ONE, "2010-01-01", formats={"oai_dc": dc("T")})
    harvest("oai_dc")
    repository.add(ONE, "2010-02-01", formats={"oai_dc": dc("T"), "p": "<p/>"})
    harvest("p")
    assert silo[ONE].versions == ["1", "2"]
    assert silo[ONE].paths("2") == ["p"]


def test_a_second_format_joins_where_the_first_was_confirmed_at_its_datestamp(
    repository, silo, harvest, dc
):
    repository.add(ONE, "2010-01-01", formats={"oai_dc": dc("T")})
    harvest("oai_dc")
    repository.add(ONE, "2010-02-01", formats={"oai_dc": dc("T"), "p": "<p/>"})
    harvest("oai_dc", "p")
    assert silo[ONE].versions == ["1"]
    assert prefixes(silo, "1") == {"oai_dc": "2010-02-01T00:00:00", "p": "2010-02-01T00:00:00"}


def test_of_two_formats_only_the_changed_one_is_in_the_next_version(repository, silo, harvest, dc):
    repository.add(ONE, "2010-01-01", formats={"oai_dc": dc("Old"), "p": "<p/>"})
    harvest("oai_dc", "p")
    repository.add(ONE, "2010-02-01", formats={"oai_dc": dc("New"), "p": "<p/>"})
    counts = harvest("oai_dc", "p")
    assert (counts["updated"], counts["unchanged"]) == (1, 1)
    assert silo[ONE].versions == ["1", "2"]
    assert silo[ONE].paths("2") == ["oai_dc"]
    assert prefixes(silo, "1")["p"] == "2010-02-01T00:00:00"


def test_a_second_changed_format_joins_the_new_version(repository, silo, harvest, dc):
    repository.add(ONE, "2010-01-01", formats={"oai_dc": dc("Old"), "p": "<p/>"})
    harvest("oai_dc", "p")
    repository.add(ONE, "2010-02-01", formats={"oai_dc": dc("New"), "p": "<p>new</p>"})
    harvest("oai_dc", "p")
    assert silo[ONE].versions == ["1", "2"]
    assert silo[ONE].paths("2") == ["oai_dc", "p"]
    assert harvest("oai_dc", "p")["written"] == 0


# --- deletions


def delete(repository, datestamp="2010-03-01", identifier=ONE):
    item = repository.add(identifier, datestamp)
    item.deleted = True


def test_a_deletion_adds_an_empty_version_and_keeps_the_old_ones(repository, silo, harvest):
    repository.add(ONE, sets=("a",))
    harvest()
    delete(repository)
    counts = harvest()
    assert (counts["deleted"], counts["stored"], counts["written"]) == (1, 0, 1)
    record = silo[ONE]
    assert record.versions == ["1", "2"]
    assert record.files == []
    assert record.metadata["deleted_at_version"] == "2"
    assert record.metadata["deleted_at_date"] == "2010-03-01T00:00:00"
    assert record.metadata["setSpec"] == ["a"]
    assert b"A title" in read(silo, "1")
    assert len(silo) == 1
    assert silo.row(ONE).deleted


def test_a_record_first_met_deleted_has_an_empty_version_1(repository, silo, harvest):
    delete(repository)
    harvest()
    record = silo[ONE]
    assert (record.versions, record.files, record.date) == (["1"], [], "2010-03-01T00:00:00")
    assert record.metadata["firstSeen"] == "2010-03-01T00:00:00"
    assert record.metadata["deleted_at_version"] == "1"
    assert len(silo) == 1


def test_a_repeated_deletion_only_moves_the_date(repository, silo, harvest):
    repository.add(ONE)
    harvest()
    delete(repository, "2010-03-01")
    harvest()
    delete(repository, "2010-04-01")
    counts = harvest()
    assert (counts["deleted"], counts["deleted_before"], counts["written"]) == (0, 1, 0)
    assert silo[ONE].versions == ["1", "2"]
    assert silo[ONE].metadata["deleted_at_date"] == "2010-04-01T00:00:00"
    revision = silo[ONE].revision
    harvest()
    assert silo[ONE].revision == revision


def test_a_record_that_comes_back_has_a_new_version_and_no_marks(repository, silo, harvest):
    repository.add(ONE)
    harvest()
    delete(repository)
    harvest()
    repository.add(ONE, "2010-05-01")
    assert harvest()["updated"] == 1
    record = silo[ONE]
    assert record.versions == ["1", "2", "3"]
    assert record.files == ["oai_dc"]
    assert "deleted_at_version" not in record.metadata
    assert "deleted_at_date" not in record.metadata
    assert not silo.row(ONE).deleted


def test_all_formats_of_a_record_come_back_though_they_are_as_before(repository, silo, harvest, dc):
    both = {"oai_dc": dc("T"), "p": "<p/>"}
    repository.add(ONE, formats=both)
    harvest("oai_dc", "p")
    repository.add(ONE, "2010-03-01", formats=both, deleted=True)
    harvest("oai_dc", "p")
    assert silo[ONE].versions == ["1", "2"]
    repository.add(ONE, "2010-05-01", formats=both)
    harvest("oai_dc", "p")
    assert silo[ONE].versions == ["1", "2", "3"]
    assert silo[ONE].files == ["oai_dc", "p"]


def test_deletion_on_the_day_of_the_last_change_is_a_deletion(repository, silo, harvest, dc):
    both = {"oai_dc": dc("T"), "p": "<p/>"}
    repository.add(ONE, "2010-01-01", formats=both)
    harvest("oai_dc", "p")
    repository.add(ONE, "2010-01-01", formats=both, deleted=True)
    harvest("oai_dc", "p")
    assert silo[ONE].versions == ["1", "2"]
    assert silo.row(ONE).deleted


@pytest.mark.parametrize("order", [("oai_dc", "p"), ("p", "oai_dc")])
@pytest.mark.parametrize("withdrawn", family(["2010-01-01", "2010-02-01", "2010-03-01"], 1))
@pytest.mark.parametrize("held", [True, False])
def test_a_format_that_is_withdrawn_settles_while_the_record_lives(
    repository, silo, harvest, dc, order, withdrawn, held
):
    """One format says deleted for ever, the other is alive: no version for each harvest."""
    repository.add(ONE, "2010-01-01", formats={"oai_dc": dc("T"), "p": "<p/>"})
    harvest("oai_dc", *(["p"] if held else []))
    repository.add(ONE, "2010-02-01", formats={"oai_dc": dc("New")})
    withdraw(repository, withdrawn)
    for _ in range(2):
        harvest(*order)
    settled = silo[ONE].versions
    for _ in range(3):
        harvest(*order)
    assert silo[ONE].versions == settled
    assert not silo.row(ONE).deleted
    assert b"New" in read(silo, settled[-1])


def withdraw(repository, datestamp, prefix="p"):
    """From now on the list of a format says that the record is deleted."""
    gone = (
        f'<ListRecords><record><header status="deleted"><identifier>{ONE}</identifier>'
        f"<datestamp>{datestamp}</datestamp></header></record></ListRecords>"
    )
    repository.answers.append(
        lambda params: page_of(gone) if params.get("metadataPrefix") == prefix else None
    )


def test_a_format_withdrawn_before_the_newest_change_deletes_nothing(repository, silo, harvest, dc):
    repository.add(ONE, "2010-01-01", formats={"oai_dc": dc("Old"), "p": "<p/>"})
    harvest("oai_dc", "p")
    repository.add(ONE, "2010-02-01", formats={"oai_dc": dc("New")})
    withdraw(repository, "2010-01-15")
    harvest("oai_dc", "p")
    assert silo[ONE].versions == ["1", "2"]
    assert silo[ONE].paths("2") == ["oai_dc"]


def test_a_format_never_held_deletes_nothing_of_the_same_datestamp(repository, silo, harvest, dc):
    repository.add(ONE, "2010-01-01", formats={"oai_dc": dc("T")})
    withdraw(repository, "2010-01-01")
    counts = harvest("oai_dc", "p")
    assert (counts["new"], counts["deleted"], counts["deleted_before"]) == (1, 0, 1)
    assert silo[ONE].versions == ["1"]


def page_of(content):
    return (
        '<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/">'
        f"<responseDate>2010-11-20T12:00:00Z</responseDate>{content}</OAI-PMH>"
    ).encode()


# --- curated records


def test_a_curated_version_is_never_touched_and_keeps_the_cursor(repository, silo, harvest):
    repository.add(ONE, "2010-01-01", "Old")
    harvest()
    record = silo[ONE]
    record.clone_version("1", "workingcopy")
    record.put_stream("oai_dc", b"<curated/>")
    record.put_stream("notes.txt", "mine")
    repository.add(ONE, "2010-02-01", "New")
    harvest()
    record = silo[ONE]
    assert record.versions == ["1", "workingcopy", "2"]
    assert record.currentversion == "workingcopy"
    assert read(silo, "workingcopy") == b"<curated/>"
    assert b"New" in read(silo, "2")
    assert silo.row(ONE).upstream_newer


def test_a_curated_record_is_not_behind_when_only_the_datestamp_moved(repository, silo, harvest):
    repository.add(ONE, "2010-01-01")
    harvest()
    silo[ONE].clone_version("1", "workingcopy")
    repository.add(ONE, "2010-02-01")
    harvest()
    assert silo[ONE].versions == ["1", "workingcopy"]
    assert not silo.row(ONE).upstream_newer


def test_changes_are_compared_with_what_was_harvested_not_with_what_was_curated(
    repository, silo, harvest
):
    repository.add(ONE, title="As harvested")
    harvest()
    silo[ONE].clone_version("1", "2")
    silo[ONE].put_stream("oai_dc", b"<curated/>", "2")
    assert harvest()["unchanged"] == 1
    assert silo[ONE].versions == ["1", "2"]


def test_version_numbers_go_on_after_the_highest_whatever_the_cursor_says(
    repository, silo, harvest
):
    repository.add(ONE, title="A")
    harvest()
    record = silo[ONE]
    record.clone_version("1", "7")
    record.set_version_cursor("1")
    record.sync()
    repository.add(ONE, title="B")
    harvest()
    assert silo[ONE].versions == ["1", "7", "8"]
    assert silo[ONE].currentversion == "8"


def test_a_deletion_leaves_the_cursor_on_a_curated_version(repository, silo, harvest):
    repository.add(ONE)
    harvest()
    silo[ONE].clone_version("1", "workingcopy")
    delete(repository)
    harvest()
    record = silo[ONE]
    assert record.versions == ["1", "workingcopy", "2"]
    assert record.currentversion == "workingcopy"
    assert record.metadata["deleted_at_version"] == "2"


def test_an_object_made_here_gets_the_harvested_version_beside_its_own(repository, silo, harvest):
    silo.get_item(ONE).put_stream("notes.txt", "made here")
    repository.add(ONE)
    harvest()
    record = silo[ONE]
    assert record.versions == ["1", "2"]
    assert record.currentversion == "1"
    assert record.files == ["notes.txt"]
    assert record.paths("2") == ["oai_dc"]


# --- removed records


def test_a_removed_record_stays_away_unless_it_is_asked_for(repository, silo, harvest):
    repository.add(ONE)
    repository.add("oai:x:2")
    harvest()
    silo.del_item(ONE, remember=True)
    counts = harvest()
    assert (counts["left_out"], counts["unchanged"]) == (1, 1)
    assert ONE not in silo
    counts = harvest(options=HarvestOptions(restore_removed=True))
    assert counts["new"] == 1
    assert ONE in silo
    assert silo.removed() == frozenset()


# --- what cannot be stored


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ({"identifier": "oai:x:9", "formats": {"oai_dc": "<a>"}}, "tag mismatch"),
        ({"identifier": "x" * 9000, "datestamp": "2010-01-01"}, "cannot be stored"),
    ],
)
def test_a_record_that_cannot_be_stored_is_set_aside_and_named(
    repository, scraper, silo, item, reason
):
    repository.add(ONE)
    repository.add(**item)
    repository.add("oai:x:2")
    receipt = scraper.getRecords("oai_dc")
    assert sorted(silo) == [ONE, "oai:x:2"]
    assert not receipt.whole
    assert receipt.counts.to_json()["quarantined"] == 1
    assert reason in receipt.losses[0]
    assert item["identifier"][:20] in receipt.losses[0]


def test_a_live_record_without_metadata_is_set_aside(repository, scraper, silo):
    repository.add(ONE)
    scraper.getRecords("oai_dc")
    bare = (
        f"<record><header><identifier>{ONE}</identifier>"
        "<datestamp>2010-02-01</datestamp></header></record>"
    )
    repository.answers.append(
        lambda p: (
            page_of(f"<{p['verb']}>{bare}</{p['verb']}>")
            if p["verb"] in {"ListRecords", "GetRecord"}
            else None
        )
    )
    receipt = scraper.getRecords("oai_dc")
    assert "neither metadata nor the status deleted" in receipt.losses[0]
    assert silo[ONE].versions == ["1"]


def test_an_unreadable_manifest_is_set_aside_and_its_neighbours_are_stored(
    repository, scraper, silo
):
    repository.add(ONE)
    scraper.getRecords("oai_dc")
    manifest = silo[ONE].to_dirpath(root=True) + "/__manifest.json"
    with open(manifest, "w", encoding="utf-8") as file:
        file.write("{")
    repository.add("oai:x:2")
    receipt = scraper.getRecords("oai_dc")
    assert "manifest" in receipt.losses[0]
    assert "oai:x:2" in silo
    with open(manifest, encoding="utf-8") as file:
        assert file.read() == "{"


def test_a_record_listed_twice_counts_once_and_its_change_is_stored(repository, scraper, silo):
    def record(datestamp, title):
        return repository.add(ONE, datestamp, title).xml("oai_dc")

    twice = record("2010-01-01", "A") + record("2010-01-01", "A") + record("2010-01-02", "B")
    twice += repository.add("oai:x:other").xml("oai_dc")
    repository.answers.append(
        lambda p: page_of(f"<ListRecords>{twice}</ListRecords>") if "Records" in p["verb"] else None
    )
    counts = scraper.getRecords("oai_dc").counts.to_json()
    assert (counts["listed"], counts["new"], counts["duplicates"]) == (4, 2, 2)
    assert (counts["stored"], counts["written"]) == (2, 3)
    assert silo[ONE].versions == ["1", "2"]


# --- the log


def test_each_stored_object_is_logged_in_the_words_of_2010(repository, harvest, caplog):
    caplog.set_level(logging.INFO, "OAIPMH Harvester")
    identifier = "oai:eprints.soton.example:6102"
    repository.add(identifier, "2004-06-24")
    harvest()
    harvest()
    lines = [r for r in caplog.records if r.name == "OAIPMH Harvester"]
    assert [(line.levelname, line.getMessage()) for line in lines] == [
        (
            "INFO",
            f"New object: {identifier} found with datestamp 2004-06-24T00:00:00 - storing.",
        )
    ]


def test_another_process_can_read_what_was_harvested(repository, silo, harvest, silo_dir):
    repository.add(ONE)
    harvest()
    with Silo(silo_dir, create=False) as other:
        assert list(other) == [ONE]
        assert b"A title" in read(other, "1")


def test_what_is_said_of_mended_bytes_is_what_the_index_looks_for() -> None:
    assert MENDED in Reception("oai_dc", mended=("bare ampersand",)).remark
    assert Reception("oai_dc").remark == ""
