"""Source changes are merged with a curator's edits, and neither is lost."""

from collections.abc import Callable

import pytest

from recordsilo import Silo
from recordsilo.audit.check import Audit
from recordsilo.errors import RevisionConflict
from recordsilo.index import SearchFilters
from recordsilo.selection import Selection
from silocuration.activity import ActivityFilter, activity, of_fields
from silocuration.batch.job import create_job, run_job
from silocuration.batch.specs import rules_job
from silocuration.editing.fields import Field, Fields, read_fields, said, values_of, write_fields
from silocuration.editing.rule_files import RuleSet, save_rules
from silocuration.editing.rules import Replace
from silocuration.errors import NoFields, UpstreamRefused
from silocuration.upstream import (
    ReviewKind,
    accept,
    follow,
    keep,
    propose_all,
    resolve,
    review,
    reviews,
)

Fill = Callable[..., list[str]]
Harvest = Callable[..., None]


def fields_of(silo: Silo, identifier: str, version: str | None = None) -> dict[str, list[str]]:
    with silo[identifier].get_stream("oai_dc", version) as stream:
        found: dict[str, list[str]] = {}
        for one in read_fields(stream.read()):
            found.setdefault(one.name, []).append(one.folded)
        return found


def curate(silo: Silo, identifier: str, **values: str) -> None:
    """Change fields of the working copy, made if need be."""
    record = silo[identifier]
    if not record.is_curated:
        record.clone_version("1", "workingcopy")
    with record.get_stream("oai_dc") as stream:
        content = stream.read()
    fields = read_fields(content)
    for name, text in values.items():
        fields = tuple(
            Field(one.name, text, one.lang, one.place) if one.name == name else one
            for one in fields
        )
    record.put_stream("oai_dc", write_fields(content, fields), None, True)


def test_what_merges_cleanly_is_proposed_beside_the_working_copy(
    silo: Silo, fill: Fill, harvest_again: Harvest
) -> None:
    (identifier,) = fill(1, type="Article", date="1999")
    curate(silo, identifier, type="article")
    silo[identifier].put_stream("note.txt", "mine")
    harvest_again(identifier, title="Record 0", type="Article", date="2001", rights="open")
    assert [one.kind for one in reviews(silo)] == [ReviewKind.CLEAN]
    assert propose_all(silo, agent="cron").proposed == 1
    record = silo[identifier]
    assert record.versions == ["1", "workingcopy", "2", "workingcopy-from-2"]
    assert record.currentversion == "workingcopy"
    assert fields_of(silo, identifier, "workingcopy-from-2") == {
        "title": ["Record 0"], "type": ["article"], "date": ["2001"], "rights": ["open"],
    }  # fmt: skip
    assert "note.txt" in record.paths("workingcopy-from-2")
    assert fields_of(silo, identifier)["date"] == ["1999"]
    again = propose_all(silo, agent="cron")
    assert (again.proposed, again.waiting) == (0, {ReviewKind.PROPOSED: 1})


def test_an_accepted_proposal_becomes_the_working_copy_and_the_former_is_kept(
    silo: Silo, fill: Fill, harvest_again: Harvest
) -> None:
    (identifier,) = fill(1, type="Article", date="1999")
    curate(silo, identifier, type="article")
    harvest_again(identifier, title="Record 0", type="Article", date="2001")
    propose_all(silo, agent="cron")
    assert accept(silo, identifier, agent="ada") == "workingcopy-on-1"
    record = silo[identifier]
    assert record.versions == ["1", "workingcopy-on-1", "2", "workingcopy"]
    assert record.currentversion == "workingcopy"
    assert fields_of(silo, identifier)["date"] == ["2001"]
    assert fields_of(silo, identifier, "workingcopy-on-1")["date"] == ["1999"]
    assert list(reviews(silo)) == []
    harvest_again(identifier, title="Record 0!", type="Article", date="2001")
    (found,) = reviews(silo)
    assert (found.kind, found.base, found.theirs) == (ReviewKind.CLEAN, "2", "3")


def test_a_clean_merge_is_accepted_at_once(silo: Silo, fill: Fill, harvest_again: Harvest) -> None:
    (identifier,) = fill(1, type="Article", date="1999")
    curate(silo, identifier, type="article")
    harvest_again(identifier, title="Record 0", type="Article", date="2001")
    assert accept(silo, identifier, agent="ada") == "workingcopy-on-1"
    assert silo[identifier].versions == ["1", "workingcopy-on-1", "2", "workingcopy"]
    assert fields_of(silo, identifier)["type"] == ["article"]
    assert fields_of(silo, identifier)["date"] == ["2001"]
    assert list(reviews(silo)) == []


def test_a_conflict_waits_with_three_values_until_it_is_decided(
    silo: Silo, fill: Fill, harvest_again: Harvest
) -> None:
    (identifier,) = fill(1, type="Article")
    curate(silo, identifier, title="Record zero", type="article")
    harvest_again(identifier, title="Record nought", type="Article")
    report = propose_all(silo, agent="cron")
    assert (report.proposed, report.waiting) == (0, {ReviewKind.CONFLICT: 1})
    found = review(silo, identifier)
    assert found is not None
    (conflict,) = found.conflicts
    assert [said(side)[0][1] for side in (conflict.base, conflict.ours, conflict.theirs)] == [
        "Record 0", "Record zero", "Record nought",
    ]  # fmt: skip
    with pytest.raises(UpstreamRefused, match="needs a choice for title"):
        resolve(silo, identifier, {}, agent="ada")
    resolve(silo, identifier, {"title": (("Record Zero", "en"),)}, agent="ada")
    accept(silo, identifier, agent="ada")
    assert fields_of(silo, identifier) == {"title": ["Record Zero"], "type": ["article"]}


def test_a_conflict_is_resolved_again_in_another_way_before_it_is_accepted(
    silo: Silo, fill: Fill, harvest_again: Harvest
) -> None:
    (identifier,) = fill(1, type="Article")
    curate(silo, identifier, title="Record zero", type="article")
    harvest_again(identifier, title="Record nought", type="Article")
    resolve(silo, identifier, {"title": (("Wrong", "en"),)}, agent="ada")
    resolve(silo, identifier, {"title": (("Right", "en"),)}, agent="ada")
    assert silo[identifier].versions == ["1", "workingcopy", "2", "workingcopy-from-2"]
    assert silo[identifier].currentversion == "workingcopy"
    silo[identifier].put_stream("note.txt", "mine", "workingcopy-from-2")
    with pytest.raises(UpstreamRefused, match="delete version workingcopy-from-2"):
        resolve(silo, identifier, {"title": (("Other", "en"),)}, agent="ada")
    accept(silo, identifier, agent="ada")
    assert fields_of(silo, identifier) == {"title": ["Right"], "type": ["article"]}


def test_the_log_of_a_resolved_conflict_says_what_was_changed_here(
    silo: Silo, fill: Fill, harvest_again: Harvest
) -> None:
    (identifier,) = fill(1, creator=["Swan, E.", "Ortega, N."])
    record = silo[identifier]
    record.clone_version("1", "workingcopy")
    with record.get_stream("oai_dc") as stream:
        ours = stream.read().replace(b"Swan, E.", b"Swan, Edward")
    record.put_stream("oai_dc", ours, None, True)
    theirs = ["Swan, Hamish", "Ortega, N."]
    harvest_again(identifier, title="Record 0", creator=theirs)
    chosen = {"creator": (("Swan, Eve", ""), ("Ortega, N.", ""))}
    resolve(silo, identifier, chosen, agent="ada")
    last = next(one for _, one in activity(silo.path, ActivityFilter()))
    assert (last.action, last.what) == ("resolve", "creator")
    assert (last.old, last.new) == ("Swan, Edward", "Swan, Eve")


def test_a_value_that_was_removed_is_not_logged_as_the_one_that_was_changed() -> None:
    before = tuple(Field("creator", text) for text in ("Swan, Hamish", "Swan, Edward", "Li, M."))
    after = tuple(Field("creator", text) for text in ("Swan, Edward J.", "Li, Min"))
    removed, *changed = of_fields(before, after)
    assert removed == ("creator", "Swan, Hamish", None)
    assert changed == [
        ("creator", "Swan, Edward", "Swan, Edward J."), ("creator", "Li, M.", "Li, Min"),
    ]  # fmt: skip
    assert of_fields(after, before)[0] == ("creator", None, "Swan, Hamish")


def test_what_a_kept_rule_did_is_done_again_and_is_no_conflict(
    silo: Silo, fill: Fill, harvest_again: Harvest
) -> None:
    (identifier,) = fill(1, type="Journal Article")
    by_type = Selection(filters=SearchFilters(values={"type": ("Journal Article",)}))
    rules = RuleSet("one spelling", by_type, (Replace("type", "Journal Article", "article"),),
                    keep=True)  # fmt: skip
    save_rules(silo.path, "types", rules)
    run_job(silo, create_job(silo, rules_job(rules, "types"), agent="ada"))
    harvest_again(identifier, title="Record 0", type=["Journal Article", "PeerReviewed"])
    assert propose_all(silo, agent="cron").proposed == 1
    assert fields_of(silo, identifier, "workingcopy-from-2")["type"] == ["article", "PeerReviewed"]


@pytest.mark.parametrize("decide", [keep, follow])
def test_a_curated_record_deleted_at_the_source_is_kept_or_follows(
    silo: Silo, fill: Fill, harvest_again: Harvest, decide: Callable[..., None]
) -> None:
    (identifier,) = fill(1, type="Article")
    curate(silo, identifier, type="article")
    harvest_again(identifier)
    assert [one.kind for one in reviews(silo)] == [ReviewKind.DELETED]
    decide(silo, identifier, agent="ada")
    record = silo[identifier]
    assert list(reviews(silo)) == []
    assert record.versions == ["1", "workingcopy", "2"]
    assert record.currentversion == ("workingcopy" if decide is keep else "2")


def test_what_cannot_be_merged_by_fields_waits_too(
    silo: Silo, fill: Fill, harvest_again: Harvest
) -> None:
    (identifier,) = fill(1, type="Article")
    curate(silo, identifier, type="article")
    with silo.editing(identifier) as edit:  # as an earlier release let people do
        edit.put("workingcopy", "oai_dc", b"<broken", metadata=True)
    harvest_again(identifier, title="New")
    (found,) = reviews(silo)
    assert found.kind is ReviewKind.UNREADABLE
    assert "not well-formed XML" in found.reason


def test_nothing_is_asked_where_nothing_is_new(silo: Silo, fill: Fill) -> None:
    first, second = fill(2)
    curate(silo, first, title="x")
    assert list(reviews(silo)) == []
    assert review(silo, second) is None
    for decide in (keep, follow, accept):
        with pytest.raises(UpstreamRefused):
            decide(silo, first, agent="ada")


def test_the_values_of_a_field_are_theirs_where_we_did_nothing(
    silo: Silo, fill: Fill, harvest_again: Harvest
) -> None:
    (identifier,) = fill(1, type="Article")
    curate(silo, identifier, type="article")
    harvest_again(identifier, title="New title", type="Article")
    found = review(silo, identifier)
    assert found is not None
    assert found.merged is not None
    assert [one.text for one in values_of(found.merged.fields, "title")] == ["New title"]
    assert found.merged.from_ours == ("type",)


@pytest.mark.parametrize("decide", [accept, keep, follow])
def test_a_decision_made_for_another_revision_changes_nothing(
    silo: Silo, fill: Fill, harvest_again: Harvest, decide: Callable[..., object]
) -> None:
    (identifier,) = fill(1, type="Article", date="1999")
    curate(silo, identifier, type="article")
    harvest_again(identifier, title="Record 0", type="Article", date="2001")
    propose_all(silo, agent="cron")
    looked_at = silo[identifier].revision
    curate(silo, identifier, type="essay")
    before = silo[identifier].state
    with pytest.raises(RevisionConflict):
        decide(silo, identifier, agent="ada", if_revision=looked_at)
    assert silo[identifier].state == before
    assert [one.action for _, one in activity(silo.path, ActivityFilter(agent="ada"))] == []
    decide(silo, identifier, agent="ada", if_revision=before.revision)
    assert review(silo, identifier) is None


def test_a_record_whose_proposal_cannot_be_written_is_named_and_hinders_no_other(
    silo: Silo, fill: Fill, harvest_again: Harvest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(content: bytes, fields: Fields) -> bytes:
        if b"New 0" in content:
            raise NoFields("declares no prefix dcterms")
        return write_fields(content, fields)

    identifiers = fill(2, type="Article", date="1999")
    for number, identifier in enumerate(identifiers):
        curate(silo, identifier, type="article")
        harvest_again(identifier, title=f"New {number}", type="Article", date="1999")
    monkeypatch.setattr("silocuration.upstream.write_fields", refusing)
    report = propose_all(silo, agent="cron")
    assert (report.proposed, [one for one, _ in report.failed]) == (1, identifiers[:1])
    assert silo[identifiers[0]].versions == ["1", "workingcopy", "2"]
    assert silo[identifiers[1]].versions == ["1", "workingcopy", "2", "workingcopy-from-2"]


def test_each_proposal_is_a_line_in_the_activity_log(
    silo: Silo, fill: Fill, harvest_again: Harvest
) -> None:
    one, other, conflicting = fill(3, type="Article", date="1999")
    for identifier in (one, other, conflicting):
        curate(silo, identifier, type="article")
    for identifier in (one, other):
        harvest_again(identifier, title="New", type="Article", date="2001", rights="open")
    harvest_again(conflicting, title="New", type="Book", date="1999")
    for _ in range(2):
        propose_all(silo, agent="cron")
    lines = [line for _, line in activity(silo.path, ActivityFilter(action="propose"))]
    assert {line.identifier for line in lines} == {one, other}
    assert {(line.agent, line.version, line.what, line.old, line.new) for line in lines} == {
        ("cron", "workingcopy-from-2", "version", None, "workingcopy-from-2")
    }
    assert len(lines) == 2


def test_an_accepted_proposal_is_found_by_what_it_says(
    silo: Silo, fill: Fill, harvest_again: Harvest
) -> None:
    (identifier,) = fill(1, type="Article", date="1999")
    curate(silo, identifier, type="Thesis")
    harvest_again(identifier, title="Gulls", type="Article", date="1999")
    propose_all(silo, agent="ann")
    accept(silo, identifier, agent="ann")
    row = silo.row(identifier)
    assert (row.title, row.current_version) == ("Gulls", "workingcopy")
    assert [one.identifier for one in silo.search("gulls").rows] == [identifier]
    assert not list(Audit(silo.path).findings())
