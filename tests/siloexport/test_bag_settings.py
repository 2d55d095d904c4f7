"""Fields and profiles of bags: satisfied, or refused with all faults before anything is written."""

import copy
import json
import os
import tarfile
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import bagit
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from recordsilo import Silo
from recordsilo.cli import CommandFailure
from siloexport import BagTarget, Export, ExportError, Policy, Versions
from siloexport.commands.export import export
from siloexport.ledger import Ledger, ledger_path
from siloexport.targets.bag_settings import BagSettings, met, parse_info, read_settings
from siloexport.targets.directory import DAY

PROFILE: dict[str, Any] = {
    "BagIt-Profile-Info": {
        "BagIt-Profile-Identifier": "https://archive.example/profile-1.json",
        "BagIt-Profile-Version": "1.3.0",
        "Source-Organization": "An Archive",
        "External-Description": "What the archive takes",
        "Version": "1",
    },
    "Bag-Info": {
        "Bagging-Date": {"required": True, "repeatable": False},
        "Bag-Size": {"required": True},
        "Payload-Oxum": {"required": True},
        "External-Identifier": {"required": True},
        "Source-Organization": {"required": True, "values": ["A University", "A Library"]},
        "Contact-Email": {"required": True, "repeatable": False},
    },
    "Manifests-Required": ["md5", "sha256"],
    "Tag-Manifests-Required": ["sha256"],
    "Tag-Manifests-Allowed": ["sha256", "sha1"],
    "Tag-Files-Required": ["silo.json"],
    "Tag-Files-Allowed": ["silo.*"],
    "Allow-Fetch.txt": False,
    "Serialization": "required",
    "Accept-Serialization": ["application/x-tar"],
    "Accept-BagIt-Version": ["0.97", "1.0"],
}
INFO = (
    "Source-Organization: A University\nContact-Email: a@b.example\n"
    "External-Description: Theses\n  and papers\n"
)
ID, NAME = "oai:example.org:2", "oai+example,org+2"
MONDAY, TUESDAY = date(2026, 11, 23), date(2026, 11, 24)


def changed(**members: Any) -> dict[str, Any]:
    return {**copy.deepcopy(PROFILE), **members}


def bag_in(directory: Path, below: Path) -> bagit.Bag:
    with tarfile.open(directory / f"{NAME}.tar") as tar:
        tar.extractall(below, filter="data")
    return bagit.Bag(str(below / NAME))


def exported(silo: Silo, directory: Path, *given: Any, day: date = MONDAY) -> Export:
    target = BagTarget(str(directory), *given, today=lambda: day)
    made = Export(silo, target, Policy(Versions.ALL))
    assert made.run().whole
    return made


def test_bags_meet_a_profile_as_its_own_validator_says(silo: Silo, tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text(json.dumps(PROFILE))
    (tmp_path / "info").write_text(INFO)
    settings = read_settings(str(tmp_path / "info"), str(tmp_path / "profile.json"))
    made = exported(silo, tmp_path / "bags", settings)
    bag = bag_in(tmp_path / "bags", tmp_path / "unpacked")
    bag.validate()
    assert sorted(bag.algorithms) == ["md5", "sha256", "sha512"]
    assert bag.info["External-Description"] == "Theses and papers"
    identifier = PROFILE["BagIt-Profile-Info"]["BagIt-Profile-Identifier"]
    assert bag.info["BagIt-Profile-Identifier"] == identifier
    validator = pytest.importorskip("bagit_profile", reason="the extra `test` is not installed")
    profile = validator.Profile(identifier, profile=PROFILE)
    assert profile.validate(bag), str(profile.report)
    assert profile.validate_serialization(str(tmp_path / "bags" / f"{NAME}.tar"))
    assert made.verify().differences == 0


@pytest.mark.parametrize(
    ("profile", "info", "fault"),
    [
        ([], INFO, "not a JSON object"),
        (changed(**{"BagIt-Profile-Info": {}}), INFO, "lacks Source-Organization, External-Desc"),
        (PROFILE, "", r"it requires Source-Organization \(one of: A University, A Library\)"),
        (PROFILE, "Source-Organization: Other\n", "allows A University, A Library .* not Other"),
        (PROFILE, INFO + "contact-email: c@d.example\n", "allows one Contact-Email, not 2"),
        (changed(Serialization="forbidden"), INFO, "Serialization is forbidden"),
        (changed(Serialization=[]), INFO, "Serialization is"),
        (changed(**{"Accept-Serialization": ["application/zip"]}), INFO, "have application/tar"),
        (changed(**{"Accept-BagIt-Version": ["0.97"]}), INFO, "does not have 1.0"),
        (changed(**{"Manifests-Required": ["crc32"]}), INFO, "crc32, which is not supported"),
        (changed(**{"Manifests-Allowed": ["sha1"]}), INFO, "Manifests-Allowed does not"),
        (changed(**{"Manifests-Required": "md5"}), INFO, "Manifests-Required is not a list"),
        (changed(**{"Tag-Files-Required": ["x.txt"]}), INFO, "x.txt, which these bags do not have"),
        (changed(**{"Tag-Files-Allowed": ["x.*"]}), INFO, "does not have silo.json"),
        (changed(**{"Fetch.txt-Required": True}), INFO, "Fetch.txt-Required is set"),
        (changed(**{"Data-Empty": "true"}), INFO, "Data-Empty is set"),
        (changed(**{"Bag-Info": [1]}), INFO, "Bag-Info is not an object of objects"),
        (
            changed(**{"Bag-Info": {"Bagging-Date": {"values": ["x"]}}}),
            INFO,
            "restricts the values of",
        ),
    ],
)
def test_profile_that_bags_cannot_meet_is_refused(
    profile: Any, info: str, fault: str, silo: Silo, tmp_path: Path
) -> None:
    (tmp_path / "profile.json").write_text(json.dumps(profile))
    (tmp_path / "info").write_text(info)
    with pytest.raises(ExportError, match=f"cannot be met: .*{fault}"):
        read_settings(str(tmp_path / "info"), str(tmp_path / "profile.json"))


def test_all_faults_are_named_and_nothing_is_written(silo: Silo, tmp_path: Path) -> None:
    profile, out = tmp_path / "profile.json", tmp_path / "bags"
    profile.write_text(json.dumps(changed(Serialization="forbidden")))
    arguments = ["bag", silo.path, str(out), "--profile", str(profile)]
    result = CliRunner().invoke(export, arguments, standalone_mode=False)
    assert isinstance(result.exception, CommandFailure)
    assert result.exception.exit_code == 2
    for fault in ("Serialization is forbidden", "requires Source-Org", "requires Contact-Email"):
        assert fault in str(result.exception)
    assert not out.exists()


json_values = st.recursive(
    st.none() | st.booleans() | st.text(max_size=3) | st.integers(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)


@given(
    st.dictionaries(st.sampled_from([*PROFILE, "Fetch.txt-Required", "Data-Empty"]), json_values)
)
def test_any_json_is_a_profile_or_has_faults(members: Mapping[str, Any]) -> None:
    _, faults = met({**PROFILE, **members}, parse_info(INFO, "info"))
    assert all(isinstance(one, str) for one in faults)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Source-Organization\n", "line 1 of info is not of the form"),
        ("A: b\n: c\n", "line 2 of info is not of the form"),
        ("\n  folded\n", "line 2 of info is not"),
        ("Contact-Name:\n", "does not give Contact-Name a value"),
        ("bagging-date: 2026-01-01\n", "bagging-date is written by the export"),
        ("Silo-Key: 1\n", "Silo-Key is written by the export"),
    ],
)
def test_field_that_cannot_be_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ExportError, match=fault):
        parse_info(text, "info")


@pytest.mark.parametrize("content", [None, b"\xff", b"{"])
def test_file_that_cannot_be_read_is_told(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "profile.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ExportError, match=r"profile\.json (is not|cannot be read)"):
        read_settings(None, str(path))


def test_settings_hold_for_later_exports_until_others_are_given(silo: Silo, tmp_path: Path) -> None:
    out = tmp_path / "bags"
    exported(silo, out, BagSettings(parse_info(INFO, "info")))
    silo["2"].put_stream("more.txt", "more")
    exported(silo, out).resume()
    bag = bag_in(out, tmp_path / "second")
    assert bag.info["Contact-Email"] == "a@b.example"
    assert os.path.exists(os.path.join(bag.path, "data/workingcopy/more.txt"))
    exported(silo, out, BagSettings())
    assert "Contact-Email" not in bag_in(out, tmp_path / "third").info


def test_damaged_settings_are_told_in_a_sentence(silo: Silo, tmp_path: Path) -> None:
    out = tmp_path / "bags"
    exported(silo, out, BagSettings((("Contact-Name", "A"),)))
    marker = out / ".silo-export"
    marker.write_text(marker.read_text().replace('{"info"', '{"inform'))
    result = CliRunner().invoke(export, ["verify", silo.path, str(out)], standalone_mode=False)
    assert isinstance(result.exception, CommandFailure)
    assert "settings in .silo-export cannot be read" in str(result.exception)


def test_bag_tells_the_day_of_bagging_and_keeps_it_where_nothing_changed(
    silo: Silo, tmp_path: Path
) -> None:
    out = tmp_path / "bags"
    made = exported(silo, out)
    first = (out / f"{NAME}.tar").read_bytes()
    assert bag_in(out, tmp_path / "first").info["Bagging-Date"] == "2026-11-23"
    with Ledger.look(silo.path, made.target.key) as ledger:
        held = ledger.known(ID).held
        assert held is not None
        assert ledger.noted(ID, held.key)[DAY] == "2026-11-23"
    exported(silo, out, day=TUESDAY)
    assert (out / f"{NAME}.tar").read_bytes() == first
    os.unlink(ledger_path(silo.path, made.target.key))
    report = Export(
        silo, BagTarget(str(out), today=lambda: TUESDAY), Policy(Versions.ALL)
    ).run()  # the bag in its place tells the day
    assert report.whole, report.problems
    assert (out / f"{NAME}.tar").read_bytes() == first
    silo["2"].put_stream("more.txt", "more")
    exported(silo, out, day=TUESDAY)
    assert bag_in(out, tmp_path / "later").info["Bagging-Date"] == "2026-11-24"


def test_bag_that_is_made_again_has_the_day_in_the_ledger(silo: Silo, tmp_path: Path) -> None:
    made = exported(silo, tmp_path / "bags")
    place = tmp_path / "bags" / f"{NAME}.tar"
    first = place.read_bytes()
    os.unlink(place)
    with Ledger.open(silo.path, made.target.key, "bags") as ledger:
        known = ledger.known(ID)
        assert known.held is not None
        noted = ledger.noted(ID, known.held.key)
        ledger.forget(ID)
    assert noted[DAY] == "2026-11-23"
    exported(silo, tmp_path / "bags", day=TUESDAY)
    assert place.read_bytes() == first
