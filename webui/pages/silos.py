"""The list of the Silos of a directory."""

from http import HTTPStatus
from urllib.parse import unquote

from silofleet.errors import FleetError
from silofleet.values import State
from webui import urls
from webui.charts.by_year import by_year, years_of_all
from webui.directory import DirectoryCall
from webui.fleet_lines import STATE_LABELS
from webui.http.messages import Response
from webui.rendering import View
from webui.words.texts import counted
from webui.words.texts import text as _

ON_A_PAGE = 50
"""Silos on one page of the list."""


def show(call: DirectoryCall) -> View:
    """List the Silos."""
    names = call.site.lines.names()
    start = min(call.request.start, max(0, len(names) - 1) // ON_A_PAGE * ON_A_PAGE)
    lines = call.site.lines.lines(names[start : start + ON_A_PAGE])
    places = {one.name: urls.silo(one.name) for one in lines}
    before, after = _steps(urls.twin(urls.silos()), start, len(names))
    silos = [one.to_json(places[one.name]) for one in lines]
    twin = {"total": len(names), "previous": before, "next": after, "silos": silos}
    bins = years_of_all(one.years for one in lines)
    before, after = _steps(urls.home(), start, len(names))
    states = _states(call)
    data = {
        "lines": lines,
        "states": states,
        "state_label": lambda state: _(STATE_LABELS[state]),
        "total": len(names),
        "places": places,
        "years": bins and (bins[0].first, bins[-1].last),
        "pictures": {one.name: by_year(one.years, bins) for one in lines if one.years},
        "previous_url": before,
        "next_url": after,
        "fleet_url": urls.fleet() if call.site.fleet is not None else "",
    }
    url = urls.silos(start=start or None)
    summary = counted("{n} Silo in this directory", "{n} Silos in this directory", len(names))
    return View("silos.mako", data, twin, url, summary=summary)


def _states(call: DirectoryCall) -> dict[str, State]:
    """What the fleet says of each repository; nothing if it is none, or cannot be read."""
    if call.site.fleet is None:
        return {}
    try:
        return call.site.fleet.states()
    except FleetError:
        return {}  # the page of the fleet says why


def lead(call: DirectoryCall) -> Response:
    """Lead from ``/silos/name`` to ``/silos/name/``, or say why the Silo cannot be shown."""
    path = call.request.raw_path.removeprefix("/silos/")
    name, _slash, rest = path.partition("/")
    call.site.silos.check(unquote(name))
    location = urls.silo(unquote(name)) + rest
    return Response(HTTPStatus.PERMANENT_REDIRECT, headers={"Location": location})


def _steps(path: str, start: int, total: int) -> tuple[str | None, str | None]:
    """The addresses of the pages of the list before and after one."""
    before, after = max(0, start - ON_A_PAGE), start + ON_A_PAGE
    return (
        urls.with_query(path, {"start": before or None}) if start else None,
        urls.with_query(path, {"start": after}) if after < total else None,
    )
