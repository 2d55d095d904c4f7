"""One version in all that names it. Pure."""

import re
import tomllib
from dataclasses import dataclass

_HEADING = re.compile(r"^## (?P<version>\S+) - (?P<date>\d{4}-\d\d-\d\d)$", re.MULTILINE)


class NotAgreed(Exception):
    """What is to be released has no single version."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version that is to be released.

    Attributes:
        number: Such as ``1.0.0``.
        date: Of its section in the changelog, ``YYYY-MM-DD``.
    """

    number: str
    date: str

    @property
    def tag(self) -> str:
        """The tag of its commit."""
        return f"v{self.number}"


def agreed(pyproject: str, changelog: str, citation: str) -> Version:
    """Return the version that three files name.

    Args:
        pyproject: Text of ``pyproject.toml``.
        changelog: Text of ``CHANGELOG.md``, whose first dated section is that of the version.
        citation: Text of ``CITATION.cff``.

    Raises:
        NotAgreed: They differ; the text says where.
    """
    number = tomllib.loads(pyproject)["project"]["version"]
    newest = _HEADING.search(changelog)
    if newest is None or newest["version"] != number:
        found = newest["version"] if newest else "none"
        raise NotAgreed(
            f"pyproject.toml has version {number}, the first dated section of CHANGELOG.md is of"
            f" {found}; write '## {number} - YYYY-MM-DD' there"
        )
    for key, wanted in (("version", number), ("date-released", newest["date"])):
        found = _cited(citation, key)
        if found != wanted:
            raise NotAgreed(f"CITATION.cff has {key}: {found or 'nothing'}; it must be {wanted}")
    return Version(number, newest["date"])


def check_tag(version: Version, tags: list[str]) -> None:
    """Check that the commit has the tag of the version.

    Args:
        version: See `agreed`.
        tags: Of the commit.

    Raises:
        NotAgreed: It has not, or another one beside it.
    """
    others = [tag for tag in tags if re.fullmatch(r"v\d.*", tag) and tag != version.tag]
    if others:
        raise NotAgreed(
            f"this commit has the tag {others[0]}, and pyproject.toml version {version.number};"
            " a release has one version"
        )
    if version.tag not in tags:
        raise NotAgreed(
            f"this commit has no tag {version.tag}; to release it: git tag -a {version.tag} -m"
            f" 'Version {version.number}'; to try all but the tag: make release ARGS=--rehearse"
        )


def _cited(citation: str, key: str) -> str:
    found = re.search(rf"^{key}:[ ]*['\"]?([^'\"\n]*)", citation, re.MULTILINE)
    return found[1].strip() if found else ""
