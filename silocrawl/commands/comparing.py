"""The command `silo crawl compare`."""

import json
from collections.abc import Iterator
from dataclasses import asdict

import click

from crawlmatch.record_links import links_of_records
from recordsilo import Silo
from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import directory, json_array
from recordsilo.wording import counted
from silocrawl.addresses import fetched_form
from silocrawl.captures import Captures, CaptureUnreadable
from silocrawl.commands.opening import opened, opened_queues, pywb_option
from silocrawl.comparing import (
    NotComparable,
    archived_pages,
    compare,
    pages_shown,
    queue_missing,
)
from silocrawl.rendering import browser_settings
from silocrawl.replay import program_of
from silocrawl.targets import load_target


@click.command(
    "compare",
    epilog=example(
        "silo crawl compare myrepo --pywb pywb/bin/wayback",
        "silo crawl compare myrepo theses",
        "silo crawl compare myrepo https://example.org/paper/7",
    ),
)
@directory
@click.argument("what", metavar="[TARGET|URL]", default="")
@pywb_option
@click.option("--no-sandbox", is_flag=True, help="Do not lock the browser in, as root cannot.")
@json_array
def compare_command(*, silo_dir: str, what: str, pywb: str, no_sandbox: bool, as_json: bool) -> int:
    """Show pages out of the archive to a browser, and compare them with what it saw before.

    All pages that were rendered, those of a TARGET's seeds, or the one at URL. Prints the share
    of the picture and of the text that differs (0 to 1), and how many requests failed only in
    the archive; these are fetched once by the next `silo crawl run`. Exit code 1 if there are
    any, or a page cannot be compared.
    """
    with opened(silo_dir) as silo:
        browser = browser_settings(has_sandbox=not no_sandbox, is_private=True)
        urls = list(dict.fromkeys(_pages(silo, what)))
        if not urls:
            fail("no page was rendered; see silo crawl target add --render", ExitCode.LOSSES)
        found, is_whole = [], True
        with (
            archived_pages(silo.path, program_of(pywb), browser) as pages,
            opened_queues(silo) as queues,
        ):
            for url in urls:
                try:
                    one = compare(silo.path, url, pages)
                except (NotComparable, CaptureUnreadable) as error:
                    click.echo(f"silo: {error}", err=True)
                    is_whole = False
                    continue
                found.append(one)
                is_whole = is_whole and not one.failed
                put = queue_missing(queues, one)
                if not as_json:
                    failed = counted(len(one.failed), "request failed", "requests failed")
                    queued = f", {put:,} of them queued" if one.failed else ""
                    click.echo(f"{url}\tpicture {one.tiles:.3f}\ttext {one.text:.3f}"
                               f"\t{failed} only in the archive{queued}")  # fmt: skip
        if as_json:
            click.echo(json.dumps([asdict(one) for one in found], indent=2))
    return ExitCode.OK if is_whole else ExitCode.LOSSES


def _pages(silo: Silo, what: str) -> Iterator[str]:
    """The pages that are to be compared."""
    if not what:
        yield from pages_shown(silo.path)
        return
    if "://" in what:
        seeds = [what]
    else:
        target = load_target(silo.path, what)
        links = (one.url for one in links_of_records(silo, target.select))
        seeds = [target.url] if target.url else list(links)
    captures, shown = Captures(silo.path), set(pages_shown(silo.path))
    for seed in seeds:
        last = captures.where_it_leads(fetched_form(seed))
        if last is not None and last.url in shown:
            yield last.url
        elif "://" in what:
            yield fetched_form(seed)
