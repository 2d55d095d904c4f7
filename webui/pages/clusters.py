"""Values of a field that are likely one, written differently; merging them makes a rule."""

from collections.abc import Iterator
from typing import Any

from silocuration.review.clusters import Cluster, Method, clusters
from silocuration.review.counts import CLUSTERED, value_counts
from webui import urls
from webui.bulk.rule_form import RuleForm
from webui.bulk.rule_view import rule_view
from webui.http.errors import BadRequest
from webui.http.messages import Response
from webui.rendering import View
from webui.site import Call
from webui.timed_cache import TimedCache
from webui.words.field_labels import field_label
from webui.words.texts import text as _

PAGE = 40
"""Clusters on a page."""
SHOWN = 60
"""Values of a cluster on the page; what is more is merged too, unless the cluster is left out."""
METHODS = (
    (Method.FINGERPRINT, "same words in any order"),
    (Method.NGRAM, "same letters"),
    (Method.NEAREST, "small differences in spelling"),
)
"""English texts of the catalogue."""
_FOUND: TimedCache[list[Cluster]] = TimedCache()


def show(call: Call) -> View:
    """The clusters of a field, those with the most records first."""
    asked = call.request.query
    field, method = _field(asked.get("field", "subject")), _method(asked.get("method", ""))
    distance = _number(asked.get("distance", "1"), 1, 3, "distance")
    start = _number(asked.get("start", "0"), 0, 10_000_000, "start")
    found = _clusters(call, field, method, distance)
    shown = found[start : start + PAGE]
    about = {"field": field, "method": method.value, "distance": distance}
    place = {**about, "start": start + PAGE}
    next_url = urls.with_query(urls.clusters(), place) if start + PAGE < len(found) else ""
    data: dict[str, Any] = about | {
        "clusters": list(enumerate(shown)),
        "total": len(found),
        "start": start,
        "next_url": next_url,
        "shown": SHOWN,
        "fields": sorted(CLUSTERED),
        "methods": [(one.value, _(label)) for one, label in METHODS],
        "field_label": field_label,
    }
    twin = about | {
        "total": len(found),
        "clusters": [[{"value": v, "count": n} for v, n in one.values] for one in shown],
        "next": urls.twin(next_url) if next_url else None,
    }
    return View("clusters.mako", data, twin, urls.with_query(urls.clusters(), about))


def merge(call: Call) -> View | Response:
    """A rule that maps the values chosen, to be previewed; nothing is changed here."""
    field = _field(call.field("field"))
    table = dict(_pairs(call))
    if not table:
        raise BadRequest("Choose at least one cluster and the value to merge it into.")
    change = {
        "do": "map",
        "field": CLUSTERED[field],
        "table": "\n".join(f"{old}\t{new}" for old, new in table.items()),
    }
    title = _("{field}: merge variants", field=field_label(field))
    return rule_view(call, RuleForm(title=title, changes=(change,)))


def _pairs(call: Call) -> Iterator[tuple[str, str]]:
    fields = call.form.fields
    for name, value in fields.items():
        kind, _dash, rest = name.partition("-")
        number = rest.partition("-")[0]
        if kind == "value" and fields.get(f"use-{number}"):
            wanted = " ".join(fields.get(f"to-{number}", "").split())
            if wanted and wanted != value:
                yield value, wanted


def _clusters(call: Call, field: str, method: Method, distance: int) -> list[Cluster]:
    silo = call.site.silo

    def find() -> list[Cluster]:
        found = clusters(value_counts(silo, field), method, distance=distance)
        return sorted(found, key=lambda one: -one.records)

    return _FOUND.get(silo, (field, method, distance), find)


def _field(name: str) -> str:
    if name not in CLUSTERED:
        raise BadRequest(
            "Choose one of these fields: {known} (field).", known=", ".join(sorted(CLUSTERED))
        )
    return name


def _method(name: str) -> Method:
    try:
        return Method(name or Method.FINGERPRINT)
    except ValueError:
        raise BadRequest(
            "Unknown method; choose one of {known}.", known=", ".join(Method)
        ) from None


def _number(text: str, least: int, most: int, name: str) -> int:
    if not (text.isascii() and text.isdigit()) or not least <= int(text[:9]) <= most:
        raise BadRequest(
            "{name} must be a number from {least} to {most}.", name=name, least=least, most=most
        )
    return int(text)
