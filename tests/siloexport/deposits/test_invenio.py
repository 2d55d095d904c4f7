"""Deposits on InvenioRDM: drafts, publishing, versions, and answers of others."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from examples import family
from invenio_simulator import TOKEN, Simulator
from loopback_peer import LOST, Answer, Request
from sword_simulator import HTML, lost

from recordsilo import Silo
from siloexport import Export, Policy, Selection, Versions
from siloexport.bibliography import Bibliography, Dated, Identifier, Name, Relation, Rights, Value
from siloexport.commands.export import export as command
from siloexport.engine.deposits import Retries
from siloexport.errors import CredentialsRefused, TargetUnusable
from siloexport.targets.invenio import InvenioSettings, InvenioTarget
from siloexport.targets.invenio.client import InvenioClient
from siloexport.targets.invenio.metadata import is_within, metadata, pids
from siloexport.targets.remote import server as remote
from siloexport.targets.remote.errors import NotOfThisKind
from siloexport.targets.remote.server import Server

ONE = Selection(identifiers=("oai:example.org:1",))


def exporting(silo: Silo, peer: Simulator, login: str = TOKEN,
              versions: Versions = Versions.CURRENT, **settings: object) -> Export:  # fmt: skip
    target = InvenioTarget(
        peer.base,
        Server(peer.base, login),
        InvenioSettings(**settings),  # type: ignore[arg-type]
        lambda _seconds: None,
    )
    return Export(silo, target, Policy(versions), Retries(attempts=2, first=0.01))


def test_record_becomes_a_draft_with_its_files(silo: Silo, invenio: Simulator) -> None:
    report = exporting(silo, invenio).run(ONE)
    assert report.whole, report.problems
    (remark,) = report.remarks
    assert "metadata.creators: Missing data for required field" in remark.reason
    (draft,) = invenio.kept.values()
    assert not draft.is_published
    assert draft.metadata["title"] == "One"
    assert draft.metadata["identifiers"] == [{"identifier": "oai:example.org:1", "scheme": "other"}]
    assert list(draft.files) == ["oai_dc", "oai_dc.xml", "silo.json"]
    assert draft.pids == {}
    assert exporting(silo, invenio).verify().differences == 0


def test_nothing_is_published_unless_that_was_asked_for(silo: Silo, invenio: Simulator) -> None:
    invenio.needed = ("title",)
    exporting(silo, invenio).run()
    assert not any(one.is_published for one in invenio.kept.values())
    assert not any(one.path.endswith("/publish") for one in invenio.asked)


@pytest.mark.long
def test_drafts_are_published_by_a_later_export(silo: Silo, invenio: Simulator) -> None:
    invenio.needed = ("title",)
    exporting(silo, invenio).run()
    report = exporting(silo, invenio, publish=True).run()
    assert report.whole, report.problems
    assert len(invenio.kept) == 3
    assert all(one.is_published for one in invenio.kept.values())
    assert exporting(silo, invenio).run().written == 0


def test_each_version_becomes_a_version_there(silo: Silo, invenio: Simulator) -> None:
    invenio.needed = ("title",)
    two = Selection(identifiers=("oai:example.org:2",))
    all_ = Versions.ALL
    report = exporting(silo, invenio, versions=all_, publish=True).run(two)
    assert report.whole, report.problems
    first, second = invenio.kept.values()
    assert (first.parent, first.index, second.index) == (second.parent, 1, 2)
    assert "docs/licence.txt" not in first.files
    assert second.files["docs/licence.txt"].content == b"CC BY 4.0"
    verified = exporting(silo, invenio, versions=all_, publish=True).verify()
    assert (verified.versions, verified.differences) == (2, 0)


def test_record_that_lacks_what_is_needed_is_not_published(silo: Silo, invenio: Simulator) -> None:
    report = exporting(silo, invenio, publish=True).run(ONE)
    assert report.failed == 1
    assert "it cannot be published: metadata.publication_date: Missing" in report.problems[0].reason
    (draft,) = invenio.kept.values()
    assert not draft.is_published
    invenio.needed = ("title",)
    assert exporting(silo, invenio, publish=True).run(ONE).whole
    assert len(invenio.kept) == 1


@pytest.mark.long
def test_what_is_published_is_not_taken_back(silo: Silo, invenio: Simulator) -> None:
    invenio.needed = ("title",)
    run = exporting(silo, invenio, publish=True).run(ONE)
    report = exporting(silo, invenio, publish=True).rollback(run.run_id)
    assert "what is published is not deleted" in next(iter(report.kept.values()))
    assert invenio.kept["r0001-x"].is_published


@pytest.mark.long
def test_draft_that_somebody_published_gets_a_draft_of_its_next_version(
    silo: Silo, invenio: Simulator
) -> None:
    exporting(silo, invenio).run(ONE)
    invenio.kept["r0001-x"].is_published = True
    silo["1"].clone_version("1", "workingcopy")
    silo["1"].put_stream("notes.txt", "seen")
    report = exporting(silo, invenio).run(ONE)
    assert report.whole, report.problems
    assert [one.is_published for one in invenio.kept.values()] == [True, False]
    assert "notes.txt" not in invenio.kept["r0001-x"].files


def test_first_version_goes_to_the_review_of_a_community(silo: Silo, invenio: Simulator) -> None:
    invenio.needed = ("title",)
    named = {"publish": True, "community": "theses"}
    report = exporting(silo, invenio, **named).run(ONE)
    assert report.whole, report.problems
    assert report.remarks[0].reason == "submitted to the community"
    (draft,) = invenio.kept.values()
    assert (draft.in_review, draft.review) == (True, "uuid-theses")
    assert exporting(silo, invenio, **named).run(ONE).written == 0
    with pytest.raises(TargetUnusable, match="404"):
        exporting(silo, invenio, community="nothing").run(ONE)


@pytest.mark.parametrize(
    ("method", "path"),
    family(
        [
            ("POST", "/api/records"),
            ("PUT", "/api/records/r0001-x/draft"),
            ("POST", "/api/records/r0001-x/draft/files"),
            ("POST", "/api/records/r0001-x/draft/files/oai_dc/commit"),
            ("POST", "/api/records/r0001-x/draft/files/silo.json/commit"),
            ("POST", "/api/records/r0001-x/draft/actions/publish"),
        ],
        1,
    ),
)
def test_lost_answer_makes_no_second_record(
    silo: Silo, invenio: Simulator, method: str, path: str
) -> None:
    invenio.needed, invenio.lags = ("title",), 1
    invenio.after = lost(method, path)
    report = exporting(silo, invenio, publish=True).run(ONE)
    assert report.whole, report.problems
    assert [one.is_published for one in invenio.kept.values()] == [True]
    assert exporting(silo, invenio, publish=True).verify().differences == 0


@pytest.mark.long
def test_damaged_upload_is_sent_again(silo: Silo, invenio: Simulator) -> None:
    damaged: list[Request] = []

    def damage(request: Request) -> Answer | None:
        if request.path.endswith("/oai_dc/content") and not damaged:
            damaged.append(request)
            invenio.kept["r0001-x"].files["oai_dc"].content = b"damaged"
        return None

    invenio.after = damage
    assert exporting(silo, invenio).run(ONE).whole
    assert exporting(silo, invenio).verify().differences == 0


@pytest.mark.parametrize(
    ("answer", "said"),
    family(
        [
            (HTML, 'text/html "Please log in"'),
            (Answer(302, b"", {"Location": "https://login.example.org/"}), "redirects to https://"),
            (Answer(200, b"[]", {"Content-Type": "application/json"}), "not a JSON object"),
            (Answer(200, b"{}", {"Content-Type": "application/json"}), "not that of InvenioRDM"),
            (Answer(LOST), "connection"),
        ],
        1,
    ),
)
def test_answer_of_something_else_is_nothing_done(
    silo: Silo, invenio: Simulator, answer: Answer, said: str
) -> None:
    invenio.before = lambda _request: answer
    with pytest.raises(TargetUnusable, match=said):
        exporting(silo, invenio).run(ONE)
    assert invenio.kept == {}


@pytest.mark.long
def test_page_for_people_after_a_write_is_nothing_done(silo: Silo, invenio: Simulator) -> None:
    invenio.needed = ("title",)
    invenio.before = lambda one: HTML if one.path.endswith("/publish") else None
    report = exporting(silo, invenio, publish=True).run(ONE)
    assert (report.written, report.failed) == (0, 1)
    assert "Please log in" in report.problems[0].reason


def test_wrong_token_ends_the_run(silo: Silo, invenio: Simulator) -> None:
    with pytest.raises(CredentialsRefused, match="could not verify"):
        exporting(silo, invenio, "Bearer x").run(ONE)


def test_command_takes_the_token_from_a_file_or_the_environment(
    silo: Silo, invenio: Simulator, tmp_path: Path
) -> None:
    def called(*arguments: str, token: str = "") -> Result:
        return CliRunner().invoke(command, arguments, env={"INVENIO_TOKEN": token or None})

    path, url = silo.path, invenio.base
    result = called("invenio", path, url, token="abc")
    assert result.exit_code == 0, result.output
    assert f"{url} (drafts): 3 created" in result.output
    file = tmp_path / "token"
    file.write_text("abc\n", encoding="utf-8")
    file.chmod(0o600)
    result = called("invenio", "verify", path, f"{url}/api", "--credentials", str(file))
    assert "3 versions of 3 records compared, 0 differences" in result.output
    file.write_text("not a token\n", encoding="utf-8")
    assert "is not a token" in called("invenio", path, url, "--credentials", str(file)).output
    kept = b"".join(one.read_bytes() for one in Path(path, "curation").rglob("*") if one.is_file())
    assert b"Bearer" not in kept


# -- the metadata ------------------------------------------------------------------------------


def test_metadata_has_the_words_of_the_repository() -> None:
    found = Bibliography(
        title=Value("Solar power", "en"),
        creators=(Name("Köhler, Hans", "Köhler", "Hans", "0000-0002-1825-0097"),),
        contributors=(Name("Example University", role="his", kind="organization"),),
        publishers=(Value("Example Press"),),
        dates=(Dated("issued", "2016-05"), Dated("submitted", "2015-01-02")),
        types=(Value("Journal Article"),),
        subjects=(Value("Energy"),),
        languages=("de",),
        identifiers=(Identifier("doi", "10.1234/x"), Identifier("issn", "1234-5679")),
        rights=(Rights("", "https://creativecommons.org/licenses/by/4.0/"), Rights("Ask us")),
        abstracts=(Value("About power."),),
        relations=(Relation("IsPartOf", "x", Identifier("url", "https://example.org/")),),
    )
    said = metadata("oai:example.org:1", found)
    assert pids(found) == {"doi": {"identifier": "10.1234/x", "provider": "external"}}
    assert said["creators"] == [
        {
            "person_or_org": {
                "type": "personal", "family_name": "Köhler", "given_name": "Hans",
                "identifiers": [{"scheme": "orcid", "identifier": "0000-0002-1825-0097"}],
            }
        }
    ]  # fmt: skip
    assert said["contributors"][0]["role"] == {"id": "hostinginstitution"}
    assert said["resource_type"] == {"id": "publication-article"}
    assert said["languages"] == [{"id": "deu"}]
    assert said["rights"] == [{"id": "cc-by-4.0"}, {"title": {"en": "Ask us"}}]
    assert said["dates"] == [{"date": "2015-01-02", "type": {"id": "submitted"}}]
    assert said["publication_date"] == "2016-05"
    assert said["related_identifiers"] == [
        {"identifier": "https://example.org/", "scheme": "url", "relation_type": {"id": "ispartof"}}
    ]
    assert "10.1234/x" not in json.dumps(said)


def test_nothing_is_made_up_for_empty_metadata() -> None:
    said = metadata("oai:example.org:1", Bibliography())
    assert said.keys() == {"resource_type", "identifiers"}
    assert pids(Bibliography()) == {}


def test_what_a_repository_adds_is_no_change() -> None:
    assert is_within({"a": [{"id": "x"}]}, {"a": [{"id": "x", "title": "X"}], "b": 1})
    assert not is_within({"a": [{"id": "x"}]}, {"a": [{"id": "y"}]})
    assert not is_within({"a": [1]}, {"a": [1, 2]})


def test_token_that_comes_back_is_not_told(silo: Silo, invenio: Simulator) -> None:
    said = json.dumps({"message": f"no such token: {TOKEN}; abc"}).encode()
    invenio.before = lambda one: Answer(400, said) if one.path.endswith("/files") else None
    report = exporting(silo, invenio).run(ONE)
    assert "no such token: ***; ***" in report.problems[0].reason
    invenio.before = lambda _one: Answer(302, b"", {"Location": f"/login?of={TOKEN}"})
    with pytest.raises(TargetUnusable, match=r"redirects to /login\?of=\*\*\*;"):
        exporting(silo, invenio).run(ONE)


def test_a_draft_without_an_id_is_no_draft() -> None:
    class Listing(Server):
        def send(self, _method: str, url: str, *_: Any, **__: Any) -> remote.ServerAnswer:
            hit = {"metadata": {"identifiers": [{"identifier": "x"}]}}
            body = json.dumps({"hits": {"hits": [hit]}}).encode()
            return remote.ServerAnswer(url, 200, {"Content-Type": "application/json"}, body)

    with Listing("http://127.0.0.1/") as server, pytest.raises(NotOfThisKind, match="names no id"):
        list(InvenioClient(server, "http://127.0.0.1/").mine("x"))
