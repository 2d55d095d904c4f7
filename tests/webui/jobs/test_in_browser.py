"""Jobs in a real browser: live progress, and accessibility."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from recordsilo import Silo
from silocuration.batch.job import create_job
from silocuration.batch.job import run_job as run_change
from silocuration.batch.specs import rules_job
from silocuration.editing.rule_files import RuleSet
from silocuration.editing.rules import Add
from silocuration.jobs import begin_change
from silocuration.review import any_field
from siloexport.fedora_places import add_place
from silowork.ledger import JobLedger
from silowork.running import run_job
from silowork.service import Jobs
from silowork.values import Advance, Ending, Problem
from webui.app import create_app
from webui.server import PageServer
from webui.site import SiteSettings

pytestmark = pytest.mark.browser
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"]


@pytest.fixture
def show(browser: Browser, silo: Silo) -> Iterator[Callable[..., Page]]:
    """Open a page of the Silo; whatever a script or the policy complains of fails the test."""
    complaints: list[str] = []
    with PageServer(create_app(silo, SiteSettings(agent="ada", by_worker=True))) as server:
        contexts = []

        def open_page(path: str, **how: Any) -> Page:
            context = browser.new_context(base_url=server.url, **how)
            contexts.append(context)
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda m: complaints.append(m.text) if m.type == "error" else None)
            page.goto(path)
            return page

        yield open_page
        for context in contexts:
            context.close()
    assert complaints == []


@pytest.mark.long
def test_a_job_is_followed_while_it_runs_and_ends_with_its_receipt(
    show: Callable[..., Page], silo: Silo
) -> None:
    ledger = JobLedger(silo.path)
    job = ledger.add("audit", "Audit of everything", {}, "ada")
    ledger.claim(job.job_id, 3)
    page = show(f"/jobs/{job.job_id}")
    expect(page.locator(".heading .outcome")).to_contain_text("Running")
    ledger.advance(job.job_id, Advance(30, 60))
    expect(page.get_by_text("30 of 60")).to_be_visible()
    problems = [Problem("oai:example.org:1", "its file is damaged")]
    ledger.end(job.job_id, Ending(False, "60  records", problems=problems))
    expect(page.get_by_text("Finished, 1 failed")).to_be_visible()
    expect(page.get_by_role("heading", name="Receipt")).to_be_visible()
    expect(page.get_by_text("its file is damaged")).to_be_visible()


@pytest.mark.long
def test_a_page_of_a_job_says_so_while_the_server_does_not_answer(
    browser: Browser, silo: Silo
) -> None:
    ledger = JobLedger(silo.path)
    job = ledger.add("audit", "Audit", {}, "ada")
    ledger.claim(job.job_id, 3)
    context = browser.new_context()
    page = context.new_page()
    told = re.compile(rf"/jobs/{job.job_id}(/events|\.json)$")
    with PageServer(create_app(silo, SiteSettings(agent="ada", by_worker=True))) as server:
        page.route(told, lambda route: route.abort())
        page.goto(f"{server.url}jobs/{job.job_id}")
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")
        page.unroute(told)
        expect(page.get_by_role("alert")).to_be_hidden()
        ledger.end(job.job_id, Ending(True, "60  records"))
        expect(page.locator(".heading .outcome")).to_contain_text("Finished")
    context.close()


@pytest.mark.long
def test_a_page_that_cannot_be_written_anew_is_asked_for_less_and_less_often(
    browser: Browser, silo: Silo
) -> None:
    ledger = JobLedger(silo.path)
    job = ledger.add("audit", "Audit", {}, "ada")
    ledger.claim(job.job_id, 3)
    context = browser.new_context(bypass_csp=True)  # to wait for what a script did
    page = context.new_page()
    page.add_init_script(
        "const later = setTimeout; window.pauses = [];"
        "window.setTimeout = (f, ms) => pauses.push(ms) < 8 && later(f, 0);"
    )
    with PageServer(create_app(silo, SiteSettings(agent="ada", by_worker=True))) as server:
        page.goto(f"{server.url}jobs/{job.job_id}")
        page.route(re.compile(rf"/jobs/{job.job_id}$"), lambda route: route.fulfill(status=500))
        ledger.end(job.job_id, Ending(True, "60  records"))
        page.wait_for_function("pauses.length > 7")
        waited = page.evaluate("pauses")
        assert waited == [0, 1000, 2000, 4000, 8000, 16000, 30000, 30000]
    context.close()


@pytest.mark.long
def test_without_javascript_a_job_is_begun_and_looked_at_again(
    show: Callable[..., Page], silo: Silo
) -> None:
    page = show("/jobs/new", java_script_enabled=False)
    page.get_by_role("link", name="Audit").click()
    page.get_by_role("button", name="Audit").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Audit: 100%")
    page.get_by_role("link", name="Refresh", exact=True).click()
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".heading .outcome")).to_contain_text("Paused")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".heading .outcome")).to_contain_text("Waiting")


@pytest.mark.long
def test_a_count_of_all_records_is_followed_on_the_page_that_asked_for_it(
    show: Callable[..., Page], silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(any_field, "RECORDS", 10)
    page = show("/search/fields?field=title", viewport={"width": 320, "height": 800})
    gap = """document.querySelector("table.cards").getBoundingClientRect().top
        - document.querySelector("form.actions button").getBoundingClientRect().bottom"""
    assert page.evaluate(gap) >= 8
    page.get_by_role("button", name="Count all").click()
    page.get_by_role("button", name="Cancel").wait_for()
    found = Axe().run(page, options={"runOnly": WCAG}).response["violations"]
    assert [v["id"] for v in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    (job,) = JobLedger(silo.path).active()
    run_job(silo.path, job.job_id)
    expect(page.get_by_role("button", name="Count again")).to_be_visible()
    expect(page.get_by_text("records were read, on")).to_be_visible()


@pytest.mark.long
def test_every_page_of_jobs_is_accessible_and_fits_a_narrow_window(
    show: Callable[..., Page], silo: Silo
) -> None:
    ledger = JobLedger(silo.path)
    running = ledger.add("audit", "Audit", {}, "ada")
    ledger.claim(running.job_id, 3)
    ledger.advance(running.job_id, Advance(30, 60))
    failed = ledger.add("change", "Types", {"job": "x"}, "ada")
    ledger.claim(failed.job_id, 3)
    problems = [Problem("oai:example.org:1", "w" * 200)]
    ledger.end(failed.job_id, Ending(False, "60  records " + "x" * 200, problems=problems))
    page = show("/jobs", viewport={"width": 320, "height": 800})
    forms = ("/jobs/new", "/jobs/new/harvest", "/jobs/new/export-csv", "/schedules", "/places")
    for path in ("/jobs", *forms, f"/jobs/{running.job_id}", f"/jobs/{failed.job_id}"):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.goto(path)
            found = Axe().run(page, options={"runOnly": WCAG}).response["violations"]
            told = [(v["id"], [node["html"][:200] for node in v["nodes"]]) for v in found]
            assert told == [], (path, scheme)
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 320, path


@pytest.mark.long
def test_the_result_of_a_connection_test_fits_a_narrow_window(
    show: Callable[..., Page], silo: Silo
) -> None:
    add_place(silo.path, "archive", "http://127.0.0.1:1/rest/a-container-of-the-archive")
    page = show("/places", viewport={"width": 320, "height": 800})
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator(".outcome")).to_contain_text("The server does not answer.")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert Axe().run(page, options={"runOnly": WCAG}).response["violations"] == []


@pytest.mark.long
def test_the_list_of_batch_edits_follows_what_runs(show: Callable[..., Page], silo: Silo) -> None:
    change = create_job(silo, rules_job(RuleSet("Types", rules=(Add("type", "x"),))), agent="ada")
    ledger = JobLedger(silo.path)
    begin_change(Jobs.of(silo.path), change, "Types", "ada")
    ledger.claim(change, 3)
    other = ledger.add("audit", "Audit", {}, "ada")
    ledger.claim(other.job_id, 3)
    page = show("/bulk/jobs")
    page.evaluate("document.querySelector('main').firstElementChild.id = 'as-it-was'")
    row = page.locator(f'tr[data-job="{change}"]')
    ledger.advance(other.job_id, Advance(1, 2))
    ledger.advance(change, Advance(30, 60))
    expect(row).to_contain_text("30 of 60")
    expect(page.locator("#as-it-was")).to_be_attached()  # other jobs do not renew the list
    run_change(silo, change)
    ledger.end(change, Ending(True))
    expect(row).to_contain_text("Finished")


@pytest.mark.long
def test_the_form_of_an_export_counts_while_conditions_change(
    show: Callable[..., Page], silo: Silo
) -> None:
    page = show("/jobs/new/export-csv?deleted=false")
    number, export = page.locator("[data-said]"), page.get_by_role("button", name="Export")
    expect(page.locator(".chosen")).to_contain_text("Deleted")
    page.get_by_label("Search", exact=True).last.fill("no such words")
    expect(number).to_contain_text("0 records found")
    expect(export).to_be_disabled()
    page.get_by_label("Search", exact=True).last.fill("keeping")
    expect(number).to_contain_text("1 record found")
    page.get_by_label("Name").fill("kept")
    export.click()
    page.wait_for_url("**/jobs/*")
    (job,) = JobLedger(silo.path).jobs()
    assert job.arguments["select"] == {"query": "keeping", "deleted": False}
