"""The commands `silo quality`, `clusters` and `upstream`: findings, and decisions about them."""

import getpass
import os
from collections.abc import Iterable, Mapping

import click

from recordsilo import Silo
from recordsilo.cells import split
from recordsilo.cli import ExitCode, example, fail, open_silo, shown
from recordsilo.commands.options import (
    OutputFile,
    directory,
    json_array,
    json_option,
    print_json,
    quiet_option,
)
from recordsilo.errors import nearest
from recordsilo.index.facets import labels_of
from recordsilo.progress import counting
from recordsilo.wording import counted
from silocuration.commands.errors import sentences
from silocuration.editing.fields import Fields
from silocuration.editing.merge import FieldConflict
from silocuration.editing.rule_files import RuleSet, as_toml, write_rules
from silocuration.editing.rules import MapValues
from silocuration.review.clusters import Method
from silocuration.review.counts import CLUSTERED, finding_counts
from silocuration.review.duplicates import duplicates, mark_distinct, mark_duplicate
from silocuration.review.variants import Variants, probable_variants, rule_out
from silocuration.upstream import (
    Review,
    ReviewKind,
    accept,
    follow,
    keep,
    propose_all,
    resolve,
    review,
    reviews,
)

agent_option = click.option("--agent", default="", help="Name for the log (default: the user).")


# -- quality ----------------------------------------------------------------------------


@click.command(epilog=example(
    "silo quality myrepo", "silo quality myrepo --by-set", "silo quality myrepo --duplicates",
    "silo quality myrepo --mark 6103 --duplicate-of 6102",
    "silo search myrepo --filter finding=Q202",
))  # fmt: skip
@directory
@click.option("--by-set", is_flag=True, help="Print one table per set.")
@click.option("--duplicates", "list_duplicates", is_flag=True, help="List probable duplicates.")
@click.option("--mark", metavar="ID", help="Mark this record as a duplicate (with --duplicate-of).")
@click.option(
    "--duplicate-of",
    metavar="ID",
    help="The record that --mark is a duplicate of; none removes the mark.",
)
@click.option(
    "--distinct",
    multiple=True,
    metavar="ID",
    help="Mark records as distinct; use it at least twice.",
)
@click.option("--revoke", is_flag=True, help="With --distinct, remove the marks.")
@agent_option
@json_array
def quality(
    *, silo_dir: str, by_set: bool, list_duplicates: bool, mark: str | None,
    duplicate_of: str | None, distinct: tuple[str, ...], revoke: bool, agent: str, as_json: bool,
) -> None:  # fmt: skip
    """Count the findings in the metadata; silo help quality explains the codes."""
    if (mark is None) != (duplicate_of is None):
        fail("--mark and --duplicate-of go together")
    if len(distinct) == 1:
        fail("--distinct needs two records at least")
    if revoke and not distinct:
        fail("--revoke needs --distinct")
    who = agent or getpass.getuser()
    with sentences(), open_silo(silo_dir) as silo:
        if mark is not None and duplicate_of is not None:
            of = None if duplicate_of == "none" else silo.resolve(duplicate_of)
            record = silo.resolve(mark)
            mark_duplicate(silo, record, of, agent=who)
            click.echo(f"{record} is {f'a duplicate of {of}' if of else 'no longer a duplicate'}")
        elif distinct:
            records = tuple(silo.resolve(one) for one in distinct)
            mark_distinct(silo, records, agent=who, is_revoked=revoke)
            click.echo(f"{'no longer ' if revoke else ''}distinct: {', '.join(records)}")
        elif list_duplicates:
            _print_duplicates(silo, as_json=as_json)
        else:
            _print_findings(silo, by_set=by_set, as_json=as_json)


def _print_findings(silo: Silo, *, by_set: bool, as_json: bool) -> None:
    tables = {"": finding_counts(silo)}
    if by_set:
        for spec in silo.set_counts():
            tables[spec] = finding_counts(silo, spec)
    if as_json:
        print_json([{"set": spec or None, "findings": table} for spec, table in tables.items()])
        return
    labels = labels_of("finding")
    for spec, table in tables.items():
        if spec:
            click.echo(f"\n{spec}")
        for code, count in table.items():
            click.echo(f"{count:>9,}  {code}  {labels.get(code, '')}")
        if not table:
            click.echo("nothing to look at")


def _print_duplicates(silo: Silo, *, as_json: bool) -> None:
    with counting("reading", len(silo)) as progress:
        found = duplicates(silo, progress=progress)
    if as_json:
        print_json([{"title": one.title, "identifiers": one.identifiers} for one in found])
        return
    for group in found:
        click.echo(group.title)
        for identifier in group.identifiers:
            click.echo(f"  {identifier}")
    click.echo(f"{counted(len(found), 'group')} of probable duplicates")


# -- clusters ---------------------------------------------------------------------------


@click.command("clusters", epilog=example(
    "silo clusters myrepo", "silo clusters myrepo creator --method nearest --distance 2",
    "silo clusters myrepo type --rule types.toml",
    "silo clusters myrepo creator --distinct 'Swan, S.' --distinct 'Swan, J.'",
))  # fmt: skip
@directory
@click.argument("field", type=click.Choice(sorted(CLUSTERED)), required=False)
@click.option(
    "--method",
    type=click.Choice([one.value for one in Method]),
    default=Method.FINGERPRINT.value,
    show_default=True,
    help="Comparison method.",
)
@click.option(
    "--distance",
    type=click.IntRange(1, 3),
    help="Maximum difference in letters (nearest only)  [default: 1].",
)
@click.option(
    "-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Print at most N clusters."
)
@click.option(
    "--rule",
    "rule_file",
    type=OutputFile(),
    help="Write a rule that merges each cluster into its first value to a new file; - prints it.",
)
@click.option(
    "--distinct",
    multiple=True,
    metavar="VALUE",
    help="Record that these values of FIELD are not variants; use it at least twice.",
)
@agent_option
@json_array
def show_clusters(
    *, silo_dir: str, field: str | None, method: str, distance: int | None, limit: int | None,
    rule_file: str | None, distinct: tuple[str, ...], agent: str, as_json: bool,
) -> None:  # fmt: skip
    """List probable variants among the values of FIELD, or of all fields.

    The clusters by which most records would change come first.
    """
    if distinct and (field is None or len(distinct) < 2):
        fail("--distinct needs a FIELD and at least two values")
    if distance is not None and method != Method.NEAREST:
        fail(f"--distance goes with --method nearest; {method} measures no distance")
    if rule_file not in {None, "-"} and os.path.lexists(str(rule_file)):
        fail(f"{rule_file} exists and is not replaced; name a new file, or - to print the rule")
    with sentences(), open_silo(silo_dir) as silo:
        if field is not None and distinct:
            rule_out(silo.path, field, distinct, agent=agent or getpass.getuser())
            return
        names = [field] if field else CLUSTERED
        found = probable_variants(silo, names, Method(method), distance=distance or 1)[:limit]
    if rule_file is not None and not found:
        click.echo("silo: no clusters, so no rule was written", err=True)
        rule_file = None
    if rule_file == "-":
        click.echo(as_toml(_merging(found)), nl=False)
        return
    if rule_file is not None:
        write_rules(rule_file, _merging(found))
    if as_json:
        print_json([[{"value": v, "count": n} for v, n in one.cluster.values] for one in found])
        return
    for one in found:
        if field is None:
            click.echo(f"{one.field}:")
        for value, count in one.cluster.values:
            click.echo(f"{count:>9,}  {value}")
        click.echo("")
    click.echo(counted(len(found), "cluster"))


def _merging(found: Iterable[Variants]) -> RuleSet:
    """A rule that merges each cluster into its first value."""
    tables: dict[str, dict[str, str]] = {}
    for one in found:
        table = tables.setdefault(one.field, {})
        table |= {value: one.cluster.values[0][0] for value, _ in one.cluster.values[1:]}
    title = f"{', '.join(tables)}: merge variants"
    return RuleSet(title, rules=tuple(MapValues(CLUSTERED[f], t) for f, t in tables.items()))


# -- upstream ---------------------------------------------------------------------------


@click.command(epilog=example(
    "silo upstream myrepo", "silo upstream myrepo --propose", "silo upstream myrepo --accept 6102",
    "silo upstream myrepo --resolve 6102 --take title=ours --take 'date=2001-05'",
))  # fmt: skip
@directory
@click.option("--propose", is_flag=True, help="Propose all clean merges.")
@click.option("--accept", "accepted", multiple=True, metavar="ID", help="Accept the proposal.")
@click.option("--keep", "kept", multiple=True, metavar="ID", help="Keep the edited version.")
@click.option("--follow", "followed", multiple=True, metavar="ID", help="Use the source version.")
@click.option(
    "--resolve", "resolved", metavar="ID", help="Resolve the conflicting fields (with --take)."
)
@click.option(
    "--take",
    "takes",
    multiple=True,
    metavar="FIELD=ours|theirs|base|VALUE",
    help="Value of a conflicting field; separate several VALUEs by ||.",
)
@agent_option
@json_option("a JSON array, or with --propose a JSON object")
@quiet_option
def upstream(
    *, silo_dir: str, propose: bool, accepted: tuple[str, ...], kept: tuple[str, ...],
    followed: tuple[str, ...], resolved: str | None, takes: tuple[str, ...], agent: str,
    as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """List curated records that the source has changed, or decide about them."""
    who = agent or getpass.getuser()

    def tell(sentence: str) -> None:
        if not quiet:
            click.echo(shown(sentence), err=as_json)

    with sentences(), open_silo(silo_dir) as silo:
        if takes and resolved is None:
            fail("--take goes with --resolve")
        for decide, sentence, chosen in (
            (accept, "the proposal was accepted; the former working copy is {}", accepted),
            (keep, "the curated version was kept; version {} of the source is ignored", kept),
            (follow, "version {} of the source is current now; no version was removed", followed),
        ):
            for item in chosen:
                identifier = silo.resolve(item)
                name = decide(silo, identifier, agent=who)
                tell(f"{identifier}: {sentence.format(name)}")
        if resolved is not None:
            tell(_resolve(silo, silo.resolve(resolved), takes, who))
        if propose:
            return _propose(silo, who, as_json=as_json, quiet=quiet)
        if not (accepted or kept or followed or resolved):
            _print_reviews(silo, as_json=as_json)
    return ExitCode.OK


def _propose(silo: Silo, agent: str, *, as_json: bool, quiet: bool) -> int:
    report = propose_all(silo, agent=agent)
    waiting = {kind.value: number for kind, number in report.waiting.items()}
    if as_json:
        print_json({"proposed": report.proposed, "waiting": waiting, "failed": report.failed})
    else:
        listed = ", ".join(f"{number:,} {kind}" for kind, number in waiting.items())
        to_decide = f"to decide: {listed}" if listed else "nothing to decide"
        if not quiet or report.proposed or listed:
            click.echo(f"{report.proposed:,} proposed; {to_decide}")
        for identifier, reason in report.failed:
            click.echo(f"silo: {identifier} {reason}", err=True)
    return ExitCode.LOSSES if report.failed else ExitCode.OK


def _resolve(silo: Silo, identifier: str, takes: tuple[str, ...], agent: str) -> str:
    """Resolve the conflicts of a record; returns what was done, as a sentence."""
    found = review(silo, identifier)
    conflicts = {one.name: one for one in found.conflicts} if found is not None else {}
    choices: dict[str, tuple[tuple[str, str], ...]] = {}
    for one in takes:
        name, equals, value = one.partition("=")
        if not equals:
            fail(f"{one!r} is not a valid choice; write title=ours, or title=the value")
        choices[name] = _chosen(conflicts[name], value) if name in conflicts else ()
    proposal = resolve(silo, identifier, choices, agent=agent)
    made = "; ".join(
        f"{name} {' || '.join(text for text, _ in values) or 'removed'}"
        for name, values in choices.items()
    )
    accepting = f"silo upstream {silo.storage_dir} --accept {identifier}"
    return f"{identifier}: {proposal} is proposed ({made}); take it with {accepting}"


_LIKE_SIDES = ("mine", "our", "yours", "their", "source", "original", "both")
"""What people write for a side, besides what is nearly the name of one."""


def _chosen(conflict: FieldConflict, value: str) -> tuple[tuple[str, str], ...]:
    sides: Mapping[str, Fields] = {
        "ours": conflict.ours, "theirs": conflict.theirs, "base": conflict.base
    }  # fmt: skip
    if value in sides:
        return tuple((one.folded, one.lang) for one in sides[value])
    if value.lower() in _LIKE_SIDES or nearest(value.lower(), sides):
        fail(
            f"{conflict.name}={value}: take ours, theirs or base; if {value!r} itself is to be the "
            f"value, write '{conflict.name}={value}||'"
        )
    return tuple((part.strip(), "") for part in split(value) if part.strip())


def _print_reviews(silo: Silo, *, as_json: bool) -> None:
    if as_json:
        print_json([one.to_json() for one in reviews(silo)])
        return
    number = 0
    for number, one in enumerate(reviews(silo), 1):  # noqa: B007 (counted past the loop)
        click.echo(f"{one.identifier}\t{_said(one)}")
        for conflict in one.conflicts:
            click.echo(f"  {conflict.name}")
            for side in ("base", "ours", "theirs"):
                values = " || ".join(value.folded for value in getattr(conflict, side))
                click.echo(f"    {side:<7} {values}")
    click.echo(f"{number:,} to decide" if number else "nothing to decide")


def _said(one: Review) -> str:
    return {
        ReviewKind.CLEAN: f"version {one.theirs} merges cleanly; not proposed yet",
        ReviewKind.PROPOSED: f"{one.proposal} is proposed",
        ReviewKind.CONFLICT: f"version {one.theirs} and {one.ours} changed the same fields",
        ReviewKind.DELETED: "deleted at the source: keep or follow",
        ReviewKind.UNREADABLE: f"version {one.theirs} cannot be merged: {one.reason}",
    }[one.kind]
