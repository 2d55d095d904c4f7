"""Collections: saved searches with a text, a picture, an order of their own, and a feed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from wsgiref.util import FileWrapper

from recordsilo import Row
from recordsilo.disk.identifier import check_identifier
from recordsilo.disk.regular_file import open_regular
from recordsilo.errors import IdentifierError, PathNameError, RecordNotFound, RecordSiloError
from recordsilo.index import PageRequest
from recordsilo.selection import selection_table
from silocuration.collections import (
    MOST_FIRST,
    MOST_PICTURE,
    MOST_TEXT,
    PICTURES,
    Collection,
    collection_of,
    drop_pictures,
    end_collection,
    first_of,
    keep_picture,
    picture_path,
    save_collection,
    suffix_of,
)
from silocuration.errors import RuleRefused
from silocuration.searches import SavedSearch, SearchNotFound, SearchUnreadable, load_search
from silocuration.whole_pictures import is_whole
from webui import urls
from webui.activity import note
from webui.collections import CollectionCard, cards, changed
from webui.feeds import feed_of
from webui.http.bodies import human_size
from webui.http.errors import BadRequest, NotFound, WebError, told_as
from webui.http.messages import Response
from webui.http.streams import BLOCK
from webui.record.rows import row_views, rows_json
from webui.rendering import View, changed_answer
from webui.search.request import DEFAULT_SIZE, SearchRequest, order_label
from webui.site import Call
from webui.timed_cache import TimedCache
from webui.words.markdown import first_words, html_of

_REFUSALS = (
    (SearchNotFound, NotFound),
    (RuleRefused, BadRequest),
    (SearchUnreadable, WebError),
)
_FIRST: TimedCache[tuple[str, ...]] = TimedCache()
SORTS = ("newest", "oldest", "title", "identifier")


@dataclass(frozen=True, slots=True)
class CollectionPage:
    """A page of a collection's records.

    Attributes:
        next_url: The next page; empty on the last.
    """

    rows: tuple[Row, ...]
    total: int
    next_url: str


def show(call: Call) -> View:
    """List the collections."""
    found = cards(call.site.silo)
    twin = {"collections": [one.to_json() for one in found]}
    return View("collections.mako", {"collections": found}, twin, urls.collections())


def show_one(call: Call) -> View:
    """Show a collection with its records, those that somebody put first at the beginning."""
    search, found = _loaded(call)
    page = _page(call, search, found)
    rows = row_views(call.site, page.rows)
    own_url = urls.collection(search.name)
    query = SearchRequest.of_selection(search.select).asked
    data = {
        "card": CollectionCard.of(search, found),
        "text": html_of(found.text),
        "rows": rows,
        "total": page.total,
        "next_url": page.next_url,
        "is_first": not call.request.query.get("after"),
        "feed_url": urls.collection(search.name, "feed.atom"),
        "search_url": urls.saved_search(search.name)
        if search.select.identifiers
        else urls.search(query),
        "edit_url": urls.collection(search.name, "edit"),
    }
    twin = CollectionCard.of(search, found).to_json() | {
        "first": list(found.first),
        "sort": found.sort,
        "select": selection_table(search.select),
        "total": page.total,
        "records": list(rows_json(call.site, rows)),
        "next": urls.twin(page.next_url) if page.next_url else None,
    }
    return View("collection.mako", data, twin, own_url, summary=first_words(found.text))


def feed(call: Call) -> Response:
    """Send the newest records of a collection as an Atom feed."""
    search, found = _loaded(call)
    newest = PageRequest(limit=DEFAULT_SIZE, sort="newest")
    select = search.select
    if select.identifiers:
        rows: Sequence[Row] = tuple(call.site.silo.rows(select.identifiers[:500]).values())
        rows = sorted(rows, key=lambda row: row.datestamp or "", reverse=True)[:DEFAULT_SIZE]
    else:
        rows = call.site.silo.search(select.query, select.filters, [], newest).rows
    own_url = urls.collection(search.name, "feed.atom")
    subtitle = first_words(found.text)
    page_url = urls.collection(search.name)
    said = {"title": search.title, "subtitle": subtitle, "date": search.date}
    return feed_of(call, rows, (own_url, page_url), **said)


def ask(call: Call) -> View:
    """Show the forms for the text, the picture and the order of a collection."""
    search, found = _loaded(call, is_new_allowed=True)
    first = first_of(call.site.silo, search, found)
    rows = _page(call, search, replace(found, first=first)).rows[:MOST_FIRST]
    of = found.picture_of or ("", "")
    data = {
        "card": CollectionCard.of(search, found),
        "found": found,
        "is_collection": search.collection is not None,
        "picture_of": of,
        "sorts": [(name, order_label(name)) for name in SORTS],
        "rows": [(row, first.index(row.identifier) + 1 if row.identifier in first else "")
                 for row in rows],
        "limit": human_size(MOST_PICTURE),
        "most_picture": MOST_PICTURE,
        "most_text": MOST_TEXT,
        "here": urls.collection(search.name, "edit"),
        "order_url": urls.collection(search.name, "order"),
        "end_url": urls.collection(search.name, "end"),
    }  # fmt: skip
    twin = {"title": search.title, "text": found.text, "sort": found.sort}
    return View("collection_edit.mako", data, twin, urls.collection(search.name, "edit"))


def save(call: Call) -> Response:
    """Save title, text, picture and order; a saved search becomes a collection by that."""
    search, found = _loaded(call, is_new_allowed=True)
    title, sort = call.field("title") or search.title, call.field("sort")
    if sort and sort not in SORTS:
        raise BadRequest("Unknown order; choose one of {known} (sort).", known=", ".join(SORTS))
    text = call.field("text").replace("\r\n", "\n")
    if len(text) > MOST_TEXT:
        raise BadRequest("The text has more than {most} characters.", most=MOST_TEXT).at("text")
    of = _picture_of(call)
    uploaded = call.form.files.get("part")
    content = uploaded.content.read(MOST_PICTURE + 1) if uploaded else b""
    silo_path = call.site.silo.path
    picture = "" if call.field("no_picture") or of else found.picture
    if content:
        with told_as(*_REFUSALS, field="part"):
            picture, of = keep_picture(silo_path, search.name, content), None
    with told_as(*_REFUSALS):
        now = replace(found, text=text, sort=sort, picture=picture, picture_of=of)
        save_collection(silo_path, replace(search, title=title), now)
        drop_pictures(silo_path, search.name, but=picture)
    changed(call.site.silo)
    note(call, "save collection", (search.name, None, title))
    url = urls.collection(search.name)
    told = CollectionCard.of(replace(search, title=title), now).to_json()
    return changed_answer(call, url, told, status=200)


def _picture_of(call: Call) -> tuple[str, str] | None:
    """The file of a record that the form names, checked."""
    if call.field("no_picture") or not (
        call.field("picture_record") and call.field("picture_file")
    ):
        return None
    try:
        identifier = call.site.identifier(call.field("picture_record"))
    except RecordNotFound as error:
        raise BadRequest("There is no such record.").at("picture_record") from error
    of = (identifier, call.field("picture_file"))
    try:
        with call.site.silo[identifier].get_stream(of[1]) as stream:
            content = stream.read(MOST_PICTURE + 1)
    except (RecordSiloError, OSError) as error:
        raise BadRequest("The record has no such file.").at("picture_file") from error
    if len(content) > MOST_PICTURE:
        raise BadRequest(
            "This file is larger than the limit of {size}.", size=human_size(MOST_PICTURE)
        ).at("picture_file")
    if not is_whole(content):
        raise BadRequest("This file is not a PNG, JPEG, GIF or WebP picture.").at("picture_file")
    return of


def order(call: Call) -> Response:
    """Put records first: those with a number (``place-0``), in the order of the numbers."""
    search, found = _loaded(call)
    first = tuple(identifier for _number, _row, identifier in sorted(_places(call)))
    now = replace(found, first=first[:MOST_FIRST])
    with told_as(*_REFUSALS):
        save_collection(call.site.silo.path, search, now)
    changed(call.site.silo)
    note(call, "save collection", (search.name, None, search.title))
    told = CollectionCard.of(search, now).to_json() | {"first": list(now.first)}
    return changed_answer(call, urls.collection(search.name), told, status=200)


def _places(call: Call) -> Iterator[tuple[float, int, str]]:
    for row in range(MOST_FIRST):
        place, identifier = call.field(f"place-{row}"), call.field(f"row-{row}")
        if not place or not identifier:
            continue
        try:
            yield float(place), row, check_identifier(identifier)
        except IdentifierError:
            raise BadRequest("There is no such record.").at(f"place-{row}") from None
        except ValueError:
            raise BadRequest("“{text}” is not a number.", text=place) from None


def end(call: Call) -> Response:
    """Make a collection a mere saved search again."""
    search, _found = _loaded(call)
    with told_as(*_REFUSALS):
        end_collection(call.site.silo.path, search.name)
    changed(call.site.silo)
    note(call, "end collection", (search.name, search.title, None))
    return changed_answer(call, urls.searches(), {"ended": search.name}, status=200)


def picture(call: Call) -> Response:
    """Send the picture of a collection.

    Raises:
        NotFound: It has none, or it is none that browsers show safely.
    """
    search, found = _loaded(call)
    try:
        content = _content(call, search.name, found)
    except (RecordSiloError, PathNameError, OSError) as error:
        raise NotFound("This collection has no picture.") from error
    suffix = suffix_of(content[:12])
    if not suffix or len(content) > MOST_PICTURE:
        raise NotFound("This collection has no picture.")
    headers = {"Content-Security-Policy": "default-src 'none'; sandbox"}
    wrapped = FileWrapper(BytesIO(content), BLOCK)
    return Response(200, wrapped, PICTURES[suffix], headers, len(content))


def _content(call: Call, name: str, found: Collection) -> bytes:
    if found.picture_of:
        identifier, path = found.picture_of
        with call.site.silo[identifier].get_stream(path) as stream:
            return stream.read(MOST_PICTURE + 1)
    with open_regular(picture_path(call.site.silo.path, name, found.picture or "png")) as file:
        return file.read(MOST_PICTURE + 1)


def _loaded(call: Call, *, is_new_allowed: bool = False) -> tuple[SavedSearch, Collection]:
    """The saved search and its collection.

    Args:
        is_new_allowed: Whether a saved search that is no collection yet is taken for one.
    """
    with told_as(*_REFUSALS):
        search = load_search(call.site.silo.path, call.params["name"])
    found = collection_of(search)
    if found is None and not is_new_allowed:
        raise NotFound("This saved search is no collection.")
    return search, found or Collection()


def _page(call: Call, search: SavedSearch, found: Collection) -> CollectionPage:
    silo, select = call.site.silo, search.select
    find_first = partial(first_of, silo, search, found)
    key = (search.name, found.first, str(selection_table(select)))
    first = _FIRST.get(silo, key, find_first, silo.index_stamp())
    after, start = call.request.query.get("after", ""), call.request.start
    if select.identifiers:
        rest = [one for one in select.identifiers if one not in set(first)]
        listed = [*first, *rest]
        shown = listed[start : start + DEFAULT_SIZE]
        following = start + DEFAULT_SIZE
        more = following < len(listed)
        next_url = urls.collection(search.name, start=following) if more else ""
        return CollectionPage(tuple(silo.rows(shown).values()), len(listed), next_url)
    sort = found.sort if found.sort in SORTS else None
    page = PageRequest(limit=DEFAULT_SIZE, sort=sort, after=after or None)
    result = silo.search(select.query, select.filters, [], page)
    own = tuple(row for row in result.rows if row.identifier not in first)
    before = () if after else tuple(silo.rows(first).values())
    next_url = urls.collection(search.name, after=result.next_page) if result.next_page else ""
    return CollectionPage((*before, *own), result.total, next_url)
