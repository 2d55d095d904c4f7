"""Contributions of packages: one that is broken is named, and does not stop the others."""

import importlib.metadata
import logging
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from recordsilo import cli, contributions
from recordsilo.contributions import ContributionBroken, contribution
from silowork.kinds import begun_by_form, kind_of
from silowork.values import Ending
from silowork.work import Asked, Kind

Contribute = Callable[[str, str, Any], None]
GROUP = "made.up.values"


@dataclass(frozen=True)
class Value:
    name: str


def test_a_broken_contribution_is_named_once_and_the_others_are_loaded(
    contribute: Contribute, caplog: pytest.LogCaptureFixture
) -> None:
    contribute(GROUP, "good", Value("good"))
    contribute(GROUP, "wrong-type", "a text")
    contribute(GROUP, "wrong-name", Value("other"))
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert list(contributions.contributions(GROUP, Value)) == [Value("good")]
    assert caplog.messages == [
        (
            "'wrong-name' of the package made_up_sibling:value_2 (made.up.values) failed: "
            "made_up_sibling:value_2 has the name 'other'"
        ),
        (
            "'wrong-type' of the package made_up_sibling:value_1 (made.up.values) failed: "
            "made_up_sibling:value_1 is not a Value"
        ),
    ]


def test_what_cannot_be_imported_is_said_with_the_reason(
    contribute: Contribute, monkeypatch: pytest.MonkeyPatch
) -> None:
    contribute(GROUP, "gone", Value("gone"))
    monkeypatch.delattr(sys.modules["made_up_sibling"], "value_0")
    with pytest.raises(ContributionBroken, match=r"'gone' of .* failed: AttributeError: "):
        contribution(GROUP, "gone", Value)


def test_our_own_contribution_wins_over_another_of_its_name(
    contribute: Contribute, caplog: pytest.LogCaptureFixture
) -> None:
    contribute("recordsilo.jobs", "audit", Kind("audit", "Another", lambda _: Ending(True, "")))
    assert kind_of("audit").label == "Audit"
    assert "another package has that name" in caplog.text


def test_a_broken_kind_of_job_leaves_the_others(contribute: Contribute) -> None:
    contribute("recordsilo.jobs", "broken", "no kind")
    assert "audit" in begun_by_form()
    assert "broken" not in begun_by_form()
    contribute(
        "recordsilo.jobs",
        "made-up",
        Kind(
            "made-up",
            "Made up",
            lambda _: Ending(True, ""),
            read=lambda *_: Asked("Made up", {}),
        ),
    )
    assert "made-up" in begun_by_form()


def test_a_broken_command_is_listed_and_says_why_it_cannot_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    point = EntryPoint("broken", "no_such_module:command", cli.ENTRY_POINTS)
    several = {**cli._points(), point.name: point}
    monkeypatch.setattr(cli, "_points", lambda: several)
    monkeypatch.setattr(cli.silo_command, "commands", {})
    for arguments, code in ((["--help"], 0), (["broken", "x", "--y"], 2)):
        monkeypatch.setattr(sys, "argv", ["silo", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == code
    told = capsys.readouterr()
    assert "\n  ls " in told.out
    assert "(cannot be loaded)" in told.out
    assert told.err == (
        "silo: 'broken' of the package no_such_module:command (recordsilo.commands) failed: "
        "ModuleNotFoundError: No module named 'no_such_module'\n"
    )


def test_the_installed_packages_are_looked_at_once(monkeypatch):
    looked = []
    look = importlib.metadata.distributions
    monkeypatch.setattr(
        importlib.metadata, "distributions", lambda **how: looked.append(how) or look(**how)
    )
    contributions._installed.cache_clear()
    for group in ("recordsilo.commands", "recordsilo.facets", "recordsilo.jobs"):
        assert any(True for _ in contributions.entry_points(group=group))
    assert len(looked) == 1
