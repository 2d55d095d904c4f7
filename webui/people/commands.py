"""The commands `silo user add`, `list`, `passwd`, `role` and `remove`: who may sign in."""

import json
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from getpass import GetPassWarning

import click

from recordsilo.cli import Group, example, fail, open_silo
from recordsilo.commands.options import confirm, directory, json_array, tell_none, yes_option
from recordsilo.granary import is_granary
from webui.people.accounts import (
    AccountRefused,
    AccountUnreadable,
    accounts,
    add_account,
    check_new_name,
    load_account,
    remove_account,
    role_of,
    set_password,
    set_role,
)
from webui.people.roles import ROLES
from webui.words.dates import for_machines

_name = click.argument("name", metavar="NAME")
_roles = click.Choice(list(ROLES))
_from_input = click.option(
    "--password-stdin",
    is_flag=True,
    help="Read the password from the first line of standard input.",
)


@click.group(
    cls=Group, epilog=example("silo user add myrepo ada --role curator", "silo user list myrepo")
)
def user() -> None:
    """Manage the accounts of the web page of a Silo, or of a directory of Silos.

    A viewer can see everything; a curator can also edit working copies; a manager
    can also delete records, harvest and export.
    """


@user.command(epilog=example("silo user add myrepo ada --role curator"))
@directory
@_name
@click.option(
    "--role", type=_roles, default="viewer", show_default=True, help="Role of the account."
)
@click.option(
    "--no-password",
    is_flag=True,
    help="Sign in only through a trusted proxy (silo serve --user-header).",
)
@_from_input
def add(*, silo_dir: str, name: str, role: str, no_password: bool, password_stdin: bool) -> None:
    """Create an account; asks for the password and stores only its hash."""
    if no_password and password_stdin:
        fail("--no-password and --password-stdin exclude each other")
    with _sentences(), _accounts_of(silo_dir) as path:
        check_new_name(path, name)  # before a password is asked for
        password = None if no_password else _password(from_input=password_stdin)
        account = add_account(path, name, role_of(role), password)
    how = "" if password else ", without a password: only a proxy can sign this person in"
    click.echo(f"{account.name} is a {account.role.label} here now{how}.")


@user.command("list", epilog=example("silo user list myrepo", "silo user list myrepo --json"))
@directory
@json_array
def list_users(*, silo_dir: str, as_json: bool) -> None:
    """List the accounts: name, role, creation date and sign-in method."""
    with _sentences(), _accounts_of(silo_dir) as path:
        lines = [one.as_json() for one in accounts(path)]
    if as_json:
        click.echo(json.dumps(lines, indent=2))
        return
    if not lines:
        tell_none("accounts", "silo user add DIR NAME makes one", silo_dir)
    for line in lines:
        click.echo("\t".join((line | {"made": for_machines(line["made"])}).values()))


@user.command(epilog=example("silo user passwd myrepo ada"))
@directory
@_name
@_from_input
def passwd(*, silo_dir: str, name: str, password_stdin: bool) -> None:
    """Change the password of an account and end its sessions."""
    with _sentences(), _accounts_of(silo_dir) as path:
        account = load_account(path, name)  # before a password is asked for
        set_password(path, name, _password(from_input=password_stdin))
    click.echo(f"{account.name} has another password, and is signed out everywhere.")


@user.command(epilog=example("silo user role myrepo ada manager"))
@directory
@_name
@click.argument("role", type=_roles)
def role(*, silo_dir: str, name: str, role: str) -> None:
    """Change the role of an account."""
    with _sentences(), _accounts_of(silo_dir) as path:
        account = set_role(path, name, role_of(role))
    click.echo(f"{account.name} is a {account.role.label} here now.")


@user.command(epilog=example("silo user remove myrepo ada"))
@directory
@_name
@yes_option
def remove(*, silo_dir: str, name: str, yes: bool) -> None:
    """Delete an account; its changes keep its name."""
    with _sentences(), _accounts_of(silo_dir) as path:
        with suppress(AccountUnreadable):  # such an account is removed, too
            load_account(path, name)
        confirm(f"Delete the account {name} of {silo_dir}?", yes=yes)
        removed = remove_account(path, name)
    click.echo(f"{removed} has no account here any more, and is signed out.")


def _password(*, from_input: bool) -> str:
    if from_input:
        return sys.stdin.readline().rstrip("\r\n")
    try:
        with warnings.catch_warnings():  # where the password would be shown as it is typed
            warnings.simplefilter("error", GetPassWarning)
            return str(
                click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
            )
    except GetPassWarning:
        fail(
            "a password can be typed only in a terminal; --password-stdin reads it from standard"
            " input, once"
        )
    except click.Abort:
        if sys.stdin.isatty():
            raise
        fail("no password was entered; --password-stdin reads it from standard input, once")


@contextmanager
def _accounts_of(directory: str) -> Iterator[str]:
    """Yield the path of an existing Silo, or of a directory of Silos."""
    if is_granary(directory):
        yield os.path.abspath(directory)
        return
    with open_silo(directory) as silo:
        yield silo.path


@contextmanager
def _sentences() -> Iterator[None]:
    """Report errors as sentences, not as tracebacks."""
    try:
        yield
    except AccountRefused as error:
        fail(str(error))
