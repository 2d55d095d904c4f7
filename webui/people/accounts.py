"""People who sign in: ``curation/accounts/<name>.toml`` in the Silo, one file each.

A password is kept as an Argon2id hash only (docs/adr/0017-passwords-and-sessions.md).
Files are read for each request, so that whoever is removed, or has another role, is so
at once.

Source: NIST SP 800-63B, section 3.1.1 (passwords); RFC 9106, section 4.
"""

import contextlib
import os
import re
import secrets
import threading
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import tomli_w
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from recordsilo.disk.atomic_file import (
    StrictBarrier,
    flush_directory,
    make_parents,
    replace_file,
    write_new,
)
from recordsilo.disk.locks import Locks
from recordsilo.records.manifest import now_text
from webui.people.roles import ROLES, Role

ACCOUNTS = "curation/accounts"
SUFFIX = ".toml"
SHORTEST, LONGEST = 12, 1024
"""Characters of a password."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")
_HASHER = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4)
_TURNS = threading.BoundedSemaphore(2)
"""Each hash takes 64 MiB; so many are made at a time."""
_PATIENCE = 10.0


class AccountRefused(Exception):
    """A name, a password or a role that cannot be; nothing was written."""


class AccountNotFound(AccountRefused):
    """There is no account of that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"there is no account {name!r}")


class AccountUnreadable(AccountRefused):
    """An account's file means nothing; somebody edited it."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"{path} is no account: {reason}")


class LastManager(AccountRefused):
    """Without this account no manager would be left."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name!r} is the last manager; make another account a manager first")


class TooBusy(Exception):
    """Many people sign in at this moment."""


@dataclass(frozen=True, slots=True)
class Account:
    """Who may sign in.

    Attributes:
        password_hash: As `argon2` writes it; empty: no password opens the account, only
            a proxy that has signed the person in.
        made: When; UTC, ISO 8601.
        stamp: Another one with each password; sessions begun under an earlier one end.
    """

    name: str
    role: Role
    password_hash: str = ""
    made: str = ""
    stamp: str = ""


def canonical(text: str) -> str:
    """The one spelling of a name, however it is typed (``ｃurator1`` is ``curator1``).

    Whatever is looked up, compared or counted by name is so under this spelling. The
    result need not be a name that an account can have.
    """
    return unicodedata.normalize("NFKC", text).strip().lower()


def name_of(text: str) -> str:
    """The name of an account as it is written: in lower case.

    Raises:
        AccountRefused: No account can have it.
    """
    name = canonical(text)
    if not _NAME.fullmatch(name):
        raise AccountRefused(
            f"{text!r} cannot be the name of an account: it begins with a letter a-z or a digit, "
            "and has up to 64 of these and . _ @ + -"
        )
    return name


def role_of(label: str) -> Role:
    """The role of a name.

    Raises:
        AccountRefused: There is none.
    """
    if label not in ROLES:
        raise AccountRefused(f"{label!r} is no role; there are {', '.join(ROLES)}")
    return ROLES[label]


def add_account(silo_path: str, name: str, role: Role, password: str | None) -> Account:
    """Make an account; without a password only a trusted proxy can open it.

    Raises:
        AccountRefused: The name is taken or cannot be, or the password is too weak.
    """
    name = name_of(name)
    hashed = "" if password is None else hash_of(name, password)
    account = Account(name, role, hashed, now_text(), secrets.token_hex(16))
    path = _path(silo_path, name)
    _make_directory(silo_path)
    try:
        write_new(path, (_content(account),), StrictBarrier())
    except FileExistsError:
        raise AccountRefused(f"there is an account {name!r} already") from None
    flush_directory(os.path.dirname(path))
    return account


def load_account(silo_path: str, name: str) -> Account:
    """The account of a name, in any spelling.

    Raises:
        AccountNotFound, AccountUnreadable: See there.
    """
    name = _possible(name)
    path = _path(silo_path, name)
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
        said = {key: str(table[key]) for key in ("password_hash", "made", "stamp")}
        return Account(name, role_of(table["role"]), **said)
    except FileNotFoundError:
        raise AccountNotFound(name) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AccountUnreadable(path, str(error)) from None
    except (KeyError, TypeError, AccountRefused) as error:
        raise AccountUnreadable(path, f"its role, hash or stamp is missing ({error})") from None


def account_names(silo_path: str) -> list[str]:
    """The names of a Silo's accounts, in order."""
    try:
        found = os.listdir(_directory(silo_path))
    except FileNotFoundError:
        return []
    names = (name.removesuffix(SUFFIX) for name in found if name.endswith(SUFFIX))
    return sorted(name for name in names if _NAME.fullmatch(name))


def accounts(silo_path: str) -> Iterator[Account]:
    """A Silo's accounts, by name.

    Raises:
        AccountUnreadable: See there.
    """
    for name in account_names(silo_path):
        with contextlib.suppress(AccountNotFound):
            yield load_account(silo_path, name)


def set_password(silo_path: str, name: str, password: str) -> Account:
    """Give an account another password; whoever is signed in with it is signed out.

    Raises:
        AccountRefused: There is no such account, or the password is too weak.
    """
    account = load_account(silo_path, name)
    hashed = hash_of(account.name, password)
    return _store(silo_path, replace(account, password_hash=hashed, stamp=secrets.token_hex(16)))


def set_role(silo_path: str, name: str, role: Role, *, keep_manager: bool = False) -> Account:
    """Give an account another role, from the next request on.

    Args:
        silo_path: The Silo's directory.
        name: Of the account.
        role: The new role.
        keep_manager: Refuse to demote the last manager.

    Raises:
        AccountNotFound, AccountUnreadable, LastManager: See there.
    """
    with _locked(silo_path):
        if keep_manager and role is not Role.MANAGER:
            _check_not_last(silo_path, name)
        return _store(silo_path, replace(load_account(silo_path, name), role=role))


def remove_account(silo_path: str, name: str, *, keep_manager: bool = False) -> str:
    """Remove an account and return its name; what it changed stays under that.

    Args:
        silo_path: The Silo's directory.
        name: Of the account.
        keep_manager: Refuse to remove the last manager.

    Raises:
        AccountNotFound, LastManager: See there.
    """
    name = _possible(name)
    with _locked(silo_path):
        if keep_manager:
            _check_not_last(silo_path, name)
        try:
            os.unlink(_path(silo_path, name))
        except FileNotFoundError:
            raise AccountNotFound(name) from None
        flush_directory(_directory(silo_path))
    return name


def _check_not_last(silo_path: str, name: str) -> None:
    managers = set()
    for one in account_names(silo_path):
        with contextlib.suppress(AccountRefused):  # an unreadable account opens nothing
            if load_account(silo_path, one).role is Role.MANAGER:
                managers.add(one)
    if managers == {canonical(name)}:
        raise LastManager(name)


def _locked(silo_path: str) -> contextlib.AbstractContextManager[None]:
    return Locks(os.path.join(silo_path, ".silo", "locks")).hold_name("accounts")


def signed_in(silo_path: str, name: str, password: str) -> Account | None:
    """The account that a name and a password open; None where they open none.

    It takes as long for a name that there is not, so nobody learns which there are.

    Raises:
        TooBusy: Others sign in, more than are checked at a time.
    """
    try:
        account = load_account(silo_path, name)
    except AccountRefused:
        account = None
    known = account.password_hash if account is not None else ""
    is_right = _verified(known or _hash_of_nothing(), password)
    return account if account is not None and known and is_right else None


def hash_of(name: str, password: str) -> str:
    """What is kept of a password.

    Raises:
        AccountRefused: It is too weak.
    """
    if len(password) < SHORTEST:
        raise AccountRefused(f"a password has {SHORTEST} characters at least")
    if len(password) > LONGEST:
        raise AccountRefused(f"a password has {LONGEST} characters at most")
    if name in password.lower() and len(password) < len(name) + SHORTEST:
        raise AccountRefused("a password that is hardly more than the name is easily guessed")
    if len(set(password)) < 5:
        raise AccountRefused("a password of so few different characters is easily guessed")
    return _HASHER.hash(_folded(password))


def _verified(password_hash: str, password: str) -> bool:
    if len(password) > LONGEST:
        return False
    if not _TURNS.acquire(timeout=_PATIENCE):
        raise TooBusy
    try:
        return _HASHER.verify(password_hash, _folded(password))
    except (VerificationError, InvalidHashError):
        return False
    finally:
        _TURNS.release()


def _folded(password: str) -> bytes:
    """One spelling of a password, whichever keyboard it is typed at."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


@cache
def _hash_of_nothing() -> str:
    return _HASHER.hash(secrets.token_bytes(32))


def _store(silo_path: str, account: Account) -> Account:
    replace_file(_path(silo_path, account.name), _content(account))
    return account


def _content(account: Account) -> bytes:
    table = {
        "role": account.role.label,
        "password_hash": account.password_hash,
        "made": account.made,
        "stamp": account.stamp,
    }
    return tomli_w.dumps(table).encode()


def _make_directory(silo_path: str) -> None:
    """Only who keeps the Silo looks at hashes."""
    directory = _directory(silo_path)
    make_parents(directory)
    with contextlib.suppress(FileExistsError):
        os.mkdir(directory, 0o700)
    flush_directory(os.path.dirname(directory))


def _directory(silo_path: str) -> str:
    return os.path.join(silo_path, *ACCOUNTS.split("/"))


def _possible(name: str) -> str:
    """The canonical spelling of a name that an account can have.

    Raises:
        AccountNotFound: No account can have it.
    """
    known = canonical(name)
    if not _NAME.fullmatch(known):
        raise AccountNotFound(name)
    return known


def _path(silo_path: str, name: str) -> str:
    return os.path.join(_directory(silo_path), name + SUFFIX)
