"""The addresses of the page: the only place that writes them (`routes` reads them).

A record's segment is its cleaned pairtree form, which has no ``/`` and no ``.``. In the
other segments a final ``.json`` is written ``%2Ejson``, so that the name of a version is
never taken for the suffix of a JSON twin.

Every address begins with the application's mount point (`mount`).

Source: PEP 3333, "URL Reconstruction" (SCRIPT_NAME).
"""

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from functools import lru_cache
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


def home() -> str:
    """The home page."""
    return at("/")


def silos(**fields: object) -> str:
    """The list of the Silos of a directory."""
    return with_query(at("/silos"), fields)


def silo(name: str) -> str:
    """The home page of a Silo of a directory."""
    return at(f"/silos/{quote(name)}/")


def fleet(**fields: object) -> str:
    """The repositories of a fleet."""
    return with_query(at("/fleet"), fields)


def fleet_csv(**fields: object) -> str:
    """The repositories of a fleet as CSV."""
    return with_query(at("/fleet.csv"), fields)


def endpoint(name: str) -> str:
    """A repository of a fleet."""
    return f"{fleet()}/{segment(name)}"


def add_repositories() -> str:
    """The form that adds repositories to a fleet."""
    return at("/add-repositories")


def shelf() -> str:
    """The list of Silos, two segments above one that is served under ``/silos/<name>``."""
    return _BASE.get().rpartition("/")[0] + "/"


def above_shelf() -> str:
    """The home page of the directory of a Silo that is served under ``/silos/<name>``."""
    return _BASE.get().rpartition("/")[0].rpartition("/")[0] + "/"


def language() -> str:
    """Where the language of the page is chosen."""
    return at("/language")


def static(name: str) -> str:
    """A file of the page."""
    return at(f"/static/{name}")


def sign_in(then: str = "") -> str:
    """The sign-in page, which redirects to another page."""
    return with_query(at("/sign-in"), {"next": then if then != at("/") else ""})


def sign_out() -> str:
    """The address for signing out."""
    return at("/sign-out")


def account() -> str:
    """The user's own account."""
    return at("/account")


def accounts(**fields: object) -> str:
    """The list of accounts."""
    return with_query(at("/accounts"), fields)


def account_of(name: str) -> str:
    """The address below which the actions on an account are."""
    return f"{accounts()}/{segment(name)}"


def places(**fields: object) -> str:
    """Where exports go."""
    return with_query(at("/places"), fields)


def place(name: str) -> str:
    """What the actions on an export place are below."""
    return f"{places()}/{segment(name)}"


def activity() -> str:
    """The activity log."""
    return at("/activity")


def manual(topic: str = "") -> str:
    """A page of the documentation; the list of all if no topic is given."""
    return at("/help" + (f"/{segment(topic)}" if topic else ""))


def sets() -> str:
    """The list of sets."""
    return at("/sets")


def records(**fields: object) -> str:
    """The list of records."""
    return with_query(at("/records"), fields)


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


def selection(**fields: object) -> str:
    """The selection, and its changes."""
    return with_query(at("/selection"), fields)


def searches() -> str:
    """The saved searches."""
    return at("/searches")


def saved_search(name: str, action: str = "", **fields: object) -> str:
    """A saved search, or one of its actions."""
    path = f"{searches()}/{segment(name)}" + (f"/{action}" if action else "")
    return with_query(path, fields)


def collections() -> str:
    """The collections."""
    return at("/collections")


def collection(name: str, action: str = "", **fields: object) -> str:
    """A collection, or a part of it: ``feed.atom``, ``picture``, ``edit`` …."""
    path = f"{collections()}/{segment(name)}" + (f"/{action}" if action else "")
    return with_query(path, fields)


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


def bulk_jobs() -> str:
    """The list of batch edits."""
    return bulk() + "/jobs"


def bulk_job(job_id: str) -> str:
    """The page of a batch edit."""
    return f"{bulk_jobs()}/{segment(job_id)}"


def bulk_changes(job_id: str, **fields: object) -> str:
    """The records of one change of a batch edit, and where changes are left out."""
    return with_query(bulk_job(job_id) + "/changes", fields)


def rename() -> str:
    """The form that renames values of a field."""
    return bulk() + "/rename"


def sheet() -> str:
    """The page for exporting and importing spreadsheets."""
    return bulk() + "/sheet"


def sheet_csv(search: str) -> str:
    """The records of a search as a spreadsheet to edit."""
    return with_search(sheet() + ".csv", search)


def attach() -> str:
    """The page for attaching a file to many records."""
    return bulk() + "/attach"


def rules() -> str:
    """The saved rules."""
    return at("/rules")


def rule(name: str, **fields: object) -> str:
    """A saved rule."""
    return with_query(f"{rules()}/{segment(name)}", fields)


def clusters() -> str:
    """Probable variants of values."""
    return at("/clusters")


def quality() -> str:
    """The findings in descriptions."""
    return at("/quality")


def duplicates() -> str:
    """Probable duplicates."""
    return quality() + "/duplicates"


def repair() -> str:
    """Where the records with a finding are repaired."""
    return quality() + "/repair"


def upstream_list() -> str:
    """The source changes of curated records."""
    return at("/upstream")


def upstream(identifier: str, **fields: object) -> str:
    """The source change of one curated record."""
    return with_query(f"{upstream_list()}/{url_segment(identifier)}", fields)


def differences(identifier: str, before: str, after: str) -> str:
    """The differences between two versions of a record."""
    return with_query(record(identifier) + "/differences", {"before": before, "after": after})


def record(identifier: str, **fields: object) -> str:
    """The page of a record."""
    return with_query(f"{records()}/{url_segment(identifier)}", fields)


def citation(identifier: str) -> str:
    """The citation of a record."""
    return record(identifier) + "/citation"


def delete_record(identifier: str) -> str:
    """The page for deleting a record."""
    return record(identifier) + "/delete"


def versions(identifier: str) -> str:
    """The page for creating versions."""
    return record(identifier) + "/versions"


def version(identifier: str, name: str, action: str = "", **fields: object) -> str:
    """The page of a version, or one of its actions (``rename``, ``delete-file`` …)."""
    path = f"{versions(identifier)}/{segment(name)}" + (f"/{action}" if action else "")
    return with_query(path, fields)


def files(identifier: str, name: str) -> str:
    """The page for adding files to a version."""
    return version(identifier, name, "files")


def file(identifier: str, name: str, path: str) -> str:
    """One file of a version."""
    return files(identifier, name) + "/" + "/".join(segment(part) for part in path.split("/"))


def look(identifier: str, name: str, path: str, **fields: object) -> str:
    """The page that shows one file of a version."""
    return with_query(_below(identifier, name, "look", path), fields)


def picture(identifier: str, name: str, path: str, **fields: object) -> str:
    """A page of a PDF file as a picture."""
    return with_query(_below(identifier, name, "picture", path), fields)


def _below(identifier: str, name: str, action: str, path: str) -> str:
    rest = "/".join(segment(part) for part in path.split("/"))
    return f"{version(identifier, name, action)}/{rest}"


def jobs(**fields: object) -> str:
    """The list of jobs."""
    return with_query(at("/jobs"), fields)


def new_job(form: str = "") -> str:
    """The list of jobs that can be started, or the form of one kind."""
    return jobs() + "/new" + (f"/{segment(form)}" if form else "")


def export(form: str, search: str, place: str = "") -> str:
    """The form of an export of a search's records, with a place chosen."""
    url = with_search(new_job(f"export-{form}"), search)
    if not place:
        return url
    return f"{url}{'&' if search else '?'}{urlencode({'place': place})}"


def harvests(**fields: object) -> str:
    """The harvests of the Silo, with their receipts."""
    return with_query(at("/harvests"), fields)


def crawls() -> str:
    """The crawls that were matched with the records."""
    return at("/crawls")


def crawl(name: str) -> str:
    """The report of a crawl."""
    return f"{crawls()}/{segment(name)}"


def crawl_csv(name: str) -> str:
    """The figures of a crawl as CSV."""
    return crawl(name) + "/report.csv"


def schedules(**fields: object) -> str:
    """The jobs that repeat."""
    return with_query(at("/schedules"), fields)


def schedule(name: str) -> str:
    """The address below which the actions on a schedule are."""
    return f"{schedules()}/{segment(name)}"


def job(job_id: str, **fields: object) -> str:
    """The page of a job."""
    return with_query(f"{jobs()}/{segment(job_id)}", fields)


def job_file(job_id: str) -> str:
    """The table that a job exported."""
    return job(job_id) + "/file"


def twin(url: str) -> str:
    """The JSON twin of a page's address."""
    path, mark, query = url.partition("?")
    return path + (INDEX if path.endswith("/") else "") + TWIN + mark + query
