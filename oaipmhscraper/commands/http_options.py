"""Options on how requests are sent, for every command that uses a repository.

Credentials are not values of options, because all users of a machine can see command lines, and
shells store them. They come from files and from the environment.
"""

import os
import re
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import click
import urllib3

from politeweb.errors import RequestRefused
from politeweb.settings import HttpSettings, settings_from
from recordsilo.cli import ExitCode, fail
from recordsilo.commands.options import Number, all_of

F = TypeVar("F", bound=Callable[..., Any])

_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}
_LARGEST = 1 << 60  # the limit plus one must fit into a machine word, for zlib


def read_size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """Parse a number of bytes: ``500000``, ``64M``, ``1.5GB``; units are powers of 1024."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?", value.strip().lower(), re.ASCII)
    exact = float(match[1]) * _UNITS[match[2]] if match else 0.0
    size = int(min(exact, _LARGEST))
    if size < 1:
        raise click.BadParameter(f"{value!r} is not a size; write 500000, 64M or 1.5G", ctx, param)
    return size


_SECONDS = Number(min=0.0, max=86400.0)

_OPTIONS = [
    click.option(
        "--contact",
        envvar="SILO_CONTACT",
        metavar="MAIL",
        help="Your email address, sent with every request so that the repository can contact you"
        " [also: environment variable SILO_CONTACT].",
    ),
    click.option("--user-agent", metavar="TEXT", help="Value of the User-Agent header."),
    click.option(
        "--delay",
        type=_SECONDS,
        metavar="SECONDS",
        help="Minimum time between two requests.",
    ),
    click.option(
        "--timeout",
        type=Number(min=0.0, min_open=True, max=86400.0),
        metavar="SECONDS",
        help="Maximum time to wait for the server  [default: 180].",
    ),
    click.option(
        "--attempts",
        type=click.IntRange(1, 100),
        metavar="N",
        help="Maximum number of attempts per request  [default: 5].",
    ),
    click.option(
        "--max-response",
        callback=read_size,
        metavar="SIZE",
        help="Maximum size of a response, compressed or not, such as 500K or 1G  [default: 64M].",
    ),
    click.option(
        "--private-redirects",
        is_flag=True,
        help="Follow redirects from public hosts to private addresses.",
    ),
    click.option("--post", is_flag=True, help="Send POST requests instead of GET."),
    click.option(
        "--proxy",
        metavar="URL",
        help="Use this proxy  [default: as in HTTPS_PROXY, HTTP_PROXY and NO_PROXY].",
    ),
    click.option(
        "--header-file",
        envvar="SILO_HEADER_FILE",
        type=click.Path(exists=True, dir_okay=False, readable=True),
        metavar="FILE",
        help="Send these headers to the repository's host: FILE has one 'Name: value' per line. For"
        " a password, use ~/.netrc or the environment variable SILO_AUTH (user:password).",
    ),
    click.option(
        "--ca-file",
        envvar="SILO_CA_FILE",
        type=click.Path(exists=True, dir_okay=False, readable=True),
        metavar="FILE",
        help="Trust the certificates in FILE (PEM) instead of the system's.",
    ),
    click.option("--insecure", is_flag=True, help="Accept any certificate (unsafe)."),
]
_NAMES = (
    "contact", "user_agent", "delay", "timeout", "attempts", "max_response",
    "private_redirects", "post", "proxy", "header_file", "ca_file", "insecure",
)  # fmt: skip


def http_options(command: F) -> F:
    """Add these options to a command, which receives them as one keyword, ``settings``.

    ``settings`` is an `HttpSettings`. An invalid value ends the command with a message and exit
    code 2 before it begins.
    """

    @wraps(command)
    def with_settings(*args: Any, **given: Any) -> Any:
        options = {name: given.pop(name) for name in _NAMES}
        try:
            settings = settings_from(os.environ, **options)
        except RequestRefused as error:
            fail(str(error), ExitCode.USAGE)
        _warn_of_insecurity(settings)
        return command(*args, settings=settings, **given)

    return all_of(*_OPTIONS)(cast("F", with_settings))


def _warn_of_insecurity(settings: HttpSettings) -> None:
    """Warn once, instead of urllib3's warning for each host."""
    if settings.insecure:
        warnings.filterwarnings("ignore", category=urllib3.exceptions.InsecureRequestWarning)
        click.echo("silo: certificates are not checked (--insecure)", err=True)
