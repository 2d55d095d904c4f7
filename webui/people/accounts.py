"""Accounts: one file ``curation/accounts/<name>.toml`` in the Silo for each.

A password is kept as an Argon2id hash only (docs/adr/0017-passwords-and-sessions.md).
Files are read for each request, so removing an account or changing its role takes effect at
once.

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

from recordsilo.disk.atomic_file import flush_directory, make_parents, replace_file
from recordsilo.disk.locks import Locks
from recordsilo.disk.names import names_in
from recordsilo.records.manifest import now_text
from webui.people.roles import ROLES, Role

ACCOUNTS = "curation/accounts"
SUFFIX = ".toml"
SHORTEST, LONGEST = 12, 1024
"""Minimum and maximum length of a password, in characters."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")
_HASHER = PasswordHasher(time_cost=3, memory_cost=64 * 1024, parallelism=4)
_TURNS = threading.BoundedSemaphore(2)
"""Maximum number of hashes computed at a time; each takes 64 MiB."""
_PATIENCE = 10.0


class AccountRefused(Exception):
    """An invalid name, password or role; nothing was written."""


class AccountNotFound(AccountRefused):
    """No account has that name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"there is no account {name!r}")


class AccountUnreadable(AccountRefused):
    """An account's file is invalid, probably after an edit by hand."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"{path} is not an account: {reason}")


class LastManager(AccountRefused):
    """The account is the last manager's."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"{name!r} is the last manager; make another account a manager first")


class TooBusy(Exception):
    """Too many sign-ins at this moment."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account of a user.

    Attributes:
        password_hash: As `argon2` writes it; empty: no sign-in by password, only through a trusted
            proxy.
        made: Time of creation; UTC, ISO 8601.
        stamp: Changes with each password; sessions with an earlier stamp end.
        language: Of the page, as the person chose it; empty: none was chosen.
    """

    name: str
    role: Role
    password_hash: str = ""
    made: str = ""
    stamp: str = ""
    language: str = ""

    def as_json(self) -> dict[str, str]:
        """The account as commands and the page give it out."""
        signs_in_by = "password" if self.password_hash else "proxy"
        return {"name": self.name, "role": self.role.label, "made": self.made,
                "signs_in_by": signs_in_by}  # fmt: skip


def canonical(text: str) -> str:
    """Return the canonical spelling of a name (``curator1`` for ``ｃurator1``).

    Names are looked up, compared and counted in this spelling. The result may be a name that
    no account can have.
    """
    return unicodedata.normalize("NFKC", text).strip().lower()


def name_of(text: str) -> str:
    """Return the canonical name of an account, in lower case.

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
    """Return the role of a name.

    Raises:
        AccountRefused: There is none.
    """
    if label not in ROLES:
        raise AccountRefused(f"{label!r} is not a role; there are {', '.join(ROLES)}")
    return ROLES[label]


def add_account(silo_path: str, name: str, role: Role, password: str | None) -> Account:
    """Create an account; without a password, users sign in through a trusted proxy only.

    Args:
        name: In any spelling; stored in its canonical one.
        role: One of `ROLES`.
        password: 12 to 1,024 characters; empty for none.

    Raises:
        AccountRefused: The name is taken or invalid, or the password is too weak.
    """
    name = name_of(name)
    hashed = "" if password is None else hash_of(name, password)
    account = Account(name, role, hashed, now_text(), secrets.token_hex(16))
    _make_directory(silo_path)
    with _locked(silo_path):
        check_new_name(silo_path, name)
        return _store(silo_path, account)


def check_new_name(silo_path: str, name: str) -> None:
    """Check that an account can be created with a name.

    Raises:
        AccountRefused: The name is taken or invalid.
    """
    name = name_of(name)
    if os.path.lexists(_path(silo_path, name)):
        raise AccountRefused(f"there is an account {name!r} already")


def load_account(silo_path: str, name: str) -> Account:
    """Load the account of a name, in any spelling.

    Raises:
        AccountNotFound, AccountUnreadable: See there.
    """
    name = _possible(name)
    path = _path(silo_path, name)
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
        said = {key: str(table[key]) for key in ("password_hash", "made", "stamp")}
        language = str(table.get("language", ""))
        return Account(name, role_of(table["role"]), language=language, **said)
    except FileNotFoundError:
        raise AccountNotFound(name) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AccountUnreadable(path, str(error)) from None
    except (KeyError, TypeError, AccountRefused) as error:
        raise AccountUnreadable(path, f"its role, hash or stamp is missing ({error})") from None


def known_name(silo_path: str, name: str) -> str | None:
    """Return a name for a log, if there is such an account: people type passwords there."""
    try:
        return load_account(silo_path, name).name
    except AccountRefused:
        return None


def account_names(silo_path: str) -> list[str]:
    """Return the names of a Silo's accounts, in order."""
    return names_in(_directory(silo_path), SUFFIX, _NAME)


def accounts(silo_path: str) -> Iterator[Account]:
    """Return a Silo's accounts, by name.

    Raises:
        AccountUnreadable: See there.
    """
    for name in account_names(silo_path):
        with contextlib.suppress(AccountNotFound):
            yield load_account(silo_path, name)


def set_password(silo_path: str, name: str, password: str) -> Account:
    """Change the password of an account; its sessions end.

    Raises:
        AccountRefused: There is no such account, or the password is too weak.
    """
    account = load_account(silo_path, name)
    hashed = hash_of(account.name, password)
    return _store(silo_path, replace(account, password_hash=hashed, stamp=secrets.token_hex(16)))


def set_role(silo_path: str, name: str, role: Role, *, keep_manager: bool = False) -> Account:
    """Change the role of an account, from the next request on.

    Args:
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


def set_language(silo_path: str, name: str, language: str) -> Account:
    """Keep the language that a person chose for the page; an empty one ends the choice.

    Raises:
        AccountNotFound, AccountUnreadable: See there.
    """
    with _locked(silo_path):
        account = load_account(silo_path, name)
        if account.language == language:
            return account
        return _store(silo_path, replace(account, language=language))


def remove_account(silo_path: str, name: str, *, keep_manager: bool = False) -> str:
    """Remove an account and return its name; its changes keep that name.

    Args:
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
        with contextlib.suppress(AccountRefused):  # an unreadable account cannot be used to sign in
            if load_account(silo_path, one).role is Role.MANAGER:
                managers.add(one)
    if managers == {canonical(name)}:
        raise LastManager(name)


def _locked(silo_path: str) -> contextlib.AbstractContextManager[None]:
    return Locks.of_silo(silo_path).hold_name("accounts")


def signed_in(silo_path: str, name: str, password: str) -> Account | None:
    """Return the account for a name and a password; None if they do not match.

    An unknown name takes as long as a known one, so the time does not reveal which exist.

    Args:
        name: In any spelling.
        password: As typed.

    Raises:
        TooBusy: Too many sign-ins are being checked.
    """
    try:
        account = load_account(silo_path, name)
    except AccountRefused:
        account = None
    known = account.password_hash if account is not None else ""
    is_right = _verified(known or _hash_of_nothing(), password)
    return account if account is not None and known and is_right else None


def hash_of(name: str, password: str) -> str:
    """Return the hash of a password.

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
    """Return the normalized form of a password, the same for every keyboard."""
    return unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")


@cache
def _hash_of_nothing() -> str:
    return _HASHER.hash(secrets.token_bytes(32))


def _store(silo_path: str, account: Account) -> Account:
    replace_file(_path(silo_path, account.name), _content(account), 0o600)
    return account


def _content(account: Account) -> bytes:
    table = {
        "role": account.role.label,
        "password_hash": account.password_hash,
        "made": account.made,
        "stamp": account.stamp,
    } | ({"language": account.language} if account.language else {})
    return tomli_w.dumps(table).encode()


def _make_directory(silo_path: str) -> None:
    """Create the directory, readable only by the Silo's owner."""
    directory = _directory(silo_path)
    make_parents(directory, silo_path)
    with contextlib.suppress(FileExistsError):
        os.mkdir(directory, 0o700)
    flush_directory(os.path.dirname(directory))


def _directory(silo_path: str) -> str:
    return os.path.join(silo_path, *ACCOUNTS.split("/"))


def _possible(name: str) -> str:
    """Return the canonical spelling of a valid account name.

    Raises:
        AccountNotFound: No account can have it.
    """
    known = canonical(name)
    if not _NAME.fullmatch(known):
        raise AccountNotFound(name)
    return known


def _path(silo_path: str, name: str) -> str:
    return os.path.join(_directory(silo_path), name + SUFFIX)
