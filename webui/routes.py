"""The whole URL space: every `Route` of ours; packages contribute others.

An address is one of a Silo, of a directory of Silos, or of a fleet (`Scope`); a site answers
those of its scopes. What a directory has below ``/silos/<name>/`` is a site of its own.

``{name}`` is one segment, ``{name...}`` the rest of the path. Segments are split before
they are decoded, so an identifier keeps its ``%2F``. Addresses are tried from the top;
an address that begins with a fixed segment of this table never reaches the interface of 2010.
GET also answers HEAD; methods that are not listed are refused.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote

from webui import cluster_queue
from webui.contributed import Pages, contributed
from webui.http.errors import BadRequest, MethodNotAllowed, NotFound
from webui.http.messages import Response
from webui.pages import (
    activity,
    all_silos,
    any_field,
    bulk,
    bulk_choice,
    bulk_report,
    clusters,
    collections,
    crawls,
    differences,
    duplicates,
    edit,
    edit_xml,
    facet_values,
    file_view,
    files,
    fleet,
    fleet_add,
    harvests,
    home,
    jobs,
    legacy,
    manage_accounts,
    manual,
    new_jobs,
    openapi,
    people,
    places,
    quality,
    queue,
    record,
    records,
    rename,
    repair,
    results,
    rules,
    schedules,
    search,
    searches,
    selection,
    sets,
    sheets,
    silos,
    source,
    static,
    suggestions,
    upstream,
    versions,
)
from webui.people.roles import Role
from webui.rendering import View
from webui.route import Body, Handler, Route, Scope
from webui.site import AnyCall
from webui.urls import INDEX, TWIN


def buttons(**handlers: Handler) -> Handler:
    """Make a handler that dispatches by button (field ``do``), by default to the first one.

    The part after a ``-`` in the field is for the button's handler: ``remove-2``.
    """
    default, known = next(iter(handlers)), ", ".join(handlers)

    def press(call: AnyCall) -> View | Response:
        name = (call.field("do") or default).partition("-")[0]
        if name not in handlers:
            raise BadRequest("Unknown action; choose one of {known} (field do).", known=known)
        outcome: View | Response = handlers[name](call)
        return outcome

    press.__doc__ = f"Do what a button of the form says (field do): {known}."
    return press


ANYONE, VIEWER, CURATOR, MANAGER = Role
BOTH = frozenset({Scope.SILO, Scope.DIRECTORY})
DIRECTORY, FLEET = frozenset({Scope.DIRECTORY}), frozenset({Scope.FLEET})
_RECORD = "/records/{record}"
_VERSION = _RECORD + "/versions/{version}"

# fmt: off
ROUTES: tuple[Route, ...] = (
    Route("GET",    "/",                             home.show),
    Route("GET",    "/records",                      records.show),
    Route("POST",   "/records",                      records.create,       Body.FIELDS),
    Route("GET",    "/sets",                         sets.show),

    Route("GET",    "/search",                       search.show),
    Route("POST",   "/search/look",                  search.choose_look,   Body.FIELDS, VIEWER),
    Route("GET",    "/search/values",                facet_values.show),
    Route("GET",    "/search/suggestions",           suggestions.show),
    Route("GET",    "/search/fields",                any_field.show),
    Route("POST",   "/search/fields",                any_field.count,      Body.FIELDS),
    Route("GET",    "/search/results.csv",           results.as_csv),
    Route("GET",    "/search/results.jsonl",         results.as_json_lines),
    Route("GET",    "/search/files.zip",             results.as_files),
    Route("GET",    "/search/bags.zip",              results.as_bags),
    Route("GET",    "/selection",                    selection.show),
    Route("POST",   "/selection",                    selection.change,     Body.LIST,   VIEWER),
    Route("GET",    "/search.atom",                  search.feed),
    Route("GET",    "/collections",                  collections.show),
    Route("GET",    "/collections/{name}",           collections.show_one),
    Route("GET",    "/collections/{name}/feed.atom", collections.feed),
    Route("GET",    "/collections/{name}/picture",   collections.picture),
    Route("GET",    "/collections/{name}/edit",      collections.ask,      Body.NONE,   CURATOR),
    Route("POST",   "/collections/{name}/edit",      collections.save,     Body.FILE),
    Route("POST",   "/collections/{name}/order",     collections.order,    Body.LIST),
    Route("POST",   "/collections/{name}/end",       collections.end,      Body.FIELDS),
    Route("GET",    "/searches",                     searches.show),
    Route("POST",   "/searches",                     searches.create,      Body.LIST),
    Route("POST",   "/pasted",                       searches.show_pasted, Body.LIST,   VIEWER),
    Route("GET",    "/searches/{name}",              searches.show_one),
    Route("DELETE", "/searches/{name}",              searches.delete,      Body.FIELDS),
    Route("POST",   "/searches/{name}/delete",       searches.delete,      Body.FIELDS),

    Route("GET",    "/clusters",                     clusters.show),
    Route("POST",   "/clusters",                     buttons(
        merge=clusters.merge,
        next=cluster_queue.merge,
        skip=cluster_queue.skip,
        same=clusters.count_as_one,
        ignore=clusters.ignore,
        restore=clusters.restore,
    ), Body.LIST),
    Route("GET",    "/upstream",                     upstream.show),
    Route("POST",   "/upstream",                     upstream.propose,     Body.FIELDS),
    Route("GET",    "/upstream/{record}",            upstream.show_one),
    Route("POST",   "/upstream/{record}",            upstream.decide,      Body.FIELDS),
    Route("GET",    "/quality",                      quality.show),
    Route("GET",    "/quality/duplicates",           duplicates.show),
    Route("POST",   "/quality/duplicates",           duplicates.mark,      Body.FIELDS),
    Route("POST",   "/quality/repair",               repair.preview,       Body.FIELDS),
    Route("GET",    "/queue",                        queue.lead,           Body.NONE,   CURATOR),
    Route("GET",    "/queue/{record}",               queue.show,           Body.NONE,   CURATOR),
    Route("POST",   "/queue/{record}",               queue.save,           Body.LIST),
    Route("GET",    "/bulk",                         bulk.show,            Body.NONE,   CURATOR),
    Route("POST",   "/bulk",                         buttons(
        preview=bulk.preview,
        look=bulk.preview_all,
        apply=bulk.apply,
        keep=bulk.keep,
        add=bulk.add,
        remove=bulk.remove,
        kind=bulk.kind,
        sample=bulk.sample,
    ), Body.LIST),
    Route("GET",    "/bulk/jobs",                    bulk_report.show),
    Route("GET",    "/bulk/jobs/{job}",              bulk_report.show_one),
    Route("GET",    "/bulk/jobs/{job}/changes",      bulk_choice.show),
    Route("POST",   "/bulk/jobs/{job}/changes",      bulk_choice.choose,   Body.LIST),
    Route("POST",   "/bulk/jobs/{job}/resume",       bulk_report.resume,   Body.FIELDS),
    Route("POST",   "/bulk/jobs/{job}/undo",         bulk_report.undo,     Body.FIELDS),
    Route("POST",   "/bulk/jobs/{job}/discard",      bulk_report.put_away, Body.FIELDS),
    Route("GET",    "/bulk/rename",                  rename.show,          Body.NONE,   CURATOR),
    Route("POST",   "/bulk/rename",                  rename.preview,       Body.LIST),
    Route("GET",    "/bulk/sheet",                   sheets.show,          Body.NONE,   CURATOR),
    Route("GET",    "/bulk/sheet.csv",               sheets.export,        Body.NONE,   CURATOR),
    Route("POST",   "/bulk/sheet",                   sheets.send,          Body.FILE),
    Route("GET",    "/bulk/attach",                  sheets.ask_attach,    Body.NONE,   CURATOR),
    Route("POST",   "/bulk/attach",                  sheets.send_attachment, Body.FILE),
    Route("GET",    "/rules",                        rules.show),
    Route("GET",    "/rules/{name}",                 rules.show_one),
    Route("POST",   "/rules/{name}",                 buttons(
        test=rules.preview,
        look=rules.preview_all,
        apply=rules.apply,
    ), Body.FIELDS),
    Route("POST",   "/rules/{name}/delete",          rules.delete,         Body.FIELDS),

    Route("GET",    "/jobs",                         jobs.show),
    Route("POST",   "/jobs",                         new_jobs.create,      Body.FIELDS, MANAGER),
    Route("GET",    "/jobs/new",                     new_jobs.ask_new,     Body.NONE,   MANAGER),
    Route("GET",    "/jobs/new/{form}",              new_jobs.ask,         Body.NONE,   MANAGER),
    Route("GET",    "/harvests",                     harvests.show),
    Route("GET",    "/crawls",                       crawls.show),
    Route("GET",    "/crawls/{name}",               crawls.show_one),
    Route("GET",    "/crawls/{name}/report.csv",    crawls.as_csv),
    Route("GET",    "/schedules",                    schedules.show,       Body.NONE,   MANAGER),
    Route("POST",   "/schedules/{name}/{action}",    schedules.act,        Body.FIELDS, MANAGER),
    Route("GET",    "/jobs/events",                  jobs.all_events),
    Route("GET",    "/jobs/{job}",                   jobs.show_one),
    Route("GET",    "/jobs/{job}/events",            jobs.events),
    Route("GET",    "/jobs/{job}/file",              jobs.download),
    Route("POST",   "/jobs/{job}/{action}",          jobs.act,             Body.FIELDS),

    Route("GET",    _RECORD,                         record.show),
    Route("DELETE", _RECORD,                         record.delete,        Body.FIELDS, MANAGER),
    Route("GET",    _RECORD + "/delete",             record.ask_delete,    Body.NONE,   MANAGER),
    Route("POST",   _RECORD + "/delete",             record.delete,        Body.FIELDS, MANAGER),

    Route("GET",    _RECORD + "/citation",           record.cite),
    Route("GET",    _RECORD + "/citation.bib",       record.cite_as_bibtex),
    Route("GET",    _RECORD + "/differences",        differences.show),

    Route("GET",    _RECORD + "/versions",           versions.ask_create,  Body.NONE,   CURATOR),
    Route("POST",   _RECORD + "/versions",           versions.create,      Body.FIELDS),
    Route("GET",    _VERSION,                        record.show_version),
    Route("DELETE", _VERSION,                        versions.delete,      Body.FIELDS),
    Route("GET",    _VERSION + "/delete",            versions.ask_delete,  Body.NONE,   CURATOR),
    Route("POST",   _VERSION + "/delete",            versions.delete,      Body.FIELDS),
    Route("GET",    _VERSION + "/rename",            versions.ask_rename,  Body.NONE,   CURATOR),
    Route("POST",   _VERSION + "/rename",            versions.rename,      Body.FIELDS),

    Route("POST",   _RECORD + "/curate",             edit.curate,          Body.FIELDS),
    Route("GET",    _VERSION + "/edit",              edit.show,            Body.NONE,   CURATOR),
    Route("POST",   _VERSION + "/edit",              edit.save,            Body.LIST),
    Route("GET",    _VERSION + "/edit-xml",          edit_xml.show,        Body.NONE,   CURATOR),
    Route("POST",   _VERSION + "/edit-xml",          edit_xml.save,        Body.LIST),

    Route("GET",    _VERSION + "/source",            source.show),
    Route("GET",    _VERSION + "/files",             files.ask_add,        Body.NONE,   CURATOR),
    Route("POST",   _VERSION + "/files",             files.add,            Body.FILE),
    Route("GET",    _VERSION + "/files/{path...}",   files.download),
    Route("GET",    _VERSION + "/look/{path...}",    file_view.show),
    Route("GET",    _VERSION + "/picture/{path...}", file_view.picture),
    Route("PUT",    _VERSION + "/files/{path...}",   files.put,            Body.RAW),
    Route("DELETE", _VERSION + "/files/{path...}",   files.delete,         Body.FIELDS),
    Route("GET",    _VERSION + "/rename-file",       files.ask_rename,     Body.NONE,   CURATOR),
    Route("POST",   _VERSION + "/rename-file",       files.rename,         Body.FIELDS),
    Route("GET",    _VERSION + "/delete-file",       files.ask_delete,     Body.NONE,   CURATOR),
    Route("POST",   _VERSION + "/delete-file",       files.delete,         Body.FIELDS),

    Route("GET",    "/openapi.json",                 openapi.show, scopes=BOTH),
    Route("GET",    "/sign-in", people.ask_sign_in, Body.NONE, ANYONE, BOTH),
    Route("POST",   "/sign-in", people.sign_in, Body.FIELDS, ANYONE, BOTH),
    Route("POST",   "/sign-out", people.sign_out, Body.FIELDS, ANYONE, BOTH),
    Route("GET",    "/activity",                     activity.show,        Body.NONE,   CURATOR),
    Route("GET",    "/activity/log.csv",             activity.as_csv,      Body.NONE,   CURATOR),
    Route("GET",    "/activity/log.jsonl",           activity.as_json_lines, Body.NONE, CURATOR),
    Route("GET",    "/accounts", manage_accounts.show, Body.NONE, MANAGER, BOTH),
    Route("POST",   "/accounts", manage_accounts.create, Body.FIELDS, MANAGER, BOTH),
    Route("POST",   "/accounts/{name}/{action}", manage_accounts.act, Body.FIELDS, MANAGER, BOTH),
    Route("GET",    "/places",                       places.show,          Body.NONE,   MANAGER),
    Route("POST",   "/places",                       places.create,        Body.FIELDS, MANAGER),
    Route("POST",   "/places/{name}/{action}",       places.act,           Body.FIELDS, MANAGER),
    Route("POST",   "/language", people.choose_language, Body.FIELDS, ANYONE, BOTH),
    Route("GET",    "/account",                      people.account, scopes=BOTH),
    Route("POST",   "/account/password", people.change_password, Body.FIELDS, VIEWER, BOTH),

    Route("GET",    "/help",                         manual.show, scopes=BOTH),
    Route("GET",    "/help/{topic}",                 manual.show, scopes=BOTH),
    Route("GET",    "/static/{path...}", static.show, Body.NONE, ANYONE, BOTH),
    Route("GET",    "/favicon.ico", static.favicon, Body.NONE, ANYONE, BOTH),
    Route("GET",    "/robots.txt", static.robots, Body.NONE, ANYONE, BOTH),

    Route("GET",    "/",                             silos.show, scopes=DIRECTORY),
    Route("GET",    "/silos",                        silos.show, scopes=DIRECTORY),
    Route("GET",    "/silos/{path...}",              silos.lead, scopes=DIRECTORY),
    Route("GET",    "/search",                       all_silos.show, scopes=DIRECTORY,
          admits=all_silos.is_of_node),
    Route("GET",    "/fleet",                        fleet.show, scopes=FLEET),
    Route("GET",    "/fleet.csv",                    fleet.as_csv, scopes=FLEET),
    Route("GET",    "/add-repositories", fleet_add.ask, Body.NONE, MANAGER, FLEET),
    Route("POST",   "/add-repositories", buttons(probe=fleet_add.probe, add=fleet_add.add),
          Body.FILE, MANAGER, FLEET),
    Route("GET",    "/fleet/{name}",                 fleet.show_one, scopes=FLEET),
    Route("POST",   "/fleet/{name}",                 fleet.act, Body.FIELDS, MANAGER, FLEET),
    Route("GET",    "/metrics",                      fleet.metrics, scopes=FLEET,
          is_for_programs=True),
)
OF_2010: tuple[Route, ...] = (
    # The interface of 2010: /<percent-encoded identifier>/<version>/<path>.
    Route("POST",   "/",                             records.create,       Body.FIELDS),
    Route("GET",    "/{record}",                     legacy.show_record),
    Route("POST",   "/{record}",                     legacy.make_version,  Body.FIELDS),
    Route("DELETE", "/{record}",                     record.delete,        Body.FIELDS, MANAGER),
    Route("GET",    "/{record}/{version}",           legacy.show_version),
    Route("POST",   "/{record}/{version}",           legacy.upload,        Body.FILE),
    Route("DELETE", "/{record}/{version}",           versions.delete,      Body.FIELDS),
    Route("GET",    "/{record}/{version}/{path...}", files.download),
    Route("DELETE", "/{record}/{version}/{path...}", files.delete,         Body.FIELDS),
)
# fmt: on


@dataclass(frozen=True, slots=True)
class FoundRoute:
    """A route and the values of its braces."""

    route: Route
    params: Mapping[str, str]
    is_twin: bool


@dataclass(frozen=True, slots=True)
class _Address:
    """The lines of the table with the same pattern."""

    parts: tuple[str, ...]
    methods: Mapping[str, Route]

    @property
    def is_of_2010(self) -> bool:
        return self.parts[:1] == ("{record}",)

    @property
    def has_twin(self) -> bool:
        """Whether it has a JSON twin: pages do, files and the interface of 2010 do not."""
        return not self.is_of_2010 and not any(part.endswith("...}") for part in self.parts)

    @property
    def allowed(self) -> tuple[str, ...]:
        return tuple(
            name
            for method in self.methods
            for name in ([method, "HEAD"] if method == "GET" else [method])
        )


@dataclass(frozen=True, slots=True, eq=False)
class RouteTable:
    """The lines of the route table for a site, in order.

    Attributes:
        routes: The lines.
        fixed: First segments that it uses; in a Silo, an identifier of that name is under
            ``/records/``.
    """

    routes: tuple[Route, ...]
    addresses: tuple[_Address, ...]
    fixed: frozenset[str]

    def documented(self) -> Iterator[tuple[Route, bool]]:
        """Return its lines, each with whether it has a twin."""
        for address in self.addresses:
            yield from ((route, address.has_twin) for route in address.methods.values())

    def find(self, method: str, raw_path: str) -> FoundRoute:
        """Find the route for a request.

        Args:
            method: As sent; HEAD uses GET's route.
            raw_path: As sent, still percent-encoded.

        Raises:
            NotFound: No such address.
            MethodNotAllowed: The address exists, but not for this method.
            BadRequest: The path is not UTF-8 when decoded.
        """
        raw = raw_path.removesuffix("/").split("/")[1:]
        if raw and raw[-1].endswith(TWIN):
            twin = _decoded([*raw[:-1], raw[-1].removesuffix(TWIN)])
            twin = [] if twin == [INDEX] else twin
            with_twin = [one for one in self.addresses if one.has_twin]
            if found := self._among(with_twin, twin, method):
                return FoundRoute(*found, is_twin=True)
        if found := self._among(self.addresses, _decoded(raw), method):
            return FoundRoute(*found, is_twin=False)
        raise NotFound("There is no page at this address.")

    def _among(
        self, addresses: Iterable[_Address], segments: list[str], method: str
    ) -> tuple[Route, Mapping[str, str]] | None:
        """The first matching address counts, whatever its methods are."""
        is_fixed = bool(segments) and segments[0] in self.fixed
        for address in addresses:
            params = _match(address.parts, segments)
            if params is None or (is_fixed and address.is_of_2010):
                continue
            route = address.methods.get("GET" if method == "HEAD" else method)
            if route is None:
                raise MethodNotAllowed(method, address.allowed)
            return route, params
        return None


def table(*scopes: Scope) -> RouteTable:
    """Return the lines of some scopes: ours, those of packages, the interface of 2010.

    A line of a package never replaces one of ours.
    """
    return _table(frozenset(scopes), contributed())


@cache
def _table(scopes: frozenset[Scope], some: tuple[Pages, ...]) -> RouteTable:
    every = (*ROUTES, *(route for one in some for route in one.routes), *OF_2010)
    grouped: dict[tuple[str, ...], dict[str, Route]] = {}
    for route in every:
        if not route.scopes.isdisjoint(scopes):
            grouped.setdefault(route.parts, {}).setdefault(route.method, route)
    routes = tuple(route for methods in grouped.values() for route in methods.values())
    addresses = tuple(_Address(parts, methods) for parts, methods in grouped.items())
    fixed = frozenset(route.parts[0] for route in routes if route.parts) - {"{record}"}
    return RouteTable(routes, addresses, fixed)


def _match(parts: tuple[str, ...], segments: list[str]) -> dict[str, str] | None:
    params: dict[str, str] = {}
    for place, part in enumerate(parts):
        rest = segments[place:]
        if not rest or not rest[0]:
            return None
        if part.endswith("...}"):
            return {**params, part[1:-4]: "/".join(rest)}
        if part.startswith("{"):
            params[part[1:-1]] = rest[0]
        elif part != rest[0]:
            return None
    return params if len(segments) == len(parts) else None


def _decoded(raw: list[str]) -> list[str]:
    try:
        return [unquote(segment, errors="strict") for segment in raw]
    except UnicodeDecodeError:
        raise BadRequest("The path of this address is not UTF-8 when decoded.") from None
