"""Groups of probable duplicates: the list, one after another, and decisions about them."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recordsilo import Row
from recordsilo.index import PageRequest, SearchFilters
from recordsilo.index.projection import DUPLICATE_OF
from silocuration.review.duplicates import mark_distinct, mark_duplicate
from silocuration.review.kept_duplicates import KeptDuplicates
from webui import urls
from webui.found_duplicates import found_duplicates, note_marks
from webui.http.errors import BadRequest
from webui.http.messages import Response, redirect
from webui.queues import ROUND, Before, QueuePlace, Round
from webui.record.rows import RowView, row_views
from webui.rendering import View, json_answer
from webui.search.request import facet_label
from webui.site import Call, Site
from webui.words.dates import for_people
from webui.words.texts import text as _

MARKED = "Q901"
"""The finding of records that are marked."""
PAGE = 10
"""Number of groups per page."""
DONE: Mapping[str, str] = {
    "duplicates": "Marked as duplicates.",
    "distinct": "Marked as distinct.",
    "revoke": "No longer marked as distinct.",
    "unmark": "Mark removed.",
}
"""English texts of the catalogue."""
UNDO: Mapping[str, str] = {"distinct": "revoke", "duplicates": "unmark"}
"""What takes a mark back."""
LONGEST_UNDO = 4000
"""Maximum number of characters of the records that an address names."""
MOST_MARKED = 200


def show(call: Call) -> View:
    """Show the groups, and the records that are marked; with ``round``, the next group.

    At the end of the queue, the list shows what was skipped.
    """
    silo, now = call.site.silo, time.time()
    kept, is_current = found_duplicates(silo)
    written = call.request.query.get(ROUND, "")
    round_ = Round.of(written, now)
    if written and kept is not None and (one := _next(call, kept, round_)):
        return one
    start = call.request.start
    found = kept.to_decide if kept is not None else []
    shown = found[start : start + PAGE]
    lines = _lines(call.site, [one for group in shown for one in group])
    groups = [[lines[one] for one in group] for group in shown]
    marked = _marked(call)
    has_next = start + PAGE < len(found)
    next_url = urls.with_query(urls.duplicates(), {"start": start + PAGE}) if has_next else ""
    data = _decided(call) | {
        "groups": [(number, group, _compared(group)) for number, group in enumerate(groups, start)],
        "total": len(found),
        "found": kept.date if kept is not None else "",
        "is_current": is_current,
        "marked": marked,
        "begin": urls.with_query(urls.duplicates(), {ROUND: Round(int(now)).field}),
        "round_said": round_.told(now) if round_.done or round_.passed else "",
        "first_url": urls.duplicates() if start else "",
        "next_url": next_url,
    }
    twin = {
        "total": len(found) if kept is not None else None,
        "found": kept.date if kept is not None else None,
        "current": is_current,
        "groups": [[_line_json(line) for line in group] for group in groups],
        "marked": marked,
        "next": urls.twin(next_url) if next_url else None,
    }
    return View("duplicates.mako", data, twin, urls.duplicates())


def _next(call: Call, kept: KeptDuplicates, round_: Round) -> View | None:
    """Show the group ``at`` a record, or the one ``behind``; None behind the last one."""
    query = call.request.query
    at = _place_of(kept, query.get("at", ""))
    start = at if at is not None else (_place_of(kept, query.get("behind", ""), -1) or 0) + 1
    left = [group for group in kept.undecided[start:] if group]
    if not left:
        return None
    lines = _lines(call.site, left[0])
    group = [lines[one] for one in left[0]]
    skip = {"behind": left[0][0], ROUND: round_.skipped().field}
    decided = _decided(call)
    place = QueuePlace.at(
        round_,
        time.time(),
        back=urls.duplicates(),
        skip=urls.with_query(urls.duplicates(), skip),
        left=len(left),
        before=Before(decided["done"]) if decided["done"] else None,
    )
    data = decided | {"queue": place, "group": group, "fields": _compared(group)}
    twin = {"left": len(left), "group": [_line_json(line) for line in group]}
    return View("duplicates_one.mako", data, twin, urls.duplicates())


def _place_of(kept: KeptDuplicates, identifier: str, otherwise: int | None = None) -> int | None:
    """The number of the first group that has a record."""
    found = (number for number, group in enumerate(kept.groups) if identifier in group)
    return next(found, otherwise)


def _decided(call: Call) -> dict[str, str]:
    """What was done just now, and how it is taken back."""
    query = call.request.query
    done = query.get("done", "")
    return {
        "done": _(DONE.get(done, "")),
        "undo": UNDO.get(done, ""),
        "undone": query.get("named", ""),
        "round": query.get(ROUND, ""),
    }


def _lines(site: Site, identifiers: Sequence[str]) -> dict[str, RowView]:
    """The rows of some records; a record that no longer exists has an empty row."""
    found = site.silo.rows(identifiers)
    rows = (
        found.get(one) or Row(one, "", "", (), False, False, False, "", 0, 0) for one in identifiers
    )
    return {line.row.identifier: line for line in row_views(site, rows)}


def _line_json(line: RowView) -> dict[str, Any]:
    row = line.row
    return {
        "identifier": row.identifier,
        "title": row.title or row.identifier,
        "date": row.datestamp,
        **line.described.as_json(),
    }


@dataclass(frozen=True, slots=True)
class Compared:
    """The values of one field in the records of a group, side by side.

    Attributes:
        cells: The values of each record, in the order of the group.
    """

    label: str
    cells: tuple[tuple[str, ...], ...]

    @property
    def differs(self) -> bool:
        """Whether the records differ in the field."""
        return len(set(self.cells)) > 1


def _compared(group: Sequence[RowView]) -> list[Compared]:
    """The fields that at least one of the records has."""
    fields = [
        Compared(_("Title"), tuple((line.row.title,) for line in group)),
        *(
            Compared(
                _(facet_label(name)), tuple(line.described.values.get(name, ()) for line in group)
            )
            for name in ("creator", "year", "type", "publisher", "subject", "language", "format")
        ),
        Compared(_("DOI"), tuple((line.described.doi,) for line in group)),
        Compared(_("Sets"), tuple(tuple(one.name for one in line.sets) for line in group)),
        Compared(_("Datestamp"), tuple((for_people(line.row.datestamp),) for line in group)),
        Compared(_("Versions"), tuple((str(line.row.versions),) for line in group)),
    ]
    return [one for one in fields if any("".join(cell) for cell in one.cells)]


def _marked(call: Call) -> list[dict[str, str]]:
    """The records that are marked, each with the one it is a duplicate of."""
    silo = call.site.silo
    filters = SearchFilters(values={"finding": [MARKED]})
    page = PageRequest(limit=MOST_MARKED, sort="identifier")
    found = []
    for row in silo.search("", filters, page=page).rows:
        record = silo.get(row.identifier)
        if record is not None:
            of = str(record.metadata.get(DUPLICATE_OF, ""))
            found.append({"identifier": row.identifier, "duplicate_of": of})
    return found


def mark(call: Call) -> Response:
    """Mark records as duplicates of one of them or as distinct, or remove such a mark.

    Raises:
        BadRequest: No records, no record to keep, or an unknown mark.
    """
    action = call.field("do")
    lines = (line.strip() for line in call.field("identifiers").split("\n"))
    named = tuple(call.site.silo.resolve(line) for line in lines if line)
    if not named:
        raise BadRequest("Enter the records (field identifiers, one per line).")
    marked = _mark(call, action, named)
    note_marks(call.site.silo, named)
    if call.wants_json:
        return json_answer({"done": action, "identifiers": list(named)})
    text = "\n".join(marked) if action in UNDO else ""
    way = {"done": action, "named": text if len(text) <= LONGEST_UNDO else ""}
    if written := call.field(ROUND):
        round_ = Round.of(written, time.time())
        if action in UNDO:
            way |= {ROUND: round_.decided().field, "behind": named[0]}
        else:
            way |= {ROUND: round_.taken_back().field, "at": named[0]}
    return redirect(urls.with_query(urls.duplicates(), way))


def _mark(call: Call, action: str, named: tuple[str, ...]) -> tuple[str, ...]:
    """Carry out a mark; return the records that have it now."""
    silo, agent = call.site.silo, call.user.name
    if action == "duplicates":
        if not call.field("of"):
            raise BadRequest("Choose the record to keep (field of).")
        of = silo.resolve(call.field("of"))
        others = tuple(one for one in named if one != of)
        for one in others:
            mark_duplicate(silo, one, of, agent=agent)
        return others
    if action in ("distinct", "revoke"):
        mark_distinct(silo, named, agent=agent, is_revoked=action == "revoke")
    elif action == "unmark":
        for one in named:
            mark_duplicate(silo, one, None, agent=agent)
    else:
        raise BadRequest("Unknown mark; choose duplicates, distinct, revoke or unmark (field do).")
    return named
