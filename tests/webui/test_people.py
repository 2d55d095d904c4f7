"""Accounts, sessions and roles: who may sign in, and what each role may do."""

import dataclasses
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from copies import copy_of

from recordsilo import Silo
from silocuration.activity import ActivityFilter, activity
from webui import routes
from webui.app import create_app
from webui.cli import serve as serve_command
from webui.http.security import AddressPolicy
from webui.people import accounts, sign_in_attempts
from webui.people.accounts import (
    AccountRefused,
    add_account,
    load_account,
    set_password,
    set_role,
    signed_in,
)
from webui.people.authentication import own_path
from webui.people.commands import user as user_command
from webui.people.roles import Role
from webui.people.sessions import IDLE, LONGEST, Sessions
from webui.people.sign_in_attempts import BY_BOTH, Attempts, TooManyAttempts
from webui.route import Route, Scope
from webui.site import SiteSettings

OF_SILO = routes.table(Scope.SILO)
PASSWORD = "correct horse battery"
URL = "/records/oai+example,org+1"
HTML = "text/html"


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes that are made quickly: what is tested is what is done with them."""
    quick = accounts.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_HASHER", quick)
    accounts._hash_of_nothing.cache_clear()


@pytest.fixture
def people(silo: Silo) -> Silo:
    """A Silo with one account of each role."""
    for name, role in (("vera", Role.VIEWER), ("cara", Role.CURATOR), ("mona", Role.MANAGER)):
        add_account(silo.path, name, role, PASSWORD)
    return silo


@pytest.fixture
def shown(people: Silo, stage: Any, client: Any) -> Callable[..., Any]:
    """Show the Silo to people who sign in; gives a client."""

    def show(**policy: Any) -> Any:
        stage.app = create_app(people, SiteSettings(sign_in=True, policy=AddressPolicy(**policy)))
        return client

    return show


def cookie_of(answer: Any) -> str:
    return str(answer.headers["Set-Cookie"].partition(";")[0])


def sign_in(client: Any, name: str, **headers: str) -> dict[str, str]:
    """The headers of somebody who signed in."""
    answer = client.post("/sign-in", {"name": name, "password": PASSWORD}, headers=headers)
    assert answer.status == 200, answer.text
    return {"Cookie": cookie_of(answer)}


# -- getting in ---------------------------------------------------------------------------


def test_without_signing_in_nothing_but_the_form_is_shown(shown: Any) -> None:
    client = shown()
    page = client.get("/search?q=a&set=b", accept=HTML)
    assert (page.status, page.headers["Location"]) == (
        303, "/sign-in?next=" + quote("/search?q=a&set=b", safe=""),
    )  # fmt: skip
    assert client.get("/records.json").error["code"] == "sign_in_required"
    refused = client.post(URL + "/versions", {"name": "x"}, accept=HTML)
    assert refused.status == 401
    assert '<a class="button filled" href="/sign-in" target="_blank">Sign in</a>' in refused.text
    form = client.get("/sign-in?next=/sets", accept=HTML)
    assert form.status == 200
    assert 'name="next" value="/sets"' in form.text
    assert 'aria-label="Main menu"' not in form.text


@pytest.fixture(scope="module")
def closed(
    harvested: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Any]]:
    """A Silo that asks people to sign in: the same for all tests in which nobody does."""
    path = copy_of(harvested, tmp_path_factory.mktemp("closed") / "myrepo")
    with Silo(path, create=False) as silo:
        yield create_app(silo, SiteSettings(sign_in=True))


@pytest.mark.parametrize(
    "route",
    [r for r in OF_SILO.routes if r.needs is not Role.ANYONE],
    ids=lambda r: f"{r.method} {r.pattern}",
)
def test_every_address_is_closed_to_who_did_not_sign_in(
    closed: Callable[..., Any], stage: Any, stage_client: Any, route: Any
) -> None:
    stage.app = closed
    answer = stage_client.ask(route.method, path_of(route), headers={"Content-Length": "0"})
    assert answer.status in {303, 401}
    assert b"oai:example.org" not in answer.body


def path_of(route: Route) -> str:
    path = route.pattern.replace("{record}", "oai+example,org+1").replace("{version}", "1")
    return re.sub(r"\{\w+(\.\.\.)?\}", "oai_dc", path)


def test_signing_in_and_out_and_failing_to_is_logged(shown: Any, people: Silo) -> None:
    client = shown()
    cara = sign_in(client, "Cara")
    for name in ("mona", "hunter2, my password"):
        assert client.post("/sign-in", {"name": name, "password": "wrong"}).status == 403
    wrong = {"password": "wrong", "new": PASSWORD + "!"}
    assert client.post("/account/password", wrong, headers=cara).status == 403
    right = {"password": PASSWORD, "new": PASSWORD + "!"}
    cara = {"Cookie": cookie_of(client.post("/account/password", right, headers=cara))}
    for _ in range(2):
        assert client.post("/sign-out", {}, headers=cara).status == 200
    lines = [one for _, one in activity(people.path, ActivityFilter())][::-1]
    assert [(one.agent, one.action, one.new) for one in lines] == [
        ("cara", "sign in", None),
        ("(nobody)", "sign-in failed", "mona"),
        ("(nobody)", "sign-in failed", None),
        ("cara", "sign-in failed", "cara"),
        ("cara", "change password", None),
        ("cara", "sign out", None),
    ]
    assert {one.message for one in lines} == {"from 127.0.0.1"}
    assert "hunter2" not in client.get("/activity.json", headers=sign_in(client, "mona")).text


def test_the_log_of_failures_does_not_grow_with_the_tries(shown: Any, people: Silo) -> None:
    client = shown()
    for _ in range(BY_BOTH + 5):
        client.post("/sign-in", {"name": "mona", "password": "wrong"})
    found = activity(people.path, ActivityFilter(action="sign-in failed"))
    assert len(list(found)) == BY_BOTH


def test_who_signs_in_goes_on_to_where_they_were(shown: Any) -> None:
    client = shown()
    fields = {"name": " Vera ", "password": PASSWORD, "next": "/sets"}
    answer = client.post("/sign-in", fields, accept=HTML)
    assert (answer.status, answer.headers["Location"]) == (303, "/sets")
    flags = answer.headers["Set-Cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(flags)
    assert "Secure" not in flags
    page = client.get("/search", headers={"Cookie": cookie_of(answer)}, accept=HTML)
    assert page.status == 200
    assert "Sign out" in page.text
    assert client.get("/sign-in", headers={"Cookie": cookie_of(answer)}, accept=HTML).status == 303


@pytest.mark.parametrize(
    "then", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nSet-Cookie: b=c",
             "javascript:alert(1)", "", "\\\\evil", "/\tevil", "/\u2028x", "/x\ud7ffé"]
)  # fmt: skip
def test_signing_in_leads_nowhere_else(shown: Any, then: str) -> None:
    fields = {"name": "vera", "password": PASSWORD, "next": then}
    answer = shown().post("/sign-in", fields, accept=HTML)
    assert answer.headers["Location"] == "/"
    assert own_path(then) == "/"


@pytest.mark.parametrize(
    ("name", "password"),
    [("vera", PASSWORD.upper()), ("nobody", PASSWORD), ("", ""), ("vera", ""),
     ("../accounts/vera", PASSWORD), ("vera", PASSWORD + " "), ("vera", "x" * 5000)],
)  # fmt: skip
def test_a_wrong_name_and_a_wrong_password_are_told_alike(
    shown: Any, name: str, password: str
) -> None:
    client = shown()
    answer = client.post("/sign-in", {"name": name, "password": password})
    assert answer.status == 403
    assert answer.error["code"] == "sign_in_failed"
    assert answer.error["message"] == "Wrong name or password."
    assert "Set-Cookie" not in answer.headers
    page = client.post("/sign-in", {"name": name, "password": password}, accept=HTML)
    assert page.status == 403
    assert 'role="alert"' in page.text
    assert not password or password not in page.text


def test_what_is_typed_as_a_name_is_shown_and_never_run(shown: Any) -> None:
    attack = '"><script>alert(1)</script>'
    page = shown().post("/sign-in", {"name": attack, "password": "x"}, accept=HTML)
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert" in page.text


def test_a_name_is_looked_for_as_long_when_there_is_none(
    people: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []
    real = accounts._verified
    monkeypatch.setattr(accounts, "_verified", lambda known, password: looked.append(known) or
                        real(known, password))  # fmt: skip
    add_account(people.path, "by.proxy", Role.VIEWER, None)
    for name in ("vera", "nobody", "by.proxy", "///"):
        assert signed_in(people.path, name, "wrong password") is None
    assert len(looked) == 4
    assert all(known.startswith("$argon2id$") for known in looked)


def test_an_account_without_a_password_is_opened_by_none(people: Silo) -> None:
    add_account(people.path, "by.proxy", Role.VIEWER, None)
    assert signed_in(people.path, "by.proxy", "") is None


# -- sessions -----------------------------------------------------------------------------


def test_a_session_that_somebody_prepared_is_not_taken_over(shown: Any) -> None:
    client = shown()
    attackers = sign_in(client, "vera")["Cookie"]
    name = attackers.partition("=")[0]
    for planted in (attackers, f"{name}={'A' * 43}", f"{name}=; {attackers}"):
        answer = client.post(
            "/sign-in", {"name": "mona", "password": PASSWORD}, headers={"Cookie": planted}
        )
        assert cookie_of(answer) not in planted
        own = client.get("/account.json", headers={"Cookie": cookie_of(answer)})
        assert own.json == {"user": "mona", "role": "manager"}
    assert client.get("/account.json", headers={"Cookie": attackers}).status == 401


def test_a_session_that_was_ended_is_over_for_everybody_who_has_its_cookie(shown: Any) -> None:
    client = shown()
    headers = sign_in(client, "cara")
    answer = client.post("/sign-out", {}, headers=headers, accept=HTML)
    assert answer.status == 303
    assert "Max-Age=0" in answer.headers["Set-Cookie"]
    assert client.get("/records.json", headers=headers).status == 401


def test_another_password_ends_the_sessions_and_keeps_ones_own(shown: Any, people: Silo) -> None:
    client = shown()
    here, elsewhere = sign_in(client, "cara"), sign_in(client, "cara")
    wrong = client.post(
        "/account/password", {"password": "guess", "new": "another good one"}, headers=here
    )
    assert wrong.error["code"] == "sign_in_failed"
    weak = client.post("/account/password", {"password": PASSWORD, "new": "short"}, headers=here)
    assert weak.status == 400
    answer = client.post(
        "/account/password", {"password": PASSWORD, "new": "another good one"}, headers=here
    )
    assert answer.json == {"user": "cara", "role": "curator"}
    for headers in (here, elsewhere):
        assert client.get("/records.json", headers=headers).status == 401
    mine = {"Cookie": cookie_of(answer)}
    assert client.get("/account", headers=mine, accept=HTML).status == 200
    assert signed_in(people.path, "cara", "another good one") is not None


def test_who_is_removed_or_has_another_role_is_so_at_once(shown: Any, people: Silo) -> None:
    client = shown()
    headers = sign_in(client, "cara")
    set_role(people.path, "cara", Role.VIEWER)
    refused = client.post(URL + "/versions", {"name": "x", "clone_of": "1"}, headers=headers)
    assert refused.error["code"] == "not_allowed"
    accounts.remove_account(people.path, "cara")
    assert client.get("/records.json", headers=headers).status == 401
    add_account(people.path, "cara", Role.MANAGER, PASSWORD)
    assert client.get("/records.json", headers=headers).status == 401


def test_a_session_ends_when_it_is_idle_and_when_it_is_old(tmp_path: Any) -> None:
    now = [0.0]
    sessions = Sessions(str(tmp_path), lambda: now[0])
    secret = sessions.begin("ada", "s")
    now[0] = IDLE - 1
    assert sessions.find(secret)
    now[0] = 2 * IDLE - 2
    assert sessions.find(secret)
    now[0] = 4 * IDLE
    assert sessions.find(secret) is None
    busy = sessions.begin("ada", "s")
    ends = now[0] + LONGEST
    while now[0] + IDLE / 2 < ends:
        now[0] += IDLE / 2
        assert sessions.find(busy)
    now[0] = ends + 1
    assert sessions.find(busy) is None


def test_the_files_of_sessions_and_accounts_give_no_way_in(shown: Any, people: Silo) -> None:
    secret = sign_in(shown(), "mona")["Cookie"].partition("=")[2]
    path = os.path.join(people.path, ".silo", "sessions.sqlite")
    with open(path, "rb") as file:
        assert secret.encode() not in file.read()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    directory = os.path.join(people.path, "curation", "accounts")
    assert stat.S_IMODE(os.stat(directory).st_mode) == 0o700
    set_role(people.path, "cara", Role.VIEWER)
    for account in os.scandir(directory):
        assert stat.S_IMODE(account.stat().st_mode) == 0o600
    with open(os.path.join(directory, "mona.toml"), "rb") as file:
        content = file.read()
    assert PASSWORD.encode() not in content
    assert b"$argon2id$" in content


@pytest.mark.parametrize("cookie", ["", "x", "A" * 43, "' OR 1=1 --", "\x00", "=" * 4000])
def test_made_up_cookies_are_nobodys(shown: Any, cookie: str) -> None:
    client = shown()
    name = sign_in(client, "vera")["Cookie"].partition("=")[0]
    answer = client.get("/records.json", headers={"Cookie": f"{name}={cookie}"})
    assert answer.status in {400, 401}


# -- roles --------------------------------------------------------------------------------


def test_no_address_that_changes_something_is_open_to_viewers() -> None:
    own = {
        "/sign-in", "/sign-out", "/account/password", "/language", "/search/look", "/selection",
        "/pasted",
    }  # fmt: skip
    for route in OF_SILO.routes:
        if route.method != "GET" and not route.only_reads and route.pattern not in own:
            assert route.needs >= Role.CURATOR, route


@pytest.mark.long
@pytest.mark.parametrize("name", ["vera", "cara"])
def test_nobody_does_what_their_role_does_not_allow(shown: Any, people: Silo, name: str) -> None:
    client = shown()
    headers = sign_in(client, name)
    mine = {"vera": Role.VIEWER, "cara": Role.CURATOR}[name]
    before = people["oai:example.org:1"].revision
    tried = 0
    for route in OF_SILO.routes:
        if route.needs <= mine:
            continue
        tried += 1
        for also in ({}, {"X-Remote-User": "mona"}, {"X-HTTP-Method-Override": "GET"}):
            answer = client.ask(
                route.method, path_of(route), headers=headers | also | {"Content-Length": "0"}
            )
            assert answer.status == 403, route
            assert b"not_allowed" in answer.body or b"You are signed in as" in answer.body, route
    assert tried >= 4
    assert people["oai:example.org:1"].revision == before


def test_a_change_is_noted_under_the_name_of_who_made_it(shown: Any, people: Silo) -> None:
    client = shown()
    headers = sign_in(client, "cara")
    fields = {"name": "draft", "clone_of": "1", "agent": "mona", "user": "mona"}
    assert client.post(URL + "/versions", fields, headers=headers).status == 201
    assert people["oai:example.org:1"].state.version("draft").origin.agent == "cara"


# -- a proxy in front ---------------------------------------------------------------------


def test_behind_a_tls_proxy_the_cookie_is_for_tls_only(shown: Any) -> None:
    client = shown(proxies=frozenset({"127.0.0.1"}))
    tls = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.7"}
    own = {"Origin": f"https://127.0.0.1:{client.port}"}
    answer = client.post("/sign-in", {"name": "vera", "password": PASSWORD}, headers=tls | own)
    assert answer.status == 200
    assert "; Secure" in answer.headers["Set-Cookie"]
    cookie = cookie_of(answer)
    assert cookie.startswith("__Host-")
    assert client.get("/account.json", headers=tls | {"Cookie": cookie}).status == 200
    assert client.get("/account.json", headers={"Cookie": cookie}).status == 401


def test_a_proxys_word_is_taken_from_the_proxy_only(shown: Any) -> None:
    named = {"X-Remote-User": "mona", "X-Forwarded-For": "192.0.2.7"}
    trusting = shown(proxies=frozenset({"127.0.0.1"}), user_header="x-remote-user")
    assert trusting.get("/account.json", headers=named).json["user"] == "mona"
    unknown = trusting.get("/account.json", headers=named | {"X-Remote-User": "nobody"})
    assert unknown.error["code"] == "not_allowed"
    for header in ("mona, vera", "../mona", "mona\x01"):
        assert trusting.get("/account.json", headers={"X-Remote-User": header}).status >= 400
    other = shown(proxies=frozenset({"192.0.2.1"}), user_header="x-remote-user")
    assert other.get("/account.json", headers=named).status == 401
    assert shown().get("/account.json", headers=named).status == 401


# -- how often one may try ----------------------------------------------------------------


def test_guessing_is_slowed_down_and_the_right_password_has_to_wait_too(shown: Any) -> None:
    client = shown()
    for _ in range(sign_in_attempts.BY_BOTH):
        assert client.post("/sign-in", {"name": "vera", "password": "x"}).status == 403
    answer = client.post("/sign-in", {"name": "VERA ", "password": PASSWORD})
    assert answer.error["code"] == "too_many_attempts"
    assert 0 < int(answer.headers["Retry-After"]) <= sign_in_attempts.WINDOW
    assert sign_in(client, "cara")


SPELLINGS = ["cara", "ｃara", "ⓒara", "𝐜ara", " CARA\t", "c\u1d43ra", "ｃara\u3000"]


def test_every_spelling_that_signs_in_is_counted_as_one_name(shown: Any) -> None:
    client = shown()
    for spelling in SPELLINGS[: sign_in_attempts.BY_BOTH]:
        assert client.post("/sign-in", {"name": spelling, "password": "x"}).status == 403
    for spelling in SPELLINGS:
        answer = client.post("/sign-in", {"name": spelling, "password": PASSWORD})
        assert answer.error["code"] == "too_many_attempts", spelling


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_is_the_same_account(people: Silo, command: Any, spelling: str) -> None:
    with pytest.raises(accounts.AccountRefused, match="already"):
        add_account(people.path, spelling, Role.VIEWER, PASSWORD)
    before = accounts.load_account(people.path, "cara").stamp
    assert command("passwd", spelling, "--password-stdin", typed="a new password\n").text == (
        "cara has another password, and is signed out everywhere.\n"
    )
    assert accounts.load_account(people.path, "cara").stamp != before
    assert command("role", spelling, "manager").text == "cara is a manager here now.\n"
    assert command("remove", spelling, "--yes").code == 0
    assert accounts.account_names(people.path) == ["mona", "vera"]


def test_tries_are_forgotten_after_a_while_and_after_a_right_one() -> None:
    now = [0.0]
    known = Attempts(lambda: now[0])
    for _ in range(3):
        for _ in range(sign_in_attempts.BY_BOTH - 1):
            known.note("ada", "192.0.2.1")
        known.note("ada", "192.0.2.1")
        known.forget("ada", "192.0.2.1")
    for _ in range(sign_in_attempts.BY_BOTH):
        known.note("ada", "192.0.2.1")
    with pytest.raises(TooManyAttempts):
        known.note("ada", "192.0.2.1")
    known.note("ada", "192.0.2.2")
    now[0] = sign_in_attempts.WINDOW + 1
    known.note("ada", "192.0.2.1")


def test_one_address_tries_few_names_and_many_addresses_not_one_name_for_ever() -> None:
    known = Attempts(lambda: 0.0)
    for number in range(sign_in_attempts.BY_ADDRESS):
        known.note(f"user{number}", f"2001:db8::{number:x}")
    with pytest.raises(TooManyAttempts):
        known.note("another", "2001:db8::ffff")
    for number in range(sign_in_attempts.BY_NAME):
        known.note("ada", f"198.51.{number}.1")
    with pytest.raises(TooManyAttempts):
        known.note("ada", "203.0.113.1")


def test_the_table_of_tries_stays_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_attempts, "_MOST_KEYS", 100)
    known = Attempts(lambda: 0.0)
    for number in range(1000):
        known.note(f"user{number}", f"198.51.{number // 250}.{number % 250}")
    assert len(known._times) <= 103


# -- the commands --------------------------------------------------------------------------


@pytest.fixture
def command(silo: Silo) -> Callable[..., Any]:
    """Run `silo user`, with what is typed."""

    def run(action: str, *arguments: str, typed: str = "") -> Any:
        result = CliRunner().invoke(user_command, [action, silo.path, *arguments], input=typed)
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return SimpleNamespace(code=result.exit_code, text=result.output)

    return run


def test_accounts_are_made_listed_changed_and_removed(command: Any, silo: Silo) -> None:
    made = command("add", "Ada", "--role", "curator", typed=f"{PASSWORD}\n{PASSWORD}\n")
    assert (made.code, made.text.splitlines()[-1]) == (0, "ada is a curator here now.")
    assert PASSWORD not in made.text
    account = signed_in(silo.path, "ada", PASSWORD)
    assert account is not None
    assert command("add", "bob", "--no-password").text == (
        "bob is a viewer here now, without a password: only a proxy can sign this person in.\n"
    )
    assert re.search(r"^ada\tcurator\t\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\t", command("list").text)
    assert '"signs_in_by": "proxy"' in command("list", "--json").text
    assert command("role", "ada", "manager").text == "ada is a manager here now.\n"
    assert command("passwd", "ada", "--password-stdin", typed="a new password\n").code == 0
    changed = signed_in(silo.path, "ada", "a new password")
    assert changed is not None
    assert changed.role is Role.MANAGER
    assert changed.stamp != account.stamp
    assert command("remove", "ada", "--yes").code == 0
    assert command("remove", "bob", "--yes").code == 0
    assert command("list", "--json").text == "[]\n"
    assert command("list").text == (
        f"silo: no accounts; silo user add {silo.path} NAME makes one\n"
    )


@pytest.mark.parametrize(
    ("arguments", "typed", "words"),
    [
        (("add", "vera", "--password-stdin"), PASSWORD, "already"),
        (("add", "../x", "--password-stdin"), PASSWORD, "cannot be the name"),
        (("add", "vera"), "", "already"),  # before a password is asked for
        (("add", "../x"), "", "cannot be the name"),
        (("add", "new", "--password-stdin"), "short", "12 characters at least"),
        (("add", "new", "--password-stdin"), "a" * 20, "easily guessed"),
        (("add", "newperson", "--password-stdin"), "newperson1234", "easily guessed"),
        (("passwd", "nobody", "--password-stdin"), PASSWORD, "no account 'nobody'"),
        (("role", "nobody", "viewer"), "", "no account 'nobody'"),
        (("remove", "../mona", "--yes"), "", "no account '../mona'"),
        (("remove", "eve"), "", "no account 'eve'"),  # before anybody is asked
    ],
)
def test_what_cannot_be_is_a_sentence(
    people: Silo, command: Any, arguments: tuple[str, ...], typed: str, words: str
) -> None:
    result = command(*arguments, typed=typed)
    assert result.code == 2
    assert words in result.text
    assert result.text.count("\n") == 1
    assert accounts.account_names(people.path) == ["cara", "mona", "vera"]


def test_an_input_that_ends_before_the_password_is_told(people: Silo, command: Any) -> None:
    for typed in ("", f"{PASSWORD}\n"):
        result = command("add", "new", typed=typed)
        assert result.code == 2
        assert result.text.splitlines()[-1].startswith("silo: no password was entered")
    assert accounts.account_names(people.path) == ["cara", "mona", "vera"]


def test_a_damaged_account_lets_nobody_in_and_says_where(people: Silo, command: Any) -> None:
    path = os.path.join(people.path, "curation", "accounts", "vera.toml")
    for content in (b"", b"role = 'manager'", b"\xff", b"role = 7\npassword_hash=''\nmade=''\n"):
        with open(path, "wb") as file:
            file.write(content)
        assert signed_in(people.path, "vera", PASSWORD) is None
        assert "vera.toml is not an account" in command("list").text
    with pytest.raises(AccountRefused):
        set_password(people.path, "vera", PASSWORD)


@pytest.mark.parametrize(
    "options",
    [("--host", "0.0.0.0", "--allow-remote"), ("--name", "archive.example"), ("--sign-in",),
     ("--proxy", "127.0.0.1")],
)  # fmt: skip
def test_where_people_sign_in_an_account_has_to_be_there_first(
    silo: Silo, options: tuple[str, ...]
) -> None:
    result = CliRunner().invoke(serve_command, [silo.path, "--port", "0", *options])
    assert result.exit_code == 2
    assert "no account yet" in result.output
    assert "silo user add" in result.output


@pytest.mark.parametrize(
    ("options", "words"),
    [(("--user-header", "X-Remote-User"), "needs --proxy"), (("--proxy", "nginx"), "address")],
)
def test_a_proxy_has_to_be_known_by_its_address(
    silo: Silo, options: tuple[str, ...], words: str
) -> None:
    result = CliRunner().invoke(serve_command, [silo.path, "--port", "0", *options])
    assert result.exit_code == 2
    assert words in result.output


def test_on_loopback_there_is_one_user_who_may_do_everything(client: Any) -> None:
    assert client.json("/account") == {"user": "a.curator", "role": "manager"}
    assert "Sign out" not in client.get("/account", accept=HTML).text


def test_beyond_loopback_people_always_sign_in() -> None:
    assert not SiteSettings().needs_sign_in
    for policy in (AddressPolicy(remote=True), AddressPolicy(proxies=frozenset({"192.0.2.1"}))):
        assert dataclasses.replace(SiteSettings(), policy=policy).needs_sign_in


def test_the_language_is_kept_with_the_account(silo: Silo, stage: Any, stage_client: Any) -> None:
    for name in ("mona", "vera"):
        add_account(silo.path, name, Role.VIEWER, PASSWORD)
    policy = AddressPolicy(proxies=frozenset({"127.0.0.1"}), user_header="X-User")
    stage.app = create_app(silo, SiteSettings(sign_in=True, policy=policy))
    mona, vera = ({"X-User": name, "Accept-Language": "fr"} for name in ("mona", "vera"))

    def spoken(headers: Mapping[str, str]) -> str:
        return re.search(r'<html lang="(\w+)"', stage_client.get("/sets", headers=headers).text)[1]

    assert (spoken(mona), spoken(vera)) == ("fr", "fr")
    stage_client.post("/language", {"language": "de"}, headers=mona)
    assert load_account(silo.path, "mona").language == "de"
    assert (spoken(mona), spoken(vera)) == ("de", "fr")
    assert spoken(mona | {"Cookie": "silo-language=en"}) == "de"
    set_password(silo.path, "mona", PASSWORD + "!")
    assert spoken(mona) == "de"
    stage_client.post("/language", {"language": ""}, headers=mona)
    assert spoken(mona) == "fr"
    assert "language" not in Path(silo.path, "curation", "accounts", "mona.toml").read_text()
