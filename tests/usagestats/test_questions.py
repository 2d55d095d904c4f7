"""Questions about usage: what was used most, what one entity is, and what searches know of it."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from day_items import DayItem, replace_day
from made_up import ARTICLE, GONE, ONE, THESIS, TWO, count, figures, make_silo

from recordsilo import Silo
from recordsilo.cli import silo_command
from usagestats.entities.bundles import (
    assert_same,
    bundles_of,
    dissolve,
    read_bundles,
    take_back,
)
from usagestats.entities.catalogue import EntityCatalogue
from usagestats.entities.mapping import EntityKind, EntityMapping, key_of, mapping_from
from usagestats.entities.metadata import MOST, Metadata, metadata_of
from usagestats.entities.usage import MEASURES, Usage
from usagestats.errors import EntityUnknown
from usagestats.expressions import Expression
from usagestats.facets import DOWNLOADS, USES
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.paths import bundles_path, catalogue_path
from usagestats.store.queries import days_of

ALL = Period()
BEN, EVE, SWAN = (key_of("n", name) for name in ("Ben", "Swan, Eve", "B. Swan"))


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    with make_silo(str(tmp_path / "silo")) as found:
        count(found.path, days=3)
        yield found


def counted(silo: Silo, day: str, **uses: tuple[int, int]) -> None:
    """Count views and downloads of records on a day."""
    with UsageCounts(silo.path, "write") as counts, counts.changing() as change:
        rows = [
            DayItem(f"oai:x:{name.strip('_')}", False, figures(*some), 0, 0)
            for name, some in uses.items()
        ]
        replace_day(change, day, rows)


# --------------------------------------------------------------------------- metadata


def metadata(silo: Silo, identifier: str, *elements: str) -> Metadata:
    record = silo[identifier]

    def read(version: Any, path: str) -> bytes:
        with record.get_stream(path, version.name) as file:
            return file.read()

    return metadata_of(record.state, read, elements)


def test_the_metadata_of_a_record_are_those_of_its_description(silo: Silo) -> None:
    found = metadata(silo, ONE)
    assert found.title == "Solar cells"
    assert found["creators"] == ("Ben", "Swan, Eve")
    assert (found["sets"], found["languages"], found["relations"]) == (("all",), ("en",), ())
    assert Metadata.from_text(found.as_text()) == found
    assert Metadata().title == ""


def test_a_version_without_a_title_gives_way_to_the_newest_that_has_one(silo: Silo) -> None:
    record = silo.get_item(ONE)
    record.create_new_version("2")
    record.put_stream("oai_dc", THESIS.replace("Solar", "Lunar").encode(), metadata=True)
    record.create_new_version("3")
    record.sync()
    assert metadata(silo, ONE).title == "Lunar cells"


def test_elements_are_read_by_name_each_value_once(silo: Silo) -> None:
    text = ARTICLE.replace(
        "<dc:subject>", "<dc:subject>  Weather\n forecast</dc:subject><dc:subject>"
    )
    record = silo.get_item(TWO)
    record.put_stream("oai_dc", text.encode(), metadata=True)
    record.sync()
    found = metadata(silo, TWO, "subject", "source", "nothing")
    assert found["subject"] == ("Weather forecast", "Weather")
    assert found["source"] == ("Journal of Weather, ISSN 1234-567X",)
    assert "nothing" not in found.values


def test_elements_with_markup_are_read_as_a_whole(silo: Silo) -> None:
    text = ARTICLE.replace(
        "<dc:subject>",
        "<dc:subject>Song of <i>Turdus <b>merula</b></i></dc:subject>"
        "<dc:subject><em>Gale</em></dc:subject><dc:subject>",
    )
    record = silo.get_item(TWO)
    record.put_stream("oai_dc", text.encode(), metadata=True)
    record.sync()
    found = metadata(silo, TWO, "subject")
    assert found["subject"] == ("Song of Turdus merula", "Gale", "Weather")
    assert found["subject"] == found["subjects"]


def test_of_a_field_only_so_many_values_are_read(silo: Silo) -> None:
    many = "".join(f"<dc:subject>S{number}</dc:subject>" for number in range(MOST + 50))
    record = silo.get_item(TWO)
    record.put_stream("oai_dc", ARTICLE.replace("</oai_dc:dc>", f"{many}</oai_dc:dc>").encode(),
                      metadata=True)  # fmt: skip
    record.sync()
    assert len(metadata(silo, TWO, "subject")["subjects"]) == MOST
    assert len(metadata(silo, TWO, "subject")["subject"]) == MOST


# --------------------------------------------------------------------------- mapping


def test_a_kind_takes_what_its_expression_finds_each_label_once() -> None:
    kind = EntityKind("journal", "j", "sources", Expression(r"^(?P<label>[^,]*), ISSN"))
    found = Metadata({"sources": ("A, ISSN 1", "A, ISSN 2", "B", ", ISSN 3", "C, ISSN 4")})
    assert list(kind.labels(found)) == ["A", "C"]
    whole = EntityKind("journal", "j", "sources", Expression("ISSN"))
    assert list(whole.labels(found)) == ["A, ISSN 1", "A, ISSN 2", ", ISSN 3", "C, ISSN 4"]


def test_a_kind_of_ones_own_may_replace_one_of_ours() -> None:
    table = {"kind": "subject", "prefix": "k", "field": "keyword"}
    mapping = mapping_from({"entity": [table]})
    assert [one.name for one in mapping.kinds].count("subject") == 1
    found = mapping.kind("subject")
    assert found is not None
    assert (found.prefix, mapping.elements, mapping.kind("colour")) == ("k", ("keyword",), None)


def test_the_key_of_a_set_is_of_its_spec_and_its_label_is_its_name() -> None:
    found = Metadata({"sets": ("a", "b"), "creators": ("a",)})
    entities = list(EntityMapping().entities("oai:x:1", found, {"a": "All"}))
    assert [(one.kind, one.label) for one in entities] == [
        ("creator", "a"), ("set", "All"), ("set", "b"),
    ]  # fmt: skip
    assert entities[1].key == key_of("set", "a")
    (own, *_) = EntityMapping(by_record=True).entities("oai:x:1", found)
    assert own.key == key_of("n", "oai:x:1\na")


@pytest.mark.parametrize(
    ("tables", "told"),
    [
        ({"entities": {"colour": 1}}, "has one setting, by_record"),
        ({"entity": {}}, r"entities are tables \[\[entity\]\]"),
        ({"entity": [3]}, r"\[\[entity\]\] 1: it is not a table"),
        ({"entity": [{"colour": "x"}]}, "there is no setting 'colour'; there are kind, prefix"),
        ({"entity": [{"kind": 3}]}, "1: kind is a text"),
        ({"entity": [{"kind": "x", "prefix": "geocode", "field": "f"}]}, "cannot be 'geocode'"),
        ({"entity": [{"kind": "x", "prefix": "X", "field": "f"}]}, "prefix cannot be 'X'"),
    ],
)
def test_a_table_of_entities_that_is_invalid_is_named(tables: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        mapping_from(tables)


# --------------------------------------------------------------------------- bundles


def test_a_bundle_is_named_by_its_first_key_whoever_asserts_it(tmp_path: Path) -> None:
    one = assert_same(str(tmp_path), [EVE, SWAN], "me", "now")
    assert one == next(iter(bundles_of([(SWAN, EVE)]).members))
    assert one == key_of("b", min(EVE, SWAN))
    found = read_bundles(str(tmp_path))
    assert found.whole(EVE) == found.whole(one) == tuple(sorted([EVE, SWAN]))
    assert found.whole(BEN) == (BEN,)
    joined = assert_same(str(tmp_path), [one, BEN], "me", "now")
    assert read_bundles(str(tmp_path)).whole(joined) == tuple(sorted([BEN, EVE, SWAN]))
    with pytest.raises(EntityUnknown, match="two different entities"):
        assert_same(str(tmp_path), [one], "me", "now")


def test_a_bundle_is_dissolved_with_every_assertion_about_it(tmp_path: Path) -> None:
    path, other = str(tmp_path), [key_of("s", text) for text in "ab"]
    assert_same(path, [EVE, SWAN], "me", "now")
    bundle = assert_same(path, [SWAN, BEN], "me", "now")
    kept = assert_same(path, other, "me", "now")
    assert dissolve(path, bundle, "you", "later") == 2
    assert list(read_bundles(path).members) == [kept]
    with pytest.raises(EntityUnknown, match="no assertion says that this entity"):
        dissolve(path, BEN, "you", "later")
    assert dissolve(path, other[0], "you", "later") == 1
    lines = [json.loads(one) for one in Path(bundles_path(path)).read_text().splitlines()]
    assert [one["agent"] for one in lines] == ["me", "me", "me", "you", "you"]


def test_an_assertion_is_taken_back_only_with_all_its_keys(tmp_path: Path) -> None:
    path = str(tmp_path)
    assert_same(path, [EVE, SWAN], "me", "now")
    assert_same(path, [EVE, SWAN, BEN], "me", "now")
    assert take_back(path, [EVE, BEN], "me", "now") == 1
    assert read_bundles(path).whole(EVE) == tuple(sorted([EVE, SWAN]))
    with pytest.raises(EntityUnknown, match="no assertion says that these"):
        take_back(path, [EVE, BEN], "me", "now")


# --------------------------------------------------------------------------- questions


def test_what_was_used_most_depends_on_the_measure(silo: Silo) -> None:
    counted(silo, "2026-05-01", _1=(9, 1), _2=(2, 5), gone=(0, 3))
    day = Period("2026-05-01", "2026-05-01")

    def top(by: str, number: int = 10) -> list[str]:
        with Usage(silo) as usage:
            return [one.key for one in usage.top_items(day, MEASURES[by], number)]

    assert top("all") == [ONE, TWO, GONE]
    assert top("views") == [ONE, TWO]  # without what has none
    assert top("downloads") == [TWO, GONE, ONE]
    assert top("downloads", 1) == [TWO]
    with Usage(silo) as usage:
        found = usage.used_items([TWO, GONE, "oai:x:9"], day, 5)
        assert [(one.key, one.label) for one in found] == [(TWO, "=Wind, and rain"), (GONE, "")]
        assert usage.top_items(Period("2020-01", "2020-01")) == []
        assert usage.top_entities("colour", day) == []


def test_entities_are_named_in_every_way(silo: Silo) -> None:
    with Usage(silo) as usage:
        assert usage.find("creator=Ben") == usage.find("Ben") == usage.find(BEN)
        assert usage.find("ben").items == (ONE, TWO)
        assert (usage.find("set=all").kind, usage.find("ARTICLE").kind) == ("set", "type")
        assert usage.find(GONE).items == (GONE,)
        assert usage.keys_of_values("creator", ["Ben", "Ben", "Nobody"]) == [
            BEN, key_of("n", "Nobody"),
        ]  # fmt: skip
        assert usage.keys_of_values("colour", ["Ben"]) == []
        for text in ("subject=Ben", "colour=Ben", "=Ben", "creator="):
            with pytest.raises(EntityUnknown, match="has the identifier or the value"):
                usage.find(text)


def test_a_name_of_several_is_told_apart_by_its_kind(silo: Silo) -> None:
    record = silo.get_item(TWO)
    record.put_stream("oai_dc", ARTICLE.replace("Weather<", "Ben<").encode(), metadata=True)
    record.sync()
    with Usage(silo) as usage:
        with pytest.raises(EntityUnknown, match=f"'Ben' is the name of several; .* creator {BEN}"):
            usage.find("Ben")
        assert usage.find("subject=Ben").items == (TWO,)


def test_a_bundle_has_the_label_of_its_first_entity_that_is_used(silo: Silo) -> None:
    unused = key_of("n", "Nobody")
    bundle = assert_same(silo.path, [unused, EVE, SWAN], "me", "now")
    with Usage(silo) as usage:
        first = next(one for one in sorted([EVE, SWAN]))
        assert usage.label(bundle) == {EVE: "Swan, Eve", SWAN: "B. Swan"}[first]
        assert usage.entity(SWAN).key == usage.entity(unused).key == bundle
        assert (usage.entity(bundle).records, usage.label(unused)) == (2, "")
        with pytest.raises(EntityUnknown, match="an entity with the key n:"):
            usage.entity(key_of("n", "Nobody else"))


# --------------------------------------------------------------------------- the catalogue


def test_a_silo_that_cannot_be_written_is_read_all_the_same(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("usagestats.entities.catalogue.can_write_in", lambda _directory: False)
    with Usage(silo) as usage:
        assert usage.find("Ben").items == (ONE, TWO)
    assert not os.path.exists(catalogue_path(silo.path))


def test_the_catalogue_is_made_again_when_it_is_lost(silo: Silo) -> None:
    with Usage(silo) as usage:
        before = list(usage.catalogue.metadata())
    for path in Path(catalogue_path(silo.path)).parent.glob("usage.sqlite*"):
        path.unlink()
    with Usage(silo) as usage:
        assert list(usage.catalogue.metadata()) == before
        assert [name for _, name, _ in before] == [ONE, TWO, GONE]


def test_a_damaged_manifest_hides_no_other_record(silo: Silo) -> None:
    file = next(one for one in Path(silo.path).rglob("oai_dc") if "Solar" in one.read_text())
    (file.parent.parent / "__manifest.json").write_text("{")
    with Usage(silo) as usage:
        assert usage.catalogue.title_of(ONE) == ""
        assert usage.find("Ben").items == (TWO,)
        assert usage.catalogue.title_of("oai:x:never") == ""


def test_suggestions_take_signs_of_patterns_as_they_are(silo: Silo) -> None:
    record = silo.get_item(TWO)
    names = ("100%_sure", "100 sure", "The 100%", "a\\b")
    text = "".join(f"<dc:subject>{one}</dc:subject>" for one in names)
    record.put_stream("oai_dc", ARTICLE.replace("</oai_dc:dc>", f"{text}</oai_dc:dc>").encode(),
                      metadata=True)  # fmt: skip
    record.sync()
    with Usage(silo) as usage:

        def suggested(text: str, most: int = 9) -> list[str]:
            return [one.label for one in usage.catalogue.starting_with("subject", text, most)]

        assert suggested("100%") == ["100%_sure", "The 100%"]
        assert suggested("100%", 1) == ["100%_sure"]
        assert (suggested("_"), suggested("A\\"), suggested("sure")) == ([], ["a\\b"], ["100 sure"])


def test_records_whose_counts_are_gone_leave_the_catalogue(silo: Silo) -> None:
    with Usage(silo) as usage:
        assert usage.catalogue.kinds()["creator"] == 3
    with UsageCounts(silo.path, "write") as counts, counts.changing() as change:
        change.remove_items([TWO])
    with UsageCounts(silo.path) as counts:
        catalogue = EntityCatalogue(silo, counts)
        before = catalogue.stamp()
        catalogue.refresh()
        assert catalogue.stamp() != before
        assert catalogue.kinds()["creator"] == 2
        assert (catalogue.entity(SWAN), catalogue.items_of([BEN])) == (None, [ONE])
        catalogue.close()


# --------------------------------------------------------------------------- facets and commands


def test_uses_are_an_order_and_a_column(silo: Silo) -> None:
    counted(silo, "2026-05-01", _1=(9, 1), _2=(1, 30))
    assert USES.values(silo.path, [ONE, GONE, "oai:x:9"])[ONE] != ("0",)
    assert DOWNLOADS.values(silo.path, [TWO])[TWO] == (str(30 + downloads(silo, TWO)),)
    assert USES.values(silo.path, ["oai:x:9"]) == {}
    before = USES.stamp(silo.path)
    counted(silo, "2026-05-02", _1=(1, 0))
    assert USES.stamp(silo.path) != before
    assert USES.stamp("/nowhere") == ""


def downloads(silo: Silo, item: str) -> int:
    """Downloads of the days that every test has."""
    with UsageCounts(silo.path) as counts:
        days = days_of(counts, [item], Period("2025-12-30", "2026-01-01"))
    return sum(one.total_requests for _, one in days)


def test_a_search_is_sorted_by_uses(silo: Silo) -> None:
    counted(silo, "2026-05-01", _1=(1, 0), _2=(99, 0))

    def found(*words: str) -> list[str]:
        done = CliRunner().invoke(silo_command, ["search", silo.path, *words])
        assert done.exit_code == 0, done.output
        return re.findall("oai:x:[12]", done.stdout)

    assert found("--sort", "-uses") == [TWO, ONE]
    assert found("--sort", "-downloads") == [ONE, TWO]


def run(silo: Silo, *words: str) -> str:
    done = CliRunner().invoke(silo_command, ["usage", words[0], silo.path, *words[1:]])
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_table_of_figures_names_what_has_no_title_by_its_key(silo: Silo) -> None:
    lines = run(silo, "top", "-n", "3").splitlines()
    assert lines[0].split() == ["Views", "Downloads", "Other", "Visitors", "Label"]
    assert lines[1].endswith("Solar cells  (oai:x:1)")
    assert lines[-1].endswith(GONE)
    assert run(silo, "show", GONE).startswith(f"(no title)\nrecord {GONE}\n")
    shown = run(silo, "show", "Ben").splitlines()
    assert shown[0:2] == ["Ben", f"creator {BEN}"]
    assert shown[-1].endswith("(oai:x:2)")


def test_totals_are_a_table_with_one_row(silo: Silo) -> None:
    names, values = run(silo, "totals", "--csv", "--until", "2025-12-30").splitlines()
    known = json.loads(run(silo, "totals", "--json", "--until", "2025-12-30"))
    assert names.split(",") == list(known)
    assert values.split(",")[: len(known) - 6] == [str(one) for one in list(known.values())[:-6]]
    assert (known["from"], known["until"]) == ("2025-12-30", "2025-12-30")
    assert known["access_method"] == "Regular"
    machine = run(silo, "totals", "--machine")
    assert "machine access (robots: no list)" in machine
    assert machine.startswith("2025-12-30 to 2026-01-01, ")
