"""What a line of the route table says: method, address, handler, body, who may ask, of what."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from webui.http.messages import Request
from webui.people.roles import Role

Handler = Callable[[Any], Any]
"""Gets the call of its site, a `Call` for a Silo or a `DirectoryCall` for a directory of Silos;
returns a `View` or a `Response`."""


class Scope(Enum):
    """What an address is about; a site has one scope, and that of a fleet two."""

    SILO = "a Silo"
    DIRECTORY = "a directory of Silos"
    FLEET = "a directory of Silos that is a fleet"


@dataclass(frozen=True, slots=True)
class Query:
    """A query parameter; with `explode` it may be repeated."""

    name: str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"})
    text: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """The parameters and the answer of a handler.

    Attributes:
        answer: A component of `schemas`, or a media type other than JSON.
        fields: Name → description of each form field; required ones are in `needed`.
        leads: Status → the target, if the answer may be a redirect; or what else it means.
    """

    answer: str
    query: tuple[Query, ...] = ()
    fields: Mapping[str, str] | None = None
    needed: tuple[str, ...] = ()
    status: int = 200
    leads: Mapping[str, str] = field(default_factory=dict)


class Body(Enum):
    """The kind of body that a route accepts."""

    NONE = "nothing; what comes is left unread"
    FIELDS = "a small form: urlencoded, multipart, or a JSON object"
    LIST = "such a form with a long list in it"
    FILE = "such a form, and files where it is multipart"
    RAW = "the bytes of a file; the handler reads them"


@dataclass(frozen=True, slots=True)
class Route:
    """A line of the route table.

    Attributes:
        role: See `needs`.
        scopes: What it is about.
        admits: Which requests are answered although nobody signed in, by the request and the
            directory of the site.
        told: What OpenAPI says of it; for ours, `webui.api.operations` says it.
        is_for_programs: Whether people who did not sign in are refused, not led to the form.
        only_reads: Whether a POST changes nothing, so that it may come from anywhere.
    """

    method: str
    pattern: str
    handler: Handler
    body: Body = Body.NONE
    role: Role | None = None
    scopes: frozenset[Scope] = frozenset({Scope.SILO})
    admits: Callable[[Request, str], bool] | None = None
    is_for_programs: bool = False
    only_reads: bool = False
    told: Operation | None = None

    @property
    def needs(self) -> Role:
        """The required role: the line's own, else viewer for reading and curator for changing."""
        if self.role is not None:
            return self.role
        return Role.VIEWER if self.method == "GET" else Role.CURATOR

    @property
    def parts(self) -> tuple[str, ...]:
        """The pattern's segments."""
        return tuple(self.pattern.strip("/").split("/")) if self.pattern != "/" else ()
