"""Who asks, and what a role may do (pure).

A role may do all that the roles before it may. Which one an address needs is a column of
the route table (`webui.routes`).
"""

from dataclasses import dataclass
from enum import IntEnum


class Role(IntEnum):
    """What somebody may do here; in rising order."""

    ANYONE = 0
    """Without signing in: the sign-in page, and what it loads."""
    VIEWER = 1
    """Look at everything that is in the records."""
    CURATOR = 2
    """Change working copies, one or many; see what others changed."""
    MANAGER = 3
    """Delete records for good, harvest, and publish."""

    @property
    def label(self) -> str:
        """The role's name for people and files."""
        return self.name.lower()


ROLES = {role.label: role for role in Role if role is not Role.ANYONE}
"""The roles that an account can have, by name."""


@dataclass(frozen=True, slots=True)
class User:
    """Who asks.

    Attributes:
        name: Noted with every change; empty where nobody signed in.
        session: Whether a session was begun, which can be ended.
    """

    name: str
    role: Role
    session: bool = False

    def may(self, role: Role) -> bool:
        """Whether that role's addresses answer."""
        return self.role >= role


NOBODY = User("", Role.ANYONE)
