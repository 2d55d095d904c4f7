"""A fleet's schedule over a year, simulated by the code that runs.

    .venv/bin/python benchmarks/fleet.py --simulate

prints the table of docs/fleet-simulator.md; `--endpoints`, `--days` and `--adaptive` change
the plan.
"""

import argparse
import gc
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "silofleet"))

from fleet_simulator import Plan, simulate, table


def simulated(plan: Plan) -> int:
    gc.disable()  # values that refer to no other leave it nothing to find
    begin, cpu = time.perf_counter(), time.process_time()
    report = simulate(plan)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    rows = [*table(plan, report), ("time, CPU", f"{seconds:,.0f} s, {cpu:,.0f} s")]
    print("| figure | value |\n|---|---|")
    for name, value in rows:
        print(f"| {name} | {value} |")
    for sentence in report.violations[:20]:
        print(sentence, file=sys.stderr)
    return 1 if report.violations else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--simulate", action="store_true", help="a year of a fleet")
    parser.add_argument("--endpoints", type=int, default=10_000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--adaptive", action="store_true", help="intervals that follow changes")
    arguments = parser.parse_args()
    if not arguments.simulate:
        parser.error("say what to measure: --simulate")
    plan = Plan(arguments.endpoints, arguments.days, adaptive=arguments.adaptive)
    return simulated(plan)


if __name__ == "__main__":
    sys.exit(main())
