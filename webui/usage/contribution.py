"""The pages of usage, as a package contributes pages."""

from webui.contributed import Pages
from webui.navigation import NavigationLink
from webui.people.roles import Role
from webui.route import Body, Handler, Operation, Query, Route
from webui.usage import counter, on_home, pages
from webui.usage.asked import ORDERS

_COUNT = {"type": "integer", "minimum": 0}
_PERIOD = (
    Query("from", text="First day or month."),
    Query("until", text="Last day or month."),
    Query("by", {"type": "string", "enum": ["", *ORDERS]}, "What the most used are compared by."),
)
_KIND = (Query("kind", text="`record`, or a kind of entity."), *_PERIOD)
_CUSTOMER = (Query("customer_id", text="0000000000000000, the world.", required=True),)
_REPORT = (
    *_CUSTOMER,
    Query("begin_date", text="First month.", required=True),
    Query("end_date", text="Last month.", required=True),
    *map(Query, ("metric_type", "data_type", "access_method", "access_type", "yop")),
    *map(Query, ("item_id", "author", "attributes_to_show", "granularity")),
)
_EXCEPTIONS = {
    "4XX": "A COUNTER exception: Code, Message, Data.",
    "5XX": "A COUNTER exception: Code, Message, Data.",
}


def _page(pattern: str, handler: Handler, *query: Query) -> Route:
    return Route("GET", f"/usage{pattern}", handler, told=Operation("", query or _PERIOD))


def _csv(pattern: str, handler: Handler, *query: Query) -> Route:
    return Route("GET", f"/usage{pattern}", handler, told=Operation("text/csv", query or _PERIOD))


def _part(pattern: str, handler: Handler) -> Route:
    told = Operation("text/html", (*_KIND, Query("limit", _COUNT)))
    return Route("GET", f"/usage{pattern}", handler, told=told)


def _counter(pattern: str, handler: Handler, query: tuple[Query, ...] = _CUSTOMER) -> Route:
    told = Operation("application/json", query, leads=_EXCEPTIONS)
    return Route("GET", f"/r51{pattern}", handler, told=told)


PAGES = Pages(
    "usage",
    (
        _page("", pages.show),
        _page("/top", pages.show_top, *_KIND, Query("match"), Query("limit", _COUNT)),
        _csv("/top.csv", pages.top_csv, *_KIND, Query("match")),
        _csv("/days.csv", pages.days_csv),
        _csv("/countries.csv", pages.countries_csv),
        _part("/fragments/{part}", pages.fragment),
        _part("/widgets/{part}", pages.widget),
        _page("/records/{record}", pages.show_record),
        _page("/entities/{key}", pages.show_entity),
        _csv("/records/{record}/days.csv", pages.record_days_csv),
        _csv("/entities/{key}/days.csv", pages.entity_days_csv),
        _csv("/entities/{key}/records.csv", pages.entity_csv),
        Route("POST", "/usage/entities/{key}/separate", pages.separate, Body.FIELDS),
        Route(
            "GET",
            "/r51/status",
            counter.status,
            role=Role.ANYONE,
            told=Operation("application/json"),
        ),
        _counter("/reports", counter.reports),
        _counter("/reports/{report}", counter.report, _REPORT),
        _counter("/members", counter.members),
    ),
    (("Browse", NavigationLink("Usage", "/usage")),),
    on_home=on_home.part,
)
