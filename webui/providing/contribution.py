"""The pages of the provider, as a package contributes pages."""

from typing import Any

from siloprovider.providing import PATH
from webui.contributed import Pages
from webui.navigation import NavigationLink
from webui.people.roles import Role
from webui.providing import oai, pages
from webui.route import Body, Handler, Operation, Query, Route, Scope

_ARGUMENTS = ("verb", "identifier", "metadataPrefix", "from", "until", "set", "resumptionToken")
_OAI = Operation(
    "text/xml",
    tuple(Query(name, text=f"See OAI-PMH 2.0, {name}.") for name in _ARGUMENTS),
    leads={"304": "Not changed.", "503": "Come again after Retry-After seconds."},
)
_FIELDS = {
    "page": "`yes`: the records are given to harvesters.",
    "name": "Of the repository.",
    "emails": "Of who looks after it, separated by commas or spaces.",
    "base_url": "The address that harvesters are told; empty for that of this page.",
    "state": "`current` or `ready`: which version is given.",
    "identifiers": "What identifiers begin with; empty for those of the source.",
    "rights": "The address of the licence of the metadata.",
    "friends": "Base URLs of other repositories, separated by spaces.",
    "all_searches": "`yes`: each saved search is a set.",
    "searches": "Names of saved searches that are sets, separated by spaces.",
    "icon": "The address of a picture of the collection.",
    "icon_link": "Where it leads to.",
    "icon_title": "Its title.",
    "icon_width": "In pixels.",
    "icon_height": "In pixels.",
}


def _oai(handler: Handler, scope: Scope) -> tuple[Route, Route]:
    """GET and POST, for harvesters, who do not sign in."""
    how: dict[str, Any] = {"role": Role.ANYONE, "is_for_programs": True, "told": _OAI}
    how["scopes"] = frozenset({scope})
    return (
        Route("GET", PATH, handler, **how),
        Route("POST", PATH, handler, only_reads=True, **how),
    )


PAGES = Pages(
    "providing",
    (
        *_oai(oai.answer, Scope.SILO),
        *_oai(oai.answer_directory, Scope.DIRECTORY),
        Route("GET", "/providing", pages.show, role=Role.MANAGER),
        Route(
            "POST",
            "/providing",
            pages.change,
            Body.FIELDS,
            role=Role.MANAGER,
            told=Operation("", fields=_FIELDS),
        ),
    ),
    (("Admin", NavigationLink("Harvesters", "/providing", Role.MANAGER)),),
    actions={
        "switch on OAI-PMH": "Records given to harvesters",
        "change OAI-PMH": "Settings for harvesters changed",
    },
)
