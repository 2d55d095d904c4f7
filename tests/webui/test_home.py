"""The home page: the Silo, recent activity, pending decisions, the next step."""

import html
import json
import os
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from oaipmhclient.walk.values import ListJob
from oaipmhscraper.lists.journal import Journal
from recordsilo import Silo
from recordsilo.index.database import SqliteIndex
from recordsilo.records.manifest import Origin, now_text
from silocuration.activity import Activity, changes_of, log_activity
from silocuration.upstream import propose_all
from silowork.ledger import JobLedger
from silowork.values import Ending, Problem, State
from tests.webui.conftest import SET, SET_NAME, dublin_core, harvest
from webui import overview, timed_cache
from webui.app import create_app
from webui.contributed import Pages
from webui.http.security import AddressPolicy
from webui.pages import harvests, home
from webui.people.accounts import add_account
from webui.people.roles import Role
from webui.site import SiteSettings

PLAIN = "oai:example.org:1"
COUNTS = {"promised": 9, "listed": 5, "new": 4, "duplicates": 1, "quarantined": 1, "stored": 4}


@pytest.fixture(autouse=True)
def _answers_are_new(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache no answer for its cost: on a busy machine every answer takes long to find."""
    monkeypatch.setattr(timed_cache, "FACTOR", 0)


def receipt(silo: Silo, number: str, **members: Any) -> None:
    """Leave the receipt of a harvest that ended."""
    one = {"metadata_prefix": "oai_dc", "counts": COUNTS, "settled": None, "doubt": None}
    found = {"metadata_prefix": ["oai_dc"], "started": "2026-01-02T03:04:05Z", "counts": COUNTS}
    found |= {"whole": False, "lists": [one | members]}
    os.makedirs(os.path.join(silo.path, "harvests"), exist_ok=True)
    name = f"20260102T03040{number}.000000Z-receipt.json"
    with open(os.path.join(silo.path, "harvests", name), "w", encoding="utf-8") as file:
        json.dump(found | members, file)


def ended_job(silo: Silo, number: int, title: str, *, whole: bool = False) -> str:
    """A job that ended."""
    ledger = JobLedger(silo.path)
    job = ledger.add("audit", title, {}, "mona", f"20260101T00000{number}Z-0")
    ledger.claim(job.job_id, 3)
    ledger.end(job.job_id, Ending(whole))
    return job.job_id


def kinds(client: Any) -> dict[str, int | None]:
    """What awaits a decision."""
    return {one["kind"]: one["number"] for one in client.json("/index.json")["waiting"]}


def primary(client: Any) -> list[tuple[str, str]]:
    """The filled buttons of the page: one."""
    return re.findall(r'<a class="button filled" href="([^"]*)">([^<]*)<', client.get("/").text)


def test_the_home_page_says_what_the_silo_is(client: Any) -> None:
    found = client.json("/index.json")
    assert (found["name"], found["records"]) == ("Example Archive", 60)
    assert found["deleted"] == client.json("/search.json?deleted=true")["total"] > 0
    assert found["formats"]["oai_dc"] == client.json("/search.json?format=oai_dc")["total"]
    page = client.get("/").text
    assert '<h1 dir="auto">Example Archive</h1>' in page
    assert client.get("/", accept="application/json").json == found


def test_each_harvest_says_what_is_missing_in_words(client: Any, silo: Silo) -> None:
    receipt(silo, "1", whole=True)
    receipt(silo, "2", stopped="timeout")
    receipt(silo, "3")
    receipt(silo, "4", settled=4, doubt="no token")
    newest = client.json("/index.json")["harvests"][:3]
    assert [one["outcome"]["name"] for one in newest] == ["partial", "partial", "partial"]
    assert [one["missing"] for one in newest] == [
        ["1 list may be incomplete", "1 record set aside"],
        ["4 records missing", "1 record set aside"],
        ["1 list stopped early", "1 record set aside"],
    ]
    page = client.get("/").text
    assert page.count("Not whole</span>") == 3
    assert '<span class="outcome is-partial"><span aria-hidden="true">!</span>' in page
    assert "4 records missing · 1 record set aside" in page


def test_a_failed_job_is_the_next_thing_until_it_succeeds(client: Any, silo: Silo) -> None:
    assert primary(client) == [("/search", "Search the records")]
    job = ended_job(silo, 1, "Audit")
    assert kinds(client)["failed_jobs"] == 1
    assert primary(client) == [(f"/jobs/{job}", "Look at the failed job")]
    ended_job(silo, 2, "Audit of half")
    assert primary(client) == [("/jobs", "Look at the failed jobs")]
    ended_job(silo, 3, "Audit", whole=True)
    ended_job(silo, 4, "Audit of half", whole=True)
    assert "failed_jobs" not in kinds(client)


def test_a_failed_job_can_be_dismissed(client: Any, silo: Silo) -> None:
    job = ended_job(silo, 1, "Audit")
    assert client.json(f"/jobs/{job}")["actions"] == ["retry", "dismiss"]
    assert client.post(f"/jobs/{job}/dismiss", {}).json["actions"] == ["retry"]
    assert client.post(f"/jobs/{job}/dismiss", {}).status == 409
    assert "failed_jobs" not in kinds(client)
    assert "Failed" in client.get("/jobs").text
    assert JobLedger(silo.path).requeue(job, (State.FAILED,))
    assert client.json(f"/jobs/{job}")["asked"] == ""


def test_a_job_that_only_skipped_records_has_not_failed(client: Any, silo: Silo) -> None:
    ledger = JobLedger(silo.path)
    job = ledger.add("change", "Sheet", {}, "mona")
    ledger.claim(job.job_id, 3)
    problems = [Problem("nope", "is not in this Silo")]
    ledger.end(job.job_id, Ending(False, counts={"done": 2, "skipped": 1}, problems=problems))
    assert "failed_jobs" not in kinds(client)
    assert "Finished, 1 skipped" in client.get("/jobs").text


def test_a_harvest_that_runs_is_running(client: Any, silo: Silo) -> None:
    request = json.dumps({"harvest": "list"})
    with Journal(silo.path) as journal, journal.held(request):
        journal.begin(request, "http://h/oai", [ListJob("oai_dc")], datetime.now(UTC))
        job = JobLedger(silo.path).add("harvest", "Harvest oai_dc", {}, "mona")
        JobLedger(silo.path).claim(job.job_id, 3)
        (found,) = client.json("/index.json")["harvests"]
        assert (found["state"], found["outcome"]["name"]) == ("running", "running")
        assert found["job_url"] == f"/jobs/{job.job_id}"
        assert "Z-" not in client.get("/harvests").text.partition("<main")[2].partition("▸")[0]
    (found,) = client.json("/index.json")["harvests"]
    assert (found["state"], found["outcome"]["word"]) == ("open", "Interrupted")


def test_source_changes_and_proposals_are_counted_apart(
    client: Any, silo: Silo, working_copy: str
) -> None:
    assert "source_changes" not in kinds(client)
    with silo.batch([working_copy]) as batch:
        edit = batch.edit(working_copy)
        date = "2026-01-02T00:00:00"
        origin = Origin("harvest", prefixes={"oai_dc": date}, agent="oaipmhscraper")
        edit.add_version("2", date=date, origin=origin, log="Harvested")
        edit.put("2", "oai_dc", dublin_core(("title", "On new records")), metadata=True)
        edit.move_cursor("workingcopy")
    assert kinds(client)["source_changes"] == 1
    assert primary(client) == [("/upstream", "Review the source changes")]
    assert propose_all(silo, agent="cara").proposed == 1
    found = kinds(client)
    assert (found.get("source_changes"), found["proposals"]) == (None, 1)


def test_a_batch_edit_is_one_entry_of_the_recent_activity(client: Any, silo: Silo) -> None:
    def line(identifier: str, action: str = "edit", job: str = "") -> Any:
        about = {"agent": "cara", "action": action, "identifier": identifier, "version": "w"}
        return changes_of([("title", "a", "b")], **about, job=job, message="Tidy titles")

    edits = [line(f"oai:example.org:{n}") for n in range(12)]
    edits += [line(f"oai:example.org:{n}", "bulk", "20260101T000000Z-1") for n in range(30)]
    log_activity(silo.path, [one for each in edits for one in each])
    found = client.json("/index.json")["activity"]
    assert len(found) == home.RECENT
    assert (found[0]["action"], found[0]["records"]) == ("Batch edit", 30)
    assert (found[1]["action"], found[1]["identifier"]) == ("Edited", "oai:example.org:11")
    assert "Tidy titles</a>" in client.get("/").text


def test_a_batch_edit_and_its_undoing_are_an_entry_each_with_the_title_of_its_job(
    client: Any, silo: Silo
) -> None:
    edit, undo = "20260101T000001Z-1", "20260101T000002Z-2"
    ledger = JobLedger(silo.path)
    ledger.add("change", "Batch edit: Types", {"job": edit}, "cara", edit)
    ledger.add("undo", "Undo: Types", {"job": edit}, "cara", undo)
    now = now_text()
    log: list[Activity] = []
    for action, job, each in (("change", edit, "bulk"), ("undo", undo, "undo")):
        log += [Activity(now, "cara", action, job=job)]
        for n in range(3):
            about = {"agent": "cara", "action": each, "identifier": f"oai:example.org:{n}"}
            log += changes_of([("type", "a", "b")], **about, version="w", job=edit)
    log += [Activity(now, "cara", "keep rule", what="types")]
    log_activity(silo.path, log)
    found = client.json("/index.json")["activity"]
    assert [(one["said"], one["records"]) for one in found] == [
        ("types", 0),
        ("Undo: Types", 3),
        ("Batch edit: Types", 3),
    ]
    text = client.get("/").text
    saved = '<bdi>cara</bdi> saved the rule <a href="/rules/types" dir="auto">types</a>'
    assert saved in text
    assert '<bdi>cara</bdi> started <a href="/bulk/jobs' in text
    assert "Batch edit undone" not in text
    assert re.findall(r"<summary>(\d+ changes)", client.get("/activity").text) == ["3 changes"] * 2


def test_a_huge_batch_edit_is_not_read_to_its_end(client: Any, silo: Silo) -> None:
    about = {"agent": "cara", "action": "bulk", "version": "w", "job": "20260101T000000Z-1"}
    lines = [changes_of([], identifier=f"x:{n}", **about) for n in range(home.LOG_LINES + 5)]
    log_activity(silo.path, [one for each in lines for one in each])
    (one,) = client.json("/index.json")["activity"]
    assert (one["records"], one["is_cut"]) == (home.LOG_LINES, True)


def test_the_collection_is_drawn_and_each_bar_leads_to_as_many_records(
    client: Any, silo: Silo
) -> None:
    harvest(
        silo,
        {
            f"oai:example.org:art{n}": dublin_core(
                ("title", f"Art {n}"), ("type", "Article"), ("date", "1999"), ("subject", "Tides")
            )
            for n in range(3)
        },
    )
    harvest(silo, {"oai:example.org:map": dublin_core(("title", "Map"), ("type", "Image"))})
    found = client.json("/index.json")
    assert found["collection"]["type"] == {"Article": 3, "Image": 1}
    assert found["collection"]["year"]["1999"] == 3
    assert client.json("/search.json?type=Article")["total"] == 3
    page = client.get("/").text
    for url in ("/search?type=Article", "/search?year=1999", "/search/values?field=creator"):
        assert f'<a href="{url}"' in page, url
    deleted = client.json("/search.json?deleted=true")["records"][0]["identifier"]
    assert deleted not in [one["identifier"] for one in found["newest"]]
    assert len(found["newest"]) == overview.NEWEST


def test_a_part_of_a_package_that_fails_is_left_out(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_site: Any) -> None:
        raise ValueError

    broken = Pages("broken", (), on_home=fail)
    monkeypatch.setattr(home, "contributed", lambda: (broken,))
    assert client.json("/index.json")["of_packages"] == {}


def test_activity_is_told_in_sentences_with_titles(client: Any, silo: Silo) -> None:
    about = {"agent": "mona", "action": "edit", "identifier": PLAIN, "version": "w"}
    log_activity(silo.path, changes_of([("title", "a", "b")], **about))
    log_activity(silo.path, [Activity(now_text(), "mona", "add account", what="vera")])
    log_activity(silo.path, [Activity(now_text(), "mona", "something else")])
    page = client.get("/").text
    title = "On the keeping of records</a>"
    edited = page.partition("<bdi>mona</bdi> edited ")[2]
    assert edited.startswith('<a href="/records/oai+example,org+1" dir="auto">' + title)
    assert "<bdi>mona</bdi> added the account <bdi>vera</bdi>" in page
    assert "<bdi>mona</bdi>: something else" in page
    assert title in client.get("/activity").text


def test_counts_are_kept_until_the_index_changes(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []
    real = home._counted
    monkeypatch.setattr(home, "_counted", lambda silo: counted.append(1) or real(silo))
    monkeypatch.setattr("webui.timed_cache.FACTOR", 0)
    monkeypatch.setattr(SqliteIndex, "SETTLED", 0)
    client.get("/")  # the first reader of an index may write to it
    client.get("/")
    counted.clear()
    client.get("/")
    assert counted == []
    harvest(silo, {"oai:example.org:new": dublin_core(("title", "One more"))})
    assert client.json("/index.json")["records"] == 61
    assert len(counted) == 1


@pytest.mark.parametrize("role", [Role.VIEWER, Role.MANAGER])
def test_an_empty_silo_offers_a_harvest_or_the_command(
    stage: Any, stage_client: Any, tmp_path: Any, role: Role
) -> None:
    with Silo(str(tmp_path / "new")) as silo:
        add_account(silo.path, "x", role, None)
        policy = AddressPolicy(proxies=frozenset({"127.0.0.1"}), user_header="x-user")
        stage.app = create_app(silo, SiteSettings(policy=policy))
        page = stage_client.get("/", headers={"X-User": "x"}).text
        found = stage_client.get("/", headers={"X-User": "x"}, accept="application/json").json
    assert found["records"] == 0
    assert ('<form class="short" action="/jobs" method="post">' in page) == (role is Role.MANAGER)
    assert ("silo harvest https://" in page) == (role is Role.VIEWER)
    assert 'name="kind" value="harvest"' in page or role is Role.VIEWER


def test_the_activity_of_others_is_shown_to_curators_only(
    stage: Any, stage_client: Any, silo: Silo
) -> None:
    policy = AddressPolicy(proxies=frozenset({"127.0.0.1"}), user_header="x-user")
    stage.app = create_app(silo, SiteSettings(policy=policy))
    about = {"agent": "mona", "action": "edit", "identifier": PLAIN, "version": "w"}
    log_activity(silo.path, changes_of([], **about))
    for name, role in (("vera", Role.VIEWER), ("cara", Role.CURATOR)):
        add_account(silo.path, name, role, None)
        page = stage_client.get("/", headers={"X-User": name}).text
        assert ("Recent activity" in page) == (role is Role.CURATOR)


def test_sets_lead_into_the_search_and_are_filtered_by_name_or_spec(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.pages.sets.FEW", 0)
    (one,) = client.json("/sets.json?match=PUBLISHED")["sets"]
    assert one["url"].startswith("/search?set=")
    assert client.json(one["url"].replace("/search", "/search.json"))["total"] == one["records"]
    assert client.json("/sets.json?match=" + one["spec"][:6])["sets"] == [one]
    shown = f'<span class="id">{one["spec"]}</span>'
    assert [shown in client.get(url).text for url in ("/sets", "/sets?match=" + one["spec"])] == [
        False,
        True,
    ]
    assert client.json("/sets.json?match=nothing")["sets"] == []
    assert "No set matches." in client.get("/sets?match=nothing").text


@pytest.mark.long
@pytest.mark.parametrize(
    "members",
    [
        {"counts": [1]}, {"counts": None}, {"counts": {"new": "<b>"}}, {"counts": {"new": -5}},
        {"counts": {"new": 10**400}}, {"metadata_prefix": 5}, {"metadata_prefix": [5]},
        {"lists": "abc"}, {"lists": [1]}, {"lists": [{"counts": "x"}]},
        {"lists": [{"settled": "y"}]},
    ],
)  # fmt: skip
def test_a_malformed_receipt_does_not_stop_the_home_page(
    client: Any, silo: Silo, members: dict[str, Any]
) -> None:
    receipt(silo, "1", **members)
    assert client.get("/").status == 200
    (line,) = client.json("/index.json")["harvests"]
    assert (line["what"], line["state"]) == ("?", "incomplete")


def test_half_of_a_surrogate_pair_in_the_log_is_shown_as_a_question_mark(
    client: Any, silo: Silo
) -> None:
    odd = "oai:\ud800"
    log_activity(silo.path, [Activity(now_text(), "ada", "edit", odd, old=odd)])
    assert client.json("/index.json")["activity"][0]["identifier"] == "oai:?"
    for url in ("/", "/activity", "/activity/log.csv", "/activity/log.jsonl"):
        assert client.get(url).status == 200, url


@pytest.mark.parametrize(
    "path", ["curation/activity/2026-01.jsonl", "harvests/1-receipt.json", ".silo/harvest.sqlite"]
)
def test_a_file_that_cannot_be_read_is_told_on_the_home_page(
    client: Any, silo: Silo, path: str
) -> None:
    Path(silo.path, path).mkdir(parents=True)
    page = client.get("/")
    assert page.status == 200
    assert "cannot be" in page.text
    assert "see the log of the server" in page.text


def test_the_harvests_have_a_page_with_their_receipts(client: Any, silo: Silo) -> None:
    assert "No harvests with a receipt" in client.get("/harvests").text
    receipt(silo, "1", whole=True)
    receipt(silo, "2", stopped="timeout", counts=COUNTS | {"deleted": 3})
    Path(silo.path, "harvests", "20260102T030403.000000Z-receipt.json").write_text("[" * 9)
    found = client.json("/harvests.json")
    assert [one["state"] for one in found["harvests"]] == ["incomplete", "incomplete", "whole"]
    assert [bool(one["receipt"]) for one in found["harvests"]] == [False, True, True]
    page = client.get("/harvests").text
    assert "Records in each harvest" in page
    assert page.count("<summary>Receipt") == 2
    assert "<dt>listed</dt><dd>5</dd>" in page
    receipt(silo, "3", set=SET)
    page = html.unescape(client.get("/harvests").text)
    assert f"oai_dc, set {SET_NAME}" in page
    assert f'<th scope="row">oai_dc, {SET_NAME}</th>' in page
    assert SET not in page
    for other in ("/", "/jobs/new/harvest"):
        assert '<a href="/harvests">All harvests</a>' in client.get(other).text


def test_the_harvests_say_which_warc_files_are_in_an_object_store(client: Any, silo: Silo) -> None:
    receipt(silo, "1", whole=True)
    place, name = Path(silo.path, "harvests"), "20260102T030401.000000Z-0000{}.warc.gz"
    url = f"s3://warcs/fleet/{name.format(1)}"
    line = {"file": name.format(1), "url": url, "bytes": 9, "sha256": "0" * 64}
    (place / "elsewhere.jsonl").write_text(f"{json.dumps(line)}\n")
    (place / name.format(2)).write_bytes(b"")
    (found,) = client.json("/harvests.json")["harvests"]
    assert (found["files"], found["elsewhere"]) == (2, {name.format(1): url})
    page = client.get("/harvests").text
    assert "WARC files in an object store: 1 of 2 <code>s3://warcs/fleet</code>" in page


def test_the_page_of_harvests_goes_on(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harvests, "PAGE", 2)
    for number in range(5):
        receipt(silo, str(number))
    seen, url = [], "/harvests.json"
    while url:
        found = client.json(url)
        seen += [one["id"] for one in found["harvests"]]
        url = found["next"]
    assert seen == [f"20260102T03040{number}.000000Z" for number in (4, 3, 2, 1, 0)]
    for start in ("x", "-1", "9" * 30):
        assert client.get(f"/harvests?start={start}").status == 400
    assert "no more entries" in client.get("/harvests?start=90").text


def test_a_record_that_cannot_be_read_stays_in_lists_and_home_leads_to_it(
    client: Any, silo: Silo
) -> None:
    total = client.json("/index.json")["records"]
    path = Path(silo[PLAIN].path_to_item(), "__manifest.json")
    content, title = path.read_bytes(), silo.row(PLAIN).title
    path.write_text("{")
    assert "its manifest is damaged" in client.get("/records/oai+example,org+1").text
    assert kinds(client)["unreadable"] == 1
    page = client.get("/").text
    assert "1 record cannot be read" in page
    assert client.json("/index.json")["records"] == total
    (link,) = re.findall(r'href="(/search[?]finding=Q001)"[^>]*>[^<]*<?[^<]*1 record cannot', page)
    shown = client.get(link).text
    assert title in shown
    assert "Cannot be read" in shown
    path.write_bytes(content)
    assert "unreadable" not in kinds(client)
    assert client.get("/records/oai+example,org+1").status == 200


def test_the_share_without_findings_is_of_records_that_are_not_deleted() -> None:
    counts = home.RecordNumbers(records=3200, deleted=91, with_findings=241)
    assert counts.there == 3109
    assert home._share(counts) == "92.2"
