"""The commands `silo crawl proposals`, and its `accept` and `reject`."""

import getpass
import json
from collections.abc import Sequence
from typing import Any

import click

from recordsilo.cli import Group, example
from recordsilo.commands.options import directory, json_array, tell_none
from recordsilo.wording import counted
from silocrawl.commands.opening import opened
from silocrawl.proposals import (
    Proposal,
    ProposalState,
    accept,
    proposal,
    proposals,
    reject,
    take_back,
)

_STATES = [*(one.value for one in ProposalState), "all"]


class _Number(click.IntRange):
    """The number of a document; click's errors have the name."""

    name = "number of a document"


numbers_argument = click.argument("numbers", metavar="ID…", nargs=-1, required=True,
                                  type=_Number(1, 2**63 - 1))  # fmt: skip
agent_option = click.option("--agent", default="", help="Who decides (default: the user).")


@click.group(
    "proposals",
    cls=Group,
    epilog=example(
        "silo crawl proposals list myrepo",
        "silo crawl proposals accept myrepo 12 13",
        "silo crawl proposals reject myrepo 14",
    ),
)
def proposals_group() -> None:
    """Decide about documents that may belong to a record, and of which no rule is sure."""


@proposals_group.command("list", epilog=example("silo crawl proposals list myrepo --json"))
@directory
@click.option("--which", "state", type=click.Choice(_STATES), default=ProposalState.PROPOSED.value,
              show_default=True, help="Which documents.")  # fmt: skip
@click.option("--record", default="", metavar="ID", help="Only those of a record.")
@json_array
def list_proposals(*, silo_dir: str, state: str, record: str, as_json: bool) -> None:
    """List documents: number, record, reason, title score of 100, and address."""
    with opened(silo_dir) as silo:
        name = silo.resolve(record) if record else ""
        wanted = None if state == "all" else ProposalState(state)
        found, last = [], 0
        while some := proposals(silo.path, wanted, record=name, after=last):
            found += some
            last = some[-1].number
        if as_json:
            click.echo(json.dumps([proposal_object(one) for one in found], indent=2))
            return
        for one in found:
            score = f"{one.score:.0f}" if one.score else "-"
            why = (
                one.reason.code
                if one.state is ProposalState.PROPOSED
                else f"{one.state}, {one.reason.code}"
            )
            click.echo(f"{one.number}\t{one.record}\t{why}\t{score}\t{one.url}")
        if not found:
            if wanted is ProposalState.PROPOSED and not record:
                way = "silo crawl run DIR proposes those that no rule is sure of"
                tell_none("documents wait for a decision", way, silo_dir)
            else:
                way = "silo crawl proposals list DIR --which all lists all"
                tell_none("such documents", way, silo_dir)


def proposal_object(one: Proposal) -> dict[str, Any]:
    """A document as JSON values."""
    names = ("number", "record", "target", "url", "digest", "timestamp", "mimetype", "seed",
             "landing", "rule", "score")  # fmt: skip
    return {
        **{name: getattr(one, name) for name in names},
        "reason": one.reason.code,
        "why": one.reason.sentence,
        "dois": one.doi.split(),
        "state": one.state.value,
        "agent": one.agent,
        "decided": f"{one.decided:%Y-%m-%dT%H:%M:%SZ}",
    }


@proposals_group.command("accept", epilog=example("silo crawl proposals accept myrepo 12 13"))
@directory
@numbers_argument
@agent_option
def accept_command(*, silo_dir: str, numbers: tuple[int, ...], agent: str) -> None:
    """Attach documents to their records, also rejected ones."""
    with opened(silo_dir) as silo:
        before = [proposal(silo.path, number).state for number in dict.fromkeys(numbers)]
        done = accept(silo, numbers, agent or getpass.getuser())
        click.echo(_decided_said(ProposalState.ATTACHED, before, len(done)))


@proposals_group.command("reject", epilog=example("silo crawl proposals reject myrepo 14"))
@directory
@numbers_argument
@agent_option
def reject_command(*, silo_dir: str, numbers: tuple[int, ...], agent: str) -> None:
    """Reject documents; they are never proposed again."""
    with opened(silo_dir) as silo:
        before = [proposal(silo.path, number).state for number in dict.fromkeys(numbers)]
        done = reject(silo.path, numbers, agent or getpass.getuser())
        click.echo(_decided_said(ProposalState.REJECTED, before, len(done)))


@proposals_group.command("undo", epilog=example("silo crawl proposals undo myrepo 14"))
@directory
@numbers_argument
def undo_command(*, silo_dir: str, numbers: tuple[int, ...]) -> None:
    """Let documents wait for a decision again; attached files are removed from their records."""
    with opened(silo_dir) as silo:
        before = [proposal(silo.path, number).state for number in dict.fromkeys(numbers)]
        done = take_back(silo, numbers)
        click.echo(_decided_said(ProposalState.PROPOSED, before, len(done)))


def _decided_said(state: ProposalState, before: Sequence[ProposalState], count: int) -> str:
    """Tell how many documents have got a state, and how many had it before."""
    known = before.count(state)
    parts = [f"{counted(count - known, 'document')} {state}"] if count > known else []
    return "; ".join([*parts, f"{counted(known, 'document')} already {state}"] if known else parts)
