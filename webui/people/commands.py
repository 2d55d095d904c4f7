"""The commands `silo user add`, `list`, `passwd`, `role` and `remove`: who may sign in."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

from recordsilo.cli import example, fail, open_silo
from recordsilo.commands.options import as_json, directory
from webui.people.accounts import (
    AccountRefused,
    accounts,
    add_account,
    load_account,
    remove_account,
    role_of,
    set_password,
    set_role,
)
from webui.people.roles import ROLES

_name = click.argument("name", metavar="NAME")
_roles = click.Choice(list(ROLES))
_from_input = click.option(
    "--password-stdin", is_flag=True, help="Read the password from standard input: its first line."
)


@click.group(epilog=example("silo user add myrepo ada --role curator", "silo user list myrepo"))
def user() -> None:
    """People who sign in to the page of a Silo, and what they may do.

    A viewer looks at everything; a curator changes working copies, one or many; a manager
    deletes records as well, harvests and publishes.
    """


@user.command(epilog=example("silo user add myrepo ada --role curator"))
@directory
@_name
@click.option("--role", type=_roles, default="viewer", show_default=True, help="What they may do.")
@click.option(
    "--no-password",
    is_flag=True,
    help="Only a trusted proxy signs them in (silo serve --user-header).",
)
@_from_input
def add(*, silo_dir: str, name: str, role: str, no_password: bool, password_stdin: bool) -> None:
    """Make an account; the password is asked for, and only its hash is kept."""
    if no_password and password_stdin:
        fail("--no-password and --password-stdin exclude each other")
    with _sentences(), open_silo(silo_dir) as silo:
        password = None if no_password else _password(from_input=password_stdin)
        account = add_account(silo.path, name, role_of(role), password)
    click.echo(f"{account.name} is a {account.role.label} here now.")


@user.command("list", epilog=example("silo user list myrepo", "silo user list myrepo --json"))
@directory
@as_json
def list_users(*, silo_dir: str, as_json: bool) -> None:
    """List the accounts: name, role, when made, and how they sign in."""
    with _sentences(), open_silo(silo_dir) as silo:
        found = list(accounts(silo.path))
    lines = [
        {
            "name": one.name,
            "role": one.role.label,
            "made": one.made,
            "signs_in_by": "password" if one.password_hash else "proxy",
        }
        for one in found
    ]
    if as_json:
        click.echo(json.dumps(lines, indent=2))
        return
    for line in lines:
        click.echo("\t".join(line.values()))


@user.command(epilog=example("silo user passwd myrepo ada"))
@directory
@_name
@_from_input
def passwd(*, silo_dir: str, name: str, password_stdin: bool) -> None:
    """Give an account another password; its sessions end."""
    with _sentences(), open_silo(silo_dir) as silo:
        account = load_account(silo.path, name)  # before a password is typed in vain
        set_password(silo.path, name, _password(from_input=password_stdin))
    click.echo(f"{account.name} has another password, and is signed out everywhere.")


@user.command(epilog=example("silo user role myrepo ada manager"))
@directory
@_name
@click.argument("role", type=_roles)
def role(*, silo_dir: str, name: str, role: str) -> None:
    """Give an account another role, from its next request on."""
    with _sentences(), open_silo(silo_dir) as silo:
        account = set_role(silo.path, name, role_of(role))
    click.echo(f"{account.name} is a {account.role.label} here now.")


@user.command(epilog=example("silo user remove myrepo ada"))
@directory
@_name
def remove(*, silo_dir: str, name: str) -> None:
    """Remove an account; what it changed stays under its name."""
    with _sentences(), open_silo(silo_dir) as silo:
        removed = remove_account(silo.path, name)
    click.echo(f"{removed} has no account here any more, and is signed out.")


def _password(*, from_input: bool) -> str:
    if from_input:
        return sys.stdin.readline().rstrip("\r\n")
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))


@contextmanager
def _sentences() -> Iterator[None]:
    """Refusals as sentences, not as tracebacks."""
    try:
        yield
    except AccountRefused as error:
        fail(str(error))
