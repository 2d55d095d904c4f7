"""A fleet with a Silo on the node n1, which moves to n2."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from index_conformance import put

from recordsilo import Silo
from silofleet.fleet import Fleet, make_fleet
from silofleet.run import EPOCH
from silofleet.values import Endpoint, Facts, Node
from silofleet.wishes import wishes_path

RECORDS = 5


@contextmanager
def fleet_of_two_nodes(directory: Path, *, hosts: tuple[str, str] = ("", "")) -> Iterator[Fleet]:
    """A fleet in a directory, with the Silos of its nodes beside it.

    Args:
        directory: The nodes have the directories ``n1`` and ``n2`` in it, the fleet ``many``.
        hosts: Of the nodes, as ssh knows them; empty for this machine.
    """
    many = str(directory / "many")
    make_fleet(many)
    with open(wishes_path(many), "a", encoding="utf-8") as file:
        for name, host in zip(("n1", "n2"), hosts, strict=True):
            (directory / name).mkdir()
            granary = f"{host}:{directory / name}" if host else str(directory / name)
            file.write(f'\n[nodes.{name}]\ngranary = "{granary}"\n')
    with Silo(str(directory / "n1" / "one")) as silo:
        for number in range(RECORDS):
            put(silo, f"oai:x:{number}", title=f"Title {number}")
    with Fleet(many) as fleet:
        fleet.add([Endpoint("one", "http://one.example.org/oai")])
        for name in ("n1", "n2"):
            fleet.ledger.see(Node(name, 1, 1 << 40, 1 << 40, datetime.now(UTC)))
        fleet.ledger.change("one", _on_n1)
        yield fleet


def _on_n1(facts: Facts) -> Facts:
    return Facts(facts.name, facts.host, facts.added, node="n1", epoch=1, records=RECORDS)


def check_moved(fleet: Fleet, directory: Path) -> None:
    """The Silo is on n2, whole, with the next epoch, and the old one was set aside."""
    facts = fleet.ledger.facts_of("one")
    assert (facts.node, facts.epoch) == ("n2", 2)
    assert fleet.ledger.move_of("one") is None
    with Silo(str(directory / "n2" / "one"), create=False) as silo:
        assert silo.state[EPOCH] == 2
        assert len(silo) == RECORDS
    assert not (directory / "n1" / "one").exists()
    (kept,) = (directory / "n1" / ".moved").iterdir()
    with Silo(str(kept), create=False) as silo:
        assert EPOCH not in silo.state
        assert len(silo) == RECORDS
    assert list((directory / "n2" / ".moving").iterdir()) == []


def check_unmoved(fleet: Fleet, directory: Path) -> None:
    """The Silo is where it was, whole, and nothing of a copy is left."""
    facts = fleet.ledger.facts_of("one")
    assert (facts.node, facts.epoch, fleet.ledger.move_of("one")) == ("n1", 1, None)
    with Silo(str(directory / "n1" / "one"), create=False) as silo:
        assert len(silo) == RECORDS
    assert list((directory / "n2").glob(".moving/*")) == []
