"""Permissions: every line of the route table, requested by every role in every way."""

import html
import io
import json
import re
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any
from urllib.parse import parse_qsl

import pytest
from examples import family

from recordsilo import Silo
from silocuration.batch.job import create_job, run_job
from silocuration.batch.journal import job_ids
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet, save_rules
from silocuration.editing.rules import Trim
from silocuration.searches import SavedSearch, save_search
from webui import app, routes
from webui.http.messages import Response
from webui.http.security import AddressPolicy
from webui.people.accounts import add_account
from webui.people.roles import Role
from webui.route import Scope
from webui.site import Site, SiteSettings

OF_SILO = routes.table(Scope.SILO)
EVERYBODY: Mapping[str, Role] = {
    "nobody": Role.ANYONE, "vera": Role.VIEWER, "cara": Role.CURATOR, "mona": Role.MANAGER
}  # fmt: skip
# Of a page, for nobody, a viewer, a curator and a manager: `-` where they are kept out, else
# the status. Changes come without fields, with If-Match of a revision that no record has.
EXPECTED = """
GET    /                                                        - 200 200 200
GET    /records                                                 - 303 303 303
POST   /records                                                 -   - 400 400
GET    /sets                                                    - 200 200 200
GET    /search                                                  - 200 200 200
POST   /search/look                                             - 303 303 303
GET    /search/suggestions                                      - 200 200 200
GET    /search/values                                           - 200 200 200
GET    /search/fields                                           - 200 200 200
POST   /search/fields                                           -   - 400 400
GET    /search/results.csv                                      - 200 200 200
GET    /search/results.jsonl                                    - 200 200 200
GET    /search/files.zip                                        - 200 200 200
GET    /search/bags.zip                                         - 200 200 200
GET    /selection                                               - 200 200 200
POST   /selection                                               - 303 303 303
GET    /search.atom                                             - 200 200 200
GET    /collections                                             - 200 200 200
GET    /collections/{name}                                      - 404 404 404
GET    /collections/{name}/feed.atom                            - 404 404 404
GET    /collections/{name}/picture                              - 404 404 404
GET    /collections/{name}/edit                                 -   - 404 404
POST   /collections/{name}/edit                                 -   - 404 404
POST   /collections/{name}/order                                -   - 404 404
POST   /collections/{name}/end                                  -   - 404 404
GET    /searches                                                - 200 200 200
POST   /searches                                                -   - 400 400
POST   /pasted                                                  - 400 400 400
GET    /searches/{name}                                         - 404 404 404
DELETE /searches/{name}                                         -   - 404 404
POST   /searches/{name}/delete                                  -   - 404 404
GET    /usage                                                   - 200 200 200
GET    /usage/top                                               - 200 200 200
GET    /usage/top.csv                                           - 200 200 200
GET    /usage/days.csv                                          - 200 200 200
GET    /usage/countries.csv                                     - 200 200 200
GET    /usage/fragments/{part}                                  - 404 404 404
GET    /usage/widgets/{part}                                    - 404 404 404
GET    /usage/records/{record}                                  - 404 404 404
GET    /usage/entities/{key}                                    - 404 404 404
GET    /usage/records/{record}/days.csv                         - 200 200 200
GET    /usage/entities/{key}/days.csv                           - 404 404 404
GET    /usage/entities/{key}/records.csv                        - 404 404 404
POST   /usage/entities/{key}/separate                           -   - 404 404
GET    /clusters                                                - 200 200 200
POST   /clusters                                                -   - 400 400
GET    /upstream                                                - 200 200 200
POST   /upstream                                                -   - 303 303
GET    /upstream/{record}                                       - 409 409 409
POST   /upstream/{record}                                       -   - 400 400
GET    /quality                                                 - 200 200 200
POST   /quality/repair                                          -   - 400 400
GET    /queue                                                   -   - 303 303
GET    /queue/{record}                                          -   - 200 200
POST   /queue/{record}                                          -   - 400 400
GET    /quality/duplicates                                      - 200 200 200
POST   /quality/duplicates                                      -   - 400 400
GET    /bulk                                                    -   - 200 200
POST   /bulk                                                    -   - 400 400
GET    /bulk/jobs                                               - 200 200 200
GET    /bulk/jobs/{job}                                         - 404 404 404
GET    /bulk/jobs/{job}/changes                                 - 404 404 404
POST   /bulk/jobs/{job}/changes                                 -   - 404 404
POST   /bulk/jobs/{job}/resume                                  -   - 404 404
POST   /bulk/jobs/{job}/undo                                    -   - 404 404
POST   /bulk/jobs/{job}/discard                                 -   - 404 404
GET    /bulk/sheet                                              -   - 200 200
GET    /bulk/sheet.csv                                          -   - 200 200
POST   /bulk/sheet                                              -   - 400 400
GET    /bulk/rename                                             -   - 200 200
POST   /bulk/rename                                             -   - 400 400
GET    /bulk/attach                                             -   - 200 200
POST   /bulk/attach                                             -   - 400 400
GET    /rules                                                   - 200 200 200
GET    /rules/{name}                                            - 404 404 404
POST   /rules/{name}                                            -   - 404 404
POST   /rules/{name}/delete                                     -   - 404 404
GET    /jobs                                                    - 200 200 200
POST   /jobs                                                    -   -   - 400
GET    /jobs/new                                                -   -   - 200
GET    /jobs/new/{form}                                         -   -   - 404
GET    /harvests                                                - 200 200 200
GET    /crawls                                                  - 200 200 200
GET    /crawls/{name}                                          - 404 404 404
GET    /crawls/{name}/report.csv                               - 404 404 404
GET    /crawling/targets                                        - 200 200 200
POST   /crawling/targets                                        -   - 400 400
GET    /crawling/add                                            -   - 200 200
GET    /crawling/add/records                                    -   - 200 200
GET    /crawling/targets/{name}                                 - 404 404 404
GET    /crawling/targets/{name}/seeds                           - 404 404 404
GET    /crawling/targets/{name}/failures                        - 404 404 404
POST   /crawling/targets/{name}/{action}                        -   - 404 404
GET    /crawling/jobs                                           - 200 200 200
GET    /crawling/jobs/{engine}/{job}                            - 404 404 404
POST   /crawling/jobs/{engine}/{job}/{action}                   -   -   - 404
GET    /crawling/running                                        - 200 200 200
POST   /crawling/running/checkpoint                             -   -   - 409
GET    /crawling/packages                                       - 200 200 200
GET    /crawling/packages/{package}                             - 404 404 404
POST   /crawling/packages/{package}/retry                       -   -   - 404
GET    /crawling/status                                         - 200 200 200
GET    /crawling/metrics                                        - 200 200 200
GET    /crawling/dead/{queue}                                   - 404 404 404
POST   /crawling/dead/{queue}                                   -   - 404 404
GET    /crawling/proposals                                      - 200 200 200
GET    /crawling/proposals/{number}/first-page.png              - 404 404 404
POST   /crawling/proposals/{number}/{action}                    -   - 404 404
GET    /crawling/comparisons                                    - 200 200 200
GET    /crawling/comparisons/{name}                             - 404 404 404
GET    /crawling/comparisons/{name}/{picture}                   - 404 404 404
GET    /crawling/screenshot.png                                  - 404 404 404
GET    /schedules                                               -   -   - 200
POST   /schedules/{name}/{action}                               -   -   - 404
GET    /jobs/events                                             - 200 200 200
GET    /jobs/{job}                                              - 200 200 200
GET    /jobs/{job}/events                                       - 200 200 200
GET    /jobs/{job}/file                                         - 404 404 404
POST   /jobs/{job}/{action}                                     -   -   - 409
GET    /records/{record}                                        - 200 200 200
DELETE /records/{record}                                        -   -   - 412
GET    /records/{record}/delete                                 -   -   - 200
POST   /records/{record}/delete                                 -   -   - 412
GET    /records/{record}/citation                               - 200 200 200
GET    /records/{record}/citation.bib                           - 200 200 200
GET    /fedora-preview/{record}                                 - 200 200 200
GET    /records/{record}/differences                            - 200 200 200
GET    /records/{record}/versions                               -   - 200 200
POST   /records/{record}/versions                               -   - 400 400
GET    /records/{record}/versions/{version}                     - 200 200 200
DELETE /records/{record}/versions/{version}                     -   - 412 412
GET    /records/{record}/versions/{version}/delete              -   - 200 200
POST   /records/{record}/versions/{version}/delete              -   - 412 412
GET    /records/{record}/versions/{version}/rename              -   - 200 200
POST   /records/{record}/versions/{version}/rename              -   - 400 400
POST   /records/{record}/curate                                 -   - 303 303
GET    /records/{record}/versions/{version}/edit                -   - 200 200
POST   /records/{record}/versions/{version}/edit                -   - 400 400
GET    /records/{record}/versions/{version}/edit-xml            -   - 200 200
POST   /records/{record}/versions/{version}/edit-xml            -   - 409 409
GET    /records/{record}/versions/{version}/source              - 404 404 404
GET    /records/{record}/versions/{version}/files               -   - 200 200
POST   /records/{record}/versions/{version}/files               -   - 400 400
GET    /records/{record}/versions/{version}/files/{path...}     - 200 200 200
GET    /records/{record}/versions/{version}/look/{path...}      - 200 200 200
GET    /records/{record}/versions/{version}/picture/{path...}   - 404 404 404
PUT    /records/{record}/versions/{version}/files/{path...}     -   - 412 412
DELETE /records/{record}/versions/{version}/files/{path...}     -   - 412 412
GET    /records/{record}/versions/{version}/rename-file         -   - 200 200
POST   /records/{record}/versions/{version}/rename-file         -   - 400 400
GET    /records/{record}/versions/{version}/delete-file         -   - 200 200
POST   /records/{record}/versions/{version}/delete-file         -   - 400 400
GET    /oai                                                   404 404 404 404
POST   /oai                                                   404 404 404 404
GET    /reconcile                                               - 200 200 200
POST   /reconcile                                               - 200 200 200
GET    /reconcile/suggest/{part}                                - 404 404 404
GET    /reconcile/properties                                    - 200 200 200
GET    /reconcile/preview                                       - 404 404 404
GET    /reconcile/view                                          - 404 404 404
GET    /reconciliation                                          - 200 200 200
POST   /reconciliation                                          -   - 404 404
GET    /reconciliation/places                                   -   -   - 200
POST   /reconciliation/places                                   -   -   - 400
POST   /reconciliation/places/{name}/{action}                   -   -   - 404
GET    /providing                                               -   -   - 200
POST   /providing                                               -   -   - 303
GET    /r51/status                                            200 200 200 200
GET    /r51/reports                                             - 400 400 400
GET    /r51/reports/{report}                                    - 404 404 404
GET    /r51/members                                             - 400 400 400
GET    /openapi.json                                            - 200 200 200
GET    /sign-in                                               200 303 303 303
POST   /sign-in                                               403 403 403 403
POST   /sign-out                                              303 303 303 303
POST   /language                                              303 303 303 303
GET    /activity                                                -   - 200 200
GET    /activity/log.csv                                        -   - 200 200
GET    /activity/log.jsonl                                      -   - 200 200
GET    /accounts                                                -   -   - 200
POST   /accounts                                                -   -   - 400
POST   /accounts/{name}/{action}                                -   -   - 404
GET    /places                                                  -   -   - 200
POST   /places                                                  -   -   - 400
POST   /places/{name}/{action}                                  -   -   - 404
GET    /account                                                 - 200 200 200
POST   /account/password                                        - 400 400 400
GET    /static/{path...}                                      200 200 200 200
GET    /favicon.ico                                           303 303 303 303
GET    /help                                                    - 200 200 200
GET    /help/{topic}                                            - 200 200 200
GET    /robots.txt                                            200 200 200 200
POST   /                                                        -   - 400 400
GET    /{record}                                                - 302 302 302
POST   /{record}                                                -   - 400 400
DELETE /{record}                                                -   -   - 412
GET    /{record}/{version}                                      - 302 302 302
POST   /{record}/{version}                                      -   - 400 400
DELETE /{record}/{version}                                      -   - 412 412
GET    /{record}/{version}/{path...}                            - 200 200 200
DELETE /{record}/{version}/{path...}                            -   - 412 412
"""
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT",
           "PROPFIND", "get")  # fmt: skip
QUERIES = {
    "/search/values": "field=creator",
    "/bulk/rename": "field=creator&value=Smith",
    "/records/{record}/versions/{version}/rename-file": "path=oai_dc",
    "/records/{record}/versions/{version}/delete-file": "path=oai_dc",
    "/records/{record}/versions/{version}/edit-xml": "path=oai_dc",
}
TABLE = {
    (method, pattern): dict(zip(EVERYBODY, cells, strict=True))
    for method, pattern, *cells in map(str.split, EXPECTED.strip().splitlines())
}
PATTERNS = tuple(dict.fromkeys(pattern for _method, pattern in TABLE))
Ask = Callable[..., Response]


@pytest.fixture
def ask(silo: Silo, working_copy: str) -> Ask:
    """Ask for an address as somebody; no server is between."""
    for name, role in EVERYBODY.items():
        if role is not Role.ANYONE:
            add_account(silo.path, name, role, None)
    policy = AddressPolicy(proxies=frozenset({"127.0.0.1"}), user_header="x-user")
    site = Site.of(silo, SiteSettings(by_worker=True, policy=policy))
    job = site.jobs.begin("harvest", "Harvest oai_dc", {"prefixes": ["oai_dc"]}, "mona")
    named = {"record": "oai+example,org+1", "version": "workingcopy", "path": "oai_dc",
             "job": job.job_id, "action": "retry", "name": "none", "form": "none",
             "part": "none", "queue": "none", "number": "7", "key": "none", "report": "none",
             "token": "0" * 32, "topic": "search", "picture": "crawled.png", "engine": "none",
             "package": "none"}  # fmt: skip

    def ask(who: str, method: str, pattern: str, end: str = "", accept: str = "text/html") -> Any:
        path = pattern.replace("static/{path...}", "static/page.css")
        path = re.sub(r"\{(\w+)(?:\.\.\.)?\}", lambda found: named[found[1]], path) + end
        path, _mark, query = path.partition("?")
        environ = {
            "REQUEST_METHOD": method,
            "REQUEST_URI": path,
            "PATH_INFO": path,
            "QUERY_STRING": query or QUERIES.get(pattern, ""),
            "REMOTE_ADDR": "127.0.0.1",
            "CONTENT_LENGTH": "0",
            "HTTP_HOST": "localhost",
            "HTTP_ACCEPT": accept,
            "wsgi.input": io.BytesIO(),
        }
        if method not in {"GET", "HEAD"}:
            environ["HTTP_IF_MATCH"] = '"999999"'
        if EVERYBODY[who] is not Role.ANYONE:
            environ["HTTP_X_USER"] = who
        response = app.respond(site, environ)
        if not isinstance(response.body, bytes):
            response.body.close()
        assert response.status < 500, (who, method, path)
        return response

    return ask


def is_kept_out(answer: Response) -> bool:
    """Whether a JSON answer says that the role is not enough."""
    if answer.status not in {401, 403} or not isinstance(answer.body, bytes):
        return False
    return json.loads(answer.body)["error"]["code"] in {"sign_in_required", "not_allowed"}


def test_the_table_has_a_row_for_every_route() -> None:
    assert sorted(TABLE) == sorted((one.method, one.pattern) for one in OF_SILO.routes)


def test_the_table_agrees_with_the_roles_of_the_routes() -> None:
    """Where a handler keeps out more people than its route does, it is named here."""
    by_handler = {("POST", "/jobs/{job}/{action}")}
    for route in OF_SILO.routes:
        row = TABLE[route.method, route.pattern]
        kept_out = {who for who, role in EVERYBODY.items() if role < route.needs}
        if (route.method, route.pattern) not in by_handler:
            assert {who for who, cell in row.items() if cell == "-"} == kept_out, route.pattern


@pytest.mark.parametrize("who", family(EVERYBODY, 2))
def test_every_route_lets_in_whom_the_table_says(ask: Ask, silo: Silo, who: str) -> None:
    before = silo["oai:example.org:1"].revision
    for (method, pattern), row in TABLE.items():
        page = ask(who, method, pattern)
        answer = ask(who, method, pattern, accept="application/json")
        assert is_kept_out(answer) == (row[who] == "-"), (method, pattern)
        if row[who] != "-":
            assert page.status == int(row[who]), (method, pattern)
            assert answer.status == page.status or page.status < 400 > answer.status
        elif method == "GET" and who == "nobody":
            is_for_programs = OF_SILO.find(method, pattern).route.is_for_programs
            is_file = pattern.endswith(".json") or is_for_programs
            assert is_file or page.headers["Location"].startswith("/sign-in"), pattern
        else:
            assert page.status == (401 if who == "nobody" else 403), (method, pattern)
        if row[who] == "-":
            assert b"On the keeping" not in bytes(page.body) + bytes(answer.body)
    assert silo["oai:example.org:1"].revision == before


@pytest.fixture
def filled(silo: Silo, working_copy: str) -> Silo:
    """A Silo in which every list has an entry."""
    for number, subject in ((100, "Soil Science"), (101, "soil science")):
        record = silo[f"oai:example.org:{number}"]
        record.clone_version("1", "workingcopy")
        with record.get_stream("oai_dc", "1") as stream:
            content = stream.read().replace(f"Record {number}".encode(), b" The same book twice ")
        fields = "<dc:creator>Ito</dc:creator><dc:date>2001</dc:date>"
        fields += f"<dc:subject>{subject}</dc:subject>"
        content = content.replace(b"</dc:title>", b"</dc:title>" + fields.encode())
        record.put_stream("oai_dc", content, "workingcopy")
    rules = RuleSet("Trim", rules=(Trim("title"),))
    save_rules(silo.path, "trim", rules)
    save_search(silo.path, SavedSearch("soil", "Soil"))
    create_job(silo, rules_job(rules, "trim"), agent="cara")
    run_job(silo, create_job(silo, rules_job(rules, "trim"), agent="cara"))
    return silo


@pytest.mark.long
@pytest.mark.parametrize("who", ["vera", "cara", "mona"])
def test_a_page_offers_only_what_the_role_may_do(ask: Ask, filled: Silo, who: str) -> None:
    """Every form of every page, and every link of its own address space."""
    lists = [
        "/rules/trim",
        "/searches/soil",
        *(f"/bulk/jobs/{one}" for one in job_ids(filled.path)),
    ]
    pages = [pattern for method, pattern in TABLE if method == "GET"]
    seen = set()
    for page in (*pages, *lists):
        answer = ask(who, "GET", page)
        if answer.status != 200 or not answer.content_type.startswith("text/html"):
            continue
        text = bytes(answer.body).decode()
        forms = re.findall(r'<form[^>]* action="([^"]+)"[^>]* method="(\w+)"', text)
        links = [(url, "get") for url in re.findall(r'<a [^>]*href="(/[^"]*)"', text)]
        for url, method in forms + links:
            path = html.unescape(url).partition("?")[0].partition("#")[0]
            route = OF_SILO.find(method.upper(), path).route
            assert route.needs <= EVERYBODY[who], (page, method, url)
            seen.add((method, route.pattern))
        if page.startswith("/records/{record}") and page.endswith(("{record}", "{version}")):
            assert ("Delete record" in text) == (who == "mona")
            assert ("New empty version" in text) == (who in {"cara", "mona"})
    by_curators = {
        ("post", "/searches/{name}/delete"), ("post", "/rules/{name}"),
        ("post", "/bulk/jobs/{job}/resume"), ("post", "/bulk/jobs/{job}/undo"),
        ("post", "/quality/duplicates"), ("post", "/clusters"), ("get", "/bulk"),
    }  # fmt: skip
    assert by_curators & seen == (by_curators if who in {"cara", "mona"} else set())


class Offered(HTMLParser):
    """The links of a page, and the addresses that its forms and buttons send to."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.sent: set[tuple[str, str]] = set()
        self._method = "get"
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note where an element leads."""
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and given.get("href", "").startswith("/"):
            self.links.add(given["href"].partition("#")[0])
        if tag == "form":
            self._method = given.get("method", "get").upper()
            self.sent.add((self._method, given["action"]))
        if "formaction" in given:
            self.sent.add((given.get("formmethod", self._method).upper(), given["formaction"]))


@pytest.mark.parametrize("who", family(["cara", "vera"], 1))
@pytest.mark.long
def test_whoever_follows_every_link_from_the_home_page_is_never_refused(
    ask: Ask, filled: Silo, who: str
) -> None:
    """Of addresses that differ in values only, one is followed, with one field at most."""
    waiting, followed = ["/"], set()
    while waiting:
        url = waiting.pop()
        path, _mark, query = url.partition("?")
        pattern = OF_SILO.find("GET", path).route.pattern
        shape = (pattern, frozenset(name for name, _value in parse_qsl(query)))
        if shape in followed or len(shape[1]) > 1:
            continue
        followed.add(shape)
        answer = ask(who, "GET", url)
        assert answer.status not in {401, 403}, url
        if answer.status in {302, 303}:
            waiting.append(answer.headers["Location"])
        if answer.status != 200 or not answer.content_type.startswith("text/html"):
            continue
        offered = Offered(bytes(answer.body))
        waiting += sorted(offered.links)
        for method, action in offered.sent:
            route = OF_SILO.find(method, re.split("[?#]", action)[0]).route
            assert route.needs <= EVERYBODY[who], (url, method, action)
    reached = {pattern for pattern, _fields in followed}
    assert {"/search", "/sets", "/jobs/{job}", "/records/{record}", "/quality"} <= reached
    assert ("/activity" in reached) == (who == "cara")
    assert "/jobs/new" not in reached


@pytest.mark.parametrize("who", family(EVERYBODY, 2))
@pytest.mark.long
def test_twins_and_other_methods_let_in_nobody_else(ask: Ask, who: str) -> None:
    """``.json`` is the same page, or another file; what no row names is answered with 405."""
    for pattern in PATTERNS:
        if pattern == "/":
            continue
        for method in METHODS:
            row = TABLE.get(("GET" if method == "HEAD" else method, pattern))
            twin = ask(who, method, pattern, ".json")
            if row is None:
                assert twin.status == ask(who, method, pattern).status == 405, (method, pattern)
            elif method == "HEAD":
                assert ask(who, method, pattern).status == ask(who, "GET", pattern).status
            else:
                assert is_kept_out(twin) == (row[who] == "-"), (method, pattern)
