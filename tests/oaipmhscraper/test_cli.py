"""The commands, as a person or a script calls them."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from oaipmhprovider.server import SampleServer
from politeweb.settings import HttpSettings
from recordsilo import Silo
from recordsilo.cli import silo_command


@pytest.fixture(scope="module")
def server():
    with SampleServer(size=120) as running:
        yield running


@pytest.fixture
def silo(monkeypatch):
    """Run `silo` with arguments; the result has exit_code, stdout and stderr."""

    def run(*arguments):
        return CliRunner().invoke(silo_command, [str(one) for one in arguments])

    return run


def test_identify_says_what_the_repository_says(silo, server):
    result = silo("identify", server.base_url)
    assert result.exit_code == 0
    assert "repositoryName    Wexcombe Research Repository" in result.stdout
    found = json.loads(silo("identify", server.base_url, "--json").stdout)
    assert found["protocolVersion"] == "2.0"


def test_formats_and_sets_are_listed(silo, server):
    assert {line.split()[0] for line in silo("formats", server.base_url).stdout.splitlines()} == {
        "oai_dc",
        "uketd_dc",
        "pmc_fm",
    }
    assert "uketd_dc" in json.loads(silo("formats", server.base_url, "--json").stdout)
    assert "Status = Published" in silo("sets", server.base_url).stdout
    names = json.loads(silo("sets", server.base_url, "--json").stdout)
    assert "Status = Published" in names.values()


def test_harvest_prints_a_receipt_and_a_second_one_says_nothing_changed(silo, server, silo_dir):
    result = silo("harvest", server.base_url, silo_dir, "-p", "oai_dc", "-p", "pmc_fm")
    assert result.exit_code == 0, result.stderr
    assert "Whole: everything listed is in the Silo." in result.stdout
    with Silo(silo_dir, create=False) as made:
        assert len(made) == 120
    result = silo("harvest", server.base_url, silo_dir)
    assert result.exit_code == 0
    assert "Nothing changed" in result.stdout


def test_harvest_learns_the_names_of_the_sets(silo, server, silo_dir):
    silo("harvest", server.base_url, silo_dir)
    with open(os.path.join(silo_dir, "oaipmh_harvester.json"), encoding="utf-8") as file:
        assert "Status = Published" in json.load(file)["sets"].values()


def test_the_receipt_is_json_where_a_script_wants_it(silo, server, silo_dir, tmp_path):
    file = tmp_path / "receipt.json"
    result = silo("harvest", server.base_url, silo_dir, "--json", "--receipt", file)
    found = json.loads(result.stdout)
    assert found["whole"] is True
    assert found["counts"]["listed"] == 120
    assert json.loads(file.read_text()) == found


def test_update_needs_no_url_and_quiet_says_nothing(silo, server, silo_dir):
    silo("harvest", server.base_url, silo_dir)
    result = silo("update", silo_dir, "--quiet")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert "Nothing new." in silo("update", silo_dir).stdout


def test_an_update_of_a_repository_that_is_down_is_not_told_as_interrupted(silo, silo_dir):
    with SampleServer(size=5) as down:
        silo("harvest", down.base_url, silo_dir)
    assert silo("update", silo_dir).exit_code == 3
    assert "open (nothing was listed yet): oai_dc" in silo("info", silo_dir).stdout


def test_selective_harvests_take_sets_and_dates(silo, server, silo_dir):
    result = silo("harvest", server.base_url, silo_dir, "--from", "2018-01-01", "--json")
    assert 0 < json.loads(result.stdout)["counts"]["listed"] < 120
    spec = next(iter(json.loads(silo("sets", server.base_url, "--json").stdout)))
    result = silo("harvest", server.base_url, silo_dir, "--set", spec, "--json")
    assert json.loads(result.stdout)["set"] == spec


def test_nobody_there_is_one_sentence_and_3_and_leaves_nothing(tmp_path):
    """The real command, in a process of its own."""
    command = os.path.join(os.path.dirname(sys.executable), "silo")
    result = subprocess.run(
        [command, "harvest", "http://127.0.0.1:1/oai", "nowhere"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 3
    assert result.stdout == ""
    assert result.stderr == (
        "silo: http://127.0.0.1:1/oai?verb=Identify gives no answer: the connection was refused\n"
    )
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["harvest", "not-a-url", "DIR"], 2, "not an http or https URL"),
        (["harvest", "repo.example/oai", "DIR"], 2, "did you mean https://repo.example/oai?"),
        (["harvest", "localhost:81/oai", "DIR"], 2, "did you mean http://localhost:81/oai?"),
        (["harvest", "URL", "DIR", "-p", "no/prefix"], 2, "valid metadataPrefix"),
        (["harvest", "URL", "DIR", "--from", "soon"], 2, "not a datestamp"),
        (
            ["harvest", "URL", "DIR", "--update", "--from", "2010-01-01"],
            2,
            "chooses its dates itself",
        ),
        (["harvest", "URL", "DIR", "-p", "marcxml"], 2, "no records in the format marcxml"),
        (["harvest", "URL", "DIR", "-p", "oai_dc", "-p", "marcxml"], 2, "the format marcxml"),
        (["harvest", "URL", "DIR", "--set", "Nowhere"], 2, "the set Nowhere"),
        (["harvest", "DIR", "URL"], 2, "the order is URL "),
        (["harvest", "--moved", "URL", "DIR"], 2, "DIR"),
        (["update", "DIR"], 2, "DIR"),
        (["harvest", "URL", "DIR", "--contact", "mé@x"], 2, "contact"),
        (["identify", "http://user:secret@127.0.0.1:1/"], 3, "http://127.0.0.1:1/?verb"),
    ],
)
def test_errors_are_one_sentence(silo, server, tmp_path, arguments, code, words):
    directory = str(tmp_path / "repo")
    real = {"URL": server.base_url, "DIR": directory}
    result = silo(*(real.get(one, one) for one in arguments))
    assert result.exit_code == code, result.output
    assert words.replace("DIR", directory) in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1 or "Usage:" in result.stderr
    assert "secret" not in result.output
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "refused", [["-p", "marcxml"], ["--from", "2020-01-02", "--until", "2019"]]
)
def test_a_request_that_is_refused_leaves_what_was_there_as_it_was(silo, server, tmp_path, refused):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert silo("harvest", server.base_url, empty, *refused).exit_code == 2
    assert list(empty.iterdir()) == []
    made = tmp_path / "made"
    Silo(str(made), uri_base=server.base_url, base_oai_url=server.base_url).close()
    before = {path.name for path in made.iterdir()}
    assert silo("harvest", server.base_url, made, *refused).exit_code == 2
    assert before <= {path.name for path in made.iterdir()}


def test_what_the_repository_does_not_have_is_refused_once_and_leaves_no_harvest(
    silo, server, silo_dir
):
    silo("harvest", server.base_url, silo_dir)
    before = silo("harvests", silo_dir).stdout, sorted(os.listdir(f"{silo_dir}/harvests"))
    for wrong, end in (
        (["--set", "Nix"], f"the set Nix; its sets: silo sets {server.base_url}\n"),
        (
            ["-p", "oai_cd"],
            "in the format oai_cd; its formats: oai_dc, uketd_dc, pmc_fm; did you mean 'oai_dc'?\n",
        ),
    ):
        result = silo("harvest", server.base_url, silo_dir, *wrong)
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
        assert result.stderr.endswith(end)
        now = silo("harvests", silo_dir).stdout, sorted(os.listdir(f"{silo_dir}/harvests"))
        assert now == before


@pytest.mark.parametrize("wrong", ["no list of formats", "a list without one of them"])
def test_a_format_is_not_refused_by_a_list_of_formats_that_is_wrong(
    silo, patched_client, silo_dir, wrong
):
    """Today's way: what can be had of the formats is stored, and the other one is told."""
    patched_client.add("oai:x:1", formats={"oai_dc": "<a/>", "hidden": "<b/>"})
    if wrong == "no list of formats":
        patched_client.answers.append(
            lambda p: b"<html>" if p["verb"] == "ListMetadataFormats" else None
        )
    result = silo("harvest", "http://repo.example/oai", silo_dir, "-p", "oai_dc", "-p", "hidden")
    assert result.exit_code == 0, result.output
    with Silo(silo_dir, create=False) as made:
        assert sorted(made.get_item("oai:x:1").files) == ["hidden", "oai_dc"]


def no_records_in(set_spec, page, code="noRecordsMatch"):
    """An answer for lists of the set: an error condition."""

    def answer(params):
        if "List" in params["verb"] and params.get("set") == set_spec:
            return page(f'<error code="{code}"/>')
        return None

    return answer


@pytest.mark.parametrize("code", ["noRecordsMatch", "badArgument"])
def test_a_set_that_is_not_there_is_refused_with_those_nearest_by_name(
    silo, patched_client, page, tmp_path, code
):
    patched_client.add("oai:x:1", sets=("col_1",))
    patched_client.sets = {"col_1": "Biology", "col_2": "Geography", "biolog": ""}
    patched_client.answers.append(no_records_in("biologie", page, code))
    made = tmp_path / "repo"
    result = silo("harvest", "http://repo.example/oai", made, "--set", "biologie")
    assert result.exit_code == 2
    assert "the set biologie; the nearest by name: biolog, col_1 (Biology); " in result.stderr
    assert "its sets: silo sets http://repo.example/oai" in result.stderr
    assert not made.exists()


@pytest.mark.parametrize("sets", ["none", "unreadable", "listed"])
def test_a_set_without_records_is_no_mistake_unless_the_repository_lists_others_only(
    silo, patched_client, page, silo_dir, sets
):
    patched_client.add("oai:x:1")
    patched_client.sets = {"empty": "Empty", "other": "Other"} if sets == "listed" else {}
    if sets == "unreadable":
        patched_client.answers.append(lambda p: b"<html>" if p["verb"] == "ListSets" else None)
    patched_client.answers.append(no_records_in("empty", page))
    result = silo("harvest", "http://repo.example/oai", silo_dir, "--set", "empty")
    assert result.exit_code == 0, result.output


def test_a_second_repository_for_a_silo_is_refused_until_it_is_said_to_have_moved(
    silo, server, silo_dir
):
    silo("harvest", server.base_url, silo_dir)
    with SampleServer(size=120) as moved:
        result = silo("harvest", moved.base_url, silo_dir)
        assert result.exit_code == 2
        assert f"silo harvest --moved {moved.base_url} {silo_dir}" in result.stderr
        result = silo("harvest", "--moved", moved.base_url, silo_dir)
        assert result.exit_code == 0
        result = silo("harvest", moved.base_url, silo_dir)
        assert "Nothing changed" in result.stdout
        assert "http://127.0.0.1:1/" not in silo("update", silo_dir).output


def test_a_repository_that_moved_nowhere_is_refused(silo, server, silo_dir):
    silo("harvest", server.base_url, silo_dir)
    assert silo("harvest", "--moved", "http://127.0.0.1:1/oai", silo_dir).exit_code == 3
    assert silo("update", silo_dir).exit_code == 0


@pytest.fixture
def patched_client(monkeypatch, repository):
    """The commands reach the fake repository instead of HTTP."""

    class Sender:
        base_url = "http://repo.example/oai"

        def __init__(self, base_url, settings, **more):
            assert isinstance(settings, HttpSettings)
            self.fetch = repository.fetch

    monkeypatch.setattr("oaipmhscraper.harvests.access.HttpTransport", Sender)
    return repository


def test_losses_are_named_and_exit_1(silo, patched_client, page, silo_dir):
    def without_metadata(params):
        if params["verb"] not in {"ListRecords", "GetRecord"}:
            return None
        header = (
            "<header><identifier>oai:x:1</identifier><datestamp>2010-01-01</datestamp></header>"
        )
        return page(f"<{params['verb']}><record>{header}</record></{params['verb']}>")

    patched_client.add("oai:x:1")
    patched_client.answers.append(without_metadata)
    result = silo("harvest", "http://repo.example/oai", silo_dir)
    assert result.exit_code == 1
    lost = "oai_dc: oai:x:1 (datestamp 2010-01-01), which has neither metadata"
    assert f"Not whole:\n  {lost}" in result.stdout
    result = silo("harvest", "http://repo.example/oai", silo_dir, "--quiet")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith(f"silo: not whole: {lost}")


def test_a_short_list_is_told_and_exits_1(silo, patched_client, silo_dir):
    for number in range(5):
        patched_client.add(f"oai:x:{number}")
    patched_client.page_size, patched_client.promise = 3, 9
    patched_client.answers.append(lambda p: b"<html>" if p["verb"] == "ListIdentifiers" else None)
    result = silo("harvest", "http://repo.example/oai", silo_dir)
    assert result.exit_code == 1
    assert "promised 9 records and listed 5; 4 are missing" in result.stdout


def test_a_harvest_that_breaks_off_keeps_what_came_and_exits_75(silo, patched_client, silo_dir):
    for number in range(5):
        patched_client.add(f"oai:x:{number}")
    patched_client.page_size = 3
    patched_client.answers.append(lambda p: b"<html>" if "resumptionToken" in p else None)
    result = silo("harvest", "http://repo.example/oai", silo_dir)
    assert result.exit_code == 75
    assert "&resumptionToken=oai_dc%7C" in result.stderr
    assert "earlier pages are stored" in result.stderr
    with Silo(silo_dir, create=False) as made:
        assert len(made) == 3


def test_a_first_page_that_cannot_be_read_exits_3(silo, patched_client, silo_dir):
    patched_client.answers.append(lambda p: b"<html>" if p["verb"] != "Identify" else None)
    assert silo("harvest", "http://repo.example/oai", silo_dir).exit_code == 3


def test_an_interrupt_exits_130_and_says_how_to_go_on(silo, patched_client, silo_dir):
    def interrupt(params):
        if params["verb"] == "ListRecords":
            raise KeyboardInterrupt

    patched_client.answers.append(interrupt)
    result = silo("harvest", "http://repo.example/oai", silo_dir)
    assert result.exit_code == 130
    assert "run the same command to continue" in result.stderr


def test_restore_removed_brings_a_removed_record_back(silo, server, silo_dir):
    silo("harvest", server.base_url, silo_dir)
    with Silo(silo_dir, create=False) as made:
        identifier = next(iter(made))
        made.del_item(identifier, remember=True)
    result = silo("harvest", server.base_url, silo_dir, "--json")
    assert json.loads(result.stdout)["counts"]["left_out"] == 1
    result = silo("harvest", server.base_url, silo_dir, "--restore-removed", "--json")
    assert json.loads(result.stdout)["counts"]["left_out"] == 0
    with Silo(silo_dir, create=False) as made:
        assert identifier in made


def test_a_harvest_notes_when_it_was(silo, server, silo_dir):
    silo("harvest", server.base_url, silo_dir)
    names = os.listdir(os.path.join(silo_dir, "harvests"))
    (name,) = [name for name in names if name.endswith("-receipt.json")]
    moment = datetime.strptime(name, "%Y%m%dT%H%M%S.%fZ-receipt.json").replace(tzinfo=UTC)
    assert abs((datetime.now(UTC) - moment).total_seconds()) < 60
