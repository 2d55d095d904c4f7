"""The sets of the Silo, by name, with the number of their records and their years."""

from collections import Counter
from collections.abc import Sequence

from webui import urls
from webui.charts.by_year import by_year, years_of_all
from webui.rendering import View
from webui.site import Call, set_choices
from webui.timed_cache import TimedCache

PAGE = 100
FEW = 15
"""Maximum number of sets shown without a filter box."""
_YEARS: TimedCache[dict[str, dict[str, int]]] = TimedCache()


def show(call: Call) -> View:
    """List the sets that have records, or those whose name or setSpec contains ``match``.

    Programs get all of them; people, a page from ``start`` on.

    Raises:
        BadRequest: `start` is not a number.
    """
    every = set_choices(call.site)
    match = call.request.query.get("match", "").strip()
    part = match.casefold()
    choices = [one for one in every if part in one[1].casefold() or part in one[0].casefold()]
    silo = call.site.silo
    years = _YEARS.get(silo, "", silo.set_years, silo.index_stamp())
    twin = {
        "sets": [
            {
                "spec": spec,
                "name": name,
                "records": count,
                "years": years.get(spec, {}),
                "url": urls.records_of_set(spec),
            }
            for spec, name, count in choices
        ]
    }
    start = call.request.start
    bins = years_of_all(years.get(spec, {}) for spec, _name, _count in choices)
    shown = choices[start : start + PAGE]
    data = {
        "set_choices": shown,
        "specs": _specs(shown, part),
        "total": len(every),
        "match": match,
        "few": FEW,
        "first_url": _page(match) if start else "",
        "next_url": _page(match, start + PAGE) if start + PAGE < len(choices) else "",
        "years": bins and (bins[0].first, bins[-1].last),
        "pictures": {one[0]: by_year(years[one[0]], bins) for one in shown if one[0] in years},
    }
    return View("sets.mako", data, twin, urls.with_query(urls.sets(), {"match": match}))


def _specs(shown: Sequence[tuple[str, str, int]], part: str) -> set[str]:
    """The setSpecs shown beside names: those of equal names, and those that were searched for."""
    names = Counter(name for _spec, name, _count in shown)
    return {
        spec
        for spec, name, _count in shown
        if names[name] > 1 or (part and part in spec.casefold() and part not in name.casefold())
    }


def _page(match: str, start: int = 0) -> str:
    return urls.with_query(urls.sets(), {"match": match, "start": start or ""})
