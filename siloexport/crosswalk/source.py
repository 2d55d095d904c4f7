"""The text of a crosswalk, and the errors that name its file, line and key."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from siloexport.crosswalk.terms import is_uri
from siloexport.errors import ExportError


class CrosswalkError(ExportError):
    """A mapping that cannot be read or is invalid.

    Attributes:
        path: Of the file.
        line: Number of the line, from 1; 0 if it is not known.
    """

    def __init__(self, path: str, reason: str, line: int = 0) -> None:
        self.path, self.line = path, line
        where = f"{path}, line {line}," if line else path
        super().__init__(f"the crosswalk {where} {reason}")


@dataclass(frozen=True, slots=True)
class MappingText:
    """The text of the mapping, to find the line of an error.

    Attributes:
        version: 1 for files of the first form, which have no ``version``; else 2.
    """

    path: str
    text: str
    prefixes: Mapping[str, str]
    version: int = 1

    def error(self, reason: str, *named: Any) -> CrosswalkError:
        """Return an error that names the first line with all these values."""
        lines = enumerate(self.text.splitlines(), 1)
        line = next((n for n, line in lines if all(str(one) in line for one in named)), 0)
        return CrosswalkError(self.path, reason, line if named else 0)

    def check_keys(
        self, listed: Mapping[str, Any], known: Sequence[str], newer: Sequence[str], where: str
    ) -> None:
        """Refuse a key that would be ignored.

        Args:
            listed: A table of the file.
            known: The keys that it may have in any version.
            newer: The keys that it may have from version 2 on.
            where: Names the table.
        """
        for key in listed:
            if key in newer and self.version < 2:
                raise self.error(
                    f"has the key {key!r} {where}, which needs version = 2 at the top", key
                )
            if key not in known and key not in newer:
                there = ", ".join([*known, *(newer if self.version > 1 else ())])
                raise self.error(f"has the unknown key {key!r} {where}; there are {there}", key)

    def text_of(self, listed: Mapping[str, Any], key: str, usual: str = "") -> str:
        """Return the text under a key.

        Raises:
            CrosswalkError: It is not a text.
        """
        found = listed.get(key, usual)
        if not isinstance(found, str):
            raise self.error(f"has {key} = {found!r}, which must be a text in quotes", key)
        return found

    def choice(self, listed: Mapping[str, Any], key: str, known: Sequence[str]) -> str:
        """Return the text under a key, by default the first of those that are known."""
        found = self.text_of(listed, key, known[0])
        if found not in known:
            raise self.error(f'has {key} = "{found}"; there are {", ".join(known)}', key, found)
        return found

    def address(self, name: str, *named: str) -> str:
        """Return the URI of a name with a prefix, or of a URI."""
        return self._expanded(name, "%s%s", named)

    def element(self, name: str) -> str:
        """Return the name of an element in Clark's notation."""
        return self._expanded(name, "{%s}%s", ())

    def _expanded(self, name: str, form: str, named: tuple[str, ...]) -> str:
        prefix, colon, local = str(name).partition(":")
        if colon and isinstance(self.prefixes.get(prefix), str):
            return form % (self.prefixes[prefix], local)
        if is_uri(str(name)) and form == "%s%s":
            return str(name)
        if not colon and form != "%s%s":
            return str(name)
        reason = f"uses the prefix of {name}, which [prefixes] does not have"
        raise self.error(reason, *(named or (name,)))
