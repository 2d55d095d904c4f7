"""`silo` with short leases, for tests that kill the parts of a fleet."""

import os

from recordsilo.cli import main
from silofleet import broker, clock, fleet, node, schedule
from silofleet.spread import takers

if __name__ == "__main__":
    seconds = int(os.environ.get("SECONDS_UNTIL_LOST", "4"))
    broker.SECONDS_UNTIL_LOST = node.SECONDS_UNTIL_LOST = fleet.SECONDS_UNTIL_LOST = seconds
    node.SECONDS_BETWEEN_BEATS, broker.SECONDS_BETWEEN_LOOKS = 0.5, 0.5
    node._SECONDS_BETWEEN_ATTEMPTS = 0.5
    takers.SECONDS_OF_LEASE, takers.SECONDS_BETWEEN_LEASES, takers.REST = 2.0, 0.5, 1.0
    clock.MOST_CUTS = schedule.MOST_FRUITLESS = 1000
    main()
