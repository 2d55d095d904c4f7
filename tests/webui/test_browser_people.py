"""In a real browser: sign-in, one's account, the log of activity and a bulk change; axe; reflow."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from recordsilo import Silo
from webui.app import create_app
from webui.people import accounts
from webui.people.roles import Role
from webui.site import SiteSettings

from .conftest import PLAIN

pytestmark = pytest.mark.browser

WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]
PASSWORD = "correct horse battery"
RULE = {
    "do": "apply",
    "search": "q=Record",
    "title": "Items, not records",
    "changes": "1",
    "change-0-do": "replace pattern",
    "change-0-field": "title",
    "change-0-pattern": "^Record",
    "change-0-by": "Item",
}


@pytest.fixture
def changed(client: Any) -> str:
    """The address of a bulk change that ended."""
    job = client.post("/bulk", RULE).json["job"]
    end = time.monotonic() + 60
    while not client.json(f"/bulk/jobs/{job}.json")["finished"]:
        assert time.monotonic() < end, "the change does not end"
        time.sleep(0.1)
    return f"/bulk/jobs/{job}"


@pytest.fixture
def sign_in(
    changed: str, silo: Silo, stage: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Page], None]:
    """Show the Silo to people who sign in, once the change is made; gives how one does."""
    quick = accounts.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(accounts, "_HASHER", quick)
    accounts._hash_of_nothing.cache_clear()
    accounts.add_account(silo.path, "mona", Role.MANAGER, PASSWORD)
    stage.app = create_app(silo, SiteSettings(sign_in=True))
    assert changed

    def sign_in(page: Page) -> None:
        page.get_by_label("Name", exact=True).fill("mona")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("form[action='/sign-out']").first).to_be_attached()

    return sign_in


def check(page: Page, name: str, picture: str) -> None:
    """Axe finds nothing, and the page is no wider than the window."""
    page.screenshot(path=picture, full_page=True)
    found = Axe().run(page, options={"runOnly": WCAG}).response["violations"]
    told = [(v["id"], [node["html"][:200] for node in v["nodes"]]) for v in found]
    assert told == [], name
    wide, window = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= window, name


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("light", 320), ("dark", 1280)])
def test_pages_about_people_and_what_they_did_are_for_everybody(
    open_page: Callable[..., Page],
    sign_in: Callable[[Page], None],
    changed: str,
    tmp_path: Any,
    scheme: str,
    width: int,
) -> None:
    size = {"width": width, "height": 800}
    page = open_page("/sign-in?next=/account", color_scheme=scheme, viewport=size)
    check(page, "sign in", str(tmp_path / f"sign-in-{scheme}.png"))
    page.get_by_label("Name", exact=True).fill("mona")
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("Wrong name or password.")
    check(page, "sign in refused", str(tmp_path / f"refused-{scheme}.png"))
    sign_in(page)
    for name, path in (
        ("account", "/account"),
        ("activity", "/activity"),
        ("change", changed),
        ("changes", changed + "/changes"),
    ):
        page.goto(path)
        check(page, name, str(tmp_path / f"{name}-{scheme}.png"))


@pytest.mark.long
def test_what_was_filled_in_when_the_session_ended_is_sent_again(
    open_page: Callable[..., Page], sign_in: Callable[[Page], None], silo: Silo
) -> None:
    silo[PLAIN].clone_version("1", "workingcopy")
    page = open_page("/sign-in")
    sign_in(page)
    page.goto("/records/oai+example,org+1/versions/workingcopy/edit")
    page.locator("[name=text-0]").fill("Typed before the session ended")
    page.context.clear_cookies()
    page.get_by_role("button", name="Save").first.click()
    expect(page.get_by_role("alert")).to_have_text("Sign in first; nothing was changed.")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Sign in").click()
    sign_in(opened.value)
    page.reload()
    expect(page.get_by_text("Changes saved.")).to_be_visible()
    expect(page.locator("h1")).to_have_text("Typed before the session ended")
