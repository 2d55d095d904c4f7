"""The crawl of the sample repository's pages, for `silo demo --crawl`."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import click

from recordsilo import Silo
from recordsilo.cli import ExitCode, fail
from silocrawl.commands.opening import opened, opened_queues
from silocrawl.commands.running import crawl
from silocrawl.launching import inject
from silocrawl.messages import RENDER
from silocrawl.rendering import BrowserMissing, browser_settings
from silocrawl.running import CrawlSettings
from silocrawl.scope import Scope, ScopeKind
from silocrawl.targets import CrawlTarget, Limits, add_target, target_names
from silowork.due.timetable import repeated

CALENDAR_PAGES = 20
SHOWN = ("3003", "3031")
"""Records whose landing pages a browser shows, if there is one."""
_SETTINGS = CrawlSettings(interval=0.0, is_private=True, pauses=(0.2,))
"""Pauses are for hosts of others; who does not answer on this machine is not there."""


def crawl_sample(silo_path: str, site: str) -> None:
    """Crawl the links of the sample's records, and show the outcomes.

    Two targets are added: the links of all records, and a calendar without end, of which some
    pages are fetched. They are launched monthly, so a second demo finds nothing due.

    Args:
        site: The address of the sample's pages.
    """
    with opened(silo_path) as silo:
        _add_targets(silo, site)
        click.echo(f"The landing pages and documents are at {site}/; crawling them:")
        code = crawl(silo, _SETTINGS, until_idle=True, tell=click.echo)
    if code in (ExitCode.INTERRUPTED, ExitCode.STOPPED):
        click.get_current_context().exit(code)  # what is left was said
    if code:
        fail("the crawl is not complete; run the same command to continue", ExitCode(code))
    name = shlex.quote(os.path.relpath(silo_path))
    click.echo(f"Look at them: silo crawl report {name}, silo crawl explain {name} 3002")
    click.echo(f"The pages are on this machine: a further silo crawl run {name} needs --private")
    if show_pages(silo_path, [f"{site}/{one}/" for one in SHOWN]):
        click.echo(f"A browser showed pages of {' and '.join(SHOWN)}; these have pictures of them")


def _add_targets(silo: Silo, site: str) -> None:
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    path, few = Scope(ScopeKind.PATH), Limits(pages=CALENDAR_PAGES)
    calendar = f"{site}/events/{now:%Y-%m}"
    there = target_names(silo.path)
    for one in (
        CrawlTarget("records", repeated("monthly", now), title="Links of all records", made=now),
        CrawlTarget("events", repeated("monthly", now), calendar, scope=path, limits=few, made=now),
    ):
        if one.name not in there:
            add_target(silo.path, one)


def show_pages(silo_path: str, urls: Sequence[str]) -> bool:
    """Let a browser show pages, once, and archive what it shows; return whether it did.

    The pages are the sample's own, so no sandbox is missed where root has none.
    """
    settings = replace(_SETTINGS, has_sandbox=os.geteuid() != 0)
    try:
        browser_settings(has_sandbox=settings.has_sandbox, is_private=True)
    except BrowserMissing:
        return False
    with opened(silo_path) as silo:
        with opened_queues(silo) as queues:
            is_new = inject(queues, urls, force=False, queue=RENDER) > 0
        return is_new and crawl(silo, settings, until_idle=True, quiet=True) == ExitCode.OK
