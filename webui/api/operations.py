"""The parameters and answers of each handler, in addition to the route table.

A handler without an entry here takes no query and any fields, and returns any object.
"""

from collections.abc import Callable, Mapping
from typing import Any

from recordsilo.index.facets import contributed_names, countable_names
from recordsilo.index.search_values import FLAGS, LARGE_FIELDS, NOT, SMALL_FIELDS, SORTS
from silocuration.review.any_field import Grouping
from silofleet.values import State
from webui.api.schemas import COUNT, TEXT, Schema, one_of, several
from webui.fleet_lines import SORTS as FLEET_SORTS
from webui.pages import (
    activity,
    all_silos,
    any_field,
    collections,
    crawls,
    differences,
    facet_values,
    file_view,
    files,
    fleet,
    harvests,
    home,
    jobs,
    legacy,
    queue,
    record,
    records,
    rename,
    repair,
    results,
    search,
    searches,
    selection,
    sets,
    sheets,
    silos,
    source,
    suggestions,
    versions,
)
from webui.route import Operation, Query
from webui.search.request import MAX_SIZE

_YES_NO = one_of("", "yes", "no")
_LIMIT: Schema = {"type": "integer", "minimum": 1, "maximum": MAX_SIZE}
_TRUTH = one_of("true", "false")
_MESSAGE = {"message": "Why; kept with the change.", "if_match": "The revision it is made for."}
_ACTIVITY = tuple(Query(name) for name in activity.FILTERS.values())
_SEARCH: tuple[Query, ...] = (
    Query("q", text="Words; any text is a query."),
    *(Query(name, several(TEXT), "One of these values is needed.") for name in SMALL_FIELDS),
    *(Query(name, several(TEXT), "One of these values is needed.") for name in LARGE_FIELDS),
    *(Query(name, several(TEXT), "One of these values is needed.") for name in contributed_names()),
    *(
        Query(name + NOT, several(TEXT), "None of these values is wanted.")
        for name in (*SMALL_FIELDS, *LARGE_FIELDS, *contributed_names())
    ),
    *(Query(name, _TRUTH) for name in FLAGS),
    Query(
        "changed", several(TEXT), "One of these periods of the last change: 2026-11, 2026-11-01..."
    ),
    Query(
        "title", several(TEXT), "A title, the beginning of one and *, or an expression: /wind.*/."
    ),
    Query("since", text="Datestamp from which on: a day or a moment, UTC."),
    Query("until", text="Datestamp up to which."),
    Query("changed_since", text="Last change here from which on: a day or a moment, UTC."),
    Query("sort", one_of(*SORTS)),
    Query("limit", _LIMIT),
)
_YEARS = (
    Query("year_from", text="With `year_to`, the same as `year=FROM..TO`."),
    Query("year_to"),
)
_FLEET = (
    Query("state", one_of("", *(one.value for one in State))),
    *map(Query, ("tag", "host", "q")),
    Query("sort", one_of(*FLEET_SORTS)),
)
_AFTER = Query("after", text="The cursor `after` of the page before.")
_BACK = Query("back", several(TEXT), "Cursors of earlier pages, for `previous`; `next` has them.")
_BY = Query("by", several(TEXT), "Orders of facets, such as `type.name` or `year.count`.")
_FROM = Query("from", text="The query of the search it was reached from.")
_ROUND = Query("round", text="When the queue was begun, how many were done and skipped: `0-0-0`.")
_PATH = Query("path", text="A file of the version.", required=True)
_PART = {"part": "The file; as a text, of up to 64 KiB, where it is not sent as a file."}
_UPLOAD = {**_PART, "path": "Its name; without it, the name it was sent under.", **_MESSAGE}
_TO_PAGE = {"302": "Leads to the page, unless Accept asks for JSON."}
_RECORD_CHANGED = Operation("Record", fields=_MESSAGE)
_CREATED = Operation(
    "Record", fields={"id": "Its identifier.", **_MESSAGE}, needed=("id",), status=201
)

OPERATIONS: Mapping[Callable[..., Any], Operation] = {
    home.show: Operation("Home"),
    records.show: Operation(
        "Records",
        (
            Query("limit", _LIMIT),
            Query("after"),
            Query("before"),
            Query("from", text="An identifier to begin at."),
            Query("find", text="An identifier to go to."),
            Query("set"),
            Query("deleted", _YES_NO),
            Query("curated", _YES_NO),
            Query("newer", _YES_NO),
        ),
        leads={"303": "`find` names a record: leads to it."},
    ),
    records.create: _CREATED,
    silos.show: Operation("Silos", (Query("start", COUNT),)),
    silos.lead: Operation(
        "", leads={"308": "Leads to the Silo.", "2XX": "The answer of the Silo."}
    ),
    all_silos.show: Operation(
        "AllFound",
        (
            Query("q", text="Words; any text is a query."),
            Query("sort"),
            Query("limit", _LIMIT),
            Query("start", COUNT),
            Query("facet", several(TEXT), "Facets to count; by default the usual ones."),
            Query("more", text="A facet of which all values are counted."),
        ),
    ),
    fleet.show: Operation("Fleet", _FLEET),
    fleet.as_csv: Operation("text/csv", _FLEET),
    fleet.show_one: Operation("EndpointRuns"),
    fleet.act: Operation("", fields={"action": "What to do; see the page."}, needed=("action",)),
    fleet.metrics: Operation("text/plain"),
    harvests.show: Operation("Harvests", (Query("start", COUNT),)),
    crawls.show: Operation("Crawls"),
    crawls.show_one: Operation("Crawl"),
    crawls.as_csv: Operation("text/csv"),
    sets.show: Operation("Sets", (Query("match"),)),
    search.show: Operation("Found", (*_SEARCH, *_YEARS, _AFTER, _BACK, _BY)),
    search.choose_look: Operation(
        "Look",
        fields={
            "look": "`list`, `compact` or `table`; anything else means `list`.",
            "column-title": "If there is one, the table has the column; likewise for the others. "
            "The order of the fields is that of the columns.",
            "width-title": "Pixels; likewise for the others.",
            "move": "Such as `year.left`: moves a column by one place.",
            "search": "The query of the search to lead to.",
        },
    ),
    suggestions.show: Operation("Suggestions", (Query("q"),)),
    facet_values.show: Operation(
        "FacetValues",
        (Query("field", one_of(*countable_names()), required=True), Query("match"), *_SEARCH),
    ),
    any_field.show: Operation(
        "",
        (
            Query("field", text="An element such as `rights`."),
            Query("kind", one_of(*Grouping)),
            Query("group", text="A group; its records are listed."),
            *_SEARCH,
        ),
    ),
    any_field.count: Operation(
        "",
        fields={
            "field": "An element such as `rights`.",
            "search": "The query of a search's address.",
            "kind": "The grouping that is shown.",
        },
        needed=("field",),
        status=202,
    ),
    rename.show: Operation(
        "",
        (
            Query("field", text="A field such as `type`.", required=True),
            Query("value", several(TEXT), "The old values."),
            Query("to", text="The new value; its records are counted."),
            Query("search", text="The query of a search's address."),
        ),
    ),
    rename.preview: Operation(
        "",
        fields={
            "field": "A field such as `type`.",
            "value-0": "An old value; further ones in value-1 and so on.",
            "to": "The new value.",
            "search": "The query of a search's address.",
            "message": "Why; kept with the change.",
        },
        needed=("field", "value-0", "to"),
    ),
    repair.preview: Operation(
        "",
        fields={
            "finding": "The code of a finding that has a repair, such as `Q202`.",
            "search": "The query of a search's address.",
            **_MESSAGE,
        },
        needed=("finding",),
    ),
    queue.lead: Operation(
        "",
        (*_SEARCH, Query("behind", text="The identifier behind which to go on."), _ROUND),
        leads={"303": "Leads to the next record."},
    ),
    queue.show: Operation("", (_FROM, _ROUND)),
    queue.save: Operation(
        "",
        fields={"from": "The query of the search.", "round": "As in addresses.", **_MESSAGE},
        leads={"303": "Leads to the next record."},
    ),
    results.as_csv: Operation("text/csv", _SEARCH),
    activity.as_csv: Operation("text/csv", _ACTIVITY),
    activity.as_json_lines: Operation("application/jsonl", _ACTIVITY),
    results.as_json_lines: Operation("application/jsonl", _SEARCH),
    results.as_files: Operation("application/zip", _SEARCH),
    results.as_bags: Operation("application/zip", _SEARCH),
    selection.show: Operation("Selection", (Query("start", COUNT),)),
    selection.change: Operation(
        "Selected",
        fields={
            "do": "keep, page, all, clear; or where to go with the selection.",
            "row-0": "An identifier; further ones in row-1 and so on.",
            "tick-0": "Not empty: it is to be selected.",
            "had-0": "Not empty, and no tick: it is no longer selected.",
            "search": "With do=all: the query of a search's address.",
            "among": "The query of a search; the answer says how many of them it finds.",
        },
        leads={"303": "An action leads to its page."},
    ),
    jobs.events: Operation("text/event-stream"),
    jobs.all_events: Operation("text/event-stream"),
    jobs.download: Operation("*/*"),
    search.feed: Operation("application/atom+xml", _SEARCH),
    collections.show: Operation("Collections"),
    collections.show_one: Operation("CollectionFound", (Query("after"), Query("start", COUNT))),
    collections.feed: Operation("application/atom+xml"),
    collections.picture: Operation("image/*"),
    collections.ask: Operation("CollectionForm"),
    collections.save: Operation(
        "Collection",
        fields={
            "title": "For people.",
            "text": "Plain text; an empty line begins a paragraph.",
            "sort": "The order of its records; empty for that of the search.",
            "part": "A picture: PNG, JPEG, GIF or WebP, at most 4 MB.",
            "picture_record": "Or a file of this record is the picture,",
            "picture_file": "and this is its name.",
            "no_picture": "Not empty: there is no picture.",
        },
    ),
    collections.order: Operation(
        "CollectionOrder",
        fields={
            "row-0": "The identifier of a record; further ones in row-1 and so on.",
            "place-0": "Its number: the smallest is the first.",
        },
    ),
    collections.end: Operation("CollectionEnded"),
    searches.show: Operation("SavedSearches"),
    searches.create: Operation(
        "SavedSearch",
        fields={
            "title": "For people; names the address.",
            "search": "The query of a search's address.",
            "identifiers": "Apart by white space.",
        },
        status=201,
    ),
    searches.show_pasted: Operation(
        "PastedList",
        fields={
            "identifiers": "Apart by white space.",
            "start": "How many of them to pass over.",
        },
        needed=("identifiers",),
    ),
    searches.show_one: Operation(
        "SavedSearchFound", (Query("start", COUNT), Query("limit", _LIMIT))
    ),
    searches.delete: Operation("Deleted"),
    record.show: Operation("Record", (_FROM,)),
    record.cite: Operation("Citation"),
    record.cite_as_bibtex: Operation("application/x-bibtex"),
    record.show_version: Operation("RecordVersion"),
    record.delete: Operation("Deleted", fields=_MESSAGE),
    record.ask_delete: Operation("Question"),
    differences.show: Operation("Differences", (Query("before"), Query("after"))),
    source.show: Operation("Source"),
    versions.ask_create: Operation("Question"),
    versions.create: Operation(
        "Record",
        fields={"name": "Of the version.", "clone_of": "The version to copy.", **_MESSAGE},
        needed=("name",),
        status=201,
    ),
    versions.ask_delete: Operation("Question"),
    versions.delete: _RECORD_CHANGED,
    versions.ask_rename: Operation("Question"),
    versions.rename: Operation(
        "Record", fields={"name": "The new name.", **_MESSAGE}, needed=("name",)
    ),
    files.ask_add: Operation("Question"),
    files.add: Operation(
        "Record",
        fields={
            **_UPLOAD,
            "metadata": "Not empty: it describes the record.",
            "replace": "Not empty: a file of that name is replaced.",
        },
        needed=("part",),
    ),
    files.put: Operation("Record"),
    files.download: Operation("*/*"),
    file_view.show: Operation("", (Query("page"), Query("zoom"))),
    file_view.picture: Operation("image/png", (Query("page"), Query("width"))),
    files.delete: _RECORD_CHANGED,
    files.ask_rename: Operation("Question", (_PATH,)),
    files.rename: Operation(
        "Record",
        fields={"path": "The file.", "new_path": "Its new name.", **_MESSAGE},
        needed=("path", "new_path"),
    ),
    files.ask_delete: Operation("Question", (_PATH,)),
    sheets.send: Operation("", fields={**_PART, "title": "Of the change."}, needed=("part",)),
    sheets.send_attachment: Operation(
        "",
        fields={
            **_PART,
            "path": "The name it gets in each record.",
            "premis": "Not empty: PREMIS made for each record, in place of a file.",
            "search": "The query of a search's address.",
        },
    ),
    legacy.show_record: Operation("Manifest", leads=_TO_PAGE),
    legacy.show_version: Operation("RecordVersion", leads=_TO_PAGE),
    legacy.make_version: Operation(
        "Record",
        fields={"version": "Its name.", "old_version": "The version to copy.", **_MESSAGE},
        needed=("version",),
        status=201,
    ),
    legacy.upload: Operation("Record", fields=_UPLOAD, needed=("part",)),
}
