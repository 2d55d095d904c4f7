"""Clusters one after another: *Merge and next*, *Ignore*, *Skip*; at the end, one rule for all.

What is to be merged goes from page to page in the form: the cluster that is shown has the number
0 there, those to be merged have the others. Nothing of it is stored.
"""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass

from webui import urls
from webui.found_clusters import AskedClusters, clustered
from webui.http.messages import whole_number
from webui.queues import ROUND, Before, QueuePlace, Round
from webui.rendering import View
from webui.site import Call
from webui.words.field_labels import field_label
from webui.words.texts import text as _

_VALUE = re.compile(r"value-(\d{1,5})-\d{1,5}", re.ASCII)


@dataclass(frozen=True, slots=True)
class MergedValues:
    """Values that are to become one.

    Attributes:
        field: The facet.
        into: The value that they become.
        values: All that were ticked; `into` may be among them.
    """

    field: str
    into: str
    values: tuple[str, ...]


def taken(fields: Mapping[str, str]) -> dict[int, MergedValues]:
    """Read what a form merges: the clusters with a ticked value that changes, by number.

    Raises:
        BadRequest: An unknown field.
    """
    ticked: dict[int, list[str]] = {}
    for name, value in fields.items():
        if match := _VALUE.fullmatch(name):
            ticked.setdefault(int(match[1]), []).append(value)
    found = {}
    for number, values in sorted(ticked.items()):
        into = " ".join(fields.get(f"to-{number}", "").split())
        if into and {*values} - {into}:
            field = fields.get(f"field-{number}") or fields.get("field", "")
            found[number] = MergedValues(clustered(field), into, tuple(values))
    return found


def begin(call: Call) -> View:
    """Show the first cluster."""
    return _shown(call, 0, Round.of(call.request.query.get(ROUND, ""), time.time()), {})


def merge(call: Call) -> View:
    """Take the ticked values of the cluster into what is to be merged; show the next one.

    Raises:
        BadRequest: An unknown field, method or distance.
    """
    chosen = taken(call.form.fields)
    if 0 not in chosen:
        fault = _(
            "Nothing would be merged. Tick the values that are the same, and enter the value to "
            "merge them into."
        )
        return _shown(call, _number(call) - 1, _round(call), chosen, fault=fault)
    return decided(call, _("To be merged:"), chosen[0].into)


def skip(call: Call) -> View:
    """Show the next cluster.

    Raises:
        BadRequest: An unknown field, method or distance.
    """
    return _go_on(call, _round(call).skipped(), _without_first(taken(call.form.fields)))


def decided(call: Call, said: str, title: str = "") -> View:
    """Show the cluster behind one that was decided about, and what was decided.

    Args:
        said: What was done.
        title: The values that it was done to; empty if that is said.
    """
    chosen = taken(call.form.fields)
    if not title:
        chosen = _without_first(chosen)
    return _go_on(call, _round(call).decided(), chosen, Before(said, title))


def _without_first(chosen: Mapping[int, MergedValues]) -> dict[int, MergedValues]:
    return {number: one for number, one in chosen.items() if number}


def _round(call: Call) -> Round:
    return Round.of(call.field(ROUND), time.time())


def _go_on(
    call: Call, round_: Round, chosen: Mapping[int, MergedValues], before: Before | None = None
) -> View:
    return _shown(call, _number(call), round_, chosen, before=before)


def _asked(call: Call) -> AskedClusters:
    return AskedClusters.of(call.form.fields or call.request.query)


def _number(call: Call) -> int:
    """The number of the next cluster; if the one shown is gone, the next one has its number."""
    found, key = _asked(call).found(call.site.silo), call.field("key")
    behind = (number + 1 for number, one in enumerate(found) if one.key == key)
    return next(behind, whole_number(call.field("place") or "0", 0, 10**6) or 0)


def _shown(
    call: Call,
    number: int,
    round_: Round,
    chosen: Mapping[int, MergedValues],
    *,
    fault: str = "",
    before: Before | None = None,
) -> View:
    asked, now = _asked(call), time.time()
    found, number = asked.found(call.site.silo), max(0, number)
    one = found[number] if number < len(found) else None
    url = urls.with_query(urls.clusters(), asked.fields)
    left = max(0, len(found) - number)
    kept = [chosen[place] for place in sorted(chosen)]
    data = {
        "one": one,
        "place": number,
        "asked": asked.fields,
        "taken": list(enumerate(kept, 1)),
        "fault": fault,
        "field_label": field_label,
        "round_said": round_.told(now) if round_.done or round_.passed else "",
        "queue": QueuePlace.at(round_, now, back=url, left=left, before=before),
    }
    twin = {
        "left": left,
        "key": one.key if one else None,
        "taken": [{"field": take.field, "to": take.into, "values": take.values} for take in kept],
    }
    return View("cluster_one.mako", data, twin, url, 400 if fault else 200)
