"""Entities: their keys, their records, bundles, and what the commands say of them."""

import csv
import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from day_items import DayItem, item_figures, replace_day
from made_up import GONE, ONE, THESIS, TWO, count, make_silo

from recordsilo import Silo
from recordsilo.cli import silo_command
from usagestats.entities import usage as usage_module
from usagestats.entities.bundles import assert_same, bundles_of, read_bundles, take_back
from usagestats.entities.catalogue import EntityCatalogue
from usagestats.entities.mapping import key_of, mapping_from, read_mapping
from usagestats.entities.usage import Usage
from usagestats.errors import CountsUnreadable, EntityUnknown, SettingsInvalid
from usagestats.store.counts import Period, UsageCounts
from usagestats.store.paths import bundles_path, settings_path
from usagestats.values import Figures

BEN, EVE, SWAN = (key_of("n", name) for name in ("Ben", "Swan, Eve", "B. Swan"))
ALL = Period()


@pytest.fixture
def silo(tmp_path: Path) -> Iterator[Silo]:
    path = str(tmp_path / "silo")
    found = make_silo(path)
    count(path, days=40)
    yield found
    found.close()


def _run(silo: Silo, *words: str, code: int = 0) -> str:
    name, *rest = words
    result = CliRunner().invoke(silo_command, ["usage", name, silo.path, *rest])
    assert result.exit_code == code, result.output
    return result.output


def test_keys_are_those_of_2010() -> None:
    assert BEN == "n:092f2ba9f39fbc2876e64d12cd662f72"
    assert key_of("s", "Größe") == f"s:{hashlib.md5('Größe'.encode()).hexdigest()}"


def test_the_usage_of_an_entity_is_that_of_its_records(silo: Silo) -> None:
    with UsageCounts(silo.path) as counts, Usage(silo) as usage:
        figures = item_figures(counts, ALL)
        tops = {one.label: one for one in usage.top_entities("creator", ALL)}
        assert tops["Ben"].figures == figures[ONE] + figures[TWO]
        assert tops["Swan, Eve"].figures == figures[ONE]
        assert (tops["Ben"].records, tops["B. Swan"].records) == (2, 1)
        assert usage.find("Ben").items == (ONE, TWO)
        assert [one.key for one in usage.top_items(ALL, number=2)] == [ONE, TWO]
        assert usage.find("1").key == ONE
        assert usage.find(GONE).label == ""
        kinds = [one.kind for one in usage.catalogue.entities_of(ONE)]
        assert list(dict.fromkeys(kinds)) == [
            "creator",
            "subject",
            "publisher",
            "type",
            "set",
            "language",
        ]
        assert [one.label for one in usage.catalogue.starting_with("creator", "SWAN", 5)] == [
            "Swan, Eve",
            "B. Swan",
        ]


def test_what_is_known_of_many_silos_is_bounded(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: OrderedDict[Any, Any] = OrderedDict(
        {(f"silo{number}", "creator"): () for number in "123"}
    )
    monkeypatch.setattr(usage_module, "_known_links", known)
    monkeypatch.setattr(usage_module, "_MOST_KNOWN", 3)
    with Usage(silo) as usage:
        usage.top_entities("creator", ALL)
    assert [path for path, _ in known] == ["silo2", "silo3", silo.path]


def test_a_record_is_read_again_when_it_changes(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[str] = []
    before = EntityCatalogue._metadata

    def reading(self: EntityCatalogue, name: str) -> object:
        reads.append(name)
        return before(self, name)

    monkeypatch.setattr(EntityCatalogue, "_metadata", reading)
    monkeypatch.setattr("usagestats.entities.catalogue._LATELY", -1.0)
    for _ in range(2):
        with Usage(silo):
            assert sorted(reads) == [ONE, TWO]  # an identifier without a record has no metadata
    record = silo.get_item(ONE)
    text = THESIS.replace(">Ben<", ">Benjamin<").encode()
    record.put_stream("oai_dc", text, metadata=True)
    with Usage(silo) as usage:
        assert reads[2:] == [ONE]
        assert usage.find("Ben").items == (TWO,)
        assert usage.find("Benjamin").items == (ONE,)


def test_an_import_does_not_look_again_for_what_the_silo_does_not_hold(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamps = iter("12334")
    monkeypatch.setattr("recordsilo.index.catalogue.Catalogue.stamp", lambda _self: next(stamps))
    looked: list[str] = []
    before = EntityCatalogue._stamp_of

    def looking(self: EntityCatalogue, name: str) -> str:
        looked.append(name)
        return before(self, name)

    monkeypatch.setattr(EntityCatalogue, "_stamp_of", looking)
    at = silo.index_stamp()
    with UsageCounts(silo.path) as counts:
        catalogue = EntityCatalogue(silo, counts)
        # One was added after it was looked for.
        catalogue.refresh({GONE, ONE}, absent_at=at)
        assert looked == [TWO]
        assert catalogue.title_of(TWO)
        assert not catalogue.entities_of(ONE)
        catalogue.refresh()
        assert sorted(looked[1:]) == [ONE, TWO, GONE]
        assert catalogue.entities_of(ONE)
        catalogue.close()


def test_after_an_import_only_new_records_are_looked_at(
    silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recordsilo.index.catalogue.Catalogue.stamp", lambda _self: "7")
    looked: list[str] = []
    before = EntityCatalogue._stamp_of

    def looking(self: EntityCatalogue, name: str) -> str:
        looked.append(name)
        return before(self, name)

    monkeypatch.setattr(EntityCatalogue, "_stamp_of", looking)
    with Usage(silo):
        assert sorted(looked) == [ONE, TWO, GONE]
    count(silo.path, days=41, items=(ONE, TWO, GONE, "oai:x:new"))
    with Usage(silo) as usage:
        assert looked[3:] == ["oai:x:new"]
        assert usage.find("Ben").items == (ONE, TWO)


def test_a_bundle_joins_keys_and_can_be_taken_back(silo: Silo) -> None:
    bundle = _run(silo, "same", "creator=Swan, Eve", "B. Swan", "--agent", "me").strip()
    with Usage(silo) as usage:
        tops = usage.top_entities("creator", ALL)
        assert [(one.key, one.records) for one in tops if one.key.startswith("b:")] == [(bundle, 2)]
        assert usage.find("B. Swan").items == (ONE, TWO)
        assert usage.find(bundle).items == (ONE, TWO)
    lines = Path(bundles_path(silo.path)).read_text().splitlines()
    assert json.loads(lines[0])["same"] == sorted([EVE, SWAN])
    assert "1 assertion taken back" in _run(silo, "same", "--undo", "Swan, Eve", "B. Swan")
    with Usage(silo) as usage:
        assert usage.find("B. Swan").items == (TWO,)
    assert "no assertion" in _run(silo, "same", "--undo", "Swan, Eve", "B. Swan", code=2)


def test_bundles_that_share_a_key_are_one(tmp_path: Path) -> None:
    path, keys = str(tmp_path), [key_of("n", text) for text in "abcd"]
    assert_same(path, keys[:2], "me", "now")
    assert_same(path, keys[2:], "me", "now")
    bundle = assert_same(path, [keys[0], keys[3]], "me", "now")
    assert read_bundles(path).members == {bundle: tuple(sorted(keys))}
    take_back(path, [keys[0], keys[3]], "me", "now")
    assert read_bundles(path) == bundles_of([keys[:2], keys[2:]])
    with pytest.raises(EntityUnknown, match="two different"):
        assert_same(path, [keys[0], keys[0]], "me", "now")
    Path(bundles_path(path)).write_text('{"same": ["x"]}\n')
    with pytest.raises(CountsUnreadable, match="line 1"):
        read_bundles(path)


def test_keys_may_include_the_record(silo: Silo) -> None:
    Path(settings_path(silo.path)).write_text("[entities]\nby_record = true\n")
    with Usage(silo) as usage:
        assert len(usage.catalogue.labelled("Ben")) == 2
        keys = [one.key for one in usage.catalogue.labelled("Ben")]
        with pytest.raises(EntityUnknown, match="name of several"):
            usage.find("Ben")
    assert_same(silo.path, keys, "me", "now")
    with Usage(silo) as usage:
        assert usage.find(keys[0]).items == (ONE, TWO)


def test_fields_of_ones_own(silo: Silo) -> None:
    Path(settings_path(silo.path)).write_text(
        '[[entity]]\nkind = "journal"\nprefix = "j"\nfield = "source"\n'
        "match = '^(?P<label>Journal of \\w+)'\n"
        '[[entity]]\nkind = "institution"\nprefix = "i"\nfield = "publishers"\n'
    )
    with Usage(silo) as usage:
        assert usage.find("journal=Journal of Weather").items == (TWO,)
        assert usage.find("institution=University of Wexcombe").items == (ONE,)
        assert list(usage.catalogue.kinds())[-2:] == ["journal", "institution"]


def test_sets_are_called_by_their_names(silo: Silo) -> None:
    Path(silo.path, "oaipmh_harvester.json").write_text('{"sets": {"all": "Everything"}}')
    with Usage(silo) as usage:
        (found,) = usage.top_entities("set", ALL)
        assert (found.key, found.label, found.records) == (key_of("set", "all"), "Everything", 2)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("entities = 3", "one setting"),
        ("[entities]\nby_record = 3", "true or false"),
        ("[[entity]]\nkind = 'x'\nprefix = 'b'\nfield = 'f'", "prefix cannot be"),
        ("[[entity]]\nkind = 'x'\nprefix = 'n'\nfield = 'f'", "two kinds"),
        ("[[entity]]\nkind = 'x'\nprefix = 'x'", "1: field is missing"),
        (
            "[[entity]]\nkind = 'x'\nprefix = 'x'\nfield = 'f'\nmatch = '('",
            "match: '\\(' is not a valid pattern",
        ),
        ("[[entity]]\nkind = 'X'\nprefix = 'x'\nfield = 'f'", "kind is of lower"),
        ("[[entity", "usage.toml"),
    ],
)
def test_settings_that_are_invalid(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "usage").mkdir()
    Path(settings_path(str(tmp_path))).write_text(text)
    with pytest.raises(SettingsInvalid, match=sentence):
        read_mapping(str(tmp_path))
    assert mapping_from({}).elements == ()


def test_the_commands_print_text_json_and_csv(silo: Silo) -> None:
    assert "Solar cells  (oai:x:1)" in _run(silo, "top", "-n", "1")
    found = json.loads(_run(silo, "top", "--kind", "creator", "--json", "--by", "downloads"))
    assert found[0]["label"] == "Ben"
    lines = list(csv.reader(_run(silo, "top", "--csv", "--from", "2026-01").splitlines()))
    assert lines[0] == ["Label", "Views", "File Downloads", "Other interactions", "[Internal ID]"]
    assert lines[-1] == [
        "Totals",
        *(str(sum(int(row[n]) for row in lines[1:-1])) for n in (1, 2, 3)),
        "",
    ]
    assert "'=Wind, and rain" in {row[0] for row in lines}
    shown = json.loads(_run(silo, "show", "n:092f2ba9f39fbc2876e64d12cd662f72", "--json"))
    assert [one["key"] for one in shown["items"]] == [ONE, TWO]
    assert shown["first_use"] == "2025-12-30T00:00:00Z"
    assert sum(one["views_2010"] for one in shown["items"]) == shown["views_2010"]
    assert "creator    n:092f2ba9" in _run(silo, "show", "1")
    assert "Solar cells" in _run(silo, "show", "Ben")
    assert _run(silo, "show", "Ben", "--csv").splitlines()[-1].startswith("Totals,")


def test_a_table_of_2010_is_in_the_order_of_its_own_figures(tmp_path: Path) -> None:
    path, day = str(tmp_path / "silo"), "2026-01-05"
    with make_silo(path) as silo:
        count(path, days=1, items=(ONE,))
        with UsageCounts(path, "create") as counts, counts.changing() as change:
            # by COUNTER the first one was used more often, by the rule of 2010 the second
            one = Figures(9, 2, 9, 2, 0, 1, 2, 0, 1)
            two = Figures(8, 1, 8, 1, 0, 6, 5, 0, 1)
            replace_day(
                change, day, [DayItem(ONE, False, one, 0, 0), DayItem(TWO, False, two, 0, 0)]
            )

        def order(*words: str) -> list[str]:
            return [row[-1] for row in csv.reader(_run(silo, *words, "--from", day).splitlines())]

        assert order("top", "--csv") == ["[Internal ID]", TWO, ONE, ""]
        assert order("top", "--csv", "--by", "downloads", "-n", "1") == ["[Internal ID]", TWO, ""]
        assert order("show", "Ben", "--csv") == ["[Internal ID]", TWO, ONE, ""]
        text = _run(silo, "top", "--from", day).splitlines()
        assert [line.rpartition("(")[2] for line in text[1:]] == [f"{ONE})", f"{TWO})"]


def test_a_record_that_was_not_used_is_shown_with_its_title(tmp_path: Path) -> None:
    path = str(tmp_path / "silo")
    with make_silo(path) as silo:
        count(path, days=1, items=(ONE,))
        shown = _run(silo, "show", "2")
    assert shown.startswith("=Wind")
    assert "0 views and 0 downloads" in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("top", "--kind", "colour"), "no kind 'colour'"),
        (("top", "--from", "yesterday"), "not a day or a month"),
        (("show", "nobody"), "has the identifier or the value"),
        (("show", "n:" + "0" * 32), "has an entity with the key"),
        (("same", "1", "Ben"), "is a record"),
        (("same", "Ben", "Thesis"), "different kinds"),
        (("same", "Ben"), "two different"),
    ],
)
def test_the_commands_refuse(silo: Silo, words: tuple[str, ...], sentence: str) -> None:
    assert sentence in _run(silo, *words, code=2)
