"""How the records are used: the site, the most used records and entities, and each of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, groupby
from typing import Any

from recordsilo.cells import csv_line
from usagestats.entities.as_table import as_csv, figures_json, used_json
from usagestats.entities.bundles import dissolve
from usagestats.entities.mapping import KEY
from usagestats.entities.usage import MEASURES, MEASURES_2010, RECORD, Usage, Used
from usagestats.errors import EntityUnknown
from usagestats.store import queries
from usagestats.store.counts import Period
from usagestats.store.periods import month_after
from usagestats.values import FIGURES, Figures
from webui import urls
from webui.charts.pictures import Picture
from webui.http.downloads import saved_as
from webui.http.errors import BadRequest, NotFound
from webui.http.messages import Response, whole_number
from webui.http.streams import CSV, encoded
from webui.people.roles import Role
from webui.rendering import PAGE as HTML_PAGE
from webui.rendering import View, changed_answer, html
from webui.site import Call, decoded
from webui.usage import addresses
from webui.usage.asked import KINDS, ORDERS, SINGULAR, UsageQuestion, asked_of, bounds_of, opened
from webui.usage.pictures import Days, charts, days_chart, months_chart, spark_of_months
from webui.usage.world import country_name, world_map
from webui.words.texts import numeral
from webui.words.texts import text as _

TOP, LISTED, MATCHING, MOST = 10, 100, 25, 1000
_MARK = "\ufeff"
"""Before CSV, so that spreadsheets read it as UTF-8."""
NO_DAYS = ("2000-01-01", "2000-01-01")
"""The period shown while nothing is imported."""
BY_DAY = 20
"""An entity of more records has no chart by day, which would read a row of each and every day."""


@dataclass(frozen=True, slots=True)
class UsedLine:
    """A record or an entity in a list."""

    used: Used
    url: str
    spark: Picture | None = None

    @property
    def label(self) -> str:
        """What the list shows; the identifier of a record without a title."""
        return self.used.label or self.used.key


def show(call: Call) -> View:
    """Show the site's totals, charts, the most used records, and where the readers are."""
    with opened(call) as usage:
        bounds = bounds_of(usage)
        if bounds is None:
            may = {"may_import": call.user.may(Role.MANAGER)}
            return View("usage_none.mako", may, {"usage": None}, addresses.usage())
        asked = asked_of(call, bounds)
        total = usage.counts.totals(asked.period)
        days = usage.counts.days(asked.period)
        places = queries.countries(usage.counts, asked.period)
        top = usage.top_items(asked.period, MEASURES[asked.by], TOP)
        kinds = usage.catalogue.kinds()
        lines = _lines(usage, top, asked, with_sparks=not call.wants_json)
    data = {
        "asked": asked,
        "bounds": bounds,
        "figures": total,
        "pictures": charts(days, asked),
        "map": world_map(places),
        "lines": lines,
        "kinds": [(kind, _label_of(kind), number) for kind, number in kinds.items()],
        "orders": {name: _(label) for name, label in ORDERS.items()},
        "may_import": call.user.may(Role.MANAGER),
    }

    def twin() -> Mapping[str, Any]:
        return {
            **_period_json(asked),
            **figures_json(total),
            "days": [{"day": day, **figures_json(one)} for day, one in days],
            "countries": _places_json(places),
            "top": [used_json(one) for one in top],
            "kinds": kinds,
        }

    return View("usage.mako", data, twin, addresses.usage(**asked.fields))


def show_top(call: Call) -> View:
    """List the most used records, or entities of a kind; with ``match``, those of that name."""
    kind, match = (
        call.request.query.get("kind", RECORD),
        call.request.query.get("match", "").strip(),
    )
    number = _number(call)
    with opened(call) as usage:
        kinds = _kinds(usage, kind)
        bounds = bounds_of(usage) or NO_DAYS
        asked = asked_of(call, bounds)
        found = _top(usage, kind, match, asked, number)
        lines = _lines(usage, found, asked, with_sparks=False)
    own = {"kind": kind, "match": match, **asked.fields}
    data = {
        "asked": asked,
        "kind": kind,
        "kinds": [(one, _label_of(one)) for one in kinds],
        "label": _label_of(kind),
        "match": match,
        "lines": lines,
        "orders": {name: _(label) for name, label in ORDERS.items()},
        "own": own,
    }
    twin = {"kind": kind, **_period_json(asked), "top": [used_json(one) for one in found]}
    return View("usage_top.mako", data, twin, addresses.usage("top", **own))


def show_record(call: Call) -> View:
    """Show how a record was used, whether the Silo holds it or only its usage."""
    return _one(call, RECORD)


def show_entity(call: Call) -> View:
    """Show how an entity, or a bundle of entities, was used, with its records."""
    return _one(call, "")


def record_days_csv(call: Call) -> Response:
    """Send a record's figures of each day as CSV."""
    return _days_of_one(call, RECORD)


def entity_days_csv(call: Call) -> Response:
    """Send an entity's figures of each day as CSV."""
    return _days_of_one(call, "")


def _days_of_one(call: Call, kind: str) -> Response:
    with opened(call) as usage:
        one = _found(usage, call, kind)
        asked = asked_of(call, bounds_of(usage) or NO_DAYS)
        return _days_csv(call, queries.days_of(usage.counts, one.items, asked.period))


def _days_csv(call: Call, days: Days) -> Response:
    rows = ([day, *(getattr(one, name) for name in FIGURES)] for day, one in days)
    return _csv(call, "days", ("day", *FIGURES), rows)


def separate(call: Call) -> Response:
    """Take back that the entities of a bundle are the same.

    Raises:
        NotFound: There is no such bundle.
    """
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with opened(call) as usage:
        one = _found(usage, call, "")
        key = usage.bundles.whole(one.key)[0]
        try:
            dissolve(call.site.silo.path, one.key, call.user.name, now)
        except EntityUnknown as error:
            raise NotFound("This entity is the same as no other.") from error
    url = addresses.usage_of("", key)
    return changed_answer(call, url, {"url": url}, status=200)


def days_csv(call: Call) -> Response:
    """Send the site's figures of each day as CSV."""
    with opened(call) as usage:
        asked = asked_of(call, bounds_of(usage) or NO_DAYS)
        return _days_csv(call, usage.counts.days(asked.period))


def countries_csv(call: Call) -> Response:
    """Send the site's uses by country as CSV."""
    with opened(call) as usage:
        asked = asked_of(call, bounds_of(usage) or NO_DAYS)
        places = queries.countries(usage.counts, asked.period)
    rows = ([code, country_name(code), uses, requests] for code, uses, requests in places)
    return _csv(call, "countries", ("code", "country", "investigations", "requests"), rows)


def top_csv(call: Call) -> Response:
    """Send the most used records or entities as CSV, with the columns of 2010."""
    kind, match = (
        call.request.query.get("kind", RECORD),
        call.request.query.get("match", "").strip(),
    )
    with opened(call) as usage:
        asked = asked_of(call, bounds_of(usage) or NO_DAYS)
        found = _top(usage, kind, match, asked, MOST, measures=MEASURES_2010)
    return _attachment(call, "top", as_csv(found))


def entity_csv(call: Call) -> Response:
    """Send the figures of an entity's records as CSV, with the columns of 2010."""
    with opened(call) as usage:
        one = _found(usage, call, "")
        asked = asked_of(call, bounds_of(usage) or NO_DAYS)
        number, order = len(one.items), MEASURES_2010["all"]
        records = usage.used_items(one.items, asked.period, number, order)
    return _attachment(call, "records", as_csv(records))


def fragment(call: Call) -> Response:
    """Send a part of the pages for other pages: HTML without a head.

    ``part`` is ``top`` or ``days``; `widget` sends it as a page for a frame.
    """
    headers = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}
    return Response(200, _part(call, "usage_fragment.mako"), HTML_PAGE, headers)


def widget(call: Call) -> Response:
    """Send a part of the pages as a page of its own, which any page may show in a frame."""
    headers = {
        "Content-Security-Policy": (
            "default-src 'none'; style-src 'self'; font-src 'self'; frame-ancestors *"
        ),
        "X-Frame-Options": "ALLOWALL",
        "Cross-Origin-Resource-Policy": "cross-origin",
    }
    return Response(200, _part(call, "usage_widget.mako"), HTML_PAGE, headers)


def _kinds(usage: Usage, kind: str) -> tuple[str, ...]:
    """Return the kinds that can be asked for; refuse one that is not among them."""
    kinds = (RECORD, *(one.name for one in usage.catalogue.mapping.kinds))
    if kind not in kinds:
        raise BadRequest("Unknown kind; choose one of {known} (kind).", known=", ".join(kinds))
    return kinds


def _part(call: Call, template: str) -> bytes:
    part = call.params["part"]
    if part not in {"top", "days"}:
        raise NotFound("There is no such part; there are top and days.")
    kind = call.request.query.get("kind", RECORD)
    with opened(call) as usage:
        _kinds(usage, kind)
        asked = asked_of(call, bounds_of(usage) or NO_DAYS)
        found = _top(usage, kind, "", asked, _number(call, TOP)) if part == "top" else []
        lines = _lines(usage, found, asked, with_sparks=False)
        days = usage.counts.days(asked.period) if part == "days" else []
    picture = days_chart(days, asked) if part == "days" else None
    label = f"{_(ORDERS[asked.by])}: {_label_of(kind)}"
    base = f"{call.request.scheme}://{call.request.headers.get('host', '')}"
    data = {"lines": lines, "picture": picture, "label": label, "base": base}
    return html(template, **data, site_name=call.site.name)


def _one(call: Call, kind: str) -> View:
    with opened(call) as usage:
        one = _found(usage, call, kind)
        bounds = bounds_of(usage)
        if bounds is None:
            raise NotFound("Nothing was imported yet.")
        asked = asked_of(call, bounds)
        figures = _figures_of(usage, one, asked.period)
        entities = usage.catalogue.entities_of(one.key) if one.kind == RECORD else []
        found = usage.used_items(one.items, asked.period, LISTED) if one.kind != RECORD else []
        lines = _lines(usage, found, asked, with_sparks=not call.wants_json)
        members = map(usage.catalogue.entity, usage.bundles.members.get(one.key, ()))
        same = [entity for entity in members if entity]
        held = one.kind == RECORD and one.key in call.site.silo
    pictures = {"months": months_chart(figures.months, asked)}
    if figures.by_day:
        pictures["days"] = days_chart(figures.days, asked)
    data = {
        "one": one,
        "asked": asked,
        "figures": figures.total,
        "pictures": pictures,
        "map": world_map(figures.places),
        "lines": lines,
        "same": same,
        "kind_label": _label_of(one.kind, SINGULAR),
        "entities": [
            (_label_of(kind, SINGULAR), [(e, addresses.usage_of(kind, e.key)) for e in some])
            for kind, some in groupby(entities, lambda entity: entity.kind)
        ],
        "record_url": urls.record(one.key) if held else "",
        "moments": figures.moments,
    }

    def twin() -> Mapping[str, Any]:
        return {
            **used_json(one),
            **_period_json(asked),
            **figures.to_json(),
            "entities": [entity._asdict() for entity in entities],
            "items": [used_json(item) for item in found],
        }

    return View("usage_one.mako", data, twin, addresses.usage_of(one.kind, one.key, **asked.fields))


@dataclass(frozen=True, slots=True)
class _FiguresOfOne:
    """How one record or entity was used in a period; by days only if it has few records."""

    total: Figures
    months: Mapping[str, Figures]
    by_day: bool
    days: Sequence[tuple[str, Figures]]
    places: Sequence[queries.Country]
    moments: tuple[str, ...] | None

    def to_json(self) -> dict[str, Any]:
        first, last = self.moments or (None, None)
        return {
            **figures_json(self.total),
            "months": [{"month": one, **figures_json(some)} for one, some in self.months.items()],
            "days": [{"day": day, **figures_json(some)} for day, some in self.days],
            "countries": _places_json(self.places),
            "first_use": first,
            "last_use": last,
        }


def _figures_of(usage: Usage, one: Used, period: Period) -> _FiguresOfOne:
    counts, items = usage.counts, one.items
    by_day = len(items) <= BY_DAY
    days = queries.days_of(counts, items, period) if by_day else []
    moments = queries.first_and_last_use(counts, items[:BY_DAY]) if by_day else None
    return _FiguresOfOne(
        queries.figures_of(counts, items, period),
        queries.by_month(days) if by_day else queries.months_together(counts, items, period),
        by_day,
        days,
        queries.countries(counts, period, items),
        tuple(map(_moment, moments)) if moments else None,
    )


def _found(usage: Usage, call: Call, kind: str) -> Used:
    try:
        if kind == RECORD:
            return usage.find(decoded(call.params["record"]))
        key = call.params["key"]
        if not KEY.fullmatch(key):
            raise NotFound("This is not a key of an entity.")
        return usage.entity(key)
    except EntityUnknown as error:
        raise NotFound("Nothing of this name has been used.") from error


def _top(
    usage: Usage, kind: str, match: str, asked: UsageQuestion, number: int,
    *, measures: Mapping[str, str] = MEASURES,
) -> list[Used]:  # fmt: skip
    if match and kind != RECORD:
        entities = usage.catalogue.starting_with(kind, match, MATCHING)
        wholes = dict.fromkeys(usage.bundles.bundle_of.get(one.key, one.key) for one in entities)
        return [_with_figures(usage, usage.entity(key), asked) for key in wholes]
    if match:
        rows = usage.silo.search(match).rows[:MATCHING]
        return [_with_figures(usage, usage.find(row.identifier), asked) for row in rows]
    if kind == RECORD:
        return usage.top_items(asked.period, measures[asked.by], number)
    return usage.top_entities(kind, asked.period, measures[asked.by], number)


def _with_figures(usage: Usage, one: Used, asked: UsageQuestion) -> Used:
    figures = queries.figures_of(usage.counts, one.items, asked.period)
    return Used(one.key, one.kind, one.label, figures, (), one.records)


def _lines(
    usage: Usage, found: Iterable[Used], asked: UsageQuestion, *, with_sparks: bool
) -> list[UsedLine]:
    found = list(found)
    drawn = [one.key for one in found if one.kind == RECORD][:BY_DAY] if with_sparks else []
    start = month_after(asked.last[:7], -11) if asked.first[:7] == asked.last[:7] else asked.first
    wide = UsageQuestion(start, asked.last, asked.given)
    months = queries.months_of(usage.counts, drawn, wide.period) if drawn else {}
    return [
        UsedLine(
            one,
            addresses.usage_of(one.kind, one.key, **asked.fields),
            spark_of_months(months[one.key], wide) if one.key in months else None,
        )
        for one in found
    ]


def _number(call: Call, default: int = LISTED) -> int:
    number = whole_number(call.request.query.get("limit", str(default)), 1, MOST)
    if number is None:
        raise BadRequest("The number of lines (limit) is from 1 to {most}.", most=numeral(MOST))
    return number


def _label_of(kind: str, labels: Mapping[str, str] = KINDS) -> str:
    return _(labels[kind]) if kind in labels else kind.replace("_", " ").capitalize()


def _period_json(asked: UsageQuestion) -> dict[str, str]:
    first, last = asked.days
    return {"from": first, "until": last}


def _places_json(places: Iterable[tuple[str, int, int]]) -> list[Mapping[str, Any]]:
    return [
        {"code": code, "name": country_name(code), "investigations": uses, "requests": requests}
        for code, uses, requests in places
    ]


def _moment(seconds: int) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%SZ}"


def _csv(call: Call, name: str, head: Iterable[str], rows: Iterable[Iterable[object]]) -> Response:
    return _attachment(call, name, map(csv_line, chain([head], rows)))


def _attachment(call: Call, name: str, lines: Iterable[str]) -> Response:
    headers = saved_as(call.site.name, f"{name}.csv", "usage")
    return Response(200, encoded(chain([_MARK], lines)), CSV, headers)
