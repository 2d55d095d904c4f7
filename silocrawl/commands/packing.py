"""The command `silo export wacz`."""

import os
from dataclasses import replace

import click

from recordsilo import Silo
from recordsilo.cli import ExitCode, example, fail, shown
from recordsilo.commands import completion
from recordsilo.commands.options import directory, quiet_option, selecting
from recordsilo.disk.whole_file import whole_file
from recordsilo.progress import counting
from recordsilo.selection import Selection
from recordsilo.wording import counted
from silocrawl.cdxj import Segments
from silocrawl.chosen import ChosenCaptures, launches_of, logs_of
from silocrawl.commands.opening import opened
from silocrawl.paths import index_directory, log_file
from silocrawl.places import Places
from silocrawl.targets import load_target, target_names
from silocrawl.wacz import write_wacz

_MOST_TOLD = 5


@click.command(
    "wacz",
    epilog=example(
        "silo export wacz myrepo 3002 paper.wacz",
        "silo export wacz myrepo --search solar solar.wacz",
        "silo export wacz myrepo --target links links.wacz",
    ),
)
@directory
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=completion.identifiers)
@click.argument("out", metavar="OUT.wacz", shell_complete=completion.files)
@selecting
@click.option(
    "--target",
    metavar="NAME",
    shell_complete=completion.among(target_names),
    help="What the launches of this target fetched.",
)
@click.option(
    "--crawl", metavar="LAUNCH", help="What one launch fetched, as links/20261201T020000Z."
)
@click.option(
    "--on-conflict",
    type=click.Choice(["fail", "overwrite"]),
    default="fail",
    show_default=True,
    help="What to do if OUT exists.",
)
@quiet_option
def wacz(
    *,
    silo_dir: str,
    ids: tuple[str, ...],
    out: str,
    select: Selection,
    target: str | None,
    crawl: str | None,
    on_conflict: str,
    quiet: bool,
) -> int:
    """Write what was crawled to OUT as a web archive (WACZ), which can be replayed elsewhere.

    With records: what was reached from their links. Without records, --target and --crawl:
    everything. The archive also has the requests, and the captures that revisits refer to.
    """
    with opened(silo_dir) as silo, ChosenCaptures(Segments(index_directory(silo.path))) as chosen:
        if ids:
            named = tuple(silo.resolve(one) for one in ids)
            select = replace(select, identifiers=(*select.identifiers, *named))
        if sum((not select.is_everything, target is not None, crawl is not None)) > 1:
            fail("choose records, or --target, or --crawl")
        if not out.endswith(".wacz"):
            fail(f"OUT is {out}, which does not end in .wacz; name the file after the records")
        refuse = on_conflict == "fail"
        _check_new(out, refuse=refuse)
        title = _choose(chosen, silo, select, target, crawl)
        if not len(chosen):
            fail(
                f"nothing is archived of {title}, so nothing was written; silo crawl target add"
                " and silo crawl run archive what records link to"
            )
        with (
            whole_file(out, lambda _: _check_new(out, refuse=refuse)) as file,
            counting("captures", len(chosen), quiet=quiet) as show,
        ):
            done = write_wacz(chosen, Places.of_silo(silo.path), file, title, show)
            if not done.captures:
                fail(f"no record of {title} can be read: {next(iter(done.lost.values()))}")
    for url, why in [*done.lost.items()][:_MOST_TOLD]:
        click.echo(shown(f"silo: {url}: {why}"), err=True)
    if done.losses > _MOST_TOLD:
        click.echo(f"silo: and {done.losses - _MOST_TOLD:,} more", err=True)
    if not quiet:
        pages = counted(done.pages, "page or document", "pages and documents")
        click.echo(f"{out}: {counted(done.captures, 'capture')} of {title}; {pages}")
    return ExitCode.LOSSES if done.losses else ExitCode.OK


def _check_new(path: str, *, refuse: bool) -> None:
    if refuse and os.path.lexists(path) and (os.path.isfile(path) or not os.path.exists(path)):
        fail(f"{path} exists; name another file, or replace it with --on-conflict overwrite")


def _choose(
    chosen: ChosenCaptures, silo: Silo, select: Selection, target: str | None, crawl: str | None
) -> str:
    """Choose captures; return what they are, in words."""
    if target is not None:
        load_target(silo.path, target)
        chosen.add_logs(logs_of(silo.path, target))
        return f"the target {target}"
    if crawl is not None:
        path = log_file(silo.path, crawl)
        if path not in logs_of(silo.path):
            names = ", ".join(launches_of(silo.path)[-_MOST_TOLD:])
            fail(f"there is no launch {crawl!r}; the last ones: {names or 'none'}")
        chosen.add_logs([path])
        return f"the launch {crawl}"
    if select.is_everything:
        chosen.add_all()
        return f"the Silo {silo.storage_dir}"
    chosen.add_records(silo, select)
    one = select.identifiers
    return f"the record {one[0]}" if len(one) == 1 else f"the records ({select})"
