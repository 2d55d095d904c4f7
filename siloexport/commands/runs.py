"""What the commands that run an export share: options → a run, a policy, a share."""

import itertools
from typing import Any

import click
from click.shell_completion import CompletionItem

from recordsilo import Silo
from recordsilo.cli import fail
from recordsilo.commands import completion
from recordsilo.commands.options import check_not_empty
from recordsilo.sampling import share_of
from siloexport.commands.output import Printing, show_run
from siloexport.engine.export import Export
from siloexport.ledger import ledgers_of
from siloexport.plan import Policy, Versions
from siloexport.values import Deletions, OnConflict


def run_to(silo: Silo, target: Any, given: dict[str, Any]) -> int:
    """Export as the options say, and return the exit code.

    Args:
        target: A `siloexport.targets.Target`.
        given: Values of `options.what_goes`, `how_run`, `jobs` and `showing`, and ``select``.
    """
    selection = given["select"]
    check_not_empty(silo, selection)
    export = Export(silo, target, policy_of(given))
    return show_run(
        shown_of(given),
        lambda watch, stop: export.run(
            selection,
            dry_run=given["dry_run"],
            jobs=given["jobs"],
            limit=given["limit"],
            on_conflict=OnConflict(given["on_conflict"]),
            watch=watch,
            stop=stop,
        ),
    )


def policy_of(given: dict[str, Any]) -> Policy:
    """Return the policy that `options.what_goes` gives."""
    return Policy(
        Versions(given["versions"]), not given["no_unwrap"], Deletions(given["deletions"])
    )


def shown_of(given: dict[str, Any]) -> Printing:
    """Return what to print, from `options.showing`."""
    return Printing(
        given.get("report_path"), given.get("as_json", False), given.get("quiet", False)
    )


def runs_of_kind(key: str) -> completion.Complete:
    """Complete the ID of a run to any target whose key begins so; the newest come first."""
    sql = "SELECT id FROM run WHERE substr((SELECT value FROM about WHERE name = 'key'), 1, ?) = ?"

    def complete(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
        def names(silo_path: str) -> list[str]:
            ledgers = [(ledger,) for ledger in ledgers_of(silo_path)]
            found = (completion.names_in(ctx, one, sql, len(key), key) for one in ledgers)
            return sorted(itertools.chain.from_iterable(found), reverse=True)

        return completion.among(names)(ctx, param, typed)

    return complete


def share(text: str) -> float:
    """Return the share that `options.sample` gives; end the command if it is invalid."""
    try:
        return share_of(text)
    except ValueError:
        fail(f"{text!r} is not a share; write 10% or 0.1")
