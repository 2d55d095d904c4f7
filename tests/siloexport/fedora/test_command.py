"""The commands `silo export fedora …` as a user calls them."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from examples import family
from fedora_support import USER, Fedora, Harvest
from fedora_values import Request

from recordsilo import Silo
from recordsilo.cli import silo_command

ID = "oai:example.org:1"


@pytest.fixture
def silo_dir(empty: Silo, put: Harvest) -> str:
    put(empty, ID)
    put(empty, "oai:example.org:2", files={"a": b"a"})
    return empty.path


def call(*arguments: str, user: str = USER) -> tuple[int, str]:
    environment = {"FEDORA_USER": user, "FEDORA_PASSWORD": USER}
    result = CliRunner().invoke(
        silo_command, ["export", "fedora", *arguments], env=environment, standalone_mode=False
    )
    if result.exception is not None:
        code = getattr(result.exception, "exit_code", None)
        assert code is not None, result.exception
        return code, str(result.exception)
    said = result.stdout if "--json" in arguments else result.output
    return int(result.return_value or 0), said


def test_plan_run_status_verify_reconcile_and_roll_back(fedora: Fedora, silo_dir: str) -> None:
    to = ("--to", fedora.container())
    code, said = call("plan", silo_dir, *to)
    assert (code, "to be done: 2 created" in said) == (0, True)
    code, said = call("run", silo_dir, *to, "--json")
    assert (code, json.loads(said)["actions"]["create"]) == (0, 2)
    run_id = json.loads(said)["run"]
    code, said = call("verify", silo_dir, *to)
    assert (code, "2 versions of 2 records compared, 0 differences" in said) == (0, True)
    assert "records     2" in call("status", silo_dir, *to)[1]
    assert "2 records found, 0 added or corrected" in call("reconcile", silo_dir, *to)[1]
    assert call("resume", silo_dir, *to)[0] == 0
    code, said = call("rollback", silo_dir, run_id, *to, "--purge")
    assert (code, "2 rolled back, 0 kept" in said) == (0, True)
    assert call("run", silo_dir, *to)[0] == 0


def test_a_difference_ends_a_verification_with_4(simulated: Fedora, silo_dir: str) -> None:
    to = ("--to", simulated.container())
    call("run", silo_dir, *to)
    simulated.client.send("DELETE", f"{to[1]}/oai+example,org+1/oai_dc")
    code, said = call("verify", silo_dir, *to)
    assert code == 4
    assert "it was deleted" in said


def test_conflicts_alone_end_a_run_with_5(simulated: Fedora, silo_dir: str, empty: Silo) -> None:
    to = ("--to", simulated.container())
    call("run", silo_dir, *to)
    simulated.client.send("DELETE", f"{to[1]}/oai+example,org+1")
    empty[ID].clone_version("1", "workingcopy")
    assert call("run", silo_dir, *to)[0] == 5


def test_credentials_refused_end_with_3(simulated: Fedora, silo_dir: str) -> None:
    code, said = call("run", silo_dir, "--to", simulated.container(), user="nobody")
    assert (code, "refuses the credentials" in said) == (3, True)


def test_an_address_that_does_not_answer_ends_with_3(silo_dir: str) -> None:
    code, said = call("run", silo_dir, "--to", "http://127.0.0.1:9/rest/silo")
    assert (code, "cannot be used" in said) == (3, True)


def test_an_address_with_credentials_is_refused_without_repeating_them(silo_dir: str) -> None:
    code, said = call("run", silo_dir, "--to", "http://me:secret@127.0.0.1:9/rest/silo")
    assert code == 3
    assert "secret" not in said


def test_a_crosswalk_of_ones_own_is_used(simulated: Fedora, silo_dir: str, tmp_path: Path) -> None:
    mapping = tmp_path / "mine.toml"
    mapping.write_text(
        'name = "mine"\n[prefixes]\noai_dc = "http://www.openarchives.org/OAI/2.0/oai_dc/"\n'
        'dc = "http://purl.org/dc/elements/1.1/"\n[[format]]\nroot = "oai_dc:dc"\n'
        'fields = [{ from = "dc:title", to = "http://schema.org/name" }]\n'
    )
    to = ("--to", simulated.container())
    assert call("run", silo_dir, *to, "--crosswalk", str(mapping))[0] == 0
    said = simulated.get(f"{to[1]}/oai+example,org+1", Accept="application/n-triples")
    assert b"<http://schema.org/name>" in said
    assert b"purl.org/dc/terms/title" not in said
    _, said_by_run = call("run", silo_dir, *to, "--json")
    assert json.loads(said_by_run)["actions"]["describe"] == 2
    mapping.write_text("nothing")
    assert call("run", silo_dir, *to, "--crosswalk", str(mapping))[0] == 2


def test_a_new_default_crosswalk_is_told_by_the_plan_and_sends_nothing_before_a_run(
    simulated: Fedora, silo_dir: str
) -> None:
    to = ("--to", simulated.container())
    assert call("run", silo_dir, *to, "--crosswalk", "dcterms-1")[0] == 0
    before = simulated.get(f"{to[1]}/oai+example,org+1", Accept="application/n-triples")
    assert "2 descriptions updated" in call("plan", silo_dir, *to)[1]
    said = call("verify", silo_dir, *to)[1]
    assert "2 versions not compared: the record, or how it is described, has changed" in said
    assert before == simulated.get(f"{to[1]}/oai+example,org+1", Accept="application/n-triples")
    code, said = call("run", silo_dir, *to, "--crosswalk", "dcterms-1", "--json")
    assert (code, json.loads(said)["actions"].get("describe", 0)) == (0, 0)
    assert "2 descriptions updated" in call("run", silo_dir, *to)[1]
    assert "0 differences" in call("verify", silo_dir, *to)[1]


@pytest.mark.parametrize("command", family(["run", "verify", "reconcile"], 1))
@pytest.mark.long
def test_an_interruption_ends_within_seconds_while_the_server_hangs(
    simulated: Fedora, silo_dir: str, command: str
) -> None:
    simulator = simulated.simulator
    assert simulator
    to = ("--to", simulated.container())
    if command != "run":
        call("run", silo_dir, *to)
    hanging, go_on = threading.Event(), threading.Event()

    def hang(request: Request) -> None:
        if "oai+example" in request.path:
            hanging.set()
            go_on.wait(600)

    simulator.interfere = hang  # type: ignore[assignment]  # it never answers instead
    code = "from recordsilo.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "export", "fedora", command, silo_dir, *to],
        env={**os.environ, "FEDORA_USER": USER, "FEDORA_PASSWORD": USER},
        stderr=subprocess.PIPE,
    )
    try:
        assert hanging.wait(120)
        process.send_signal(signal.SIGINT)
        if command == "run":  # it first lets what is under way end
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        go_on.set()
        process.kill()
    assert (process.returncode, said.splitlines()[-1]) == (130, b"silo: interrupted")
    simulator.interfere = lambda _request: None
    assert call("run", silo_dir, *to)[0] == 0
    assert call("verify", silo_dir, *to)[0] == 0
