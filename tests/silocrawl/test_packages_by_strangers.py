"""What `silo crawl package` leaves in a store, as the validators of others find it."""

import json
import subprocess
from pathlib import Path

import bagit
import bagit_profile
import pytest
from click.testing import CliRunner
from crawled_pages import crawled
from real_eark import check_documents, findings

from recordsilo import Silo
from recordsilo.cli import silo_command
from silocrawl.packages.describing import PROFILE_FILE

RIGHTS = 'sips = true\n[bag-info]\nSource-Organization = "A library"\n[rights]\nbasis = "policy"\n'


@pytest.mark.long
def test_package_of_a_crawl_is_an_e_ark_package_in_a_bag(silo: Silo, tmp_path: Path) -> None:
    crawled(silo.path, 1, 6, 5_000, rotate_at=12_000)
    (tmp_path / "store").mkdir()
    (Path(silo.path) / "crawling" / "store.toml").write_text(RIGHTS)
    command = ["crawl", "package", silo.path, "--store", str(tmp_path / "store")]
    result = CliRunner().invoke(silo_command, command, standalone_mode=False)
    assert not result.return_value, result.output
    (place,) = (tmp_path / "store" / "packages").iterdir()
    bag = bagit.Bag(str(place))
    bag.validate()
    profile = json.loads((place / PROFILE_FILE).read_text())
    named = profile["BagIt-Profile-Info"]["BagIt-Profile-Identifier"]
    conforming = bagit_profile.Profile(named, profile=profile)
    assert conforming.validate(bag), conforming.report.errors
    package = place / "data" / place.name
    assert check_documents(place) == 4
    assert findings(package) == ("VALID", [])
    (packed,) = (tmp_path / "store" / "sips").iterdir()
    subprocess.run(["tar", "xzf", packed, "-C", tmp_path], check=True)
    bagit.Bag(str(tmp_path / place.name)).validate()
    warcs = sorted((package / "representations/crawl/data").iterdir())
    assert len(warcs) > 1
    with warcs[0].open("ab") as file:
        file.write(b"x")
    assert findings(package)[0] == "INVALID"
    assert not bag.is_valid()
