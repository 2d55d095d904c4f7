"""An object that lost a file when the server was killed is completed automatically."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fedora_simulator import Simulator
from fedora_support import Fedora, Harvest
from fedora_values import DROP, DROP_AFTER, Answer, Request, Resource

from siloexport.engine.export import Export
from siloexport.ledger import ledger_path
from siloexport.targets.fedora import FedoraTarget
from siloexport.values import OnConflict

pytestmark = pytest.mark.long

ID = "oai:example.org:1"
BINARY = {"Link": '<http://www.w3.org/ns/ldp#NonRDFSource>;rel="type"'}


def uri(export: Export) -> str:
    assert isinstance(export.target, FedoraTarget)
    return export.target.uri_of(ID)


def dying(simulator: Simulator) -> Callable[[Request], Answer | None]:
    """Serve the next commit, losing files in it, and nothing after it."""
    dead = False

    def interfere(request: Request) -> Answer | None:
        nonlocal dead
        if dead:
            return DROP
        if request.method == "PUT" and request.path.startswith("fcr:tx/"):
            dead = True
            simulator.interfere = lambda _request: None
            simulator.answer(request)
            simulator.interfere = interfere
            return DROP
        return None

    return interfere


def die_in_the_commit(export: Export, simulator: Simulator, *lost: str) -> None:
    simulator.lost = set(lost)
    simulator.interfere = dying(simulator)
    assert export.run().stopped
    simulator.lost = set()
    simulator.interfere = lambda _request: None


@pytest.fixture
def simulator(simulated: Fedora) -> Simulator:
    assert simulated.simulator
    return simulated.simulator


@pytest.fixture
def export(export_simulated: Export, put: Harvest) -> Export:
    put(export_simulated.silo, ID, files={"a": b"a", "docs/b": b"b"})
    return export_simulated


def is_right(export: Export, versions: int) -> None:
    report = export.verify()
    assert [(one.what, one.detail) for one in report.first] == []
    assert report.versions == versions


@pytest.mark.parametrize("lost", [("a",), ("a", "oai_dc"), ("a", "b", "oai_dc", "oai_dc.xml")])
def test_a_new_object_that_lost_files_is_made_whole_unasked(
    simulated: Fedora, simulator: Simulator, export: Export, lost: tuple[str, ...]
) -> None:
    die_in_the_commit(export, simulator, *lost)
    assert simulated.client.get_if_there(f"{uri(export)}/a") is None
    assert simulated.get(uri(export))
    resumed = export.resume()
    assert resumed.whole
    assert simulated.get(f"{uri(export)}/a") == b"a"
    is_right(export, versions=1)
    assert export.rollback(resumed.run_id).taken_back == 1


def test_a_new_version_that_lost_a_file_is_made_whole_unasked(
    simulated: Fedora, simulator: Simulator, export: Export, put: Harvest
) -> None:
    assert export.run().whole
    put(export.silo, ID, "2", "Two", {"a": b"changed", "new": b"n"})
    die_in_the_commit(export, simulator, "a", "new")
    assert simulated.get(f"{uri(export)}/a") == b"a"
    assert export.resume().whole
    assert simulated.get(f"{uri(export)}/a") == b"changed"
    assert simulated.get(f"{uri(export)}/new") == b"n"
    is_right(export, versions=2)


def test_the_same_run_makes_it_whole_where_the_server_is_back_at_once(
    simulated: Fedora, simulator: Simulator, export: Export
) -> None:
    simulator.lost = {"a"}
    once = dying(simulator)

    def interfere(request: Request) -> Answer | None:
        given = once(request)
        if given is DROP:
            simulator.lost = set()
            simulator.interfere = lambda _request: None
        return given

    simulator.interfere = interfere
    assert export.run().whole
    assert simulated.get(f"{uri(export)}/a") == b"a"
    is_right(export, versions=1)


def test_a_new_object_that_lost_a_file_and_is_not_listed_is_made_whole_unasked(
    simulated: Fedora, simulator: Simulator, export: Export
) -> None:
    """As a 6.0.0 came back: what reads it answers, and what would create it is refused."""
    die_in_the_commit(export, simulator, "a")
    text = b"Nesting an ArchivalGroup within an ArchivalGroup is not permitted"

    def refuse(request: Request) -> Answer | None:
        creates = request.method == "PUT" and "ArchivalGroup" in request.header("Link")
        return Answer(409, {}, text) if creates and request.path in there else None

    there = simulator._resources

    simulator.interfere = refuse
    assert export.resume().whole
    assert simulated.get(f"{uri(export)}/a") == b"a"
    is_right(export, versions=1)


def test_a_version_that_the_server_had_lost_and_shows_again_is_counted(
    simulator: Simulator, export: Export
) -> None:
    """As a 6.0.0 came back: without the object, and with its version once it is made anew."""
    path = "oai_dc oai_dc.xml a b oai+example,org+1"
    die_in_the_commit(export, simulator, *path.split())
    assert export.target.find(ID) is None
    name = uri(export).partition("/rest/")[2]
    simulator._history[name] = [("20260101000000", Resource("group"))]
    assert export.resume().whole
    is_right(export, versions=1)


@pytest.mark.parametrize("cut", [DROP, DROP_AFTER], ids=["before", "after"])
@pytest.mark.parametrize("ending", ["example,org+1", "fcr:tombstone"])
def test_a_half_being_removed_when_the_server_goes_is_made_whole_by_the_next_run(
    simulator: Simulator, export: Export, ending: str, cut: Answer
) -> None:
    die_in_the_commit(export, simulator, "a")
    dead = False

    def interfere(request: Request) -> Answer | None:
        nonlocal dead
        if dead:
            return DROP
        dead = request.method == "DELETE" and request.path.endswith(ending)
        return cut if dead else None

    simulator.interfere = interfere
    assert export.resume().stopped
    assert dead
    simulator.interfere = lambda _request: None
    assert export.resume().whole
    is_right(export, versions=1)
    found = export.target.find(ID)
    assert found is not None
    assert found.deposits == 1


def test_a_record_changed_meanwhile_is_sent_as_it_is_now(
    simulated: Fedora, simulator: Simulator, export: Export
) -> None:
    die_in_the_commit(export, simulator, "a")
    export.silo[ID].put_stream("a", b"changed since")
    assert export.resume().whole
    assert simulated.get(f"{uri(export)}/a") == b"changed since"


@pytest.mark.parametrize("path", ["a", "oai_dc", "foreign"])
def test_a_half_that_others_touched_is_a_conflict(
    simulated: Fedora, simulator: Simulator, export: Export, path: str
) -> None:
    die_in_the_commit(export, simulator, "a")
    simulated.client.send("PUT", f"{uri(export)}/{path}", BINARY, b"somebody else's")
    report = export.resume()
    assert (report.conflicts, report.failed) == (1, 0)
    assert simulated.get(f"{uri(export)}/{path}") == b"somebody else's"


def test_a_half_that_others_described_is_a_conflict(
    simulated: Fedora, simulator: Simulator, export: Export
) -> None:
    die_in_the_commit(export, simulator, "a")
    simulated.client.send("PUT", uri(export), {"Content-Type": "text/turtle"}, b"")
    assert export.resume().conflicts == 1


def test_a_half_of_which_no_ledger_tells_is_a_conflict(
    simulator: Simulator, export: Export
) -> None:
    die_in_the_commit(export, simulator, "a")
    Path(ledger_path(export.silo.path, export.target.key)).unlink()
    assert export.run().conflicts == 1
    assert export.run(on_conflict=OnConflict.OVERWRITE).whole
    is_right(export, versions=1)
