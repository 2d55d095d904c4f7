"""Probable variants of values; merging them makes a rule."""

from collections.abc import Iterator
from datetime import UTC, datetime
from time import time
from typing import Any

from silocuration.review.clusters import Method
from silocuration.review.counts import CLUSTERED
from silocuration.review.variants import distinct_values, rule_out, take_back
from usagestats.entities.bundles import assert_same
from webui import cluster_queue, urls
from webui.bulk.rule_form import RuleForm
from webui.bulk.rule_view import rule_view
from webui.found_clusters import AskedClusters, clustered, forget_clusters
from webui.http.errors import BadRequest, NotFound
from webui.http.messages import Response, redirect
from webui.queues import ROUND, Round
from webui.rendering import View
from webui.site import Call
from webui.usage.asked import has_usage, opened
from webui.words.field_labels import field_label
from webui.words.texts import text as _

PAGE = 24
"""Number of clusters per page."""
SHOWN = 60
"""Values shown per cluster; the others are folded."""
METHODS = (
    (Method.FINGERPRINT, "same words in any order"),
    (Method.NGRAM, "same letters"),
    (Method.NEAREST, "small differences in spelling"),
)
"""English texts of the catalogue."""
DONE = {
    "ignored": "Ignored. This cluster is not shown again unless a new variant joins it.",
    "counted": "Usage of these values is counted as one. The records are unchanged.",
    "restored": "The cluster is shown again.",
}
"""Messages by the field ``done`` of the address; English texts of the catalogue."""


def show(call: Call) -> View:
    """Show the clusters of a field, or of all, those that change most records first.

    With ``round``, show them one after another.
    """
    query = call.request.query
    if ROUND in query:
        return cluster_queue.begin(call)
    asked = AskedClusters.of(query)
    start = call.request.start
    found = asked.found(call.site.silo)
    shown = found[start : start + PAGE]
    about = asked.fields
    place = {**about, "start": start + PAGE}
    next_url = urls.with_query(urls.clusters(), place) if start + PAGE < len(found) else ""
    ruled_out = distinct_values(call.site.silo.path)
    data: dict[str, Any] = about | {
        "clusters": list(enumerate(shown)),
        "total": len(found),
        "start": start,
        "begin": urls.with_query(urls.clusters(), {**about, ROUND: Round(int(time())).field}),
        "next_url": next_url,
        "first_url": urls.with_query(urls.clusters(), about) if start else "",
        "shown": SHOWN,
        "fields": sorted(CLUSTERED),
        "methods": [(one.value, _(label)) for one, label in METHODS],
        "field_label": field_label,
        "ruled_out": ruled_out,
        "has_usage": has_usage(call.site),
        "done": _(DONE.get(query.get("done", ""), "")),
    }
    twin = about | {
        "total": len(found),
        "clusters": [[{"value": v, "count": n} for v, n in one.cluster.values] for one in shown],
        "fields": [one.field for one in shown],
        "keys": [one.key for one in shown],
        "certain": [sorted(one.cluster.certain) for one in shown],
        "distinct": [{"field": one.field, "values": one.values} for one in ruled_out],
        "next": urls.twin(next_url) if next_url else None,
    }
    return View("clusters.mako", data, twin, urls.with_query(urls.clusters(), about))


def merge(call: Call) -> View | Response:
    """Make a rule that maps the chosen values, and preview it; nothing is changed.

    Raises:
        BadRequest: No cluster or value is chosen.
    """
    tables: dict[str, dict[str, str]] = {}
    for field, old, new in _pairs(call):
        tables.setdefault(field, {})[old] = new
    if not tables:
        raise BadRequest(
            "Nothing would be merged. Tick the values that are the same, and enter the value to "
            "merge them into."
        )
    changes = [
        {
            "do": "map",
            "field": CLUSTERED[field],
            "table": "\n".join(f"{old}\t{new}" for old, new in table.items()),
        }
        for field, table in tables.items()
    ]
    names = ", ".join(field_label(field) for field in tables)
    title = _("{field}: merge variants", field=names)
    return rule_view(call, RuleForm(title=title, changes=tuple(changes)))


def count_as_one(call: Call) -> Response:
    """Assert, for the usage, that the chosen values of each cluster are one; no record changes.

    Raises:
        BadRequest: No cluster is chosen.
        WebError: The usage cannot be read.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for field, old, new in _pairs(call):
        groups.setdefault((field, new), [new]).append(old)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with opened(call) as usage:
        found = [usage.keys_of_values(field, values) for (field, _to), values in groups.items()]
    chosen = [keys for keys in found if len(keys) > 1]
    if not chosen:
        raise BadRequest("Nothing would be counted as one. Tick the values that are the same.")
    for keys in chosen:
        assert_same(call.site.silo.path, keys, call.user.name, now)
    return _back(call, "counted")


def ignore(call: Call) -> View | Response:
    """Record that the values of a cluster (its key in field ``do``) are not variants.

    Raises:
        NotFound: The cluster no longer exists, because its values have changed.
    """
    key = call.field("do").partition("-")[2]
    silo = call.site.silo
    for one in AskedClusters.of(call.form.fields).found(silo):
        if one.key == key:
            values = [value for value, _count in one.cluster.values]
            rule_out(silo.path, one.field, values, agent=call.user.name)
            forget_clusters(silo)
            if call.field(ROUND):
                return cluster_queue.decided(call, _(DONE["ignored"]))
            return _back(call, "ignored")
    raise NotFound("This cluster no longer exists; its values have changed.")


def restore(call: Call) -> Response:
    """Show an ignored cluster (its key in field ``do``) again.

    Raises:
        NotFound: The cluster is not ignored.
    """
    key = call.field("do").partition("-")[2]
    silo = call.site.silo
    for one in distinct_values(silo.path):
        if one.key == key:
            take_back(silo.path, one, agent=call.user.name)
            forget_clusters(silo)
            return _back(call, "restored")
    raise NotFound("This cluster is not ignored.")


def _back(call: Call, done: str) -> Response:
    about = {name: call.field(name) for name in ("field", "method", "distance")}
    return redirect(urls.with_query(urls.clusters(), about | {"done": done}))


def _pairs(call: Call) -> Iterator[tuple[str, str, str]]:
    """The field, the old and the new value of each ticked value, or of those of one cluster."""
    fields = call.form.fields
    only = call.field("do").partition("-")[2]
    for name, value in fields.items():
        kind, _dash, rest = name.partition("-")
        number = rest.partition("-")[0]
        if kind == "value" and (not only or number == only):
            wanted = " ".join(fields.get(f"to-{number}", "").split())
            if wanted and wanted != value:
                yield clustered(fields.get(f"field-{number}") or call.field("field")), value, wanted
