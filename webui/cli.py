"""The commands `silo serve` and `silo demo`.

On Ctrl-C or SIGTERM, the page finishes the running requests and exits with 0.

The page is loaded when it is served, not for ``silo serve --help``: that takes most of a second.
"""

from typing import Any

import click

from recordsilo.cli import example
from recordsilo.commands.options import directory
from recordsilo.disk.network_disks import refuse_network_disk
from silowork.commands import broker_option, force_option
from webui.options import port_option


@click.command(epilog=example("silo serve myrepo", "silo serve myrepo --port 8090"))
@directory
@port_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--allow-remote",
    is_flag=True,
    help="Allow other machines to connect; requires sign-in (silo user add).",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="NAME",
    help="A further host name the page answers to; may be repeated. Requires sign-in.",
)
@click.option("--sign-in", is_flag=True, help="Require sign-in on this machine, too.")
@click.option(
    "--proxy",
    "proxies",
    multiple=True,
    metavar="ADDRESS",
    help="A reverse proxy in front, whose X-Forwarded-For and X-Forwarded-Proto are believed;"
    " may be repeated. Requires sign-in.",
)
@click.option(
    "--user-header",
    default="",
    metavar="HEADER",
    help="With --proxy: the header in which the proxy names who signed in with it.",
)
@click.option(
    "--oai",
    is_flag=True,
    help="Give the records to harvesters at /oai, by OAI-PMH and without sign-in, also where no"
    " manager has switched that on.",
)
@broker_option
@force_option
def serve(
    *,
    silo_dir: str,
    force: bool,
    **given: Any,
) -> None:
    """Serve the Silo DIR as a web page, to search and curate its records.

    DIR may also be a directory of Silos; each is then under /silos/NAME/. In a directory that is
    empty or does not exist, an empty Silo is made, and the page offers its first harvest; but not
    if another Silo beside it has nearly that name. In a terminal, the command asks before it makes
    one beside others.

    The page is at http://127.0.0.1:8080/ until Ctrl-C; http://localhost:8080/ works too.
    It can be started beside a harvest, and shows records as they arrive.
    """
    refuse_network_disk(silo_dir, forced=force)
    from webui.serving import serve_directory  # noqa: PLC0415 - loads the whole page

    serve_directory(silo_dir, **given)


def __getattr__(name: str) -> Any:
    """Load `silo demo`, for which the packages that contribute to it are loaded."""
    if name == "demo":
        from webui.demo_command import demo  # noqa: PLC0415

        return demo
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
