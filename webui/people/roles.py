"""Users, and what each role may do (pure).

A role includes all roles before it. The role that an address requires is a column of the
route table (`webui.routes`).
"""

from dataclasses import dataclass
from enum import IntEnum


class Role(IntEnum):
    """The roles, in rising order."""

    ANYONE = 0
    """Without sign-in: the sign-in page and its files."""
    VIEWER = 1
    """May read all records."""
    CURATOR = 2
    """May also change working copies, and see what others changed."""
    MANAGER = 3
    """May also delete records permanently, harvest, and export."""

    @property
    def label(self) -> str:
        """The role's name for people and files."""
        return self.name.lower()


ROLES = {role.label: role for role in Role if role is not Role.ANYONE}
"""The roles that an account can have, by name."""


@dataclass(frozen=True, slots=True)
class User:
    """The user of a request.

    Attributes:
        name: Recorded with every change; empty if not signed in.
        session: Whether there is a session that can be ended.
        language: Of the page, as the account has it; empty: it has none.
        has_account: Whether there is an account of that name.
    """

    name: str
    role: Role
    session: bool = False
    language: str = ""
    has_account: bool = False

    def may(self, role: Role) -> bool:
        """Whether the user may use addresses that require the role."""
        return self.role >= role


NOBODY = User("", Role.ANYONE)
