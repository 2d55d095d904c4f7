"""The page of a fleet: which endpoints are well, and which are not."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import pytest

from recordsilo import Granary, Silo
from silofleet import probing
from silofleet.fleet import Fleet, make_fleet
from silofleet.ledger import FleetLedger
from silofleet.rebuild import rebuild
from silofleet.values import Ended, Endpoint, Facts, Node, RunOutcome
from silofleet.wishes import load_wishes
from tests.webui.test_browser import fits, is_accessible
from webui.app import create_app
from webui.fleet_lines import FleetLines, FleetQuestion, by_hour, due_by_hour
from webui.fleet_morning import morning
from webui.http import streams
from webui.http.security import LOOPBACK_ONLY
from webui.multi_silo import Shelf
from webui.pages.fleet import history, will_happen
from webui.people.authentication import Gate
from webui.site import SiteSettings
from webui.words.texts import spoken

MOVED = "http://new.example.org/oai"


def _run(ledger: FleetLedger, name: str, outcome: RunOutcome, said: str) -> None:
    now = datetime.now(UTC)
    run = ledger.begin(name, "n1", now)

    def over(facts: Facts) -> Facts:
        is_whole = outcome is RunOutcome.WHOLE
        return facts._replace(
            run=0, outcome=outcome, said=said, records=40, promised=40,
            whole=now if is_whole else None, failures=int(outcome in FAILURES), ended=now,
            due=now + timedelta(hours=6), outcomes="w" + outcome.letter,
            moved_to=MOVED if outcome is RunOutcome.MOVED else "",
        )  # fmt: skip

    ledger.end(run, Ended(outcome, said, now, 40, changed=3), now, over)


FAILURES = (RunOutcome.FAILED, RunOutcome.BLOCKED, RunOutcome.MOVED)


@pytest.fixture
def fleet(tmp_path: Path) -> str:
    directory = str(tmp_path / "many")
    make_fleet(directory)
    with Fleet(directory) as found:
        found.add(
            [
                Endpoint("ames", "http://ames.example.org/oai", tags=("physics",)),
                Endpoint("berne", "http://berne.example.org/oai"),
                Endpoint("cork", "http://cork.example.org/oai"),
                Endpoint("delft & co", "http://delft.example.org/oai"),
            ]
        )
        _run(found.ledger, "ames", RunOutcome.WHOLE, "40 records listed")
        _run(found.ledger, "berne", RunOutcome.FAILED, "gives <no> answer")
        _run(found.ledger, "cork", RunOutcome.MOVED, "redirects")
        found.ledger.see(Node("n1", 4, 10**9, 10**6, datetime.now(UTC)))
        found.ledger.see(Node("n2", 4, 10**9, 10**6, datetime.now(UTC) - timedelta(hours=1)))
        found.ledger.clock_beat(datetime.now(UTC))
    return directory


@pytest.fixture
def page(fleet: str, client: Any, stage: Any) -> Iterator[Any]:
    shelf = Shelf(
        Granary(fleet, create=False),
        lambda silo: create_app(silo, SiteSettings(agent="a.curator", on_shelf=True)),
        LOOPBACK_ONLY,
    )
    stage.app = shelf  # after `client` set its own
    yield client
    shelf.close()


def test_the_picture_of_the_runs_says_what_its_bars_are() -> None:
    now = datetime(2026, 11, 29, 4, tzinfo=UTC)
    runs = [
        SimpleNamespace(started=now - timedelta(days=n), outcome=RunOutcome.WHOLE, done=40 + n)
        for n in range(3)
    ]
    picture = history(runs)  # type: ignore[arg-type]
    assert [row.cells[0] for row in picture.rows] == ["27 Nov 2026", "28 Nov 2026", "29 Nov 2026"]
    assert picture.caption == (
        "Each bar is a run, the latest at the right; its height is the number of records listed. "
        "A run that listed none has no bar. The latest listed 40 records."
    )
    nothing = SimpleNamespace(started=now, outcome=RunOutcome.FAILED, done=0)
    with_failed = history([nothing, *runs])  # type: ignore[list-item]
    assert with_failed.rows[-1].cells[1:] == ("0", "0", "0")
    assert len(with_failed.boxes) == len(runs)
    with spoken("de"):
        picture = history(runs)  # type: ignore[arg-type]
        assert picture.rows[0].cells[0] == "27.11.2026"


def test_the_list_of_silos_has_the_words_of_the_fleet(page: Any, fleet: str) -> None:
    Silo(f"{fleet}/berne").close()
    Silo(f"{fleet}/own").close()
    cards = page.get("/").text.split('<li class="card">')[1:]
    assert re.findall(r'<a href="/fleet/berne"><span class="badge warn">(.+?)<', cards[0]) == [
        "Failing"
    ]
    assert "/fleet/" not in cards[1]
    Path(fleet, "fleet", "endpoints.toml").write_text("[[")
    assert page.get("/").status == 200


def test_the_states_are_counted_and_trouble_comes_first(page: Any) -> None:
    text = page.get("/fleet").text
    assert "4 repositories" in text
    text = text.partition('<table class="cards fleet">')[2]
    assert text.index("berne</a>") < text.index("cork</a>") < text.index("ames</a>")
    assert "gives &lt;no&gt; answer" in text
    assert "(lost)" in text
    assert "Last runs: Whole: 2" in text
    assert "delft &amp; co" in text
    assert 'href="/fleet"' in page.get("/").text
    assert "The scheduler is not running" not in text


def test_a_fleet_without_a_clock_says_so(page: Any, fleet: str) -> None:
    with FleetLedger(fleet) as ledger:
        ledger.clock_beat(datetime.now(UTC) - timedelta(hours=1))
    assert "The scheduler is not running" in page.get("/fleet").text


def test_a_node_that_never_reported_is_named(page: Any, fleet: str) -> None:
    with Fleet(fleet) as found:
        found.change("delft & co", node="typo")
    text = page.get("/fleet").text
    assert "The node typo has never reported. 1 repository waits for it." in text
    assert "it waits for the node typo, which has never reported" in text
    assert ">on typo</span>" in text
    with Fleet(fleet) as found:
        found.ledger.change("delft & co", lambda facts: facts._replace(node="typo"))
    text = page.get("/fleet").text
    assert "The node typo has not reported since the rebuild. 1 repository" in text
    assert "never reported" not in text


def test_endpoints_are_found_by_state_tag_host_and_text(page: Any) -> None:
    def names(query: str) -> list[str]:
        return [one["name"] for one in page.json(f"/fleet.json?{query}")["endpoints"]]

    assert names("state=failing") == ["berne"]
    assert names("tag=physics") == ["ames"]
    assert names("host=cork.example.org") == ["cork"]
    assert names("q=DELFT") == ["delft & co"]
    assert names("sort=name") == ["ames", "berne", "cork", "delft & co"]
    assert page.get("/fleet?state=x").status == 400
    assert page.get("/fleet?sort=x").status == 400
    assert page.get("/fleet?start=x").status == 400
    assert "delft" in page.get("/fleet?start=9999").text  # the last page
    assert "Show all" in page.get("/fleet?q=nothing").text


@pytest.mark.parametrize("name", ["fleet.csv", "fleet.json"])
def test_long_lists_are_sent_while_they_are_made(
    page: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(streams, "SMALL", 0)
    assert "delft" in page.get(f"/{name}").text
    monkeypatch.setattr(streams, "MOST_STREAMED", 0)  # it would take a place
    assert page.get(f"/{name}").status == 503


def test_json_and_csv_have_what_the_page_has(page: Any) -> None:
    found = page.json("/fleet.json")
    assert found["counts"] == {"whole": 1, "failing": 1, "moved": 1, "new": 1}
    assert [(one["node"], one["lost"]) for one in found["nodes"]] == [("n1", False), ("n2", True)]
    rows = list(csv.DictReader(io.StringIO(page.get("/fleet.csv").text)))
    assert {row["name"]: row["state"] for row in rows} == {
        one["name"]: one["state"] for one in found["endpoints"]
    }


def test_an_endpoint_has_a_page_with_its_runs(page: Any) -> None:
    text = page.get("/fleet/delft%20%26%20co").text
    assert "It was not harvested yet." in text
    cork = page.get("/fleet/cork").text
    assert MOVED in cork
    assert "Accept the new address" in cork
    assert 'class="note"' in cork
    ames = page.get("/fleet/ames").text
    assert 'class="note"' not in ames
    assert "Open its Silo" not in ames  # it is on n1
    assert page.json("/fleet/ames.json")["runs"][0]["outcome"] == "whole"
    assert page.get("/fleet/none").status == 404
    assert page.get("/fleet/a/b").status == 404


def test_a_name_that_ends_like_an_address_of_json_has_its_own_page(page: Any, fleet: str) -> None:
    with Fleet(fleet) as found:
        found.add([Endpoint("ames.json", "http://other.example.org/oai")])
    assert 'href="/fleet/ames%2Ejson"' in page.get("/fleet").text
    assert "other.example.org" in page.get("/fleet/ames%2Ejson").text
    assert page.json("/fleet/ames%2Ejson.json")["name"] == "ames.json"
    assert page.json("/fleet/ames.json")["name"] == "ames"
    answer = page.post("/fleet/ames%2Ejson", {"action": "pause"})
    assert answer.headers["Location"] == "/fleet/ames%2Ejson"
    assert load_wishes(fleet).endpoints["ames.json"].is_paused
    assert not load_wishes(fleet).endpoints["ames"].is_paused


def test_actions_change_the_fleet(page: Any, fleet: str) -> None:
    def act(name: str, action: str) -> int:
        return int(page.post(f"/fleet/{name}", {"action": action}).status)

    assert act("ames", "pause") == 303
    assert load_wishes(fleet).endpoints["ames"].is_paused
    assert "Paused" in page.get("/fleet/ames").text
    assert act("ames", "resume") == 303
    assert act("ames", "run-now") == 303
    assert act("berne", "quarantine") == 303
    assert "Quarantined" in page.get("/fleet/berne").text
    assert act("berne", "release") == 303
    assert act("cork", "accept") == 303
    assert load_wishes(fleet).endpoints["cork"].url == MOVED
    assert act("ames", "accept") == 400
    assert act("ames", "accept-list") == 400
    assert act("ames", "nonsense") == 400
    assert act("none", "pause") == 404
    (log,) = Path(fleet, "curation", "activity").iterdir()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(one["action"], one["message"]) for one in lines[:2]] == [
        ("pause", "endpoint ames"), ("resume", "endpoint ames")
    ]  # fmt: skip
    assert len(lines) == 6
    with FleetLedger(fleet) as ledger:
        assert ledger.facts_of("ames").is_asked
        assert ledger.facts_of("cork").moved_to == ""


def test_a_shorter_list_is_accepted(page: Any, fleet: str) -> None:
    with FleetLedger(fleet) as ledger:
        _run(ledger, "ames", RunOutcome.SUSPICIOUS, "lists 3 records")
    assert "Accept the shorter list" in page.get("/fleet/ames").text
    assert page.post("/fleet/ames", {"action": "accept-list"}).status == 303
    with FleetLedger(fleet) as ledger:
        assert ledger.facts_of("ames").promised is None


def test_a_change_from_another_site_is_refused(page: Any, fleet: str) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}
    assert page.post("/fleet/ames", {"action": "pause"}, headers=headers).status == 403
    assert not load_wishes(fleet).endpoints["ames"].is_paused


def test_metrics_are_in_the_text_format(page: Any) -> None:
    answer = page.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    samples = dict(
        line.rsplit(" ", 1) for line in answer.text.splitlines() if not line.startswith("#")
    )
    assert samples['silo_fleet_endpoints{state="whole"}'] == "1"
    assert samples["silo_fleet_records"] == "120"
    assert samples['silo_fleet_runs_last_day{outcome="failed"}'] == "1"
    assert samples["silo_fleet_nodes_lost"] == "1"
    assert samples['silo_fleet_node_free_bytes{node="n1"}'] == "1000000000"


def test_the_day_has_what_ran_and_what_is_due(page: Any) -> None:
    text = page.get("/fleet").text
    assert 'href="#day"' in text
    assert "Runs in the last 24 hours. " in text
    assert "Runs due in the next 24 hours. " in text
    assert re.search(r"Failed, (now|\d\d:00): 2", text)  # berne and cork
    assert "Overdue, now: 1" in text  # delft is new
    assert re.search(r"From \d\d:00 to now; ", text)
    assert re.search(r"From now to \d\d:00; ", text)
    assert "are counted" not in text
    ended, due = _day_of(page.json("/fleet.json"))
    assert ended == {"whole": 1, "failed": 1, "moved": 1}
    assert due == {"due": 3, "overdue": 1}


def test_the_day_has_runs_of_the_repositories_in_the_list(page: Any) -> None:
    text = page.get("/fleet?q=example").text
    assert "Only runs of the 4 repositories in this list are counted." in text
    for query, ended, due, overdue in (
        ("q=berne", {"failed": 1}, 1, 0),
        ("tag=physics", {"whole": 1}, 1, 0),
        ("host=cork.example.org", {"moved": 1}, 1, 0),
        ("state=new", {}, 0, 1),
        ("sort=name", {"whole": 1, "failed": 1, "moved": 1}, 3, 1),
        ("q=nothing", {}, 0, 0),
    ):
        found = page.json(f"/fleet.json?{query}")
        assert _day_of(found) == (ended, {"due": due, "overdue": overdue}), query


def _day_of(found: Any) -> tuple[Counter[str], Counter[str]]:
    """What ended and what is due, summed over the hours."""
    ended, due = Counter[str](), Counter[str]()
    for one in found["day"]["ended"]:
        ended.update({name: number for name, number in one.items() if name != "hour"})
    for one in found["day"]["due"]:
        due.update({name: number for name, number in one.items() if name != "hour"})
    return ended, due


def test_runs_are_due_in_their_hours_and_overdue_ones_now() -> None:
    now = datetime(2026, 1, 1, 10, 30, tzinfo=UTC)
    minutes = (-3000, 0, 15, 40, 40, 1409, 1410, 1440, 1441, None)
    moments = [None if one is None else now + timedelta(minutes=one) for one in minutes]
    hours = due_by_hour([SimpleNamespace(due=one) for one in moments], now)  # type: ignore[arg-type]
    assert len(hours) == 25
    assert [(f"{hour:%d %H}", due, late) for hour, due, late in hours if due or late] == [
        ("01 10", 1, 2), ("01 11", 2, 0), ("02 09", 1, 0), ("02 10", 2, 0),
    ]  # fmt: skip


def test_runs_of_all_of_the_last_24_hours_are_counted_in_their_hours() -> None:
    now = datetime(2026, 1, 2, 10, 30, tzinfo=UTC)
    ended = {(now.replace(day=day, minute=0), RunOutcome.WHOLE): day for day in (1, 2)}
    hours = by_hour(ended, now)
    assert len(hours) == 25
    assert [hours[at][1][RunOutcome.WHOLE] for at in (0, 1, -1)] == [1, 0, 2]


def test_endpoints_are_read_again_where_they_changed(
    fleet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    facts = FleetLedger.facts

    def counted(ledger: FleetLedger, names: Any = None) -> list[Facts]:
        found = facts(ledger, names)
        read.append(len(found))
        return found

    monkeypatch.setattr(FleetLedger, "facts", counted)
    lines = FleetLines(fleet)

    def states() -> dict[str, str]:
        found = lines.find(FleetQuestion())
        return {line.endpoint.name: line.state.value for line in found.lines}

    def reads() -> int:
        done = read.copy()
        read.clear()
        return sum(done)

    first = states()
    reads()  # also those of the opening
    assert (states(), reads()) == (first, 0)
    with Fleet(fleet) as other:
        _run(other.ledger, "ames", RunOutcome.PARTIAL, "lacks some")
        _run(other.ledger, "berne", RunOutcome.WHOLE, "all")
        reads()
        assert states() == {**first, "ames": "partial", "berne": "whole"}
        assert reads() == 2
        soon = datetime.now(UTC) + timedelta(seconds=60)
        other.ledger.change("berne", lambda facts: facts._replace(due=soon))
        assert states()["berne"] == "whole"
        other.remove(["cork"])
        assert "cork" not in states()
    reads()

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) + timedelta(seconds=70)

    monkeypatch.setattr("webui.fleet_lines.datetime", Later)
    assert (states()["berne"], reads()) == ("due", 1)
    lines.close()


@pytest.mark.browser
@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("light", 320), ("dark", 1280)])
def test_the_pages_of_a_fleet_are_for_everybody(
    page: Any, open_page: Callable[..., Any], scheme: str, width: int
) -> None:
    assert page.get("/fleet").status == 200
    size = {"width": width, "height": 800}
    shown = open_page("/fleet", color_scheme=scheme, viewport=size)
    for path in ("/fleet", "/fleet?tag=physics&sort=records", "/fleet?q=nothing", "/fleet/cork"):
        shown.goto(path)
        shown.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        is_accessible(shown, path)
        fits(shown, path)


@pytest.mark.browser
@pytest.mark.long
def test_on_a_phone_the_heads_that_sort_are_seen_when_they_have_the_focus(
    page: Any, open_page: Callable[..., Any]
) -> None:
    assert page.get("/fleet").status == 200
    shown = open_page("/fleet", viewport={"width": 320, "height": 800})
    head = shown.locator("table.fleet thead")
    before = head.bounding_box()
    assert before["height"] <= 1
    shown.get_by_role("link", name="Last whole harvest").focus()
    now = head.bounding_box()
    assert now["height"] > 20
    fits(shown, "fleet")


def test_a_directory_without_a_fleet_has_no_such_page(
    client: Any, stage: Any, tmp_path: Path
) -> None:
    shelf = Shelf(Granary(str(tmp_path / "g")), lambda _silo: None, LOOPBACK_ONLY)  # type: ignore[arg-type, return-value]
    stage.app = shelf
    assert client.get("/fleet").status == 404
    assert client.get("/metrics").status == 404
    assert client.post("/fleet/x", {"action": "pause"}).status in {404, 405}
    shelf.close()


def test_a_wrong_file_of_wishes_is_one_sentence(page: Any, fleet: str) -> None:
    Path(fleet, "fleet", "endpoints.toml").write_text("[[endpoint")
    answer = page.get("/fleet")
    assert answer.status == 503
    assert "not valid TOML" in answer.text
    assert fleet not in answer.text


def test_a_state_that_was_made_again_is_shown_at_once(page: Any, fleet: str) -> None:
    assert page.get("/fleet.json").json["counts"]["whole"] == 1
    assert page.get("/fleet.json").text.count("\n") == 1  # it may be long
    found = rebuild(fleet, [{"name": "elsewhere", "node": "n1"}])
    assert found == (0, ["elsewhere on n1 is not an endpoint of the fleet"])
    assert page.get("/fleet.json").json["counts"] == {"new": 4}


def test_metrics_without_a_session_are_refused_and_not_a_form(
    fleet: str, client: Any, stage: Any
) -> None:
    gate = Gate.of(fleet, "page", sign_in=True)
    shelf = Shelf(Granary(fleet), lambda _silo: None, LOOPBACK_ONLY, gate)  # type: ignore[arg-type, return-value]
    stage.app = shelf
    assert client.get("/metrics").status == 401
    assert client.get("/fleet").status == 303
    shelf.close()


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("/silos.json", "/silos.json"),
        ("/search.json?q=x&facet=type", "/search.json"),
        ("/fleet.json?sort=name", "/fleet.json"),
        *((f"/fleet/{name}.json", "/fleet/{name}.json") for name in ("ames", "berne", "cork")),
    ],
)
def test_the_json_of_a_fleet_is_as_its_openapi_document_says(
    page: Any, fleet: str, path: str, address: str
) -> None:
    Granary(fleet, create=False).get_silo("ames").close()
    told = page.json("/openapi.json")
    answer = told["paths"][address]["get"]["responses"]["200"]["content"]["application/json"]
    schema = answer["schema"] | {"components": told["components"]}
    jsonschema_rs.validate(schema, page.json(path))


def test_the_morning_says_what_to_decide_what_is_not_well_late_and_resting(
    page: Any, fleet: str
) -> None:
    with Fleet(fleet) as found:
        found.change("ames", is_paused=True)
        lines = found.lines()
    now = datetime.now(UTC)
    parts = {one.name: [line.endpoint.name for line in one.lines] for one in morning(lines, now)}
    assert parts["to_do"] == ["cork"]
    assert parts["failed"] == ["berne"]
    assert parts["resting"] == ["ames"]
    later = {one.name for one in morning(lines, now + timedelta(hours=9))}
    assert "late" in later
    text = page.get("/fleet").text
    assert "Somebody has to look at these." in text
    assert 'class="flat current"' in text
    assert 'href="/add-repositories"' in text


def test_run_now_says_what_will_happen(page: Any, fleet: str) -> None:
    with Fleet(fleet) as found:
        line = found.line("berne")
    now = datetime.now(UTC)
    assert "within a minute" in will_happen(line, is_at_work=True, now=now)
    assert "Nothing runs the fleet now" in will_happen(line, is_at_work=False, now=now)
    answer = page.post("/fleet/berne", {"action": "run-now"})
    assert answer.headers["Location"].endswith("/fleet/berne?done=run-now")
    assert "A run was asked for." in page.get("/fleet/berne?done=run-now").text


def test_repositories_are_added_from_a_list(page: Any, fleet: str) -> None:
    text = "http://ames.example.org/oai\nhttp://essen.example.org/oai\nno address"
    found = page.upload(
        "/add-repositories?", [("list", None, text.encode()), ("do", None, b"add")],
        headers={"Accept": "application/json"},
    ).json  # fmt: skip
    assert found["added"] == ["essen.example.org"]
    assert found["known"] == ["http://ames.example.org/oai"]
    assert len(found["refused"]) == 1
    assert "essen.example.org" in load_wishes(fleet).endpoints
    assert page.post("/add-repositories", {"do": "add", "list": " "}).status == 400
    assert page.post("/add-repositories", {"do": "add", "list": text, "every": "x"}).status == 400
    form = page.get("/add-repositories").text
    assert "curate.js" not in form  # which sends uploads itself, and expects to be led on


def test_repositories_are_asked_before_they_are_added(
    page: Any, fleet: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"a": (True, "Archive of A"), "b": (False, "the connection was refused")}
    monkeypatch.setattr(
        probing, "answer_of", lambda order: answers[order.wish.url.partition("://")[2][0]]
    )
    text = "http://a.example.org/oai\nhttp://b.example.org/oai"
    shown = page.post("/add-repositories", {"do": "probe", "list": text}, accept="text/html").text
    assert "Archive of A" in shown
    assert "the connection was refused" in shown
    assert set(load_wishes(fleet).endpoints) == {"ames", "berne", "cork", "delft & co"}


def test_who_is_too_slow_is_left_behind(fleet: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Fleet(fleet) as found:
        orders = probing.orders_of(found, [Endpoint("a", "http://a.example.org/oai")] * 2)
    done = Event()
    monkeypatch.setattr(probing, "answer_of", lambda _order: (done.wait(60), "late"))
    assert [one.answers for one in probing.probed(orders, 0.05)] == [None, None]
    done.set()
