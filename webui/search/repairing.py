"""Repair all records of a search that have a finding: when it is offered, and its rule."""

from dataclasses import replace

from recordsilo.index.facets import labels_of
from silocuration.editing.repairs import REPAIRS
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Repair
from webui.search.request import SearchRequest
from webui.words.texts import text as _

_FACET = "finding"


def repairable(request: SearchRequest) -> str:
    """The code of the only finding that a search asks for, if it has a repair; else ``""``."""
    codes = [value for name, value in request.chosen if name == _FACET]
    return codes[0] if len(codes) == 1 and codes[0] in REPAIRS else ""


def repair_of(request: SearchRequest, code: str) -> RuleSet:
    """The rule that repairs a finding in the records of a search that have it.

    Args:
        code: A key of `REPAIRS`.
    """
    if repairable(request) != code:
        chosen = request.without_field(_FACET).chosen
        request = replace(request, chosen=(*chosen, (_FACET, code)))
    title = _("Repair: {finding}", finding=_(labels_of(_FACET).get(code, code)))
    rules = tuple(Repair(element, code) for element in REPAIRS[code].elements)
    return RuleSet(title, request.selection, rules)
