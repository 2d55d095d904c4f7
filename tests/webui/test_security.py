"""Attacks: other sites, other hosts, stored and reflected script, paths, sizes, methods."""

import html.parser
import io
import re
import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from politeweb.addresses import is_loopback
from recordsilo import Silo
from recordsilo.disk.identifier import url_segment
from webui import routes
from webui.http.errors import UNFORESEEN, CrossSite
from webui.http.messages import Request
from webui.http.security import LOOPBACK_ONLY, AddressPolicy, check, check_host
from webui.route import Route, Scope
from webui.server import PageServer
from webui.site import SiteSettings

OF_SILO = routes.table(Scope.SILO)

PLAIN = "oai:example.org:1"
HOSTILE = "oai:example.org:4<script>alert(4)</script>\"'"
URL = "/records/oai+example,org+1"
COPY = URL + "/versions/workingcopy"
CLONE = {"name": "stolen", "clone_of": "1"}


class Scripts(html.parser.HTMLParser):
    """Finds whatever a browser would run."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "script" and re.fullmatch(
            r"/static/[\w.]+\?[0-9a-f]{12}", dict(attrs)["src"] or ""
        ):
            return  # the page's own; the policy lets no other run
        if tag in {"script", "img", "iframe", "object", "embed", "style", "base"}:
            self.found.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.found.append(name)
            if name in {"href", "src", "action"} and not re.match(r"/|https?://|#", value or ""):
                self.found.append(f"{name}={value}")


def scripts(text: str) -> list[str]:
    parser = Scripts()
    parser.feed(text)
    return parser.found


# -- script ---------------------------------------------------------------------------------


def test_stored_markup_is_shown_and_never_run(client: Any, silo: Silo) -> None:
    record = silo[HOSTILE]
    record.clone_version("1", "<b onclick='x'>", message="<script>alert(5)</script>")
    record.put_stream("<img src=x onerror=alert(6)>.txt", b"x", message="<svg onload=alert(7)>")
    url = "/records/" + url_segment(HOSTILE)
    version = url + "/versions/" + quote("<b onclick='x'>", safe="")
    pages = [
        "/search", "/sets", "/search?q=alert", "/activity",
        url, version, url + "/versions/1", url + "/delete",
        url + "/versions", version + "/rename", version + "/delete", version + "/files",
        version + "/rename-file?path=" + quote("<img src=x onerror=alert(6)>.txt"),
        version + "/delete-file?path=" + quote("<img src=x onerror=alert(6)>.txt"),
    ]  # fmt: skip
    for page in pages:
        answer = client.get(page)
        assert answer.status == 200, page
        assert scripts(answer.text) == [], page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in client.get(url).text
    assert "&lt;svg onload=alert(7)&gt;" in client.get(url).text


@pytest.mark.parametrize(
    "path",
    [
        "/<script>alert(1)</script>",
        "/records/%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/records?find=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/records?from=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/search?subject=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/activity?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&agent=%22%3E%3Csvg/onload=x%3E",
        "/sign-in?next=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/records?set=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/records?after=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/records?limit=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
        "/search?done=%3Cscript%3Ealert(1)%3C/script%3E",
        URL + "?done=%3Cscript%3Ealert(1)%3C/script%3E",
        URL + "/versions/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        URL + "/versions/1/files/%3Cscript%3Ealert(1)%3C/script%3E",
    ],
)
def test_what_comes_with_the_address_is_never_run(client: Any, path: str) -> None:
    answer = client.get(quote(path, safe="/%?=&"))
    assert answer.status in {200, 303, 400, 404}
    assert scripts(answer.text) == []


def test_every_answer_forbids_inline_script_and_framing(client: Any) -> None:
    for path in ("/search", URL, "/records.json", "/nothing", "/static/page.css"):
        headers = client.get(path).headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"


def test_no_answer_names_the_server_or_its_version(client: Any) -> None:
    for path in ("/search", "/nothing", "/records?limit=x"):
        answer = client.get(path)
        assert answer.headers["Server"] == "silo"
        for name in ("cherrypy", "cheroot", "python", "traceback"):
            assert name not in (str(answer.headers) + answer.text).lower()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("page.html", b"<script>alert(1)</script>"),
        ("image.svg", b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
        ("script.js", b"alert(1)"),
        (
            "page.xml",
            b'<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>',
        ),
        ("page.txt", b"<script>alert(1)</script>"),
        ("page", b"<script>alert(1)</script>"),
        ("page.html%00.txt", b"<script>"),
    ],
)
def test_stored_files_run_nothing_in_the_origin_of_the_page(
    client: Any, silo: Silo, working_copy: str, name: str, content: bytes
) -> None:
    silo[working_copy].put_stream(name, content)
    headers = client.get(f"{COPY}/files/{quote(name)}").headers
    assert headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    kind = headers["Content-Type"]
    assert kind in {"text/plain; charset=utf-8", "application/xml", "application/octet-stream"}
    shown = kind != "application/octet-stream"
    assert headers["Content-Disposition"].startswith("inline" if shown else "attachment")


def test_a_files_name_cannot_add_a_header(client: Any, silo: Silo, working_copy: str) -> None:
    name = 'a"; filename=evil.exe; x="\u202e.txt'
    silo[working_copy].put_stream(name, b"x")
    headers = client.get(f"{COPY}/files/{quote(name, safe='')}").headers
    assert 'filename="a__ filename_evil.exe_ x___.txt"' in headers["Content-Disposition"]


# -- other sites -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 201),
        ({"Sec-Fetch-Site": "same-origin"}, 201),
        ({"Sec-Fetch-Site": "none"}, 201),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://127.0.0.1:{port}"}, 201),
        ({"Origin": "http://127.0.0.1:1"}, 403),
        ({"Origin": "https://127.0.0.1:{port}"}, 403),
        ({"Origin": "http://localhost:{port}"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Referer": "http://127.0.0.1:{port}/records"}, 201),
        ({"Referer": "http://evil.example/page"}, 403),
        ({"Referer": "http://127.0.0.1:{port}.evil.example/"}, 403),
        ({"Referer": "http://evil.example/", "Sec-Fetch-Site": "same-origin"}, 201),
    ],
)
def test_a_change_is_taken_from_its_own_page_or_from_a_program_here(
    client: Any, silo: Silo, headers: dict[str, str], status: int
) -> None:
    sent = {name: value.format(port=client.port) for name, value in headers.items()}
    answer = client.post(URL + "/versions", CLONE, headers=sent)
    assert answer.status == status
    assert ("stolen" in silo[PLAIN].versions) == (status == 201)
    if status == 403:
        assert answer.error["code"] == "cross_site"


@pytest.mark.parametrize(
    "route",
    [r for r in OF_SILO.routes if r.method != "GET" and not r.only_reads],
    ids=lambda r: f"{r.method} {r.pattern}",
)
def test_no_changing_address_is_open_to_other_sites(
    client: Any, silo: Silo, working_copy: str, route: Route
) -> None:
    path = (
        route.pattern.replace("{record}", "oai+example,org+1")
        .replace("{version}", "workingcopy")
        .replace("{path...}", "oai_dc")
    )
    before = silo[working_copy].revision
    headers = {"Sec-Fetch-Site": "cross-site", "Content-Length": "0"}
    assert client.ask(route.method, path, headers=headers).error["code"] == "cross_site"
    assert silo[working_copy].revision == before


@pytest.mark.parametrize(
    ("headers", "passes"),
    [({}, False), ({"origin": "http://archive.example"}, True), ({"origin": "http://evil"}, False)],
)
def test_a_program_elsewhere_must_say_that_it_means_this_page(
    headers: dict[str, str], passes: bool
) -> None:
    sent = {"host": "archive.example", **headers}
    request = Request("POST", "/", sent, io.BytesIO(), remote_addr="192.0.2.1")
    policy = AddressPolicy(frozenset({"archive.example"}), remote=True)
    if passes:
        check(request, policy)
    else:
        with pytest.raises(CrossSite):
            check(request, policy)


def test_loopback_is_known_by_name_and_by_address() -> None:
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert is_loopback("localhost")
    assert not is_loopback("192.0.2.1")
    assert not is_loopback("localhost.example")


# -- other hosts -------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:8080", "[::1]:80",
                                  "127.0.0.1:1", "localhost."])  # fmt: skip
def test_names_of_loopback_are_answered(client: Any, host: str) -> None:
    assert client.get("/search", headers={"Host": host}).status == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost@evil", "a b", "",
     "localhost:x", "192.0.2.1", "[::2]"],
)  # fmt: skip
def test_other_hosts_are_refused_also_for_reading(client: Any, host: str) -> None:
    answer = client.get("/records.json", headers={"Host": host})
    assert answer.status in {400, 421}
    assert b"oai:example.org" not in answer.body


def test_a_request_without_a_host_is_refused_without_naming_the_server(client: Any) -> None:
    with socket.create_connection(("127.0.0.1", client.port)) as connection:
        connection.sendall(b"GET /records HTTP/1.1\r\nConnection: close\r\n\r\n")
        answer = b"".join(iter(lambda: connection.recv(65536), b"")).lower()
    assert answer.startswith(b"http/1.1 400")
    assert b"cherrypy" not in answer
    assert b"content-security-policy" in answer


def test_beyond_loopback_addresses_are_answered_but_no_unknown_name() -> None:
    policy = AddressPolicy(LOOPBACK_ONLY.names | {"archive.example"}, remote=True)
    for host in ("192.0.2.7:8080", "[2001:db8::1]", "archive.example"):
        check_host(host, policy)
    for host in ("evil.example", "", "archive.example.evil"):
        with pytest.raises(Exception, match="another host"):
            check_host(host, policy)


# -- methods, paths, sizes -----------------------------------------------------------------------


@pytest.mark.parametrize("method", ["TRACE", "OPTIONS", "PATCH", "DELETE", "PROPFIND"])
def test_methods_that_are_not_listed_reach_no_handler(client: Any, method: str) -> None:
    answer = client.ask(method, "/records")
    assert answer.status == 405
    assert answer.headers["Allow"] == "GET, HEAD, POST"
    assert answer.error["code"] == "method_not_allowed"


@pytest.mark.parametrize(
    "path",
    ["../../../evil", "/etc/evil", "a/../../evil", "..", ".", "a//b", "a/./b", "a\0b", "a\nb",
     ".silo-x.tmp", "3=date", "x" * 300],
)  # fmt: skip
def test_an_upload_never_leaves_its_version(
    client: Any, silo: Silo, working_copy: str, path: str
) -> None:
    uploaded = client.upload(
        COPY + "/files", [("path", None, path.encode()), ("part", "a", b"evil")]
    )
    put = client.ask("PUT", f"{COPY}/files/{quote(path, safe='')}", b"evil")
    renamed = client.post(COPY + "/rename-file", {"path": "oai_dc", "new_path": path})
    for answer in (uploaded, put, renamed):
        assert (answer.status, answer.error["code"]) == (400, "bad_file_name")
    assert silo[working_copy].paths("workingcopy") == ["oai_dc"]


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py",
             "/static//etc/passwd", "/static/vendor/README.md", "/static/page.css%00", "/static/"]
)  # fmt: skip
def test_static_files_are_a_list_and_nothing_else(client: Any, path: str) -> None:
    assert client.get(path).status == 404


def test_static_files_are_kept_for_good_under_the_address_of_their_content(client: Any) -> None:
    url = re.search(r'href="(/static/page\.css\?[0-9a-f]{12})"', client.get("/search").text)
    assert url
    answer = client.get(url[1])
    assert "immutable" in answer.headers["Cache-Control"]
    assert client.get("/static/page.css").headers["Cache-Control"] == "private, no-cache"
    again = client.get(url[1], headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")


def test_a_form_is_small_and_an_upload_has_its_limit(
    silo: Silo, serve: Callable[..., PageServer], client: Any, working_copy: str
) -> None:
    limited = type(client)(serve(silo, SiteSettings(max_upload=1000)).port)
    big = b"x" * 1001
    for answer in (
        limited.ask("PUT", COPY + "/files/a.bin", big),
        limited.upload(COPY + "/files", [("part", "a.bin", b"x" * 70_000)]),
        limited.post(URL + "/versions", {"name": "x" * 70_000}),
        limited.ask("DELETE", URL, big * 70, headers={"Content-Type": "application/json"}),
    ):
        assert (answer.status, answer.error["code"]) == (413, "too_large")
    assert limited.ask("PUT", COPY + "/files/b.bin", big[:1000]).status == 201
    assert silo[working_copy].paths("workingcopy") == ["oai_dc", "b.bin"]


def test_a_chunked_body_is_refused_and_its_rest_is_no_second_request(client: Any) -> None:
    smuggled = b"GET /sets HTTP/1.1\r\nHost: localhost\r\n\r\n"
    head = (
        f"POST {URL}/versions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        "Content-Type: application/json\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", client.port), timeout=10) as connection:
        connection.sendall(head.encode() + smuggled)
        answer = b""
        try:
            while block := connection.recv(65536):
                answer += block
        except ConnectionResetError:
            pass
    assert answer.startswith(b"HTTP/1.1 411")
    assert answer.count(b"HTTP/1.1") == 1


def test_a_refused_body_leaves_the_connection_in_step(client: Any) -> None:
    body = b"GET /sets HTTP/1.1\r\n" * 5000
    first = (
        f"POST /nothing/at/all HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    second = b"GET /robots.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", client.port), timeout=10) as connection:
        connection.sendall(first.encode() + body + second)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    statuses = re.findall(rb"HTTP/1.1 (\d+)", answer)
    assert statuses == [b"405", b"200"]


def test_what_nobody_foresaw_is_an_error_without_details(
    client: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(Silo, "page", broken)
    monkeypatch.setattr(Silo, "search", broken)
    twin, page = client.get("/records.json"), client.get("/search")
    assert (twin.status, twin.error["message"]) == (500, UNFORESEEN)
    assert page.status == 500
    for answer in (twin, page):
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
    assert "secret detail" in caplog.text


@pytest.mark.parametrize("cookie", ["a=b", "=\x01;;", "a b c", '$Version="\xff"'])
def test_cookies_are_not_looked_at(client: Any, cookie: str) -> None:
    answer = client.get("/search", headers={"Cookie": cookie.encode("latin-1")})
    assert answer.status in {200, 400}
    assert b"CherryPy" not in answer.body
    assert "Set-Cookie" not in answer.headers


def test_a_query_that_is_not_utf8_is_refused(client: Any) -> None:
    assert client.get("/records.json?set=%ff").error["code"] == "bad_request"


# -- what is typed into a search, and what comes slowly -----------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    "query",
    ['"', '" OR 1=1 --', "a* NEAR(b", "title : x", "{title} : x", "^", "NOT", "a AND", "(" * 500,
     "'; DROP TABLE record; --", "*" * 2000, "\0", "a\"b\"c*", "-", "col:rowid", "\ud800"],
)  # fmt: skip
def test_any_text_is_a_search_and_never_a_statement(client: Any, silo: Silo, query: str) -> None:
    before = silo.count()
    answer = client.get("/search.json?q=" + quote(query.encode("utf-8", "surrogatepass")))
    assert answer.status in {200, 400}
    for field in ("subject", "set", "year"):
        given = quote(query.encode("utf-8", "surrogatepass"))
        assert client.get(f"/search.json?{field}={given}").status in {200, 400}
    assert silo.count() == before


def test_a_body_that_never_comes_holds_up_nobody_else(client: Any, silo: Silo) -> None:
    head = (
        f"PUT {COPY}/files/a.bin HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nsome"
    )
    held = [socket.create_connection(("127.0.0.1", client.port), timeout=10) for _ in range(4)]
    try:
        for connection in held:
            connection.sendall(head.encode())
        assert client.get("/records.json").status == 200
    finally:
        for connection in held:
            connection.close()
    assert "workingcopy" not in silo[PLAIN].versions


@pytest.mark.parametrize(
    ("referer", "link"),
    [
        ("http://127.0.0.1/accounts?a=1", 'href="/accounts?a=1"'),
        ("http://evil.example//evil.example/", 'href="/evil.example/"'),
        ("http://127.0.0.1/\\evil.example", 'href="/evil.example"'),
        ('http://127.0.0.1/"><script>', 'href="/&#34;&gt;&lt;script&gt;"'),
        ("javascript:alert(1)", ""),
        ("http://[", ""),
    ],
)
def test_a_refusal_leads_back_to_the_form_and_nowhere_else(
    client: Any, referer: str, link: str
) -> None:
    fields = {"name": "?", "url": "http://h/rest"}
    headers = {"Referer": referer, "Sec-Fetch-Site": "same-origin"}
    refused = client.post("/places", fields, headers=headers, accept="text/html")
    assert refused.status == 400
    assert ("Go back" in refused.text) == bool(link)
    assert link in refused.text
    assert scripts(refused.text) == []
