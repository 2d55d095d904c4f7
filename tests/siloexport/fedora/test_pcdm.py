"""The PCDM layout: objects, files with their descriptions, sets as collections."""

import itertools
import os
from dataclasses import replace

import pytest
from fedora_support import QUICK, USER, Fedora, Harvest, Killed, Mortal
from rdflib import Literal, URIRef
from rdflib.namespace import DCTERMS, RDF

from recordsilo import Silo
from siloexport import ActionKind, Deletions, OnConflict
from siloexport.crosswalk import Crosswalk
from siloexport.engine.export import Export
from siloexport.own_kinds import FEDORA
from siloexport.plan import Policy, Versions
from siloexport.target_kinds import FieldAvailability, Opening, checked
from siloexport.targets.fedora import FedoraTarget
from siloexport.targets.fedora.client import LINK_FORMAT
from siloexport.targets.fedora.description import parsed
from siloexport.targets.fedora.layout import ORIGINAL_NAME, PCDM, USE, Layout
from siloexport.targets.fedora.objects import OWN

ONE, TWO = "oai:example.org:1", "oai:example.org:2"
NT = "application/n-triples"
Pairs = set[tuple[URIRef, URIRef | Literal]]


def into(fedora: Fedora, silo: Silo, container: str, layout: Layout | None = Layout.PCDM) -> Export:
    names = {"a": "All of A", "a:b": "B in A"}
    target = FedoraTarget(container, fedora.client, layout=layout, set_names=names)
    return Export(silo, target, Policy(versions=Versions.ALL, deletions=Deletions.DELETE), QUICK)


def belongs(silo: Silo, identifier: str, *specs: str) -> None:
    with silo.batch([identifier]) as batch:
        batch.edit(identifier).set_metadata("setSpec", list(specs))


@pytest.fixture
def filled(empty: Silo, put: Harvest) -> Silo:
    put(empty, ONE, files={"docs/ümläut 1.pdf": b"pdf"})
    put(empty, TWO)
    belongs(empty, ONE, "a:b")
    belongs(empty, TWO, "a")
    return empty


@pytest.fixture
def pcdm(fedora: Fedora, filled: Silo) -> Export:
    export = into(fedora, filled, fedora.container())
    assert export.run().whole
    return export


def said(fedora: Fedora, uri: str) -> Pairs:
    """What a resource says, without the server's and our own statements."""
    graph = parsed(fedora.client.send("GET", uri, {"Accept": NT, "Prefer": OWN}).body)
    return {(p, o) for _, p, o in graph if not p.startswith("urn:x-recordsilo:")}  # type: ignore[misc]


def collection(export: Export, spec: str) -> str:
    return f"{export.target.shown}/pcdm.collections/{spec}"


def one_of(export: Export) -> str:
    return f"{export.target.shown}/oai+example,org+1"


PDF = "docs/%C3%BCml%C3%A4ut%5E201.pdf"


def test_a_record_its_files_and_its_sets_are_what_pcdm_calls_them(
    fedora: Fedora, pcdm: Export
) -> None:
    uri = one_of(pcdm)
    found = said(fedora, uri)
    files = [URIRef(f"{uri}/{name}") for name in ("oai_dc", "oai_dc.xml", PDF)]
    assert {o for p, o in found if p == PCDM.hasFile} == set(files)
    assert (RDF.type, PCDM.Object) in found
    assert {o for p, o in found if p == PCDM.memberOf} == {URIRef(collection(pcdm, "a+b"))}
    assert said(fedora, f"{uri}/{PDF}/fcr:metadata") == {
        (RDF.type, PCDM.File), (RDF.type, USE.OriginalFile), (PCDM.fileOf, URIRef(uri)),
        (DCTERMS.title, Literal("ümläut 1.pdf")), (ORIGINAL_NAME, Literal("docs/ümläut 1.pdf")),
    }  # fmt: skip
    assert (RDF.type, USE.OriginalFile) not in said(fedora, f"{uri}/oai_dc/fcr:metadata")
    assert said(fedora, collection(pcdm, "a+b")) == {
        (RDF.type, PCDM.Collection), (DCTERMS.title, Literal("B in A")),
        (DCTERMS.identifier, Literal("a:b")), (PCDM.memberOf, URIRef(collection(pcdm, "a"))),
    }  # fmt: skip
    assert pcdm.verify().differences == 0


def test_a_run_with_nothing_to_do_changes_nothing_and_the_layout_is_remembered(
    fedora: Fedora, filled: Silo, pcdm: Export
) -> None:
    again = into(fedora, filled, pcdm.target.shown, None)
    report = again.run()
    assert (report.written, report.actions[ActionKind.NOTHING]) == (0, 2)
    assert again.verify().differences == 0
    time_map = fedora.get(f"{collection(pcdm, 'a')}/fcr:versions", Accept=LINK_FORMAT)
    assert time_map.count(b'rel="memento"') == 1


def test_other_sets_are_a_new_description(fedora: Fedora, filled: Silo, pcdm: Export) -> None:
    belongs(filled, ONE, "c")
    assert pcdm.run(dry_run=True).actions[ActionKind.DESCRIBE] == 1
    assert pcdm.run().whole
    found = said(fedora, one_of(pcdm))
    assert {o for p, o in found if p == PCDM.memberOf} == {URIRef(collection(pcdm, "c"))}
    assert pcdm.verify().differences == 0


@pytest.mark.long
def test_a_name_that_the_source_gave_a_set_later_is_that_of_the_collection(
    fedora: Fedora, filled: Silo, pcdm: Export
) -> None:
    belongs(filled, ONE, "a:b", "a")
    named = FedoraTarget(
        pcdm.target.shown, fedora.client, layout=Layout.PCDM, set_names={"a": "Archive"}
    )
    assert replace(pcdm, target=named).run().whole
    assert (DCTERMS.title, Literal("Archive")) in said(fedora, collection(pcdm, "a"))
    assert replace(pcdm, target=named).verify().differences == 0


@pytest.mark.parametrize(
    "what",
    [
        pytest.param("file", marks=pytest.mark.long),
        pytest.param("collection", marks=pytest.mark.slow),
        pytest.param("deleted collection", marks=pytest.mark.long),
    ],
)
def test_what_others_changed_is_named_and_overwritten_only_if_asked(
    fedora: Fedora, filled: Silo, pcdm: Export, what: str
) -> None:
    address = collection(pcdm, "a+b")
    if what == "file":
        address = f"{one_of(pcdm)}/oai_dc/fcr:metadata"
    if what == "deleted collection":
        fedora.client.send("DELETE", address)
    else:
        body = f'<{address.removesuffix("/fcr:metadata")}> <{DCTERMS.title}> "Mine" .'
        fedora.client.send("PUT", address, {"Content-Type": NT}, body.encode())
    export = into(fedora, filled, pcdm.target.shown)
    assert {one.identifier for one in export.verify().first} == {ONE}
    assert into(fedora, filled, pcdm.target.shown).run().written == 0
    if what == "file":
        assert into(fedora, filled, pcdm.target.shown).reconcile().changed == 1
        assert into(fedora, filled, pcdm.target.shown).run().conflicts == 1
    mending = into(fedora, filled, pcdm.target.shown)
    planned = mending.run(dry_run=True, on_conflict=OnConflict.OVERWRITE)
    done = mending.run(on_conflict=OnConflict.OVERWRITE)
    assert (done.whole, done.written, planned.written) == (True, 1, 1), done.problems
    assert into(fedora, filled, pcdm.target.shown).verify().differences == 0


@pytest.mark.long
def test_a_roll_back_deletes_collections_that_nothing_uses(
    fedora: Fedora, filled: Silo, put: Harvest, pcdm: Export
) -> None:
    first = pcdm.status().runs[0][0]
    put(filled, "oai:example.org:3")
    belongs(filled, "oai:example.org:3", "a", "c")
    second = pcdm.run().run_id
    assert pcdm.rollback(first, purge=True).taken_back == 2
    assert fedora.client.get_if_there(collection(pcdm, "a")) is not None
    assert fedora.client.get_if_there(collection(pcdm, "a+b")) is None
    assert pcdm.rollback(second, purge=True).taken_back == 1
    assert fedora.client.get_if_there(collection(pcdm, "c")) is None
    assert pcdm.rollback(first, purge=True).taken_back == 0
    assert fedora.client.get_if_there(collection(pcdm, "a")) is None
    assert into(fedora, filled, pcdm.target.shown).run().whole


@pytest.mark.long
def test_a_deletion_leaves_the_collection(fedora: Fedora, filled: Silo, pcdm: Export) -> None:
    with filled.batch([ONE]) as batch:
        batch.edit(ONE).set_metadata("deleted_at_version", "1")
    report = pcdm.run()
    assert (report.whole, report.actions[ActionKind.WITHDRAW]) == (True, 1), report.problems
    assert fedora.client.get_if_there(one_of(pcdm)) is None
    assert fedora.client.get_if_there(collection(pcdm, "a+b")) is not None


@pytest.mark.slow
def test_an_export_can_change_to_the_layout_and_back(
    fedora: Fedora, filled: Silo, put: Harvest
) -> None:
    container = fedora.container()
    assert into(fedora, filled, container, None).run().whole
    put(filled, ONE, "2", files={"docs/ümläut 1.pdf": b"pdf"})
    for layout in (Layout.PCDM, Layout.PLAIN):
        export = into(fedora, filled, container, layout)
        planned = export.run(dry_run=True).actions
        report = export.run()
        assert report.whole, report.problems
        assert planned == report.actions
        assert export.verify().differences == 0
        metadata = said(fedora, f"{one_of(export)}/oai_dc/fcr:metadata")
        assert ((RDF.type, PCDM.File) in metadata) == (layout is Layout.PCDM)


def test_a_title_of_the_crosswalk_is_that_of_the_file(fedora: Fedora, filled: Silo) -> None:
    crosswalk = Crosswalk.parse(
        'version = 2\n[[format]]\nroot = "*"\ndescribed = true\n'
        '[[file]]\nname = "*.pdf"\ntitle = "Full text"\nlanguage = "en"\n'
        'use = "http://pcdm.org/use#ServiceFile"\n'
    )
    target = FedoraTarget(fedora.container(), fedora.client, crosswalk, Layout.PCDM)
    export = Export(filled, target, retries=QUICK)
    assert export.run().whole
    found = said(fedora, f"{one_of(export)}/{PDF}/fcr:metadata")
    assert (DCTERMS.title, Literal("Full text", lang="en")) in found
    assert (RDF.type, USE.ServiceFile) in found
    assert export.verify().differences == 0


def _killed(fedora: Fedora, silo: Silo, number: int, *, after: bool) -> bool:
    """Kill an export at a request; False where it ends before."""
    container = fedora.container()
    with Mortal(container, number, after=after) as client:
        target = FedoraTarget(container, client, layout=Layout.PCDM)
        try:
            Export(silo, target, Policy(versions=Versions.ALL), QUICK).run()
        except Killed:
            pass
        else:
            return False
    export = into(fedora, silo, container)
    report = export.run()
    assert report.whole, report.problems
    assert [(one.what, one.detail) for one in export.verify().first] == []
    for identifier in (ONE, TWO):
        found = export.target.find(identifier)
        assert found is not None
        assert (found.deposits, found.is_as_left) == (1, True)
    assert export.run().written == 0
    for run_id, _, _ in export.status().runs:
        export.rollback(run_id, purge=True)
    assert fedora.client.get_if_there(collection(export, "a+b")) is None
    assert fedora.client.get_if_there(collection(export, "a")) is None
    return True


_SLOW = [pytest.mark.slow, pytest.mark.timeout(3600)]


@pytest.mark.parametrize(
    ("step", "after"),
    [
        pytest.param(29, False, marks=pytest.mark.long),
        pytest.param(1, False, marks=_SLOW),
        pytest.param(1, True, marks=_SLOW),
    ],
)
def test_an_export_killed_anywhere_goes_on_and_can_be_rolled_back(
    fedora: Fedora, filled: Silo, after: bool, step: int
) -> None:
    numbers = itertools.takewhile(
        lambda number: _killed(fedora, filled, number, after=after), itertools.count(4, step)
    )
    assert max(numbers) > 30


def test_what_the_form_of_the_page_begins_is_in_this_layout(
    fedora: Fedora, filled: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEDORA_USER", USER)
    monkeypatch.setenv("FEDORA_PASSWORD", USER)
    container = fedora.container()
    os.makedirs(f"{filled.path}/curation", exist_ok=True)
    with open(f"{filled.path}/curation/fedora.toml", "w", encoding="utf-8") as file:
        file.write(f'[a]\nurl = "{container}"\n')
    given = checked(FEDORA, {"place": "a", "layout": "pcdm"}, filled.path, FieldAvailability.PAGE)
    assert FEDORA.open is not None
    with FEDORA.open(Opening(filled.path, given)) as target:
        assert Export(filled, target, retries=QUICK).run().whole
    found = said(fedora, f"{container}/oai+example,org+1")
    assert (RDF.type, PCDM.Object) in found
