"""A directory of Silos as one page: each under its own path, every link within it."""

import contextlib
import errno
import html
import json
import logging
import re
import shutil
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from copies import copy_of

from recordsilo import Granary, Silo
from recordsilo.granary import is_granary
from recordsilo.state import STATE_FILE
from silocuration.activity import ActivityFilter, activity
from webui.app import create_app
from webui.cli import serve
from webui.http import messages
from webui.http.errors import NotFound
from webui.http.security import LOOPBACK_ONLY, AddressPolicy
from webui.multi_silo import Shelf
from webui.open_silos import OpenSilos
from webui.people import accounts
from webui.people.accounts import account_names, add_account
from webui.people.authentication import Gate
from webui.people.commands import user
from webui.people.roles import Role
from webui.people.sign_in_attempts import BY_BOTH
from webui.route import Scope
from webui.routes import table
from webui.silo_lines import SiloLines
from webui.site import SiteSettings


@pytest.fixture
def granary(harvested: str, tmp_path: Any) -> Granary:
    for name in ("first", "the second"):
        copy_of(harvested, tmp_path / "granary" / name)
    return Granary(str(tmp_path / "granary"), create=False)


@pytest.fixture
def shelf(granary: Granary, client: Any, stage: Any) -> Iterator[Any]:
    shelf = Shelf(
        granary,
        lambda silo: create_app(silo, SiteSettings(agent="a.curator", on_shelf=True)),
        LOOPBACK_ONLY,
    )
    stage.app = shelf  # after `client` set its own
    yield client
    shelf.close()


def test_every_silo_has_a_name_of_its_own_its_last_harvest_and_a_search_box(
    shelf: Any, granary: Granary
) -> None:
    harvests = Path(granary.dir_of_silos, "first", "harvests")
    harvests.mkdir()
    known = {"started": "2026-01-02T03:04:05Z", "metadata_prefix": ["oai_dc"], "whole": True}
    (harvests / "20260102T030405.000000Z-receipt.json").write_text(json.dumps(known))
    lines = shelf.json("/silos.json")["silos"]
    assert [one["title"] for one in lines] == ["", ""]  # both are of the Example Archive
    assert lines[0]["last_harvest"]["outcome"] == {"name": "done", "word": "Whole"}
    assert lines[1]["last_harvest"] is None
    assert [one["years"] for one in lines] == [{"2003": 1}] * 2
    page = shelf.get("/").text
    assert page.count("<title>Records by year. ") == 2
    assert 'action="/silos/first/search"' in page
    assert 'class="outcome is-done"' in page
    assert "first: Example Archive</h1>" in shelf.get("/silos/first/").text
    for language, word in (("de", "Vollständig"), ("en", "Whole"), ("fr", "Complet")):
        said = shelf.ask("GET", "/", headers={"Accept-Language": language}).text
        assert f"</span> {word}</span>" in said.replace("\n", "")


def test_the_list_has_pages_and_reads_a_silo_again_only_after_it_has_changed(
    shelf: Any, granary: Granary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.pages.silos.ON_A_PAGE", 1)
    monkeypatch.setattr("recordsilo.disk.stamps.SETTLED", 0.0)
    read: list[str] = []
    real = SiloLines._read
    monkeypatch.setattr(SiloLines, "_read", lambda *given: read.append(given[1]) or real(*given))
    first = shelf.json("/silos.json")
    assert (first["total"], [one["name"] for one in first["silos"]]) == (2, ["first"])
    second = shelf.json(first["next"])
    assert [one["name"] for one in second["silos"]] == ["the second"]
    assert (second["next"], second["previous"]) == (None, "/silos.json")
    page = shelf.get("/").text
    assert 'rel="next" href="/?start=1"' in page
    assert "2 Silos in this directory" in page
    assert 'href="/silos/the%20second/"' in shelf.get("/?start=99").text  # the last page
    for wrong in ("x", "-1", "1" + 12 * "0"):
        assert shelf.get(f"/?start={wrong}").status == 400
    shelf.json("/silos.json")
    read.clear()
    shelf.json("/silos.json")
    assert read == []
    assert shelf.post("/silos/first/records", {"id": "new:1"}).status == 201
    assert shelf.json("/silos.json")["silos"][0]["records"] == 61
    shutil.copytree(f"{granary.dir_of_silos}/first", f"{granary.dir_of_silos}/another")
    shutil.rmtree(f"{granary.dir_of_silos}/the second")
    changed = shelf.json("/silos.json?start=1")
    assert (changed["total"], changed["silos"][0]["name"]) == (2, "first")


def test_a_silo_whose_files_cannot_be_opened_is_said_on_a_page(
    shelf: Any, granary: Granary
) -> None:
    Path(granary.dir_of_silos, "first", STATE_FILE).unlink(missing_ok=True)
    Path(granary.dir_of_silos, "first", STATE_FILE).mkdir()
    answer = shelf.get("/silos/first/")
    assert answer.status == 503
    assert "<h1>" in answer.text
    assert granary.dir_of_silos not in answer.text
    assert "the second" in shelf.get("/").text


def test_the_silos_used_longest_ago_are_closed_but_none_in_use(granary: Granary) -> None:
    def app(silo: Silo) -> Any:
        return lambda environ, start_response: iter([str(len(silo)).encode()])

    for name in ("third", "fourth"):
        granary.get_silo(name).close()
    silos = OpenSilos(granary, app, most=2)

    def ask(name: str) -> Any:
        return silos.answer(name, {}, lambda *_: None)

    streamed = ask("first")
    for name in ("the second", "third", "fourth"):
        body = ask(name)
        assert list(body)
        body.close()
        body.close()
    assert silos.names == ["first", "fourth"]
    assert list(streamed) == [b"60"]
    streamed.close()
    ask("third").close()
    assert silos.names == ["fourth", "third"]
    with pytest.raises(NotFound):
        ask("fifth")
    silos.close()
    assert silos.names == []


def test_a_silo_leaves_no_log_behind(shelf: Any) -> None:
    """Silos are opened and closed for as long as the page runs, and loggers are never freed."""
    shelf.get("/silos/first/")
    loggers = len(logging.root.manager.loggerDict)
    assert shelf.get("/silos/the%20second/").status == 200
    assert len(logging.root.manager.loggerDict) == loggers


def test_the_list_leads_to_every_silo(shelf: Any) -> None:
    listed = shelf.json("/silos.json")["silos"]
    assert [(one["name"], one["records"]) for one in listed] == [("first", 60), ("the second", 60)]
    page = shelf.get("/").text
    assert page.count(">first<") == 1
    for one in listed:
        assert f'href="{one["url"]}"' in page
        assert shelf.get(one["url"]).status == 200


def test_no_link_leaves_the_silo(shelf: Any) -> None:
    base = "/silos/the%20second"
    paths = ["/search?q=keeping", "/search", "/sets", "/records/oai+example,org+1", "/searches"]
    seen = 0
    for path in paths:
        page = shelf.get(base + path)
        assert page.status == 200, path
        for url in re.findall(r'(?:href|action|src|data-values)="(/[^"]*)"', page.text):
            assert url == "/silos/" or url.startswith(base + "/"), url
            seen += 1
    assert seen > 100
    assert shelf.get(re.findall(r'href="(/[^"]*page\.css[^"]*)"', page.text)[0]).status == 200


def test_every_page_of_a_silo_leads_back_to_the_list(shelf: Any) -> None:
    own = "/silos/the%20second/records/oai+example,org+1"
    found = re.search(r'class="shelf" href="([^"]*)"', shelf.get(own).text)
    assert found is not None
    assert found[1] == "/silos/"
    assert 'href="/silos/first/"' in shelf.get(found[1]).text


def test_a_silo_by_itself_leads_to_no_list(client: Any) -> None:
    assert 'class="shelf"' not in client.get("/search").text


def test_the_twins_links_can_be_followed(shelf: Any) -> None:
    found, url = 0, "/silos/first/search.json?limit=25"
    while url:
        answer = shelf.json(url)
        found += len(answer["records"])
        assert all(row["url"].startswith("/silos/first/records/") for row in answer["records"])
        url = answer["next"]
    assert found == 60
    assert shelf.json("/silos/first/openapi.json")["servers"] == [{"url": "/silos/first/"}]


def test_a_change_reaches_one_silo_and_leads_back_to_it(shelf: Any) -> None:
    made = shelf.post("/silos/first/records", {"id": "new:1"})
    assert (made.status, made.headers["Location"]) == (201, "/silos/first/records/new+1")
    assert shelf.get("/silos/first/records/new+1.json").status == 200
    assert shelf.get("/silos/the%20second/records/new+1.json").status == 404


def test_texts_of_records_stay_as_they_are(shelf: Any) -> None:
    text = '" href="/x" {"url": "/y"}'
    answer = shelf.post("/silos/first/searches", {"search": "q=keeping", "title": text})
    assert answer.json["title"] == text
    page = shelf.get("/silos/first/searches").text
    assert "&#34; href=&#34;/x&#34;" in page


@pytest.mark.parametrize("path", ["/silos/third/", "/nothing", "/silos/..%2f/", "/silos/%2e%2e/x"])
def test_what_is_not_there_is_not_found(shelf: Any, path: str) -> None:
    assert shelf.get(path).status == 404
    assert shelf.get(path, accept="application/json").error["code"] == "not_found"


def test_the_list_answers_names_of_loopback_only_and_takes_no_change(shelf: Any) -> None:
    assert shelf.get("/", headers={"Host": "evil.example"}).status == 421
    assert shelf.post("/silos", {}).status == 405
    assert shelf.get("/silos/first").headers["Location"] == "/silos/first/"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (OSError(errno.EIO, "Input/output error"), 503, "file_unreadable"),
        (RuntimeError("a mistake of ours"), 500, "internal"),
    ],
)
def test_what_goes_wrong_in_the_list_is_told_without_details(
    shelf: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, status: int, code: str
) -> None:
    def fail(_lines: SiloLines) -> None:
        raise error

    monkeypatch.setattr(SiloLines, "names", fail)
    answer = shelf.get("/silos.json")
    assert (answer.status, answer.error["code"]) == (status, code)
    assert str(error) not in answer.text


PASSWORD = "correct horse battery"
HTML = {"Accept": "text/html"}


@pytest.fixture
def guarded(
    granary: Granary, client: Any, stage: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Any]:
    """A directory of Silos to which people sign in: vera, a viewer, and mona, a manager."""
    hasher = accounts.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_HASHER", hasher)
    accounts._hash_of_nothing.cache_clear()
    path = granary.dir_of_silos
    for name, role in (("vera", "viewer"), ("mona", "manager")):
        made = CliRunner().invoke(
            user, ["add", path, name, "--role", role, "--password-stdin"], input=PASSWORD
        )
        assert made.exit_code == 0, made.output
    gate = Gate.of(path, "page", sign_in=True)
    settings = SiteSettings(sign_in=True, on_shelf=True)
    shelf = Shelf(
        granary, lambda silo: create_app(silo, settings, gate.below()), LOOPBACK_ONLY, gate
    )
    stage.app = shelf
    yield client
    shelf.close()


def signed_in(client: Any, name: str, at: str = "/sign-in") -> dict[str, str]:
    answer = client.post(at, {"name": name, "password": PASSWORD})
    assert answer.status == 200, answer.text
    cookie, _, rest = answer.headers["Set-Cookie"].partition(";")
    assert rest.startswith(" Path=/; ")
    return {"Cookie": cookie}


def test_nothing_of_a_directory_is_told_before_people_sign_in(guarded: Any) -> None:
    led = guarded.get("/?start=0", headers=HTML)
    assert (led.status, led.headers["Location"]) == (303, "/sign-in?next=%2F%3Fstart%3D0")
    inside = ("/silos/first/search.json", "/silos/nothing/", "/silos/nothing")
    for path in ("/silos.json", "/search?q=a", *inside):
        assert guarded.get(path, accept="application/json").status == 401, path
    form = guarded.get("/sign-in?next=/silos/first/", headers=HTML)
    assert form.status == 200
    assert 'name="next" value="/silos/first/"' in form.text
    assert guarded.get(re.findall(r'href="(/[^"]*page\.css[^"]*)"', form.text)[0]).status == 200


@pytest.mark.parametrize("rest", ["", "search", "sign-in", "static/silo.js", "nothing", "x.json"])
def test_who_did_not_sign_in_is_not_told_which_silos_there_are(guarded: Any, rest: str) -> None:
    said = []
    for name in ("first", "nope!"):
        answer = guarded.get(f"/silos/{name}/{rest}", headers=HTML)
        assert answer.status in {303, 401}
        assert "Example Archive" not in answer.text
        led = answer.headers.get("Location", "").replace(quote(name, safe=""), "NAME")
        said.append((answer.status, led, answer.headers.get("WWW-Authenticate")))
    assert said[0] == said[1]
    vera = signed_in(guarded, "vera")
    led = guarded.get("/silos/first/sign-in?next=/silos/first/sets", headers=vera | HTML)
    assert (led.status, led.headers["Location"]) == (303, "/silos/first/sets")


@pytest.mark.parametrize(
    "route",
    [r for r in table(Scope.DIRECTORY).routes if r.needs is not Role.ANYONE],
    ids=lambda one: f"{one.method} {one.pattern}",
)
def test_every_address_of_a_directory_is_closed_to_who_did_not_sign_in(
    guarded: Any, route: Any
) -> None:
    path = route.pattern.replace("{path...}", "first")
    answer = guarded.ask(route.method, path, headers={"Content-Length": "0"})
    assert answer.status in {303, 401}
    assert "oai:example.org" not in answer.text


def test_who_signed_in_to_a_directory_changes_the_password_there(guarded: Any) -> None:
    vera = signed_in(guarded, "vera")
    page = guarded.get("/account", headers=vera | HTML)
    assert 'action="/account/password"' in page.text
    assert 'href="/account"' in guarded.get("/", headers=vera | HTML).text
    fields = {"password": PASSWORD, "new": "another good one"}
    assert guarded.post("/account/password", fields, headers=vera).status == 200
    assert guarded.get("/silos.json", headers=vera).status == 401
    assert guarded.post("/sign-in", {"name": "vera", "password": fields["new"]}).status == 200


def test_a_directory_has_what_every_site_has(shelf: Any) -> None:
    assert shelf.get("/robots.txt").text == "User-agent: *\nDisallow: /\n"
    assert shelf.get("/favicon.ico").status == 303
    assert "/silos.json" in shelf.get("/openapi.json").json["paths"]
    refused = shelf.post("/silos", {})
    assert (refused.status, refused.headers["Allow"]) == (405, "GET, HEAD")
    assert shelf.ask("PUT", "/nowhere", headers={"Content-Length": "0"}).status == 404


@pytest.mark.long
@pytest.mark.parametrize("at", ["/sign-in", "/silos/first/sign-in"])
def test_a_session_holds_for_the_list_and_all_silos_and_ends_for_all(guarded: Any, at: str) -> None:
    vera = signed_in(guarded, "vera", at)
    for path in ("/", "/search"):
        assert ">Sign out<" in guarded.get(path, headers=vera | HTML).text
    for name in ("first", "the%20second"):
        assert guarded.get(f"/silos/{name}/search.json", headers=vera).status == 200
        assert guarded.post(f"/silos/{name}/records", {"id": "x:1"}, headers=vera).status == 403
    assert guarded.get("/silos/nothing/", headers=vera).status == 404
    assert guarded.get("/sign-out", headers=vera).status == 405
    assert guarded.post("/sign-out", {}, headers=vera).status == 200
    for path in ("/silos.json", "/silos/the%20second/search.json"):
        assert guarded.get(path, headers=vera).status == 401


def test_managers_change_the_accounts_of_the_directory(guarded: Any, granary: Granary) -> None:
    mona = signed_in(guarded, "mona")
    fields = {"name": "carl", "role": "curator", "password": PASSWORD}
    assert guarded.post("/silos/first/accounts", fields, headers=mona).status == 201
    assert signed_in(guarded, "carl", "/silos/the%20second/sign-in")
    assert account_names(granary.dir_of_silos) == ["carl", "mona", "vera"]
    assert account_names(f"{granary.dir_of_silos}/first") == []


def test_attempts_to_sign_in_are_counted_over_all_silos_and_logged(
    guarded: Any, granary: Granary
) -> None:
    wrong = {"name": "vera", "password": "a wrong password"}
    refused = guarded.post("/sign-in", wrong | {"next": "/silos/first/"}, headers=HTML)
    assert refused.status == 403
    assert "Wrong name or password." in refused.text
    assert guarded.post("/sign-in", {"name": "a secret", "password": "x"}).status == 403
    statuses = [
        guarded.post(f"/silos/{name}/sign-in", wrong).status
        for name in ("first", "the%20second")
        for _ in range(BY_BOTH)
    ]
    assert 429 in statuses
    assert guarded.post("/sign-in", {"name": "vera", "password": PASSWORD}).status == 429
    found = activity(granary.dir_of_silos, ActivityFilter(action="sign-in failed"))
    assert [one.new for _place, one in found] == [None, "vera"]


def test_a_proxy_in_front_of_a_directory_says_who_signed_in_and_that_it_was_over_tls(
    guarded: Any, granary: Granary, stage: Any
) -> None:
    policy = AddressPolicy(proxies=frozenset({"127.0.0.1"}), user_header="x-user")
    gate = Gate.of(granary.dir_of_silos, "page", sign_in=True, user_header="x-user")
    settings = SiteSettings(sign_in=True, on_shelf=True, policy=policy)
    stage.app = Shelf(granary, lambda silo: create_app(silo, settings, gate.below()), policy, gate)
    for path in ("/silos.json", "/silos/first/search.json"):
        assert guarded.get(path, headers={"X-User": "vera"}).status == 200
        assert guarded.get(path, headers={"X-User": "nobody"}).status == 403
        assert guarded.get(path).status == 401
    over_tls = {"X-Forwarded-Proto": "https", "Origin": f"https://127.0.0.1:{guarded.port}"}
    fields = {"name": "vera", "password": PASSWORD}
    answer = guarded.post("/silos/first/sign-in", fields, headers=over_tls)
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-silo-")
    assert "; Path=/; " in cookie
    assert cookie.endswith("; Secure")
    headers = over_tls | {"Cookie": cookie.partition(";")[0]}
    assert guarded.get("/silos.json", headers=headers).status == 200
    stage.app.close()


def test_a_directory_is_served_to_people_only_if_they_have_accounts(
    granary: Granary, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = granary.dir_of_silos
    served: list[Any] = []
    monkeypatch.setattr("webui.serving._run", lambda app, *_: served.append(app))
    monkeypatch.setattr("webui.serving._worker", lambda *_: contextlib.nullcontext())
    command = [path, "--host", "0.0.0.0", "--allow-remote"]
    refused = CliRunner().invoke(serve, command)
    assert refused.exit_code == 2
    assert f"silo user add {path} NAME --role manager" in refused.output
    assert served == []
    add_account(path, "ada", Role.VIEWER, None)
    assert CliRunner().invoke(serve, command).exit_code == 0
    assert isinstance(served[0], Shelf)


BASE = "/silos/the%20second"
_LINK = re.compile(r'\s(?:href|action|src|formaction|data-values|data-job)="([^"]*)"')
_OWN_WORDS = {"url", "next", "previous", "location", "href", "download"}


def addresses_in(value: Any) -> Iterator[str]:
    """The members of a JSON answer that are addresses of the page."""
    if isinstance(value, list):
        for one in value:
            yield from addresses_in(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name in _OWN_WORDS and isinstance(one, str) and one.startswith("/"):
                yield one
            else:
                yield from addresses_in(one)


def kind_of(url: str) -> str:
    """The path of an address without the names in it: one of each is followed."""
    path = url.partition("?")[0]
    return re.sub(r"/(records|versions|jobs|searches|rules)/[^/.]+", r"/\1/*", path)


@pytest.mark.long
def test_every_address_below_a_silo_is_its_own_and_answers(shelf: Any) -> None:
    shelf.post(f"{BASE}/searches", {"search": "q=keeping", "title": "kept"})
    shelf.post(f"{BASE}/records/oai+example,org+1/versions", {"name": "x", "from": "1"})
    shelf.post(f"{BASE}/records/oai+example,org+1/curate", {})
    waiting = deque([f"{BASE}/", f"{BASE}/records/oai+example,org+1", f"{BASE}/openapi.json"])
    seen: set[str] = set()
    actions: set[str] = set()  # what a form sends there is left out here
    while waiting:
        url = waiting.popleft()
        answer = shelf.get(url)
        expected = {200, 302, 303} | ({400, 405} if url in actions else set())
        assert answer.status in expected, (url, answer.status)
        kind = answer.headers.get("Content-Type", "")
        if location := answer.headers.get("Location"):
            found = [location]
        elif kind.startswith("text/html"):
            found = [html.unescape(one) for one in _LINK.findall(answer.text)]
            actions.update(map(html.unescape, re.findall(r' action="([^"]*)"', answer.text)))
        elif kind.startswith(("application/json", "application/jsonl")) and "/files/" not in url:
            lines = answer.text.splitlines() if "jsonl" in kind else [answer.text]
            found = list(addresses_in([json.loads(line) for line in lines]))
        else:
            continue
        for one in found:
            if one in {"", "/silos/"} or one.startswith(("#", "http", "data:")):
                continue
            assert one.startswith(f"{BASE}/"), (url, one)
            if kind_of(one) not in seen:
                seen.add(kind_of(one))
                waiting.append(one.partition("#")[0])
    assert len(seen) > 40
    for room in ("/bulk", "/jobs", "/upstream", "/quality", "/activity", "/search", "/static/"):
        assert any(f"{BASE}{room}" in one for one in seen), room


def test_what_is_stored_is_sent_to_the_byte(shelf: Any) -> None:
    content = b'{"url": "/srv/data/original.tif", "next":"/x", "a": " href=\\"/b\\""}\n'
    record = "/silos/first/records/oai+example,org+1"
    assert shelf.post(f"{record}/curate", {}).status in {200, 201}
    name = f"{record}/versions/workingcopy/files/about.json"
    headers = {"Content-Type": "application/json"}
    assert shelf.ask("PUT", name, content, headers=headers).status == 201
    assert shelf.get(name).body == content
    assert "/silos/first/srv" not in shelf.get(f"{record}/versions/workingcopy").text


def test_cookies_and_ways_on_stay_below_the_mount(silo: Any, mount_at: Any, client: Any) -> None:
    add_account(silo.path, "ada", Role.CURATOR, "correct horse battery")
    mount_at("/here/our silo", create_app(silo, SiteSettings(sign_in=True)))
    base = "/here/our%20silo"
    asked = client.get(f"{base}/search?q=a", headers={"Accept": "text/html"})
    then = quote(f"{base}/search?q=a", safe="")
    assert asked.headers["Location"] == f"{base}/sign-in?next={then}"
    assert client.get(f"{base}/search.json").headers["WWW-Authenticate"] == (
        f'Form path="{base}/sign-in"'
    )
    fields = {"name": "ada", "password": "correct horse battery"}
    browser = {"Accept": "text/html"}
    for then, leads in ((f"{base}/sets", f"{base}/sets"), ("/other", f"{base}/"), ("", f"{base}/")):
        answer = client.post(f"{base}/sign-in", fields | {"next": then}, headers=browser)
        assert answer.headers["Location"] == leads
        assert f"; Path={base}/; " in answer.headers["Set-Cookie"]
    session = {"Cookie": answer.headers["Set-Cookie"].partition(";")[0]}
    assert client.get(f"{base}/search", headers=session).status == 200


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"REQUEST_URI": "/a%20b/x%2Fy?q", "SCRIPT_NAME": "/a b"}, ("/a%20b", "/x%2Fy")),
        ({"REQUEST_URI": "/a/b/x", "SCRIPT_NAME": "/a/b/"}, ("/a/b", "/x")),
        ({"REQUEST_URI": "/a", "SCRIPT_NAME": "/a"}, ("/a", "/")),
        ({"PATH_INFO": "/x", "SCRIPT_NAME": "/\xc3\xa9"}, ("/%C3%A9", "/x")),
        ({"REQUEST_URI": "/x/y", "SCRIPT_NAME": ""}, ("", "/x/y")),
    ],
)
def test_the_mount_is_told_from_the_path_below_it(
    environ: dict[str, str], expected: tuple[str, str]
) -> None:
    assert messages.mounted(environ) == expected


def test_a_silo_is_no_directory_of_silos(harvested: str, granary: Granary, tmp_path: Any) -> None:
    assert is_granary(granary.dir_of_silos)
    assert not is_granary(harvested)
    assert not is_granary(str(tmp_path / "nothing"))
