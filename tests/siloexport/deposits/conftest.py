"""The simulated repositories, on loopback."""

from collections.abc import Iterator

import invenio_simulator
import pytest
import sword_simulator
from loopback_peer import serving


@pytest.fixture
def repository() -> Iterator[sword_simulator.Simulator]:
    """One that takes deposits by SWORDv2."""
    simulator = sword_simulator.Simulator()
    with serving(simulator) as simulator.base:
        yield simulator


@pytest.fixture
def invenio() -> Iterator[invenio_simulator.Simulator]:
    """One on InvenioRDM."""
    simulator = invenio_simulator.Simulator()
    with serving(simulator) as simulator.base:
        yield simulator
