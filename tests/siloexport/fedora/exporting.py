"""An export in a separate process, to be killed: python exporting.py SILO URL [JOBS]."""

import sys

from fedora_support import ADMIN, QUICK

from recordsilo import Silo
from siloexport.engine.export import Export
from siloexport.plan import Policy, Versions
from siloexport.targets.fedora import FedoraClient, FedoraTarget
from siloexport.values import Deletions

POLICY = Policy(versions=Versions.ALL, deletions=Deletions.STATUS)


def main() -> None:
    with Silo(sys.argv[1], create=False) as silo, FedoraClient(sys.argv[2], ADMIN) as client:
        report = Export(silo, FedoraTarget(sys.argv[2], client), POLICY, QUICK).run()
    sys.exit(0 if report.whole else 1)


if __name__ == "__main__":
    main()
