"""Checks that other packages contribute, for the data they keep beside the records.

An entry point of the group ``recordsilo.checks`` names a `Check`.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from recordsilo.audit.findings import Code, Finding, Rule
from recordsilo.contributions import ContributionBroken, contribution, contributions, points

GROUP = "recordsilo.checks"


@dataclass(frozen=True, slots=True)
class Check:
    """A check of a Silo that runs after the store's own.

    Attributes:
        name: The entry point's name; ``silo check --without NAME`` leaves it out.
        title: What it checks, for people.
        rules: The rules of its findings.
        run: Takes the Silo's directory, yields findings; changes nothing.
    """

    name: str
    title: str
    rules: tuple[Rule, ...]
    run: Callable[[str], Iterable[Finding]]


def check_names() -> list[str]:
    """The names of all contributed checks, sorted; loads none of them."""
    return list(points(GROUP))


def contributed_findings(path: str, without: Collection[str] = ()) -> Iterator[Finding]:
    """The findings of contributed checks; a check that fails is itself a finding.

    Args:
        without: Names of checks to leave out.
    """
    for name in check_names():
        if name in without:
            continue
        try:
            yield from contribution(GROUP, name, Check).run(path)
        except ContributionBroken as error:
            yield _failed(error)
        except Exception as error:  # noqa: BLE001 - the code of any package runs here
            yield _failed(ContributionBroken(points(GROUP)[name], error))


def _failed(error: ContributionBroken) -> Finding:
    return Finding(Code.CHECK_FAILED, ".", f"findings of the check {error.name}", str(error))


def all_rules() -> list[Code | Rule]:
    """The store's codes, and those of contributed checks that can be loaded."""
    return [*Code, *(rule for check in contributions(GROUP, Check) for rule in check.rules)]
