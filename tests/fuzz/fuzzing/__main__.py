"""The command behind `make fuzz`: every target for some seconds, a line for each."""

import argparse
import base64
import os
import secrets
import sys
from collections.abc import Callable, Sequence
from functools import partial

from fuzzing.loop import CORPUS, opened, target_class, target_names
from fuzzing.processes import PATIENCE, Outcome, Plan, run_all

_SHOWN = 3000
"""Bytes of an input that are printed in whole: where this runs, its file may not be kept."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz, or try one input again.

    Returns:
        0: nothing found; 1: findings, whose inputs are kept; 130: interrupted, nothing found.
    """
    given = _parser().parse_args(arguments)
    if given.replay:
        return _replay(given.targets, given.replay)
    seed = secrets.randbits(32) if given.seed is None else given.seed
    plan = Plan(seed, given.seconds, given.runs, given.corpus, given.patience)
    names = given.targets or target_names()
    print(f"seed {seed}: {len(names)} targets, {given.seconds:g} s each, {given.jobs} at a time")
    outcomes = run_all(names, plan, given.jobs, _progress(), partial(_print, seed=seed))
    if any(one.saved for one in outcomes):
        return 1
    return 130 if any(one.interrupted for one in outcomes) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="fuzzing", description=__doc__)
    add = parser.add_argument
    add("targets", nargs="*", type=_known, metavar="TARGET",
        help=f"by default all: {', '.join(target_names())}")  # fmt: skip
    add("--seconds", type=float, default=30.0, help="for each target (default: 30)")
    add("--runs", type=int, default=0, help="inputs for each target at most")
    add("--seed", type=int, help="the same seed gives the same inputs (default: a fresh one)")
    add("--jobs", type=int, default=2, help="targets at a time (default: 2)")
    add("--patience", type=float, default=PATIENCE, help="seconds for one input (default: 60)")
    add("--corpus", default=CORPUS, help="where findings are kept (default: tests/fuzz/corpus)")
    add("--replay", metavar="FILE", help="try this input on one TARGET, and show what it breaks")
    return parser


def _known(name: str) -> str:
    try:
        target_class(name)
    except ImportError:
        raise argparse.ArgumentTypeError(f"there is no target {name!r}") from None
    return name


def _progress() -> Callable[[str, int], None]:
    """Something that shows how far the targets are, where a person is looking."""
    counts: dict[str, int] = {}

    def show(name: str, count: int) -> None:
        counts[name] = count
        if sys.stderr.isatty():
            shown = ", ".join(f"{one} {counts[one]:,}" for one in list(counts)[-4:])
            print(f"\r\x1b[K{shown}", end="", file=sys.stderr, flush=True)

    return show


def _print(one: Outcome, *, seed: int) -> None:
    print("\r\x1b[K" if sys.stderr.isatty() else "", end="", file=sys.stderr, flush=True)
    what = "interrupted, no finding" if one.interrupted else "no finding"
    if one.saved:
        what = f"{len(one.saved)} finding{'s' if len(one.saved) > 1 else ''}"
    print(f"{one.name:<14} {one.count:>9,} inputs in {one.seconds:5.1f} s, seed {seed}: {what}")
    for path, finding in one.saved:
        print(f"  {os.path.relpath(path)} ({len(finding.data):,} bytes)")
        print("    " + finding.error.replace("\n", "\n    "))
        if len(finding.data) <= _SHOWN:
            print(f"    in Base64: {base64.b64encode(finding.data).decode()}")
    sys.stdout.flush()


def _replay(targets: Sequence[str], path: str) -> int:
    if len(targets) != 1:
        print("--replay needs one TARGET", file=sys.stderr)
        return 2
    with open(path, "rb") as file, opened(targets[0]) as target:
        print(f"met: {target.check(file.read())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
