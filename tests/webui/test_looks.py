"""Clusters, source changes and quality on the page: what is shown, and decisions."""

import html
import re
import threading
import time
from typing import Any

import pytest

from recordsilo import Silo
from recordsilo.records.manifest import Origin
from silocuration.review.kept_duplicates import KeptDuplicates, find_and_keep, read_kept
from silocuration.upstream import propose_all
from webui import found_duplicates, timed_cache
from webui.editing.curator import expected_revision
from webui.pages import clusters as cluster_page

PLAIN = "oai:example.org:1"
SEGMENT = "oai+example,org+1"
URL = "/upstream/" + SEGMENT
HTML = "text/html"


def dublin_core(*fields: tuple[str, str]) -> bytes:
    lines = "".join(f"\n  <dc:{name}>{value}</dc:{name}>" for name, value in fields)
    return (
        '<metadata xmlns="http://www.openarchives.org/OAI/2.0/">'
        '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/">{lines}\n</oai_dc:dc></metadata>'
    ).encode()


def harvest(silo: Silo, identifier: str, content: bytes | None) -> None:
    """What a later harvest brings of a record."""
    with silo.batch([identifier]) as batch:
        edit = batch.edit(identifier)
        is_new = not edit.exists
        name = "1" if is_new else "2"
        origin = Origin("harvest", prefixes={"oai_dc": "2005-01-01"}, date="2005-01-01T00:00:00")
        edit.add_version(name, date="2005-01-01T00:00:00", origin=origin, move_cursor=is_new)
        if content is None:
            edit.set_metadata("deleted_at_version", name)
            edit.set_metadata("deleted_at_date", "2005-01-01T00:00:00")
        else:
            edit.put(name, "oai_dc", content, metadata=True, allow_frozen=True)


def content(silo: Silo, version: str | None = None) -> str:
    with silo[PLAIN].get_stream("oai_dc", version) as file:
        return str(file.read().decode())


@pytest.fixture
def curated(silo: Silo, working_copy: str) -> str:
    """The record with a title of the curator's own."""
    text = content(silo).replace("On the keeping of records", "Keeping <!---->records")
    silo[working_copy].put_stream("oai_dc", text.replace("<!---->", "").encode(), "workingcopy")
    return working_copy


# -- upstream ---------------------------------------------------------------------------


PAGES = (
    "/records/oai+example,org+1/versions/workingcopy/edit",
    "/records/oai+example,org+1/versions/workingcopy/edit-xml",
    "/bulk?q=Record", "/bulk/sheet?q=Record", "/bulk/attach?q=Record", "/bulk/jobs", "/rules",
    "/clusters", "/upstream", "/upstream/oai+example,org+1", "/quality", "/quality/duplicates",
)  # fmt: skip


def test_no_link_leaves_a_silo_that_is_mounted(
    client: Any, silo: Silo, stage: Any, mount_at: Any, curated: str
) -> None:
    harvest(silo, curated, None)
    mount_at("/silos/first", stage.app)
    for path in PAGES:
        page = client.get("/silos/first" + path)
        assert page.status == 200, path
        for url in re.findall(r'(?:href|action|src|data-values)="(/[^"]*)"', page.text):
            assert url.startswith("/silos/first/"), (path, url)


def test_the_queue_is_empty_and_says_so(client: Any) -> None:
    assert "Nothing to decide" in client.get("/upstream").text
    assert client.json("/upstream") == {"records": [], "complete": True, "next": None}


def ended(client: Any, url: str) -> Any:
    """A job, once it has come to its end."""
    for _ in range(3000):
        job = client.json(url)
        if job["state"] in {"done", "failed", "stopped"}:
            return job
        time.sleep(0.02)
    raise AssertionError(job)


def queue(silo: Silo, client: Any, names: list[str]) -> None:
    """Curated records that were deleted at the source."""
    for name in names:
        silo[name].clone_version("1", "workingcopy")
        harvest(silo, name, None)


def test_the_queue_is_walked_page_by_page(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"oai:example.org:{number}" for number in range(100, 105)]
    queue(silo, client, names)
    monkeypatch.setattr("webui.pages.upstream.PAGE", 2)
    found, url, pages = [], "/upstream", 0
    while url:
        answer = client.json(url)
        found += [one["identifier"] for one in answer["records"]]
        url, pages = answer["next"], pages + 1
    assert (found, pages) == (names, 3)
    first = client.get("/upstream").text
    assert 'rel="next" href="/upstream?after=' in first
    assert "First page" not in first
    last = client.get("/upstream?after=" + names[3]).text
    assert '<a class="step" href="/upstream">First page</a>' in last
    assert 'rel="next"' not in last
    assert "The list has no more entries." in client.get("/upstream?after=" + names[4]).text


def test_a_page_of_the_queue_looks_at_some_records_only(
    client: Any, silo: Silo, curated: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    harvest(silo, curated, content(silo, "1").replace("2003", "2004").encode())
    queue(silo, client, [f"oai:example.org:{number}" for number in range(100, 104)])
    monkeypatch.setattr("webui.pages.upstream.LOOKED_AT", 2)
    url, found = "/upstream?kind=deleted", []
    page = client.get("/upstream?kind=clean&after=oai:example.org:1").text
    assert "None of this kind on this page" in page
    while url:
        answer = client.json(url)
        found += [one["kind"] for one in answer["records"]]
        url = answer["next"]
    assert found == ["deleted"] * 4


def test_a_clean_merge_is_proposed_and_accepted(client: Any, silo: Silo, curated: str) -> None:
    harvest(silo, curated, content(silo, "1").replace("2003", "2004").encode())
    assert client.json("/upstream")["records"][0]["kind"] == "clean"
    begun = client.post("/upstream", {})
    assert begun.status == 202
    job = ended(client, begun.headers["Location"])
    assert (job["kind"], job["state"], job["counts"]["proposed"]) == ("propose", "done", 1)
    page = client.get(URL)
    assert "Accept the proposal" in page.text
    assert "2003" in content(silo)
    form = {"do": "accept", "if_match": str(silo[curated].revision)}
    answer = client.post(URL, form, accept=HTML)
    assert answer.status == 303
    assert "previous working copy is kept" in client.get(answer.headers["Location"]).text
    assert "Keeping records" in content(silo)
    assert "2004" in content(silo)
    assert "workingcopy-on-1" in silo[curated].versions


def test_a_proposal_shows_its_changes_before_it_is_accepted(
    client: Any, silo: Silo, curated: str
) -> None:
    harvest(silo, curated, content(silo, "1").replace("2003", "2004").encode())
    for _ in range(2):  # a clean merge, then the proposal made of it
        (listed,) = client.json("/upstream")["records"]
        changed = {"change": "changed", "before": {"text": "2003", "lang": ""},
                   "after": {"text": "2004", "lang": ""}}  # fmt: skip
        assert listed["changes"] == client.json(URL)["changes"] == {"date": [changed]}
        for page in ("/upstream", URL):
            text = client.get(page).text
            assert '<del dir="auto"><mark>2003</mark></del>' in text, page
            assert '<ins dir="auto"><mark>2004</mark></ins>' in text, page
        offered = "Propose all clean merges" in client.get("/upstream").text
        assert offered is (listed["kind"] == "clean")
        propose_all(silo, agent="cron")
    assert client.json(URL)["kind"] == "proposed"


def test_the_changes_of_a_conflict_are_those_of_the_source(
    client: Any, silo: Silo, curated: str
) -> None:
    theirs = content(silo, "1").replace("On the keeping of records", "Records and their keeping")
    harvest(silo, curated, theirs.encode())
    (listed,) = client.json("/upstream")["records"]
    (title,) = listed["changes"]["title"]
    assert title["before"]["text"] == "On the keeping of records"
    assert title["after"]["text"] == "Records and their keeping"


def test_a_decision_leads_back_to_the_list_and_to_the_next_record(
    client: Any, silo: Silo, curated: str
) -> None:
    harvest(silo, curated, content(silo, "1").replace("2003", "2004").encode())
    queue(silo, client, ["oai:example.org:100"])
    answer = client.post(URL, {"do": "accept"}, accept=HTML)
    assert answer.status == 303
    page = client.get(answer.headers["Location"]).text
    assert "Proposal accepted" in page
    assert f'href="/records/{SEGMENT}"' in page
    begin = re.search(r'href="([^"]+)">Next source change', page)
    following = client.get(html.unescape(begin[1]), accept=HTML).headers["Location"]
    assert following.startswith("/upstream/oai+example,org+100?round=")
    page = client.get(following).text
    assert "1 left" in page
    written = re.search(r'name="round" value="([^"]+)"', page)[1]
    answer = client.post(following.partition("?")[0], {"do": "keep", "round": written}, accept=HTML)
    page = client.get(answer.headers["Location"]).text
    assert "The edited version is kept." in page
    assert "1 done in" in page
    assert "Next source change" not in page
    assert "Nothing to decide" in page


def test_a_conflict_shows_three_values_and_is_resolved(
    client: Any, silo: Silo, curated: str
) -> None:
    theirs = content(silo, "1").replace("On the keeping of records", "Records and their keeping")
    harvest(silo, curated, theirs.encode())
    page = client.get(URL).text
    for title in ("On the keeping of records", "Keeping records", "Records and their keeping"):
        assert title in page
    unchosen = client.post(URL, {"do": "resolve"})
    assert (unchosen.status, unchosen.error["code"]) == (409, "nothing_to_decide")
    assert unchosen.error["message"].startswith(f"{PLAIN} needs a choice for title")
    page = client.post(URL, {"do": "resolve", "own-0": "Mine"}, accept=HTML)
    assert page.status == 409
    assert "Also choose a value for Title." in page.text
    assert "Mine</textarea>" in page.text
    own = {
        "do": "resolve",
        "take-0": "own",
        "own-0": "Keeping records\r\nA second title",
        "name-0": "title",
    }
    assert client.post(URL, own, accept=HTML).status == 303
    assert client.json(URL)["kind"] == "proposed"
    proposal = content(silo, "workingcopy-from-2")
    assert "<dc:title>A second title</dc:title>" in proposal
    assert "Keeping records" in content(silo)
    page = client.get(URL).text
    assert "Choose other values" in page
    assert 'name="take-0" value="own" checked' in page
    assert "A second title</textarea>" in page
    theirs = {"do": "resolve", "take-0": "theirs", "name-0": "title"}
    assert client.post(URL, theirs, accept=HTML).status == 303
    assert "Records and their keeping" in content(silo, "workingcopy-from-2")
    assert 'name="take-0" value="theirs" checked' in client.get(URL).text
    silo[curated].put_stream("note.txt", "mine", "workingcopy-from-2")
    assert "Choose other values" not in client.get(URL).text
    refused = client.post(URL, theirs)
    assert (refused.status, "was edited" in refused.error["message"]) == (409, True)


@pytest.mark.parametrize(("action", "current"), [("keep", "workingcopy"), ("follow", "2")])
def test_a_record_deleted_at_the_source_is_kept_or_followed(
    client: Any, silo: Silo, curated: str, action: str, current: str
) -> None:
    harvest(silo, curated, None)
    assert "deleted at the source" in client.get("/upstream?kind=deleted").text
    assert client.post(URL, {"do": action}).status == 200
    assert silo[curated].currentversion == current
    assert "workingcopy" in silo[curated].versions
    assert client.json("/upstream")["records"] == []


def test_a_decision_for_another_revision_is_refused(client: Any, silo: Silo, curated: str) -> None:
    harvest(silo, curated, None)
    assert client.post(URL, {"do": "follow", "if_match": "1"}).status == 412
    assert client.post(URL, {"do": "burn"}).status == 400
    assert silo[curated].currentversion == "workingcopy"


def test_a_decision_overtaken_by_another_change_is_refused(
    client: Any, silo: Silo, curated: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    harvest(silo, curated, None)

    def overtaken(call: Any, found: int) -> int | None:
        revision = expected_revision(call, found)
        silo[curated].put_stream("late.txt", b"late", "workingcopy")
        return revision

    monkeypatch.setattr("webui.pages.upstream.expected_revision", overtaken)
    revision = str(silo[curated].revision)
    assert client.post(URL, {"do": "follow", "if_match": revision}).status == 412
    assert silo[curated].currentversion == "workingcopy"


def test_nothing_to_decide_is_a_sentence(client: Any) -> None:
    answer = client.get(URL, accept="application/json")
    assert (answer.status, answer.error["code"]) == (409, "nothing_to_decide")
    assert client.get("/upstream?kind=odd", accept="application/json").status == 400


# -- quality ----------------------------------------------------------------------------


def test_each_count_leads_to_its_records(client: Any) -> None:
    found = {one["code"]: one for one in client.json("/quality")["findings"]}
    assert "Q301" in found
    for one in found.values():
        assert client.json(one["url"])["total"] == one["count"]
    assert client.get("/quality").text.count('<a href="/search?finding=') == len(found)


def test_a_set_has_a_table_of_its_own(client: Any) -> None:
    page = client.json("/quality?set=7374617475733D707562")
    assert page["set"] == "7374617475733D707562"
    for one in page["findings"]:
        assert client.json(one["url"])["total"] == one["count"]


@pytest.fixture
def alike(silo: Silo) -> list[str]:
    """Two records that are likely one."""
    fields = (("title", "Salt marshes of the north"), ("creator", "Lind, A."), ("date", "2001"))
    harvest(silo, "oai:example.org:a", dublin_core(*fields))
    harvest(
        silo, "oai:example.org:b", dublin_core(("title", "SALT MARSHES OF THE NORTH"), *fields[1:])
    )
    return ["oai:example.org:a", "oai:example.org:b"]


def test_a_duplicate_is_marked_found_by_search_and_unmarked(
    client: Any, silo: Silo, alike: list[str]
) -> None:
    groups = client.json("/quality/duplicates")["groups"]
    assert [one["identifier"] for one in groups[0]] == alike
    rows = re.findall(
        r'<tr class="(differs|same)">\s*<th scope="row">(\w+)',
        client.get("/quality/duplicates").text,
    )
    assert rows[0] == ("differs", "Title")
    assert {("same", "Creator"), ("same", "Year")} <= set(rows)
    assert groups[0][0]["creators"] == groups[0][1]["creators"] != []
    form = {"do": "duplicates", "identifiers": "\r\n".join(alike), "of": alike[0]}
    assert client.post("/quality/duplicates", form, accept=HTML).status == 303
    page = client.json("/quality/duplicates")
    assert page["groups"] == []
    assert page["marked"] == [{"identifier": alike[1], "duplicate_of": alike[0]}]
    assert client.json("/search?finding=Q901")["total"] == 1
    assert "Remove mark" in client.get("/quality/duplicates").text
    client.post("/quality/duplicates", {"do": "unmark", "identifiers": alike[1]})
    assert "duplicate_of" not in silo[alike[1]].metadata


def test_duplicates_are_looked_for_beside_the_request(
    client: Any, silo: Silo, alike: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = threading.Event()

    def slowly(silo: Silo) -> KeptDuplicates:
        may_end.wait(30)
        return find_and_keep(silo)

    monkeypatch.setattr(found_duplicates, "PATIENCE", 0)
    monkeypatch.setattr(found_duplicates, "find_and_keep", slowly)
    assert client.json("/quality/duplicates")["total"] is None
    assert "Looking for probable duplicates" in client.get("/quality/duplicates").text
    monkeypatch.setattr(found_duplicates, "PATIENCE", 30)
    may_end.set()
    page = client.json("/quality/duplicates")
    assert (page["total"], page["current"]) == (1, True)
    kept = read_kept(silo.path)
    assert kept is not None
    assert kept.date == page["found"]
    assert kept.to_decide == [tuple(alike)]


@pytest.mark.long
def test_a_process_looks_for_the_duplicates_of_a_large_silo(
    client: Any, silo: Silo, alike: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(found_duplicates, "LARGE", 0)
    monkeypatch.setattr(found_duplicates, "find_and_keep", None)
    page = client.json("/quality/duplicates")
    assert [one["identifier"] for one in page["groups"][0]] == alike


def test_records_that_are_not_the_same_are_marked_so(
    client: Any, silo: Silo, alike: list[str]
) -> None:
    form = {"do": "distinct", "identifiers": "\n".join(alike)}
    assert client.post("/quality/duplicates", form).status == 200
    assert client.json("/quality/duplicates")["total"] == 0
    assert silo[alike[0]].metadata["not_duplicate_of"] == [alike[1]]


def test_records_marked_as_distinct_by_mistake_are_listed_again(
    client: Any, silo: Silo, alike: list[str]
) -> None:
    form = {"do": "distinct", "identifiers": "\n".join(alike)}
    page = client.get(client.post("/quality/duplicates", form, accept=HTML).headers["Location"])
    assert "Marked as distinct." in page.text
    assert "\n".join(alike) + "</textarea>" in page.text
    assert '<button class="quiet" name="do" value="revoke">Undo</button>' in page.text
    client.post("/quality/duplicates", form | {"do": "revoke"})
    assert client.json("/quality/duplicates")["total"] == 1
    assert "not_duplicate_of" not in silo[alike[0]].metadata


@pytest.mark.parametrize(
    "form",
    [{}, {"identifiers": PLAIN}, {"identifiers": PLAIN, "do": "duplicates"},
     {"identifiers": "nobody", "do": "distinct"}],
)  # fmt: skip
def test_a_mark_that_says_nothing_is_refused(client: Any, form: dict[str, str]) -> None:
    assert client.post("/quality/duplicates", form).status in {400, 404}


# -- clusters ---------------------------------------------------------------------------


@pytest.fixture
def spelled(silo: Silo) -> None:
    """Four records with one type in three spellings."""
    for number, kind in enumerate(
        ("Journal article", "Journal article", "journal Article", "Article, journal")
    ):
        fields = (("title", f"Spelled {number}"), ("type", kind))
        harvest(silo, f"oai:example.org:s{number}", dublin_core(*fields))


@pytest.mark.usefixtures("spelled")
def test_merging_a_cluster_makes_a_rule_that_can_be_previewed(client: Any, silo: Silo) -> None:
    found = client.json("/clusters?field=type")
    assert found["total"] == 1
    assert found["clusters"][0][0] == {"value": "Journal article", "count": 2}
    values = [one["value"] for one in found["clusters"][0]]
    form = {"field": "type", "to-0": "Journal article"}
    form |= {f"value-0-{n}": value for n, value in enumerate(values)}
    answer = client.post("/clusters", form, accept=HTML)
    assert answer.status == 200
    assert "journal Article\tJournal article" in answer.text
    rule = client.post("/clusters", form).json["changes"][0]
    fields = {"search": "", "changes": "1", "do": "preview"}
    fields |= {f"change-0-{name}": text for name, text in rule.items()}
    preview = client.post("/bulk", fields).json["preview"]
    assert (preview["changed"], preview["values"]) == (2, 2)
    assert silo.count(curated=True) == 0


@pytest.mark.usefixtures("spelled")
def test_only_certain_variants_are_ticked_at_first_also_beyond_those_shown(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_page, "SHOWN", 1)
    page = client.get("/clusters?field=type").text
    assert "Ticked: values that differ only in case, spaces or punctuation." in page
    assert "and 2 more" in page
    boxes = re.findall(r'name="value-[^"]+" type="checkbox" value="([^"]+)"( checked)?', page)
    assert sorted(boxes) == [
        ("Article, journal", ""), ("Journal article", " checked"), ("journal Article", " checked"),
    ]  # fmt: skip
    assert client.json("/clusters?field=type")["certain"] == [
        ["Journal article", "journal Article"]
    ]


@pytest.mark.usefixtures("spelled")
def test_clusters_of_which_nothing_is_ticked_are_left_alone(client: Any) -> None:
    unticked = {"field": "type", "to-0": "Journal article"}
    said = client.post("/clusters", unticked).error["message"]
    assert said.startswith("Nothing would be merged. Tick the values that are the same")
    page = client.get("/clusters?field=type").text
    assert "Merge all ticked on this page" in page


@pytest.mark.usefixtures("spelled")
def test_clusters_of_all_fields_are_listed_and_lead_to_their_records(client: Any) -> None:
    found = client.json("/clusters")
    assert "type" in found["fields"]
    page = client.get("/clusters").text
    address = html.unescape(re.findall(r'href="(/search\?type=journal[^"]*)"', page)[0])
    assert client.json(address.replace("/search?", "/search.json?"))["total"] == 1


@pytest.mark.usefixtures("spelled")
def test_rules_for_clusters_of_two_fields_have_a_change_for_each(client: Any) -> None:
    form = {
        "to-0": "A", "field-0": "type", "value-0-0": "a",
        "to-1": "B", "field-1": "creator", "value-1-0": "b",
    }  # fmt: skip
    changes = client.post("/clusters", form).json["changes"]
    assert [(one["field"], one["table"]) for one in changes] == [
        ("type", "a\tA"),
        ("creator", "b\tB"),
    ]
    changes = client.post("/clusters", form | {"do": "merge-1"}).json["changes"]
    assert [one["field"] for one in changes] == ["creator"]


@pytest.mark.usefixtures("spelled")
def test_an_ignored_cluster_stays_away_until_it_is_restored(
    client: Any, silo: Silo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timed_cache, "FACTOR", 0)  # on a busy machine, finding takes long
    (key,) = client.json("/clusters?field=type")["keys"]
    answer = client.post("/clusters", {"field": "type", "do": f"ignore-{key}"}, accept=HTML)
    assert answer.status == 303
    found = client.json("/clusters?field=type")
    assert (found["total"], len(found["distinct"])) == (0, 1)
    assert client.post("/clusters", {"do": f"ignore-{key}"}).status == 404
    harvest(silo, "oai:example.org:s9", dublin_core(("title", "S"), ("type", "JOURNAL ARTICLE")))
    assert client.json("/clusters?field=type")["total"] == 1
    assert client.post("/clusters", {"do": f"restore-{key}"}, accept=HTML).status == 303
    assert client.json("/clusters?field=type")["distinct"] == []
    assert client.post("/clusters", {"do": f"restore-{key}"}).status == 404


@pytest.mark.parametrize(
    "query", ["field=title", "field=type&method=x", "field=type&distance=9", "field=type&start=-1"]
)
def test_clusters_of_what_there_is_not_are_a_sentence(client: Any, query: str) -> None:
    assert client.get(f"/clusters?{query}", accept="application/json").status == 400
