"""Earlier findings stay fixed, a short run finds nothing, and the fuzzer detects faults."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Hashable, Iterable
from pathlib import Path

import pytest
from examples import family
from fuzzing.loop import fuzz, opened, saved_inputs, target_class, target_names
from fuzzing.target import Target

NAMES = target_names()


@pytest.mark.parametrize("name", NAMES)
def test_what_was_found_once_and_a_few_hundred_other_inputs_keep_the_promise(name: str) -> None:
    known, most = len(saved_inputs(name)), target_class(name).iterations
    with opened(name) as target:
        most += known + len(list(target.seeds()))
        run = fuzz(name, target, seed=0, goes_on=lambda run: run.count < most)
    assert run.count == most
    assert not run.findings, "\n".join(f"{f.data!r}: {f.error}" for f in run.findings.values())


def test_every_corpus_belongs_to_a_target() -> None:
    corpus = Path(__file__).parent / "corpus"
    assert {path.name for path in corpus.iterdir() if path.is_dir()} <= set(NAMES)
    assert all(target_class(name).promise.endswith(".") for name in NAMES)


class Broken(Target):
    """Fails on every input that holds what ``fault`` says."""

    promise = "Nothing."
    words = (b"bad",)

    def seeds(self) -> Iterable[bytes]:
        return [b"good input that is fairly long"]

    def check(self, data: bytes) -> Hashable:
        if b"bad" in data:
            raise KeyError("a fault")
        return len(data) // 10


def tried(seed: int, count: int = 300) -> tuple[list[bytes], list[bytes]]:
    """What was tried, and what was found."""
    inputs: list[bytes] = []
    run = fuzz(
        "broken", Broken(""), seed, goes_on=lambda run: run.count < count, before=inputs.append
    )
    return inputs, [one.data for one in run.findings.values()]


def test_a_fault_is_found_once_and_its_input_made_small() -> None:
    assert tried(1)[1] == [b"bad"]


def test_the_same_seed_gives_the_same_inputs_and_another_one_others() -> None:
    assert tried(1) == tried(1)
    assert tried(1)[0] != tried(2)[0]


PROCESS = """
import os, time
from fuzzing.target import Target

class Faulty(Target):
    promise = "Nothing."
    memory = 1 << 28
    def seeds(self):
        return [b"fine", b"{kind}"]
    def check(self, data):
        if data == b"hangs":
            time.sleep(60)
        elif data == b"dies":
            os.abort()
        elif data == b"grows":
            bytes(1 << 29)
        elif data == b"burns":
            end = time.process_time() + 3
            while time.process_time() < end:
                pass
        time.sleep(0.001)
"""


@pytest.fixture
def fuzz_command(tmp_path: Path):
    """The command, for a target that is faulty in one way."""

    def command(kind: str, *more: str) -> subprocess.Popen[str]:
        module = tmp_path / "faulty" / f"{kind}.py"
        module.parent.mkdir()
        module.write_text(PROCESS.replace("{kind}", kind))
        path = os.pathsep.join([str(Path(__file__).parent), str(tmp_path)])
        return subprocess.Popen(
            [sys.executable, "-m", "fuzzing", f"faulty.{kind}", "--corpus", str(tmp_path / "c"),
             "--patience", "15", *more],
            env=os.environ | {"PYTHONPATH": path}, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    return command


@pytest.mark.parametrize(
    ("kind", "told"),
    family([("dies", "SIGABRT"), ("hangs", "no end within 15 s"), ("grows", "MemoryError")], 1),
)
def test_what_hangs_dies_or_grows_is_a_finding_whose_input_is_kept(
    kind: str, told: str, tmp_path: Path, fuzz_command
) -> None:
    process = fuzz_command(kind, "--seconds", "1", "--seed", "7")
    out, _ = process.communicate(timeout=100)
    assert process.returncode == 1, out
    assert "seed 7: 1 finding\n" in out
    assert told in out
    [kept] = (tmp_path / "c" / f"faulty.{kind}").iterdir()
    assert kept.read_bytes() == kind.encode()


class Slow(Broken):
    """Burns CPU time on what a broken target fails on."""

    seconds = 0.05

    def check(self, data: bytes) -> Hashable:
        begun = time.process_time()
        while b"bad" in data and time.process_time() < begun + 0.1:
            pass
        return len(data) // 10


@pytest.mark.long
def test_what_takes_too_long_is_a_finding() -> None:
    run = fuzz("slow", Slow(""), seed=1, goes_on=lambda run: not run.findings)
    assert ["TooSlow" in one.error for one in run.findings.values()] == [True]


@pytest.mark.long
def test_a_run_without_a_finding_says_so_and_can_be_interrupted(fuzz_command) -> None:
    process = fuzz_command("fine", "--seconds", "100")
    assert "seed" in process.stdout.readline()
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130, out
    assert "interrupted, no finding" in out
