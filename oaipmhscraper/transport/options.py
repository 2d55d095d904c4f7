"""How requests are sent, as options that every command with a repository has.

No credential is an option's value: command lines are seen by every user of a
machine and kept in histories. They come from files and from the environment.
"""

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, TypeVar
from urllib.parse import unquote

import click
import urllib3

from oaipmhscraper.errors import RequestRefused
from oaipmhscraper.transport.http_settings import HttpSettings
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
        help="Your mail address, sent with every request, so that the repository can reach you"
        " [also: the environment's SILO_CONTACT].",
    ),
    click.option("--user-agent", metavar="TEXT", help="What requests say they are sent by."),
    click.option(
        "--delay",
        type=_SECONDS,
        metavar="SECONDS",
        help="Least time between the starts of two requests.",
    ),
    click.option(
        "--timeout",
        type=Number(min=0.0, min_open=True, max=86400.0),
        metavar="SECONDS",
        help="Longest silence of the server  [default: 180].",
    ),
    click.option(
        "--attempts",
        type=click.IntRange(1, 100),
        metavar="N",
        help="How often a request that fails is sent  [default: 5].",
    ),
    click.option(
        "--max-response",
        callback=read_size,
        metavar="SIZE",
        help="Largest answer taken, packed or unpacked, as 500K or 1G  [default: 64M].",
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
    click.option("--insecure", is_flag=True, help="Take any certificate: anybody may answer."),
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


def settings_from(
    environment: Mapping[str, str],
    *,
    timeout: float | None = None,
    header_file: str | None = None,
    **options: Any,
) -> HttpSettings:
    """The settings of options and environment; an option that is None keeps its default.

    Args:
        environment: ``SILO_AUTH`` is ``user:password``; a ``%`` code stands for its character.
        timeout: Longest silence; an answer as a whole may take five times as long.
        header_file: Headers, one a line; empty lines and lines with ``#`` are left out.
        options: Fields of `HttpSettings`.

    Raises:
        RequestRefused: Something that cannot be sent. Secrets are not repeated.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if timeout is not None:
        given |= {"read_timeout": timeout, "total_timeout": max(5 * timeout, 60.0)}
        given["connect_timeout"] = min(timeout, HttpSettings().connect_timeout)
    if header_file is not None:
        given["secret_headers"] = tuple(_headers_in(header_file))
    if environment.get("SILO_AUTH"):
        given["auth"] = _credentials(environment["SILO_AUTH"])
    return HttpSettings(**given)


def _headers_in(path: str) -> Iterator[tuple[str, str]]:
    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        raise RequestRefused(f"{path} cannot be read as a text") from None
    for line in lines:
        if line.strip() and not line.lstrip().startswith("#"):
            name, _, value = line.partition(":")
            yield name.strip(), value.strip()


def _credentials(text: str) -> tuple[str, str]:
    user, colon, password = text.partition(":")
    if not colon:
        raise RequestRefused("the environment's SILO_AUTH is not user:password")
    return unquote(user), unquote(password)


def _warn_of_insecurity(settings: HttpSettings) -> None:
    """Say once, in our words, what urllib3 would say for each host."""
    if settings.insecure:
        warnings.filterwarnings("ignore", category=urllib3.exceptions.InsecureRequestWarning)
        click.echo("silo: certificates are not checked (--insecure)", err=True)
