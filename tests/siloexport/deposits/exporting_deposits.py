"""An export in a separate process, to be killed: python exporting_deposits.py KIND SILO URL."""

import sys

from recordsilo import Silo
from siloexport.engine.deposits import Retries
from siloexport.engine.export import Export
from siloexport.plan import Policy
from siloexport.targets import Target
from siloexport.targets.invenio import InvenioSettings, InvenioTarget
from siloexport.targets.remote.server import Server
from siloexport.targets.sword import SwordSettings, SwordTarget

LOGIN, TOKEN = "Basic YW5uOnNlY3JldA==", "Bearer abc"


def target(kind: str, url: str) -> Target:
    """Return the target of a test: ``sword``, ``steps`` or ``invenio``."""
    if kind == "invenio":
        return InvenioTarget(url, Server(url, TOKEN), InvenioSettings(publish=True))
    settings = SwordSettings(in_steps=kind == "steps")
    return SwordTarget(url, Server(url, LOGIN), settings)


def export(kind: str, silo: Silo, url: str) -> Export:
    return Export(silo, target(kind, url), Policy(), Retries(attempts=2, first=0.01))


def main() -> None:
    with Silo(sys.argv[2], create=False) as silo:
        report = export(sys.argv[1], silo, sys.argv[3]).run(jobs=2)
    sys.exit(0 if report.whole else 1)


if __name__ == "__main__":
    main()
