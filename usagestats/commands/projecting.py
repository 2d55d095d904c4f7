"""`silo usage redis`: the keys of 2010."""

import click

from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import directory
from usagestats.commands.group import opened
from usagestats.projection import RedisUnusable, project


@click.command("redis", epilog=example("silo usage redis myrepo --redis redis://127.0.0.1/3"))
@directory
@click.option(
    "--redis",
    "redis_url",
    required=True,
    metavar="URL",
    envvar="SILO_REDIS",
    help="Database for the keys, such as redis://host/3 [also: SILO_REDIS].",
)
def redis_command(silo_dir: str, redis_url: str) -> int:
    """Write the counts and events into Redis, under the keys of 2010.

    Tokens stand in place of addresses. Repeat it after imports; keys that the Silo no longer
    has are deleted, and no others.
    """
    with opened(silo_dir) as silo:
        try:
            done = project(silo, redis_url)
        except RedisUnusable as error:
            fail(str(error), ExitCode.ENDPOINT)
    deleted = f", {done.deleted:,} deleted" if done.deleted else ""
    click.echo(f"{done.keys:,} keys{deleted}")
    return ExitCode.OK
