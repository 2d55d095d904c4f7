"""The command `silo crawl cdx-server`."""

import sys

import click

from politeweb.loopback import LOOPBACK, LoopbackServer
from recordsilo.cli import example, fail
from recordsilo.commands.options import directory
from silocrawl.cdx_server import CdxApp
from silocrawl.cdxj import Segments
from silocrawl.commands.opening import opened
from silocrawl.paths import index_directory
from silowork.stop import Stop

port_option = click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help="Listen there instead of on a free port.",
)


@click.command("cdx-server", epilog=example("silo crawl cdx-server myrepo --port 9120"))
@directory
@port_option
def cdx_server(*, silo_dir: str, port: int | None) -> None:
    """Answer the CDX queries of pywb, OutbackCDX and scripts from the index, until Ctrl-C.

    Only for this machine. Captures are found as soon as a crawl has indexed them.
    """
    with opened(silo_dir) as silo, Stop().on_signals() as stop:
        try:
            server = LoopbackServer(CdxApp(Segments(index_directory(silo.path))), port or 0)
        except OSError as error:
            fail(f"cannot listen on {LOOPBACK}, port {port}: {error}")
        with server.start():
            click.echo(f"{silo.storage_dir} is at {server.url}?url= (stop with Ctrl-C)")
            sys.stdout.flush()
            stop.wait()
    click.echo("Stopped.")
