"""The addresses of the page: the only place that writes them (`routes` reads them).

A record's segment is its cleaned pairtree form, which has no ``/`` and no ``.``. In the
other segments a final ``.json`` is written ``%2Ejson``, so that the name of a version is
never taken for the suffix of a JSON twin.

Every address begins with the application's mount point (`mount`).

Source: PEP 3333, "URL Reconstruction" (SCRIPT_NAME).
"""

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from functools import lru_cache
from typing import Protocol
from urllib.parse import quote, urlencode

from recordsilo.disk.identifier import url_segment

TWIN = ".json"
INDEX = "index"
"""The suffix of the JSON twin of an address that ends in a slash: ``/index.json``."""
_BASE: ContextVar[str] = ContextVar("base", default="")


def mount(base: str) -> None:
    """Set the application's mount point for this thread.

    It is set at the start of every request and stays until the next one, so also while an
    answer is sent piece by piece.

    Args:
        base: Percent-encoded, without a slash at its end; empty at the root.
    """
    _BASE.set(base)


def at(path: str) -> str:
    """The address of a path, which begins with a slash, below the mount point."""
    return _BASE.get() + path


def segment(text: str) -> str:
    """A text as one segment of a path; bytes of a file name that are not UTF-8 are unchanged."""
    quoted = quote(text, safe="+=,:@!$&'()*;~", errors="surrogateescape")
    if quoted.endswith(TWIN):
        quoted = quoted.removesuffix(TWIN) + "%2Ejson"
    return {".": "%2E", "..": "%2E%2E"}.get(quoted, quoted)


def with_query(path: str, fields: Mapping[str, object]) -> str:
    """A path and the fields that have a value."""
    given = {name: str(value) for name, value in fields.items() if value not in {None, ""}}
    return f"{path}?{urlencode(given, errors='replace')}" if given else path


class _Page(Protocol):
    """Returns the address of a page, with the fields that have a value as its query."""

    def __call__(self, **fields: object) -> str: ...


class _Below(Protocol):
    """Returns the address of one thing of a page, or of an action on it, as `_Page`."""

    def __call__(self, name: str, action: str = "", /, **fields: object) -> str: ...


def page_at(path: str) -> _Page:
    """Return what writes the address of a page, which has this path below the mount point."""
    return lambda **fields: with_query(at(path), fields)


def one_of(page: _Page) -> _Below:
    """Return what writes the addresses of the things of a page, by their names."""
    return lambda name, action="", /, **fields: with_query(
        f"{page()}/{segment(name)}" + (f"/{action}" if action else ""), fields
    )


home = page_at("/")
"""The home page."""
silos = page_at("/silos")
"""The list of the Silos of a directory."""


def silo(name: str) -> str:
    """The home page of a Silo of a directory."""
    return at(f"/silos/{quote(name)}/")


fleet = page_at("/fleet")
"""The repositories of a fleet."""
fleet_csv = page_at("/fleet.csv")
"""The repositories of a fleet as CSV."""
endpoint = one_of(fleet)
"""A repository of a fleet."""
add_repositories = page_at("/add-repositories")
"""The form that adds repositories to a fleet."""


def shelf() -> str:
    """The list of Silos, two segments above one that is served under ``/silos/<name>``."""
    return _BASE.get().rpartition("/")[0] + "/"


def above_shelf() -> str:
    """The home page of the directory of a Silo that is served under ``/silos/<name>``."""
    return _BASE.get().rpartition("/")[0].rpartition("/")[0] + "/"


language = page_at("/language")
"""Where the language of the page is chosen."""


def static(name: str) -> str:
    """A file of the page."""
    return at(f"/static/{name}")


def sign_in(then: str = "") -> str:
    """The sign-in page, which redirects to another page."""
    return with_query(at("/sign-in"), {"next": then if then != at("/") else ""})


sign_out = page_at("/sign-out")
"""The address for signing out."""
account = page_at("/account")
"""The user's own account."""
accounts = page_at("/accounts")
"""The list of accounts."""
account_of = one_of(accounts)
"""The address below which the actions on an account are."""
places = page_at("/places")
"""Where exports go."""
place = one_of(places)
"""What the actions on an export place are below."""
activity = page_at("/activity")
"""The activity log."""


def manual(topic: str = "") -> str:
    """A page of the documentation; the list of all if no topic is given."""
    return at("/help" + (f"/{segment(topic)}" if topic else ""))


sets = page_at("/sets")
"""The list of sets."""
records = page_at("/records")
"""The list of records."""


def records_of_set(set_spec: str) -> str:
    """The list of the records of one set."""
    return search([("set", set_spec)])


def search(pairs: Iterable[tuple[str, str]] = (), action: str = "") -> str:
    """The results of a search, or one of its actions (``values``, ``results.csv`` …)."""
    path = at("/search") + (f"/{action}" if action else "")
    fields = query(pairs)
    return f"{path}?{fields}" if fields else path


def search_feed(pairs: Iterable[tuple[str, str]] = ()) -> str:
    """The newest results of a search as an Atom feed."""
    return with_search(at("/search.atom"), query(pairs))


def query(pairs: Iterable[tuple[str, str]]) -> str:
    """Fields as the query of a search's address."""
    return "&".join(map(_field, pairs))


@lru_cache(maxsize=4096)
def _field(pair: tuple[str, str]) -> str:
    """A field as written in a query; cached, because a search page writes the same ones often."""
    return urlencode([pair], errors="replace")


selection = page_at("/selection")
"""The selection, and its changes."""
searches = page_at("/searches")
"""The saved searches."""
pasted = page_at("/pasted")
"""The records of a pasted list, which is not saved."""
saved_search = one_of(searches)
"""A saved search, or one of its actions."""
collections = page_at("/collections")
"""The collections."""
collection = one_of(collections)
"""A collection, or a part of it: ``feed.atom``, ``picture``, ``edit`` …."""


def with_search(path: str, search: str) -> str:
    """A page for the records that a search's query selects."""
    return f"{path}?{search}" if search else path


def queue(pairs: Iterable[tuple[str, str]] = (), **fields: object) -> str:
    """The way to the next record of a search, to be edited."""
    found = query(pairs)
    given = {name: str(value) for name, value in fields.items() if value not in {None, ""}}
    own = urlencode(given, errors="replace")
    return with_search(at("/queue"), "&".join(filter(None, (found, own))))


def queue_record(identifier: str, **fields: object) -> str:
    """The form of a record in a queue."""
    return with_query(at("/queue") + f"/{url_segment(identifier)}", fields)


def bulk(search: str = "") -> str:
    """The page for batch edits of a search's records."""
    return with_search(at("/bulk"), search)


bulk_jobs = page_at("/bulk/jobs")
"""The list of batch edits."""
bulk_job = one_of(bulk_jobs)
"""The page of a batch edit."""


def bulk_changes(job_id: str, **fields: object) -> str:
    """The records of one change of a batch edit, and where changes are left out."""
    return bulk_job(job_id, "changes", **fields)


rename = page_at("/bulk/rename")
"""The form that renames values of a field."""
sheet = page_at("/bulk/sheet")
"""The page for exporting and importing spreadsheets."""


def sheet_csv(search: str) -> str:
    """The records of a search as a spreadsheet to edit."""
    return with_search(sheet() + ".csv", search)


attach = page_at("/bulk/attach")
"""The page for attaching a file to many records."""
rules = page_at("/rules")
"""The saved rules."""
rule = one_of(rules)
"""A saved rule."""
clusters = page_at("/clusters")
"""Probable variants of values."""
quality = page_at("/quality")
"""The findings in descriptions."""
duplicates = page_at("/quality/duplicates")
"""Probable duplicates."""
repair = page_at("/quality/repair")
"""Where the records with a finding are repaired."""
upstream_list = page_at("/upstream")
"""The source changes of curated records."""


def upstream(identifier: str, **fields: object) -> str:
    """The source change of one curated record."""
    return with_query(f"{upstream_list()}/{url_segment(identifier)}", fields)


def differences(identifier: str, before: str, after: str) -> str:
    """The differences between two versions of a record."""
    return with_query(record(identifier) + "/differences", {"before": before, "after": after})


def record(identifier: str, **fields: object) -> str:
    """The page of a record."""
    return with_query(f"{records()}/{url_segment(identifier)}", fields)


def _of_record(action: str) -> Callable[[str], str]:
    return lambda identifier: f"{record(identifier)}/{action}"


citation = _of_record("citation")
"""The citation of a record."""
delete_record = _of_record("delete")
"""The page for deleting a record."""
versions = _of_record("versions")
"""The page for creating versions."""


def version(identifier: str, name: str, action: str = "", **fields: object) -> str:
    """The page of a version, or one of its actions (``rename``, ``delete-file`` …)."""
    path = f"{versions(identifier)}/{segment(name)}" + (f"/{action}" if action else "")
    return with_query(path, fields)


def files(identifier: str, name: str) -> str:
    """The page for adding files to a version."""
    return version(identifier, name, "files")


class _OfFile(Protocol):
    """Returns the address of a page for one file of a version, as `_Page`."""

    def __call__(self, identifier: str, name: str, path: str, /, **fields: object) -> str: ...


def _of_file(action: str) -> _OfFile:
    return lambda identifier, name, path, /, **fields: with_query(
        f"{version(identifier, name, action)}/{'/'.join(map(segment, path.split('/')))}", fields
    )


file = _of_file("files")
"""One file of a version."""
look = _of_file("look")
"""The page that shows one file of a version."""
picture = _of_file("picture")
"""A page of a PDF file as a picture."""
jobs = page_at("/jobs")
"""The list of jobs."""


def new_job(form: str = "") -> str:
    """The list of jobs that can be started, or the form of one kind."""
    return jobs() + "/new" + (f"/{segment(form)}" if form else "")


def export(form: str, search: str, place: str = "") -> str:
    """The form of an export of a search's records, with a place chosen."""
    url = with_search(new_job(f"export-{form}"), search)
    if not place:
        return url
    return f"{url}{'&' if search else '?'}{urlencode({'place': place})}"


harvests = page_at("/harvests")
"""The harvests of the Silo, with their receipts."""
crawls = page_at("/crawls")
"""The crawls that were matched with the records."""
crawl = one_of(crawls)
"""The report of a crawl."""


def crawl_csv(name: str) -> str:
    """The figures of a crawl as CSV."""
    return crawl(name, "report.csv")


schedules = page_at("/schedules")
"""The jobs that repeat."""
schedule = one_of(schedules)
"""The address below which the actions on a schedule are."""
job = one_of(jobs)
"""The page of a job."""


def job_file(job_id: str) -> str:
    """The table that a job exported."""
    return job(job_id, "file")


def twin(url: str) -> str:
    """The JSON twin of a page's address."""
    path, mark, query = url.partition("?")
    return path + (INDEX if path.endswith("/") else "") + TWIN + mark + query
