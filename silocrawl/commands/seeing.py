"""The commands `silo crawl cdx-server` and `silo crawl replay`."""

import sys

import click

from politeweb.listening import CannotListen, probe
from politeweb.loopback import LOOPBACK, LoopbackServer
from recordsilo.cli import ExitCode, example, fail
from recordsilo.commands.options import directory
from silocrawl.cdx_server import CdxApp
from silocrawl.cdxj import Segments
from silocrawl.commands.opening import opened, pywb_option
from silocrawl.paths import index_directory
from silocrawl.replay import free_port, program_of, replaying
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
        except CannotListen as error:
            fail(str(error))
        with server.start():
            click.echo(
                f"The index of {silo.storage_dir} answers at {server.url} (stop with Ctrl-C)"
            )
            click.echo(f"Ask for an address: {server.url}?url=example.org/*")
            sys.stdout.flush()
            stop.wait()
    click.echo("Stopped.")


@click.command(epilog=example("silo crawl replay myrepo --pywb pywb/bin/wayback"))
@directory
@port_option
@pywb_option
def replay(*, silo_dir: str, port: int | None, pywb: str) -> None:
    """Show what was crawled, as it was, by a pywb of your own, until Ctrl-C.

    Only for this machine. Captures are found as soon as a crawl has indexed them.
    """
    with opened(silo_dir) as silo, Stop().on_signals() as stop:
        where = port or free_port()
        try:
            probe(LOOPBACK, where)
        except CannotListen as error:
            fail(str(error))
        with replaying(silo.path, program_of(pywb), where) as child:
            click.echo(
                f"{silo.storage_dir} is at http://{LOOPBACK}:{where}/own/ (stop with Ctrl-C)"
            )
            sys.stdout.flush()
            while not stop.wait(1.0):
                if child.poll() is not None:
                    fail("pywb has ended", ExitCode.LOSSES)
    click.echo("Stopped.")
