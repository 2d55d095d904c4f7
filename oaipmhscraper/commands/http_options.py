"""How requests are sent, as options that every command with a repository has.

No credential is an option's value: command lines are seen by every user of a
machine and kept in histories. They come from files and from the environment.
"""

import os
import re
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click
import urllib3

from politeweb.errors import RequestRefused
from politeweb.settings import HttpSettings, settings_from
from recordsilo.cli import ExitCode, fail
from recordsilo.commands.options import Number

F = TypeVar("F", bound=Callable[..., Any])

_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}
_LARGEST = 1 << 60  # zlib takes a limit that fits a machine word, less one


def read_size(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A number of bytes: ``500000``, ``64M``, ``1.5GB``; units are powers of 1024."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)(?:i?b)?", value.strip().lower(), re.ASCII)
    exact = float(match[1]) * _UNITS[match[2]] if match else 0.0
    size = int(min(exact, _LARGEST))
    if size < 1:
        raise click.BadParameter(f"{value!r} is no size; write 500000, 64M or 1.5G", ctx, param)
    return size


_SECONDS = Number(min=0.0, max=86400.0)

_OPTIONS = [
    click.option(
        "--contact",
        envvar="SILO_CONTACT",
        metavar="MAIL",
        help="Your email address, sent with every request so that the repository can contact you"
        " [also: the environment's SILO_CONTACT].",
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
        help="Follow redirects from a public host to addresses that are not public.",
    ),
    click.option("--post", is_flag=True, help="Send POST requests instead of GET."),
    click.option(
        "--proxy",
        metavar="URL",
        help="Send through this proxy  [default: what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say].",
    ),
    click.option(
        "--header-file",
        envvar="SILO_HEADER_FILE",
        type=click.Path(exists=True, dir_okay=False, readable=True),
        metavar="FILE",
        help="Send the headers in FILE too, one 'Name: value' a line, to the repository's host"
        " only; where it wants more than a password (that is taken from ~/.netrc, or from the"
        " environment's SILO_AUTH as user:password).",
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
    """Give a command these options; it receives them as one keyword, ``settings``.

    ``settings`` is an `HttpSettings`. A value that cannot be sent ends the command
    with a sentence and exit code 2 before it begins.
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

    decorated: Any = with_settings
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]  # click types a decorated command as Any


def _warn_of_insecurity(settings: HttpSettings) -> None:
    """Say once, in our words, what urllib3 would say for each host."""
    if settings.insecure:
        warnings.filterwarnings("ignore", category=urllib3.exceptions.InsecureRequestWarning)
        click.echo("silo: certificates are not checked (--insecure)", err=True)
