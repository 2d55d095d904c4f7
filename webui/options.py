"""Options that the commands of the page share."""

import click

port_option = click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 selects a free one. Default: 8080, or a free one if it is in use.",
)
