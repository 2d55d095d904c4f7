"""Deposits by SWORDv2: what is sent, and what other answers than the expected ones do."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from examples import family
from loopback_peer import LOST, Answer, Request
from lxml import etree
from sword_simulator import HTML, LOGIN, USER, Simulator, lost

from recordsilo import Silo
from siloexport import Export, OnConflict, Policy, Selection, Versions
from siloexport.commands.export import export as command
from siloexport.engine.deposits import Retries
from siloexport.errors import CredentialsRefused, TargetUnusable
from siloexport.targets.remote.server import Server, checked_address
from siloexport.targets.sword import METS_SIP, SwordSettings, SwordTarget

ONE = Selection(identifiers=("oai:example.org:1",))
METS = "{http://www.loc.gov/METS/}"


def exporting(silo: Silo, peer: Simulator, settings: SwordSettings | None = None,
              login: str = LOGIN, versions: Versions = Versions.CURRENT) -> Export:  # fmt: skip
    url = f"{peer.base}/sword/service"
    target = SwordTarget(url, Server(url, login), settings)
    return Export(silo, target, Policy(versions), Retries(attempts=2, first=0.01))


def sent(peer: Simulator, method: str) -> list[Request]:
    return [one for one in peer.asked if one.method == method]


def test_deposit_has_description_files_and_who_it_is_for(silo: Silo, repository: Simulator) -> None:
    settings = SwordSettings(on_behalf_of="jbloggs", in_progress=True)
    report = exporting(silo, repository, settings).run(ONE)
    assert report.whole, report.problems
    (post,) = sent(repository, "POST")
    assert post.headers["Slug"] == "oai+example,org+1"
    assert post.headers["In-Progress"] == "true"
    assert post.headers["On-Behalf-Of"] == "jbloggs"
    (kept,) = repository.kept.values()
    assert (kept.in_progress, kept.packaging, kept.owner) == (True, "SimpleZip", "jbloggs")
    assert ("title", "One") in kept.terms
    assert ("identifier", "oai:example.org:1") in kept.terms
    with zipfile.ZipFile(io.BytesIO(kept.content or b"")) as zipped:
        assert zipped.namelist() == ["silo.json", "oai_dc", "oai_dc.xml"]
        about = json.loads(zipped.read("silo.json"))
    assert (about["identifier"], about["version"]) == ("oai:example.org:1", "1")


@pytest.mark.parametrize("reads_receipts", [True, False])
def test_credentials_in_the_address_of_a_deposit_stay_out_of_the_ledger(
    silo: Silo, repository: Simulator, reads_receipts: bool
) -> None:
    repository.login_in_addresses = "depositor:correct-horse@"
    repository.reads_receipts = reads_receipts
    report = exporting(silo, repository).run(ONE)
    assert report.whole, report.problems
    assert exporting(silo, repository).verify().differences == 0
    silo["1"].clone_version("1", "workingcopy")
    silo["1"].put_stream("notes.txt", "seen")
    report = exporting(silo, repository).run(ONE)
    assert report.whole, report.problems
    assert len(repository.kept) == 1
    ledgers = (Path(silo.path) / "curation" / "exports").iterdir()
    kept = b"".join(one.read_bytes() for one in ledgers)
    assert b"/sword/edit/1" in kept
    assert b"correct-horse" not in kept


@pytest.mark.long
def test_the_same_package_is_made_again(silo: Silo, repository: Simulator) -> None:
    exporting(silo, repository).run(ONE)
    first = repository.kept.pop(1).content
    exporting(silo, repository).run(ONE, on_conflict=OnConflict.OVERWRITE)
    assert repository.kept[2].content == first


def test_mets_names_every_file_and_describes_the_record(silo: Silo, repository: Simulator) -> None:
    settings = SwordSettings(METS_SIP)
    report = exporting(silo, repository, settings, versions=Versions.ALL).run()
    assert report.whole, report.problems
    kept = next(one for one in repository.kept.values() if one.slug.endswith("+2"))
    with zipfile.ZipFile(io.BytesIO(kept.content or b"")) as zipped:
        names = set(zipped.namelist())
        root = etree.fromstring(zipped.read("mets.xml"))
    assert root.get("PROFILE", "").startswith("DSpace METS SIP Profile")
    places = {one.get("{http://www.w3.org/1999/xlink}href") for one in root.iter(f"{METS}FLocat")}
    assert names == places | {"mets.xml"}
    assert {"1/oai_dc", "workingcopy/docs/licence.txt"} < names
    assert root.findtext(".//{http://www.loc.gov/mods/v3}title") == "Two"
    assert exporting(silo, repository, settings, versions=Versions.ALL).verify().differences == 0


def test_deposits_left_open_are_completed_by_a_later_export(
    silo: Silo, repository: Simulator
) -> None:
    exporting(silo, repository, SwordSettings(in_progress=True)).run()
    assert all(one.in_progress for one in repository.kept.values())
    assert exporting(silo, repository).run().whole
    assert len(repository.kept) == 3
    assert not any(one.in_progress for one in repository.kept.values())


@pytest.mark.parametrize(
    ("lists", "in_steps"),
    family([("whole", False), ("bare", True), ("whole", True), ("bare", False)], 1),
)
def test_lost_answer_to_a_creation_makes_no_second_deposit(
    silo: Silo, repository: Simulator, in_steps: bool, lists: str
) -> None:
    repository.lists = lists
    repository.after = lost("POST", "/sword/col/")
    settings = SwordSettings(in_steps=in_steps)
    report = exporting(silo, repository, settings).run(ONE)
    assert report.whole, report.problems
    assert len(repository.kept) == 1
    assert exporting(silo, repository, settings).verify().differences == 0
    assert exporting(silo, repository, settings).run(ONE).written == 0


@pytest.mark.parametrize("path", family(["/sword/edit/", "/sword/media/"], 1))
def test_lost_answer_to_a_replacement_is_no_conflict(
    silo: Silo, repository: Simulator, path: str
) -> None:
    settings = SwordSettings(in_steps=True)
    exporting(silo, repository, settings).run(ONE)
    silo["1"].clone_version("1", "workingcopy")
    silo["1"].put_stream("notes.txt", "seen")
    repository.after = lost("PUT", path)
    report = exporting(silo, repository, settings).run(ONE)
    assert report.whole, report.problems
    assert exporting(silo, repository, settings).verify().differences == 0


def test_lost_answer_where_nothing_is_listed_is_said_and_not_repeated(
    silo: Silo, repository: Simulator
) -> None:
    repository.lists = "no"
    repository.after = lost("POST", "/sword/col/")
    for _ in range(2):
        report = exporting(silo, repository).run(ONE)
        assert (report.failed, len(repository.kept)) == (1, 1)
        assert "does not list its deposits" in report.problems[0].reason
    assert exporting(silo, repository).reconcile(ONE).unreadable
    assert exporting(silo, repository).run(ONE, on_conflict=OnConflict.OVERWRITE).whole
    assert exporting(silo, repository).run(ONE).records == 1


@pytest.mark.long
def test_deposit_that_is_listed_without_an_address_is_a_conflict(
    silo: Silo, repository: Simulator
) -> None:
    repository.lists = "slugs"
    repository.after = lost("POST", "/sword/col/")
    report = exporting(silo, repository).run(ONE)
    assert (report.conflicts, len(repository.kept)) == (1, 1)
    assert "gives no address" in report.problems[0].reason


def test_server_that_gives_nothing_back_is_not_said_to_be_compared(
    silo: Silo, repository: Simulator
) -> None:
    repository.gives_content = repository.gives_terms = False
    assert exporting(silo, repository).run(ONE).whole
    report = exporting(silo, repository).verify()
    (reason,) = report.unreadable.values()
    assert "cannot be compared; it says: in the review of ann" in reason


@pytest.mark.long
def test_state_that_goes_on_in_the_repository_is_no_change(
    silo: Silo, repository: Simulator
) -> None:
    exporting(silo, repository).run(ONE)
    repository.kept[1].changes += 1  # accepted there: another date, the same content
    silo["1"].clone_version("1", "workingcopy")
    silo["1"].put_stream("notes.txt", "seen")
    assert exporting(silo, repository).run(ONE).whole


@pytest.mark.long
def test_deposits_that_the_server_does_not_delete_are_kept(
    silo: Silo, repository: Simulator
) -> None:
    run = exporting(silo, repository).run(ONE)
    repository.deletes = False
    report = exporting(silo, repository).rollback(run.run_id)
    (reason,) = report.kept.values()
    assert "the server does not delete it" in reason


# -- answers that are not those of such a server -------------------------------------------


def test_page_for_people_in_place_of_an_answer_is_nothing_done(
    silo: Silo, repository: Simulator
) -> None:
    repository.before = lambda request: HTML if request.method == "POST" else None
    report = exporting(silo, repository).run(ONE)
    assert (report.written, report.failed, len(repository.kept)) == (0, 1, 0)
    assert 'text/html "Please log in"' in report.problems[0].reason
    repository.before = lambda _request: None
    assert exporting(silo, repository).run(ONE).whole
    assert len(repository.kept) == 1


@pytest.mark.parametrize(
    ("answer", "said"),
    family(
        [
            (HTML, "is not the expected answer: text/html"),
            (
                Answer(302, b"", {"Location": "https://login.example.org/"}),
                "it redirects to https://",
            ),
            (Answer(200, b"{}", {"Content-Type": "application/json"}), "is not XML"),
            (
                Answer(200, b"<html/>", {"Content-Type": "text/xml"}),
                "is not an Atom feed but <html>",
            ),
            (Answer(200, b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', {}), "has a document type"),
            (Answer(404, b"no", {}), "404 no"),
            (Answer(LOST), "connection"),
        ],
        2,
    ),
)
def test_address_without_a_service_is_refused(
    silo: Silo, repository: Simulator, answer: Answer, said: str
) -> None:
    repository.before = lambda _request: answer
    with pytest.raises(TargetUnusable, match=said):
        exporting(silo, repository).run(ONE)


def test_address_on_another_server_gets_nothing(silo: Silo, repository: Simulator) -> None:
    text = repository._service().replace(repository.base, "http://127.0.0.1:9")
    answer = Answer(200, text.encode(), {"Content-Type": "application/atomsvc+xml"})
    repository.before = lambda _request: answer
    with pytest.raises(TargetUnusable, match="on another server"):
        exporting(silo, repository).run(ONE)


@pytest.mark.long
def test_receipt_that_names_another_server_stops_the_run(silo: Silo, repository: Simulator) -> None:
    def elsewhere(request: Request) -> Answer | None:
        if request.method != "POST":
            return None
        text = repository._receipt(repository.kept[1]).replace(
            repository.base, "http://127.0.0.1:9"
        )
        return Answer(201, text.encode(), {"Content-Type": "application/atom+xml"})

    repository.after = elsewhere
    report = exporting(silo, repository).run(ONE)
    assert "on another server" in report.stopped
    assert report.written == 0


@pytest.mark.parametrize(
    ("change", "settings", "said"),
    family(
        [
            ({"collections": ("A", "B")}, {}, r"lists 2 collections; choose one .*'A'.*'B'"),
            ({}, {"collection": "C"}, "lists no collection 'C': 'Theses'"),
            ({"collections": ()}, {}, "lists no collection that the user may deposit to"),
            (
                {"packagings": ("Binary",)},
                {},
                "does not take packages as .*SimpleZip, but .*Binary",
            ),
            ({"mediation": False}, {"on_behalf_of": "x"}, "no deposits for others"),
        ],
        1,
    ),
)
def test_collection_that_does_not_fit_is_refused(
    silo: Silo,
    repository: Simulator,
    change: dict[str, object],
    settings: dict[str, str],
    said: str,
) -> None:
    for name, value in change.items():
        setattr(repository, name, value)
    with pytest.raises(TargetUnusable, match=said):
        exporting(silo, repository, replace(SwordSettings(), **settings)).run(ONE)  # type: ignore[arg-type]


@pytest.mark.long
def test_one_of_several_collections_is_chosen_by_its_title(
    silo: Silo, repository: Simulator
) -> None:
    repository.collections = ("A", "B")
    assert exporting(silo, repository, SwordSettings(collection="B")).run(ONE).whole
    assert sent(repository, "POST")[0].path == "/sword/col/1"


def test_error_documents_are_told_in_their_words(silo: Silo, repository: Simulator) -> None:
    repository.takes_multipart = False
    report = exporting(silo, repository).run(ONE)
    assert "415 ErrorContent: multipart/related" in report.problems[0].reason


@pytest.mark.long
def test_package_larger_than_the_server_takes_is_not_sent(
    silo: Silo, repository: Simulator
) -> None:
    repository.most_kb = 0
    assert exporting(silo, repository).run(ONE).whole  # 0 is no limit
    repository.kept.clear()
    repository.most_kb = 1
    silo["2"].put_stream("large.bin", "x" * 5000)
    two = Selection(identifiers=("oai:example.org:2",))
    report = exporting(silo, repository).run(two)
    assert "the server takes 1,024 at most" in report.problems[0].reason
    assert len(sent(repository, "POST")) == 1


def test_wrong_credentials_end_the_run(silo: Silo, repository: Simulator) -> None:
    with pytest.raises(CredentialsRefused, match="refuses the credentials"):
        exporting(silo, repository, login="Basic eDp5").run(ONE)


# -- the command -----------------------------------------------------------------------------


def called(*arguments: str, environment: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(command, arguments, env=environment or {})


def test_command_takes_the_address_and_a_file_with_the_password(
    silo: Silo, repository: Simulator, tmp_path: Path
) -> None:
    login = tmp_path / "login"
    login.write_text(f"{USER}\n", encoding="utf-8")
    login.chmod(0o600)
    url, path = f"{repository.base}/sword/service", silo.path
    result = called("sword", path, url, "--credentials", str(login))
    assert result.exit_code == 0, result.output
    assert f"{url}: 3 created, 0 replaced, 0 unchanged" in result.output
    for name in ("plan", "verify", "status", "reconcile"):
        result = called("sword", name, path, url, "--credentials", str(login))
        assert result.exit_code == 0, result.output
    assert "secret" not in Path(silo.path, "curation").joinpath("exports").as_posix()
    run_id = exporting(silo, repository).status().runs[0][0]
    result = called("sword", "rollback", path, url, run_id, "--credentials", str(login))
    assert (result.exit_code, repository.kept) == (0, {})


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://ann:secret@127.0.0.1/x", "contains credentials"),
        ("http://repository.example.org/x", "unencrypted; use https"),
        ("ftp://127.0.0.1/", "is not an http or https URL"),
        ("nonsense", "is not an http or https URL"),
    ],
)
def test_address_that_must_not_be_used_is_refused_before_anything_is_sent(
    silo: Silo, url: str, said: str
) -> None:
    result = called("sword", silo.path, url)
    assert result.exit_code == 3
    assert said in result.output
    assert "secret" not in result.output


def test_plain_http_is_possible_when_it_is_wanted() -> None:
    assert checked_address("http://repository.example.org/x", plain=True)
    assert checked_address("http://[::1]:8080/x")


def test_password_that_others_may_read_is_refused(silo: Silo, tmp_path: Path) -> None:
    login = tmp_path / "login"
    login.write_text(USER, encoding="utf-8")
    login.chmod(0o644)
    result = called("sword", silo.path, "http://127.0.0.1:9/", "--credentials", str(login))
    assert "chmod 600" in result.output


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<html><title>No user ann:secret, {login}</title></html>", "text/html"),
        (
            "<e><summary xmlns='http://www.w3.org/2005/Atom'>ann:secret, {login}</summary></e>",
            "a/xml",
        ),
    ],
)
def test_credentials_that_come_back_are_not_told(
    silo: Silo, repository: Simulator, text: str, kind: str
) -> None:
    body = text.format(login=LOGIN).encode()
    repository.before = lambda _one: Answer(401, body, {"Content-Type": kind})
    with pytest.raises(CredentialsRefused, match=r"\*\*\*, \*\*\*") as refused:
        exporting(silo, repository).run(ONE)
    assert "secret" not in str(refused.value)
    assert LOGIN.split()[1] not in str(refused.value)
