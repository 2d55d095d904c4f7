"""Names are matched, messages read within limits, lists and settings read or refused."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from time import thread_time
from typing import Any

import pytest

from recordsilo import Silo
from silocuration.authorities import (
    AuthoritiesUnreadable,
    Authority,
    IdentifierRefused,
    change_authorities,
    full_id,
    read_authorities,
    scheme_of,
)
from silocuration.batch.job import create_job, preview, run_job, undo_job
from silocuration.batch.journal import Doing
from silocuration.batch.specs import rules_job
from silocuration.editing.identify import identified
from silocuration.editing.rule_files import from_table, to_table
from silocuration.errors import RuleRefused
from silocuration.reconciling.asking import ask
from silocuration.reconciling.client import opened
from silocuration.reconciling.http_service import Service
from silocuration.reconciling.lists import ListUnusable
from silocuration.reconciling.matching import NamedEntity, Names
from silocuration.reconciling.places import (
    PlacesUnreadable,
    PlaceUnusable,
    ReconciliationPlace,
    read_places,
)
from silocuration.reconciling.protocol import (
    Candidate,
    ProtocolError,
    ReconciliationQuery,
    batch_of,
    manifest_from,
    queries_from,
    results_from,
)
from silocuration.reconciling.store import Reconciliation

Fill = Callable[..., list[str]]
NAMES = Names(
    [
        NamedEntity("1", ("Swan, Alma",), ("Person",), weight=9),
        NamedEntity("2", ("Swan, John",), ("Person",)),
        NamedEntity("3", ("Harnad, Stevan", "S. Harnad"), ("Person",)),
        NamedEntity("4", ("University of Southampton",), ("Organization",)),
        NamedEntity("5", ("University of Southern Denmark",), ("Organization",), weight=3),
    ]
)


@pytest.mark.parametrize(
    ("text", "key", "is_certain"),
    [
        ("Swan, Alma", "1", True),
        ("alma swan", "1", True),
        ("Swan, A.", "1", False),
        ("Harnad, Steven", "3", False),
        ("Harnad, S.", "3", True),
        ("Southampton University", "4", False),
    ],
)
def test_the_best_candidate_comes_first(text: str, key: str, is_certain: bool) -> None:
    best = NAMES.find(text)[0]
    assert (best.named.id, best.matches) == (key, is_certain)
    assert best.score == 100 if text == best.named.names[0] else best.score < 100


def test_two_of_the_same_words_are_never_certain() -> None:
    twice = Names([NamedEntity("a", ("Smith, J.",)), NamedEntity("b", ("J. Smith",))])
    assert [one.matches for one in twice.find("smith j")] == [False, False]


def test_texts_of_very_many_words_are_compared_in_a_moment() -> None:
    text = " ".join(f"{a}{b}" for a in "abcdefghij" for b in "klmnopqrstuvwxyz")
    names = Names([NamedEntity("1", (text + " ever" * 9,)), NamedEntity("2", (text * 20,))])
    began = thread_time()
    names.find(text)
    assert thread_time() - began < 1


def test_types_and_beginnings_choose() -> None:
    assert NAMES.find("Swan", types={"Organization"}) == []
    assert [one.id for one in NAMES.begin_with("univ")] == ["5", "4"]
    assert NAMES.begin_with(" ") == []
    assert NAMES.find("…") == []


def test_a_batch_is_read_as_it_was_written() -> None:
    queries = {
        "q0": ReconciliationQuery("Swan", ("Person",), 3, (("year", "2016"),)),
        "q1": ReconciliationQuery("Ünï"),
    }
    assert queries_from(batch_of(queries)) == queries


@pytest.mark.parametrize(
    "text",
    ["", "[]", "[" * 100_000, '{"q0": 1}', '{"q0": {}}', '{"q0": {"query": 5}}',
     json.dumps({str(n): {"query": "a"} for n in range(51)})],
)  # fmt: skip
def test_a_batch_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ProtocolError):
        queries_from(text)


def test_answers_of_strangers_are_cut_to_one_line_each() -> None:
    said = {"q0": {"result": [
        {"id": "a", "name": "A\n\0<b>" + "x" * 9_000, "score": 5, "match": "yes", "type": ["T"]},
        {"id": "b", "name": "B", "score": 90, "match": True, "type": [{"id": "P", "name": "Q"}]},
        {"id": "", "name": "none", "score": 1}, {"name": "no id"}, 7, {"id": ["c"], "name": "C"},
        {"id": "d", "name": "D", "score": float("nan")},
    ]}}  # fmt: skip
    found = results_from(said, ["q0"])["q0"]
    assert [one.id for one in found] == ["b", "a", "c", "d"]
    assert (found[0].types, found[0].matches, found[1].matches) == (("Q",), True, False)
    assert len(found[1].name) <= 500
    assert "\0" not in found[1].name
    for wrong in (None, [], {}, {"q0": {}}, {"q0": {"result": {}}}):
        with pytest.raises(ProtocolError):
            results_from(wrong, ["q0"])


def test_a_manifest_gives_addresses_of_the_web_only() -> None:
    said = {"name": "N", "view": {"url": "javascript:{{id}}"}, "preview": {"url": "x"},
            "defaultTypes": [{"id": "t", "name": "T"}]}  # fmt: skip
    found = manifest_from(said)
    assert (found.view, found.preview, found.types) == ("", "", (("t", "T"),))
    with pytest.raises(ProtocolError):
        manifest_from({"name": 1})


@pytest.mark.parametrize(
    ("key", "scheme", "link"),
    [
        ("0000-0002-1825-0097", "ORCID", "https://orcid.org/0000-0002-1825-0097"),
        ("https://ror.org/01ej9dk98", "ROR", "https://ror.org/01ej9dk98"),
        ("Q42", "Wikidata", "https://www.wikidata.org/wiki/Q42"),
        ("viaf:75121530", "VIAF", "https://viaf.org/viaf/75121530"),
        ("https://d-nb.info/gnd/118540238", "GND", "https://d-nb.info/gnd/118540238"),
        ("https://d-nb.info/gnd/118540239", "", ""),
        ("gnd:4005728-8", "GND", "https://d-nb.info/gnd/4005728-8"),  # from before 2012
        ("gnd:4005728-3", "GND", "https://d-nb.info/gnd/4005728-3"),
        ("gnd:4005728-7", "", ""),
        ("gnd:40057288", "", ""),
        ("gnd:95980479-X", "GND", "https://d-nb.info/gnd/95980479-X"),
        ("gnd:X1854-023", "", ""),
        ("ror:01EJ9DK98", "ROR", "https://ror.org/01ej9dk98"),
        ("https://ror.org/01ej9dk89", "", ""),
        ("https://ror.org/01ej9kd98", "", ""),
        ("https://ror.org/0iloudk98", "", ""),
        ("https://example.org/staff/1", "", "https://example.org/staff/1"),
        ("0000-0000-0000-0000", "", ""),
        ("https://orcid.org/0000-0002-1825-0098", "", ""),
        ("isni:000000012103268x", "", ""),
        ("isni:0000000121032683", "ISNI", "https://isni.org/isni/0000000121032683"),
        ("https://example.org:8443/é?a=%C3%A9#b", "", "https://example.org:8443/é?a=%C3%A9#b"),
        ("http://[::1]/a", "", "http://[::1]/a"),
        ("http://[::1", "", ""),
        ("http://x:y/", "", ""),
        ("http:///a", "", ""),
        ("http://x/{}", "", ""),
        ("http://x/%zz", "", ""),
        ("http://x/a b", "", ""),
        ("http://x/\x01", "", ""),
        ("http://x/\ufffe", "", ""),
        ("javascript:alert(1)", "", ""),
        ("17", "", ""),
    ],
)
def test_identifiers_lead_to_their_pages(key: str, scheme: str, link: str) -> None:
    assert scheme_of(key) == (scheme, link)


def test_numbers_of_a_service_become_full_identifiers() -> None:
    assert full_id("75121530", "http://viaf.org/viaf/") == "https://viaf.org/viaf/75121530"
    assert full_id("17", "", "https://example.org/{{id}}") == "https://example.org/17"
    assert full_id("17", "urn:x") == "17"


def test_authority_files_are_given_and_taken(tmp_path: Path) -> None:
    assert read_authorities(str(tmp_path), "creator") == {}
    swan, other = Authority("Swan, A.", "0000-0002-1825-0097"), Authority('"x", y', "Q42", "é")
    change_authorities(str(tmp_path), "creator", [swan, other])
    assert read_authorities(str(tmp_path), "creator") == {one.value: one for one in (other, swan)}
    change_authorities(str(tmp_path), "creator", [], ["Swan, A.", "unknown"])
    assert [*read_authorities(str(tmp_path), "creator")] == [other.value]


def test_what_people_add_to_an_authority_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "curation" / "authorities" / "creator.csv"
    file.parent.mkdir(parents=True)
    file.write_text("id,value,our note\nQ42,Adams,seen\n,Swan,ask Alma\n")
    assert [*read_authorities(str(tmp_path), "creator")] == ["Adams"]
    change_authorities(str(tmp_path), "creator", [Authority("Swan", "Q1")], ["Adams"])
    assert [*read_authorities(str(tmp_path), "creator")] == ["Swan"]
    head, adams, swan = file.read_text().splitlines()
    assert head.endswith(",date,our note")
    assert (adams, swan) == ("Adams,,,,,,seen", "Swan,Q1,,,,,ask Alma")


def test_an_authority_file_whose_head_is_no_csv_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "curation" / "authorities" / "creator.csv"
    file.parent.mkdir(parents=True)
    file.write_text("value,id," + "x" * 200_000)
    limit = csv.field_size_limit(100_000)  # other modules of the process may have raised it
    try:
        with pytest.raises(AuthoritiesUnreadable, match="not CSV"):
            read_authorities(str(tmp_path), "creator")
    finally:
        csv.field_size_limit(limit)


def test_an_identifier_with_a_control_character_is_refused_when_it_is_given(
    tmp_path: Path,
) -> None:
    change_authorities(str(tmp_path), "creator", [Authority("A", "Q1")])
    for key in ("Q2\0", "Q2\n", "Q\x852"):
        with pytest.raises(IdentifierRefused, match="of 'B': it has a control character"):
            change_authorities(str(tmp_path), "creator", [Authority("B", key)], ["A"])
    assert [*read_authorities(str(tmp_path), "creator")] == ["A"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('value,id\nA,Q1\nB,"Q2\nC,Q3\n', "line 3: a quotation mark is not closed"),
        ('value,id\n"A,Q1\nB,"Q2"\n', "line 2: a quotation mark is not closed"),
        ('value,id\nA,"Q1"2\n', "line 2: a quotation mark is not closed or not doubled"),
        ("value,id,id\nA,Q1,Q2\n", "names the column id twice"),
        ("value,id\nA,Q1\0\n", "line 2: the id has a control character"),
    ],
)
def test_a_damaged_authority_file_is_refused_and_not_written_over(
    tmp_path: Path, text: str, why: str
) -> None:
    file = tmp_path / "curation" / "authorities" / "creator.csv"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    with pytest.raises(AuthoritiesUnreadable, match=why):
        change_authorities(str(tmp_path), "creator", [Authority("D", "Q4")])
    assert file.read_text() == text


def test_a_value_with_line_ends_is_read_as_it_was_written(tmp_path: Path) -> None:
    given = [Authority(value, "Q1") for value in ("a\nb", "a\r\nb", "a\rb", 'a";b')]
    change_authorities(str(tmp_path), "creator", given)
    assert [*read_authorities(str(tmp_path), "creator").values()] == given


def test_no_cell_of_an_authority_file_is_a_formula(tmp_path: Path) -> None:
    given = [Authority(sign + "1+1", sign + "2", "'=x", "staff", "@cara") for sign in "=+-@'"]
    change_authorities(str(tmp_path), "creator", given)
    assert read_authorities(str(tmp_path), "creator") == {one.value: one for one in given}
    text = (tmp_path / "curation" / "authorities" / "creator.csv").read_text()
    assert not {cell[0] for line in csv.reader(text.splitlines()) for cell in line if cell} & {
        *"=+-@"
    }
    (tmp_path / "curation" / "authorities" / "creator.csv").write_text(
        "value,id\n=a,-1\n't Hooft,2\n"
    )
    found = read_authorities(str(tmp_path), "creator").values()
    assert [(one.value, one.id) for one in found] == [("=a", "-1"), ("'t Hooft", "2")]


def test_a_pace_that_is_no_number_is_the_slowest(tmp_path: Path) -> None:
    found = settings(tmp_path, '[places.a]\nlist = "a.csv"\ndelay = nan\n')
    assert found.place("a").delay == 60


def settings(directory: Path, text: str) -> Any:
    (directory / "curation" / "lists").mkdir(parents=True, exist_ok=True)
    (directory / "curation" / "reconciliation.toml").write_text(text)
    return read_places(str(directory))


def test_a_list_of_ones_own_is_asked_without_a_network(tmp_path: Path) -> None:
    place = settings(tmp_path, '[places.staff]\nlist = "staff.csv"\n').place("staff")
    staff = tmp_path / "curation" / "lists" / "staff.csv"
    staff.write_text("\ufeffID;Name;aliases\n17;Swan, Alma;A. Swan|Alma P. Swan\n18;Ünï;\n;;\n")
    found = opened(place, str(tmp_path)).candidates(
        [ReconciliationQuery("swan a"), ReconciliationQuery("nobody")]
    )
    assert [[one.id for one in some] for some in found] == [["17"], []]
    for wrong in ("name\nx\n", "id,name\n,x\n", b"\xff".decode("latin-1"), "", "id,name\n",
                  'id,name\n1,"x\n2,y\n', "id,ID,name\n1,2,x\n", "id,name\n1\0,x\n"):  # fmt: skip
        staff.write_bytes(wrong.encode("latin-1"))
        with pytest.raises(ListUnusable):
            opened(place, str(tmp_path))


@pytest.mark.parametrize(
    "text",
    ["[", "x = 1", "[places.A]\nlist='a.csv'", "[places.a]", "[places.a]\nurl='ftp://x/'",
     "[places.a]\nlist='../a.csv'", "[places.a]\nurl='http://x/'\nlist='a.csv'",
     "[places.a]\nurl='http://x/'\nfields=['title']", "[places.a]\nurl='http://u:p@x/'",
     "[service]\npublic=1", "[service]\norigins=['*']", "[places.a]\nurl='http://x/'\nwhat=1"],
)  # fmt: skip
def test_settings_that_are_wrong_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(PlacesUnreadable):
        settings(tmp_path, text)


def test_a_service_at_a_private_address_is_not_connected_to() -> None:
    place = ReconciliationPlace("own", "own", url="http://127.0.0.1:9/")
    with pytest.raises(PlaceUnusable, match="not public"):
        Service(place)


def store_of(directory: Path) -> Reconciliation:
    store = Reconciliation(str(directory), "staff", "creator")
    store.add({
        "Swan, A.": [Candidate("Q1", "Swan, Alma", 98), Candidate("Q2", "Swan, Amy", 80)],
        "Li, J.": [Candidate("Q3", "Li, Jo", 95), Candidate("Q4", "Li, Jan", 94)],
        "Nobody": [],
    })  # fmt: skip
    return store


def test_candidates_are_clear_by_score_and_distance(tmp_path: Path) -> None:
    known = store_of(tmp_path).read()
    clear = {value: one.clear(90, 10) for value, one in known.items()}
    assert [one.id if one else None for one in clear.values()] == ["Q1", None, None]


def test_decisions_give_identifiers_and_are_taken_back(tmp_path: Path) -> None:
    path, store = str(tmp_path), store_of(tmp_path)
    best = {value: one.candidates[0] for value, one in store.read().items() if one.candidates}
    batch = store.accept(best, "cara")
    store.reject(["Nobody"], "cara", batch)
    assert {one.value: one.id for one in read_authorities(path, "creator").values()} == {
        "Li, J.": "Q3", "Swan, A.": "Q1",
    }  # fmt: skip
    assert [one.decision for one in store.read().values()] == ["accepted", "accepted", "rejected"]
    change_authorities(path, "creator", [Authority("Li, J.", "Q9")])  # by somebody else
    assert store.undo(batch, "cara") == 3
    assert {one.id for one in read_authorities(path, "creator").values()} == {"Q9"}
    assert {one.decision for one in store.read().values()} == {"open"}
    assert store.undo(batch, "cara") == 0
    assert store.undo("", "cara") == 0


def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    place = settings(tmp_path, '[places.staff]\nlist = "staff.csv"\n').place("staff")
    (tmp_path / "curation" / "lists" / "staff.csv").write_text('id,name\n17,"Swan, Alma"\n')
    numbers = [ask(place, str(tmp_path), "creator", ["Swan, Alma", "Li"]) for _ in range(2)]
    assert numbers == [2, 0]
    found = Reconciliation(str(tmp_path), "staff", "creator").read()
    assert [one.id for one in found["Swan, Alma"].candidates] == ["17"]


def test_a_list_that_has_grown_is_asked_again_for_what_is_not_decided(tmp_path: Path) -> None:
    place = settings(tmp_path, '[places.staff]\nlist = "staff.csv"\n').place("staff")
    path = tmp_path / "curation" / "lists" / "staff.csv"
    path.write_text('id,name\n17,"Swan, Alma"\n')
    ask(place, str(tmp_path), "creator", ["Swan, Alma", "Li"])
    store = Reconciliation(str(tmp_path), "staff", "creator")
    store.reject(["Swan, Alma"], "ana")
    path.write_text('id,name\n17,"Swan, Alma"\n18,Li\n')
    assert ask(place, str(tmp_path), "creator", ["Swan, Alma", "Li"], again=True) == 1
    assert [one.id for one in store.read()["Li"].candidates] == ["18"]
    path.unlink()
    with pytest.raises(ListUnusable, match=r"staff\.csv"):
        ask(place, str(tmp_path), "creator", ["Swan, Alma", "Li"])


# --------------------------------------------------------------------------- in the metadata

ORCID = "https://orcid.org/0000-0002-1825-0097"
DATACITE = """<?xml version='1.0' encoding='UTF-8'?>
<resource xmlns="http://datacite.org/schema/kernel-4">
  <creators>
    <creator>
      <creatorName>Swan,  Alma</creatorName>
      <familyName>Swan</familyName>
      <affiliation>Wind Lab</affiliation>
    </creator>
    <creator><creatorName>Ash, A.</creatorName></creator>
    <creator>
      <creatorName>Bell, B.</creatorName>
      <nameIdentifier nameIdentifierScheme="ORCID">0000-0001-0000-0009</nameIdentifier>
    </creator>
  </creators>
  <publisher>Wind Lab</publisher>
  <subjects><subject>Wind</subject><subject subjectScheme="DDC">Water</subject></subjects>
</resource>"""
MODS = """<mods xmlns="http://www.loc.gov/mods/v3" version="3.6">
  <name><namePart type="family">Swan</namePart><namePart type="given">Alma</namePart></name>
  <subject><topic>Wind</topic></subject>
  <originInfo><publisher>Wind Lab</publisher></originInfo>
</mods>"""
TABLES = {
    "creator": {"Swan, Alma": ORCID, "Ash, A.": "17", "Bell, B.": ORCID},
    "publisher": {"Wind Lab": "https://ror.org/03yrm5c26"},
    "subject": {"Wind": "lcsh:sh85146821", "Water": "gnd:4064689-0"},
}


def test_identifiers_are_written_where_datacite_has_a_place_once() -> None:
    found = identified(DATACITE.encode(), TABLES)
    text = found.content.decode()
    assert (
        '<familyName>Swan</familyName>\n      <nameIdentifier nameIdentifierScheme="ORCID"'
        f' schemeURI="https://orcid.org/">{ORCID}</nameIdentifier>\n      <affiliation'
        ' affiliationIdentifier="https://ror.org/03yrm5c26"'
    ) in text
    assert 'publisherIdentifierScheme="ROR"' in text
    assert 'valueURI="https://id.loc.gov/authorities/subjects/sh85146821"' in text
    assert [one.name for one in found.after] == ["creator", "affiliation", "publisher", "subject"]
    assert [one.partition("' ")[0] for one in found.conflicts] == [
        "creator 'Bell, B.", "subject 'Water"]  # fmt: skip
    again = identified(found.content, TABLES)
    assert (again.after, again.content) == ([], found.content)


def test_an_older_schema_has_fewer_places() -> None:
    older = DATACITE.replace("kernel-4", "kernel-3").encode()
    assert [one.name for one in identified(older, TABLES).after] == ["creator"]


def test_identifiers_are_written_into_mods_as_its_version_allows() -> None:
    found = identified(MODS.encode(), TABLES)
    assert [one.name for one in found.after] == ["creator", "subject"]
    assert f'<name valueURI="{ORCID}" authorityURI="https://orcid.org/">' in found.content.decode()
    newer = identified(MODS.replace("3.6", "3.7").encode(), TABLES)
    assert [one.name for one in newer.after] == ["creator", "subject", "publisher"]
    only = identified(MODS.encode(), TABLES, tuple(found.after[:1]))
    assert only.after == found.after[:1]
    assert identified(MODS.replace("3.6", "3.3").encode(), TABLES).content == (
        MODS.replace("3.6", "3.3").encode()
    )


def test_contributors_have_their_own_identifiers_or_those_of_creators() -> None:
    people = "<contributors><contributor><contributorName>{}</contributorName></contributor>"
    for name, table in (("Eden, E.", "contributor"), ("Swan, Alma", "creator")):
        part = people.format(name) + "</contributors>"
        source = DATACITE.replace("<publisher>", part + "<publisher>").encode()
        found = identified(source, {"creator": {}, "contributor": {}, table: {name: ORCID}})
        assert "contributor" in [one.name for one in found.after]
    found = identified(MODS.encode(), {"contributor": {"Swan, Alma": ORCID}})
    assert [one.name for one in found.after] == ["contributor"]


def test_identifiers_are_written_by_a_batch_edit_and_taken_back(silo: Silo, fill: Fill) -> None:
    one, _plain = fill(2)
    with silo.batch([one]) as batch:
        batch.edit(one).put("1", "datacite", DATACITE.encode(), metadata=True, allow_frozen=True)
    change_authorities(silo.path, "creator", [
        Authority("Swan, Alma", ORCID), Authority("Bell, B.", ORCID)])  # fmt: skip
    rule_set = from_table({"change": [{"do": "identify", "field": "creator"}]})
    assert to_table(rule_set)["change"] == [{"do": "identify", "field": "creator"}]
    found = preview(silo, rules_job(rule_set))
    assert (found.changed, found.values, found.skipped) == (1, 1, {})
    assert found.remarks[0].startswith(f"{one}: creator 'Bell, B.' has ORCID 0000-0001")
    job = create_job(silo, rules_job(rule_set), agent="ada")
    assert run_job(silo, job).counts == {Doing.DONE: 1, Doing.UNCHANGED: 1}
    assert ORCID.encode() in silo[one].read("workingcopy", "datacite")
    again = preview(silo, rules_job(rule_set))
    assert (again.changed, [*again.skipped.values()]) == (0, [1])
    undo_job(silo, job, agent="ada")
    assert not silo[one].state.has("workingcopy")
    with pytest.raises(RuleRefused, match="stands alone"):
        from_table({"change": [{"do": "identify", "field": "creator"},
                               {"do": "trim", "field": "title"}]})  # fmt: skip
    with pytest.raises(RuleRefused, match="has no identifiers"):
        from_table({"change": [{"do": "identify", "field": "title"}]})
