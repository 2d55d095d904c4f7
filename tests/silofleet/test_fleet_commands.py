"""`silo fleet`: from an empty directory to a status, with wrong input on the way."""

import csv
import errno
import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result
from parts import PROGRAM

from oaipmhprovider.server import SampleServer
from oaipmhscraper.scraper import OAIPMHScraper
from recordsilo import Granary, Silo
from recordsilo.cli import ExitCode, silo_command
from recordsilo.disk.locks import Locks
from silofleet import wishes
from silofleet.fleet import Fleet
from silofleet.ledger import FleetLedger
from silofleet.schedule import after
from silofleet.values import FILES_STAY, Ended, Node, RunOutcome


@pytest.fixture(scope="module")
def sample() -> Iterator[SampleServer]:
    with SampleServer(size=40) as server:
        yield server


def _silo(*arguments: str, given: str = "") -> Result:
    found = CliRunner().invoke(
        silo_command, ["fleet", *arguments], input=given, standalone_mode=False
    )
    if isinstance(found.exception, click.ClickException):
        found.exit_code, said = found.exception.exit_code, found.exception.format_message()
        found.stderr_bytes = (found.stderr_bytes or b"") + said.encode()
    elif found.return_value:
        found.exit_code = int(found.return_value)
    return found


@pytest.fixture
def many(tmp_path: Path) -> str:
    directory = str(tmp_path / "many")
    assert _silo("init", directory).exit_code == 0
    return directory


def _status(many: str, *options: str) -> list[dict[str, object]]:
    found = json.loads(_silo("status", many, "--json", *options).stdout)
    return list(found["endpoints"])


@pytest.mark.long
def test_a_fleet_harvests_what_is_due_and_says_how_it_went(
    many: str, tmp_path: Path, sample: SampleServer
) -> None:
    lines = tmp_path / "endpoints.txt"
    lines.write_text(f"# two\n{sample.base_url}\nhttp://127.0.0.1:9/oai\nnonsense\n")
    added = _silo("add", many, str(lines))
    assert added.exit_code == 1
    assert "2 added; the fleet has 2 endpoints" in added.stdout
    assert "nonsense" in added.stderr
    assert {one["state"] for one in _status(many)} == {"new"}
    run = _silo("run", many, "--until-idle")
    assert run.exit_code == 1
    assert "2 endpoints run: 1 whole, 1 failed" in run.stdout
    whole, failing = sorted(_status(many), key=lambda one: one["state"] != "whole")
    assert (whole["state"], whole["records"], whole["promised"]) == ("whole", 40, 40)
    assert (failing["state"], failing["records"]) == ("failing", 0)
    with Silo(f"{many}/{whole['name']}", create=False) as silo:
        assert len(silo) == 40
    assert not Path(many, str(failing["name"])).exists()
    again = _silo("run", many, "--until-idle")
    assert (again.exit_code, "nothing was due" in again.stdout) == (0, True)
    assert "1 failing, 1 whole" in _silo("status", many).stdout
    shown = _silo("show", many, str(failing["url"]))
    assert "refused" in shown.stdout
    ledger = Path(many, "fleet", "fleet.sqlite")
    ledger.write_bytes(b"damaged" * 999)
    damaged = _silo("status", many)
    assert (damaged.exit_code, "silo fleet rebuild" in damaged.stderr) == (1, True)
    rebuilt = _silo("rebuild", many)
    assert f"1 endpoint has a Silo; the state before is {ledger}.before" in rebuilt.stdout
    (known,) = _status(many, "--state", "whole")
    assert (known["records"], known["promised"]) == (40, 40)
    ended, receipt = (datetime.fromisoformat(str(one["last_whole"])) for one in (whole, known))
    assert timedelta(0) <= ended - receipt < timedelta(minutes=1)  # a run ends after its harvest
    lines.write_text(_silo("receipts", many, "--node", "n1").stdout)
    assert _silo("rebuild", many, str(lines)).exit_code == 0
    assert _status(many, "--state", "whole")[0]["node"] == "n1"
    lines.write_text("{}")
    assert "does not come from" in _silo("rebuild", many, str(lines)).stderr
    table = list(csv.DictReader(io.StringIO(_silo("status", many, "--csv").stdout)))
    assert [row["name"] for row in table] == sorted(str(one["name"]) for one in _status(many))


def test_an_endpoint_is_added_with_its_options_and_only_once(many: str) -> None:
    url = "https://eprints.example.org/cgi/oai2"
    options = ["--every", "12h", "--set", "a", "--tag", "x", "--hours", "20:00-06:00"]
    options += ["--window", "2w", "--spread"]
    assert "1 added" in _silo("add", many, url, *options, "--name", "eprints").stdout
    assert "0 added, 1 known already" in _silo("add", many, url, "--set", "a").stdout
    (one,) = _status(many)
    assert (one["name"], one["every"], one["sets"], one["tags"], one["hours"]) == (
        "eprints", "12h", ["a"], ["x"], "20:00-06:00",
    )  # fmt: skip
    assert (one["window"], one["spread"]) == ("14d", True)
    assert "not a length of time" in _silo("add", many, url, "--window", "soon").stderr


def test_a_report_says_what_changed_since_yesterday(many: str) -> None:
    now = datetime.now(UTC)
    for name in "abcd":
        _silo("add", many, f"http://{name}.example.org/oai", "--name", name)
    with Fleet(many) as fleet:
        fleet.ledger.see(Node("n1", 1, 10**12, 10**9, now - timedelta(hours=1)))
        for name, outcomes in {"a": "wm", "b": "fw", "c": "ww", "d": "ff"}.items():
            _ended(fleet, name, now - timedelta(hours=30), outcomes[0])
            _ended(fleet, name, now - timedelta(hours=2), outcomes[1])
    text = _silo("report", many)
    assert text.exit_code == 0
    for said in (
        "4 endpoints: 1 failing, 1 moved, 2 whole",
        "Not well since yesterday: 1\n  a  moved: said m",
        "Well again: 1\n  b ", f"silo fleet readdress {many} a", "n1: LOST",
    ):  # fmt: skip
        assert said in text.stdout
    found = json.loads(_silo("report", many, "--json").stdout)
    assert [one["name"] for one in found["to_do"]] == ["a"]
    assert found["states"]["whole"] == 2


def test_a_report_names_whose_files_did_not_get_into_their_store(many: str) -> None:
    for name in "ab":
        _silo("add", many, f"http://{name}.example.org/oai", "--name", name)
    with Fleet(many) as fleet:
        _ended(fleet, "a", datetime.now(UTC), "w", f"nothing new; {FILES_STAY}it is away")
        _ended(fleet, "b", datetime.now(UTC), "w")
    said = "WARC files that did not get into their object store: 1\n  a  whole: nothing new; WARC"
    assert said in _silo("report", many).stdout
    found = json.loads(_silo("report", many, "--json").stdout)
    assert [one["name"] for one in found["files_stay"]] == ["a"]


def _ended(fleet: Fleet, name: str, at: datetime, letter: str, said: str = "") -> None:
    outcome = next(one for one in RunOutcome if one.letter == letter)
    run = fleet.ledger.begin(name, "local", at)
    end = Ended(outcome, said or f"said {letter}", at)
    wish, policy = fleet.wishes.endpoints[name], fleet.wishes.policy
    fleet.ledger.end(run, end, at, lambda facts: after(facts, wish, policy, end))


def test_nodes_are_listed_closed_and_forgotten(many: str) -> None:
    now = datetime.now(UTC)
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    with Fleet(many) as fleet:
        fleet.ledger.see(Node("n1", 4, 24_000 * 5_000, 10**9, now))
        fleet.ledger.see(Node("n2", 4, 10**12, 10**9, now - timedelta(hours=1)))
        fleet.ledger.change("a", lambda facts: facts._replace(node="n2"))
        fleet.ledger.clock_beat(now)
    listed = _silo("nodes", many).stdout
    assert "The scheduler" not in listed
    assert "n1  open  0 endpoints, room for 5,000 records" in listed
    assert "n2  lost  1 endpoint," in listed
    assert "n1  closed" in _silo("nodes", many, "--close", "n1").stdout
    assert "n1  open" in _silo("nodes", many, "--open", "n1").stdout
    for name, said in (("n1", "it reports"), ("n2", "has 1 endpoint,"), ("n3", "no node 'n3'")):
        refused = _silo("nodes", many, "--forget", name)
        assert (refused.exit_code, said.removeprefix("it ") in refused.stderr) == (2, True)
    _silo("remove", many, "a")
    assert _silo("nodes", many, "--forget", "n2").exit_code == 0
    assert [one["node"] for one in json.loads(_silo("nodes", many, "--json").stdout)] == ["n1"]


def test_nodes_are_as_the_last_clock_saw_them(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a", "--node", "n1")
    long_ago = datetime.now(UTC) - timedelta(days=3)
    with Fleet(many) as fleet:
        for name, age in (("n1", 0), ("n2", 200)):
            fleet.ledger.see(Node(name, 4, 10**12, 10**9, long_ago - timedelta(seconds=age)))
        fleet.ledger.clock_beat(long_ago)
    assert [one["state"] for one in _status(many)] == ["new"]
    listed, sentence = _silo("nodes", many).stdout, f"The scheduler has not run since {long_ago:%Y}"
    assert "n1  open" in listed
    assert "n2  lost" in listed
    for text in (listed, _silo("status", many).stdout, _silo("report", many).stdout):
        assert sentence in text
    refused = _silo("nodes", many, "--forget", "n1")
    assert refused.exit_code == 2
    assert "whether the node n1 reports is not known. The scheduler has not run" in refused.stderr
    with Fleet(many) as fleet:
        fleet.ledger.clock_beat(datetime.now(UTC) - timedelta(hours=2))
    assert [one["state"] for one in _status(many)] == ["lost"]
    assert "The scheduler" in _silo("status", many).stdout
    assert "The scheduler" not in _silo("report", many).stdout


def test_a_quiet_report_is_empty_until_something_is_wrong(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    with Fleet(many) as fleet:
        fleet.ledger.clock_beat(datetime.now(UTC))
    assert "1 endpoint" in _silo("report", many).stdout
    assert _silo("report", many, "-q").output == ""
    with Fleet(many) as fleet:
        fleet.quarantine("a")
    assert "a  quarantined" in _silo("report", many, "-q").stdout


@pytest.mark.long
def test_quiet_runs_and_workers_are_silent_if_all_is_well(
    many: str, sample: SampleServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _silo("add", many, sample.base_url, "--name", "a")
    done = _silo("run", many, "--until-idle", "-q")
    assert (done.exit_code, done.output) == (0, "")
    _silo("add", many, "http://127.0.0.1:9/oai", "--name", "b")
    done = _silo("run", many, "--until-idle", "-q")
    assert (done.exit_code, done.stdout) == (1, "1 endpoint run: 1 failed\n")
    work = ("worker", str(tmp_path / "silos"), "--node", "n", "--broker")
    refused = _silo(*work, "redis://127.0.0.1:9/0", "-q")
    assert refused.exit_code == ExitCode.STOPPED
    assert refused.stderr
    monkeypatch.setattr("silofleet.node.FleetNode.join", lambda _node: None)
    monkeypatch.setattr("silofleet.node.FleetNode.run", lambda _node: None)
    assert "works in" in _silo(*work, "redis://127.0.0.1:9/0").stderr
    assert _silo(*work, "redis://127.0.0.1:9/0", "-q").output == ""


def test_users_read_of_a_scheduler_and_of_no_clock() -> None:
    group = silo_command.get_command(click.Context(silo_command), "fleet")
    assert isinstance(group, click.Group)
    for name in group.list_commands(click.Context(group)):
        help_of_it = CliRunner().invoke(silo_command, ["fleet", name, "--help"]).output
        assert "clock" not in help_of_it.replace("o'clock", ""), name


def test_a_node_that_never_reported_is_named_where_endpoints_wait_for_it(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a", "--node", "typo")
    _silo("add", many, "http://b.example.org/oai", "--name", "b")
    status = _silo("status", many).stdout
    assert "endpoint  state " in status
    assert "\na         new " in status
    assert "    it waits for the node typo, which has never reported\n" in status
    for text in (status, _silo("nodes", many).stdout, _silo("report", many).stdout):
        assert "The node typo has never reported; 1 endpoint waits for it.\n" in text
    assert [(one["node"], one["said"]) for one in _status(many)] == [
        ("typo", "it waits for the node typo, which has never reported"), ("", ""),
    ]  # fmt: skip
    with Fleet(many) as fleet:
        fleet.ledger.change("a", lambda facts: facts._replace(node="typo"))  # as by a rebuild
    status = _silo("status", many).stdout
    assert "it waits for the node typo, which has not reported since the rebuild" in status
    for text in (status, _silo("nodes", many).stdout):
        assert "The node typo has not reported since the rebuild; 1 endpoint" in text
        assert "never reported" not in text
    with Fleet(many) as fleet:
        fleet.ledger.see(Node("typo", 4, 10**12, 10**9, datetime.now(UTC)))
    assert "never reported" not in _silo("status", many).stdout
    assert "typo  open  1 endpoint," in _silo("nodes", many).stdout


def test_a_move_that_was_interrupted_is_named(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    with Fleet(many) as fleet:
        fleet.ledger.begin_move("a", "local", "n2", datetime.now(UTC))
    for command in ("status", "report"):
        assert f"silo fleet move {many} a --to n2" in _silo(command, many).stdout
    waiting = _silo("run", many, "--until-idle")
    assert waiting.exit_code == 1
    assert "a did not run: its Silo is being moved to n2" in waiting.stderr


def test_a_list_without_lines_says_why(many: str) -> None:
    empty = _silo("status", many)
    way = f"silo fleet add {many} URL|FILE adds some"
    assert (empty.stdout, empty.stderr) == ("", f"silo: no endpoints; {way}\n")
    nodes = _silo("nodes", many)
    assert (nodes.stdout, nodes.stderr[:30]) == ("", "silo: no nodes have reported; ")
    _silo("add", many, "http://a.example.org/oai", "--name", "a", "--spread")
    none = _silo("status", many, "--tag", "b")
    assert (none.stdout, none.stderr[:37]) == ("", "silo: no endpoints of that state or t")
    with Fleet(many) as fleet:
        fleet.ledger.change("a", lambda one: one._replace(outcomes="wf", said="n", node="local"))
    text = _silo("show", many, "a").stdout
    assert "spread      yes\n" in text
    assert "outcomes" not in text
    assert "result      n\n" in text
    assert "keeps       records\n" in text
    assert "node        this machine\n" in text


def test_a_probe_asks_all_and_changes_nothing(many: str, sample: SampleServer) -> None:
    _silo("add", many, sample.base_url, "--name", "there")
    assert _silo("probe", many, "there").exit_code == 0
    _silo("add", many, "http://127.0.0.1:9/oai", "--name", "gone")
    before = _status(many)
    found = _silo("probe", many, "--contact", "me@example.org")
    assert found.exit_code == 1
    assert "there  answers  " in found.stdout
    assert "gone   fails    " in found.stdout
    assert "refused" in found.stdout
    assert _status(many) == before
    assert not Path(many, "there").exists()


@pytest.mark.long
def test_ctrl_c_ends_a_probe_of_repositories_that_do_not_answer(many: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        _silo("add", many, f"http://127.0.0.1:{server.getsockname()[1]}/oai")
        process = subprocess.Popen([sys.executable, PROGRAM, "fleet", "probe", many])
        try:
            connection, _ = server.accept()
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == ExitCode.INTERRUPTED
            connection.close()
        finally:
            process.kill()
            process.wait()


def test_what_differs_from_the_defaults_of_the_file_is_kept(many: str) -> None:
    wishes = Path(many, "fleet", "endpoints.toml")
    wishes.write_text('[defaults]\nevery = "7d"\ndepth = "pages"\n')
    _silo("add", many, "http://a.example.org/oai", "--name", "a", "--every", "1d")
    _silo("add", many, "http://b.example.org/oai", "--name", "b", "--depth", "records")
    _silo("pause", many, "a", "b")
    assert [(one["every"], one["depth"]) for one in _status(many)] == [
        ("1d", "pages"), ("7d", "records")
    ]  # fmt: skip
    assert wishes.read_text().count("7d") == 1


def test_a_known_address_is_named_and_an_empty_list_is_not_a_success(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    again = _silo(
        "add", many, "http://a.example.org/oai?verb=Identify", "--name", "b", "--every", "2d"
    )  # fmt: skip
    assert "0 added, 1 known already as a; the fleet has 1 endpoint\n" in again.stdout
    assert f"stays as it is; to change it: {many}/fleet/endpoints.toml\n" in again.stdout
    assert "stays" not in _silo("add", many, "http://a.example.org/oai").stdout
    empty = _silo("add", many, "-", given="# nothing\n\n")
    assert (empty.exit_code, "has no addresses" in empty.stderr) == (1, True)


def test_an_address_of_several_endpoints_asks_for_a_name(many: str) -> None:
    url = "http://a.example.org/oai"
    _silo("add", many, url, "--name", "all")
    _silo("add", many, url, "--name", "part", "--set", "s")
    shown = _silo("show", many, url)
    assert shown.exit_code == 2
    assert f"{url} is the address of 2 endpoints; give a name: all, part" in shown.stderr


def test_an_address_of_lists_with_and_without_its_format_is_one_endpoint(many: str) -> None:
    url = "http://a.example.org/oai"
    core = json.dumps([{"oaiPmhUrl": url, "metadataFormat": "oai_dc"}])
    for form, given in (("core", core), ("lines", url)):
        added = _silo("add", many, "-", "--as", form, given=given).stdout
    assert "0 added, 1 known already as a.example.org; the fleet has 1 endpoint\n" in added
    assert "1 added" in _silo("add", many, url, "-p", "mods").stdout


def test_a_paused_endpoint_is_said_to_run_once(many: str) -> None:
    for name in ("a", "b"):
        _silo("add", many, f"http://{name}.example.org/oai", "--name", name)
    _silo("pause", many, "b")
    asked = _silo("run-now", many, "a", "b").stdout
    assert "a: runs next, as soon as silo fleet run has a slot\n" in asked
    assert "b: runs next, as soon as silo fleet run has a slot, and stays paused" in asked


def test_a_rebuild_does_not_forget_the_silos_of_a_node(many: str, tmp_path: Path) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    now = datetime.now(UTC)
    with Fleet(many) as fleet:
        fleet.ledger.change("a", lambda facts: facts._replace(node="n1", epoch=1, whole=now))
    lines = tmp_path / "n2.jsonl"
    lines.write_text("")
    for files in ((), (str(lines),)):
        refused = _silo("rebuild", many, *files)
        assert refused.exit_code == 2
        assert (
            "the node n1 has a Silo of this fleet, and no receipts of it are given"
            in refused.stderr
        )
    assert _status(many)[0]["node"] == "n1"
    os.unlink(f"{many}/fleet/fleet.sqlite")
    assert _silo("rebuild", many).exit_code == 0
    assert _status(many)[0]["node"] == ""


def test_a_list_comes_from_standard_input(many: str) -> None:
    given = "url,tags\nhttp://a.example.org/oai,x\nhttp://b.example.org/oai,y\n"
    assert "2 added" in _silo("add", many, "-", given=given).stdout
    assert len(_status(many, "--tag", "y")) == 1


def test_endpoints_are_paused_asked_for_quarantined_and_removed(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    for arguments, state in (
        (("pause", many, "a"), "paused"),
        (("pause", many, "a", "--resume"), "new"),
        (("quarantine", many, "a"), "quarantined"),
        (("quarantine", many, "a", "--release"), "new"),
        (("run-now", many, "http://a.example.org/oai"), "new"),
        (("readdress", many, "a", "http://b.example.org/oai"), "new"),
    ):
        assert _silo(*arguments).exit_code == 0, arguments
        assert _status(many)[0]["state"] == state
    assert _status(many)[0]["url"] == "http://b.example.org/oai"
    assert _silo("remove", many, "a").exit_code == 0
    assert _status(many) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("status", "{0}/none"), "is not a fleet; to make one: silo fleet init"),
        (("rebuild", "{0}/none"), "endpoints.toml is missing; copy it there"),
        (("add", "{0}", "no-such-file"), "cannot be read"),
        (("add", "{0}", "ftp://a.example.org"), "http"),
        (("add", "{0}", "http://a.example.org/", "--every", "soon"), "a duration"),
        (("add", "{0}", "http://a.example.org/", "--hours", "9-5"), "hours"),
        (("add", "{0}", "http://a.example.org/", "--name", "fleet"), "the directory's own files"),
        (("add", "{0}", "http://u:p@a.example.org/"), "password"),
        (("add", "{0}", "http://a.example.org/", "--prefix", ""), "prefix"),
        (("add", "{0}", "http://a.example.org/", "--tag", ""), "empty"),
        (("add", "{0}", "-", "--name", "a"), "--name is for one URL"),
        (("pause", "{0}", "abc"), "no endpoint 'abc'; did you mean abcd?"),
        (("readdress", "{0}", "abcd"), "give its new address: silo fleet readdress"),
        (("remove", "{0}", "abcd", "x"), "no endpoint 'x'"),
        (("status", "{0}", "--json", "--csv"), "choose"),
    ],
)
def test_wrong_input_is_one_sentence(many: str, arguments: tuple[str, ...], said: str) -> None:
    _silo("add", many, "http://abcd.example.org/oai", "--name", "abcd")
    found = _silo(*(one.format(many) for one in arguments))
    assert found.exit_code == 2
    assert said in found.stderr
    assert "Traceback" not in found.output
    assert len(_status(many)) == 1


def test_no_more_of_a_list_is_read_than_its_limit(
    many: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("silofleet.lists", "silofleet.commands.endpoints"):
        monkeypatch.setattr(f"{place}.MOST_BYTES", 1 << 20)
    refused = _silo("add", many, "/dev/zero")  # which has no end
    assert refused.exit_code == 2
    assert "larger than the limit of 1 MiB" in refused.stderr
    refused = _silo("add", many, "-", given=f"http://a.example.org/{'a' * (1 << 20)}\n")
    assert "larger than the limit of 1 MiB" in refused.stderr
    assert _status(many) == []


def test_facts_survive_a_file_of_wishes_that_is_empty_for_a_moment(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    _silo("quarantine", many, "a")
    wishes = Path(many, "fleet", "endpoints.toml")
    text = wishes.read_text()
    wishes.write_text("")
    assert _status(many) == []
    wishes.write_text(text)
    assert [one["state"] for one in _status(many)] == ["quarantined"]


@pytest.mark.parametrize("command", ["init", "status"])
def test_a_silo_and_a_file_are_no_fleet(tmp_path: Path, command: str) -> None:
    with Silo(str(tmp_path / "one")):
        pass
    (tmp_path / "file").write_text("")
    refused = _silo(command, str(tmp_path / "one"))
    assert (refused.exit_code, "is a Silo" in refused.stderr) == (2, True)
    refused = _silo("init", str(tmp_path / "file"))
    assert (refused.exit_code, "is a file; a fleet" in refused.stderr) == (2, True)


def test_a_silo_on_another_machine_is_not_said_to_be_deleted(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    with Fleet(many) as fleet:
        fleet.ledger.change("a", lambda facts: facts._replace(node="n2"))
    refused = _silo("remove", many, "a", "--with-silos", "--yes")
    assert (refused.exit_code, "is on the node n2" in refused.stderr) == (2, True)
    assert len(_status(many)) == 1
    assert _silo("remove", many, "a").exit_code == 0


def test_only_a_silo_is_deleted(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    Path(many, "a").mkdir()
    Path(many, "a", "letter.txt").write_text("mine")
    _silo("remove", many, "a", "--with-silos", "--yes")
    assert Path(many, "a", "letter.txt").read_text() == "mine"


@pytest.mark.parametrize("place", ["accounts", "curation/accounts"])
def test_a_directory_with_accounts_is_never_deleted(many: str, place: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    Granary(many).get_silo("a").close()
    Path(many, "a", place).mkdir(parents=True)
    refused = _silo("remove", many, "a", "--with-silos", "--yes")
    assert (refused.exit_code, "holds accounts" in refused.stderr) == (2, True)
    assert Granary(many).silos == ["a"]
    assert len(_status(many)) == 1


@pytest.mark.parametrize("name", ["curation", "accounts", "a.exports", "persisted_state.json"])
def test_no_endpoint_takes_a_name_that_the_directory_needs(many: str, name: str) -> None:
    refused = _silo("add", many, "http://a.example.org/oai", "--name", name)
    assert (refused.exit_code, "cannot name a Silo" in refused.stderr) == (2, True)


def test_only_a_silo_that_was_there_is_said_to_be_deleted(many: str) -> None:
    for name in "ab":
        _silo("add", many, f"http://{name}.example.org/oai", "--name", name)
    Granary(many).get_silo("a").close()
    _silo("add", many, "http://c.example.org/oai", "--name", "c")
    Granary(many).get_silo("c").close()
    assert _silo("remove", many, "c").stdout == f"c: removed; its Silo {many}/c stays\n"
    Granary(many).delete_silo("c")
    said = _silo("remove", many, "a", "b", "a", "--with-silos", "--yes").stdout
    assert said == "a: removed with its Silo\nb: removed; it had no Silo\n"
    assert Granary(many).silos == []


def test_an_accepted_address_is_due_and_no_address_comes_twice(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    _silo("add", many, "http://b.example.org/oai", "--name", "b")
    moved = Ended(RunOutcome.MOVED, "gone", datetime.now(UTC), moved_to="http://c.example.org/oai")
    with Fleet(many) as fleet:
        wishes = fleet.wishes
        fleet.ledger.change(
            "a", lambda facts: after(facts, wishes.endpoints["a"], wishes.policy, moved)
        )
    assert _status(many)[0]["state"] == "moved"
    refused = _silo("readdress", many, "a", "--to", "http://b.example.org/oai")
    assert (refused.exit_code, "b has the address" in refused.stderr) == (2, True)
    assert _silo("readdress", many, "a").exit_code == 0
    found = _status(many)[0]
    assert (found["state"], found["failures"], found["url"]) == (
        "due",
        0,
        "http://c.example.org/oai",
    )


def test_a_pause_that_the_host_asked_for_is_the_reason_of_a_wait(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    now = datetime.now(UTC)
    held = Ended(
        RunOutcome.HELD, "HTTP 503, a pause until noon", now, hold=now + timedelta(hours=1)
    )
    with Fleet(many) as fleet:
        wishes = fleet.wishes
        fleet.ledger.change(
            "a", lambda facts: after(facts, wishes.endpoints["a"], wishes.policy, held)
        )
    assert "    HTTP 503, a pause until noon\n" in _silo("status", many).stdout


@pytest.mark.parametrize(
    "content",
    [
        b"\x81\xff\x00",
        b"[" * 100_000,
        b'{"name": "a", "node": "n", "epoch": 1e999, "records": 1, "harvests": []}',
        b'{"name": "a", "node": "n", "epoch": 1, "records": 9%s, "harvests": []}' % (b"9" * 30),
        b'{"name": "a", "node": "n", "epoch": 1, "records": 1, "harvests": [{"outcome": "whole"}]}',
    ],
)
def test_what_is_no_receipts_is_one_sentence(many: str, tmp_path: Path, content: bytes) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    (tmp_path / "file").write_bytes(content)
    refused = _silo("rebuild", many, str(tmp_path / "file"))
    assert refused.exit_code == 2
    assert "does not come from silo fleet receipts" in refused.stderr


def test_what_a_repository_says_cannot_command_a_terminal(many: str) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    with Fleet(many) as fleet:
        fleet.ledger.change("a", lambda one: one._replace(said="\x9b2J\u202ex\ny", outcomes="f"))
    for command in (("status",), ("show", "a")):
        said = _silo(command[0], many, *command[1:]).stdout
        assert r"\x9b2J\u202ex\ny" in said
        assert "\x9b" not in said


def test_a_rebuild_that_fails_leaves_the_state(many: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    with Fleet(many) as fleet:
        fleet.ledger.change("a", lambda one: one._replace(failures=3))

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    for method in ("add", "fold_log"):
        with monkeypatch.context() as patched:
            patched.setattr(FleetLedger, method, full)
            assert _silo("rebuild", many).exit_code != 0
        with Fleet(many) as fleet:
            assert fleet.ledger.facts_of("a").failures == 3
    assert _silo("rebuild", many).exit_code == 0
    with Fleet(many) as fleet:
        assert fleet.ledger.facts_of("a").failures == 0
    os.replace(f"{many}/fleet/fleet.sqlite.before-rebuild", f"{many}/fleet/fleet.sqlite")
    with Fleet(many) as fleet:
        assert fleet.ledger.facts_of("a").failures == 3


def test_a_rebuild_waits_for_no_move_and_leaves_nothing_of_a_killed_one(many: str) -> None:
    left = Path(many, "fleet", ".rebuild", "fleet")
    left.mkdir(parents=True)
    with Locks(f"{many}/fleet/locks").hold_name("moving"):
        refused = _silo("rebuild", many)
    assert (refused.exit_code, "is being moved" in refused.stderr) == (2, True)
    assert _silo("rebuild", many).exit_code == 0
    assert not left.parent.exists()


def test_a_silo_with_a_malformed_receipt_does_not_hide_the_others(
    many: str, sample: SampleServer
) -> None:
    for name in "ab":
        _silo("add", many, f"http://{name}.example.org/oai", "--name", name)
        with OAIPMHScraper(f"{many}/{name}", sample.base_url, quiet=True) as scraper:
            scraper.harvest(["oai_dc"])
    (receipt,) = Path(many, "a", "harvests").glob("*-receipt.json")
    receipt.write_text(json.dumps(json.loads(receipt.read_text()) | {"started": [1]}))
    lines = _silo("receipts", many).stdout.splitlines()
    assert [one.get("records") for one in map(json.loads, lines)] == [None, 40]
    rebuilt = _silo("rebuild", many)
    assert (rebuilt.exit_code, "is malformed" in rebuilt.stderr) == (1, True)
    with Fleet(many) as fleet:
        assert [facts.records for facts in fleet.ledger.facts()] == [0, 40]


def test_a_harvest_by_a_clock_that_was_wrong_is_of_now_after_a_rebuild(
    many: str, tmp_path: Path
) -> None:
    _silo("add", many, "http://a.example.org/oai", "--name", "a")
    last = "9999-12-31T23:59:59Z"
    harvest = {"outcome": "whole", "started": last, "ended": last, "promised": 3}
    said = {"name": "a", "node": "local", "epoch": 1, "records": 3, "harvests": [harvest]}
    found = tmp_path / "found.jsonl"
    found.write_text(json.dumps(said))
    assert _silo("rebuild", many, str(found)).exit_code == 0
    with Fleet(many) as fleet:
        whole = fleet.ledger.facts_of("a").whole
    assert whole is not None
    assert whole <= datetime.now(UTC)


def test_many_endpoints_are_paused_by_one_change_of_the_file(
    many: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        _silo("add", many, f"http://{name}.example.org/oai", "--name", name)
    written: list[str] = []
    write = wishes.replace_file
    monkeypatch.setattr(
        wishes, "replace_file", lambda path, data: (written.append(path), write(path, data))
    )
    assert _silo("pause", many, "a", "b", "a", "x").exit_code == 2
    assert written == []
    assert _silo("pause", many, "a", "http://c.example.org/oai", "a").stdout == (
        "a: paused\nc: paused\n"
    )
    assert len(written) == 1
    states = {one["name"]: one["state"] for one in _status(many)}
    assert states == {"a": "paused", "b": "new", "c": "paused"}


def test_a_worker_names_the_directory_that_is_missing(tmp_path: Path) -> None:
    place = tmp_path / "a" / "b"
    unnamed = _silo("worker", str(place), "--node", "n 1", "--broker", "redis://127.0.0.1:1/0")
    assert (unnamed.exit_code, "cannot name a node" in unnamed.stderr) == (2, True)
    refused = _silo("worker", str(place), "--node", "n1", "--broker", "redis://127.0.0.1:1/0")
    assert refused.exit_code == 2
    assert refused.stderr.endswith(f"there is no directory {place.parent}")
