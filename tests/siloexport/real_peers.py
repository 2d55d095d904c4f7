"""Other programs that read what is exported: dspyce for DSpace's items, datacite's JSON Schema.

python tests/siloexport/real_peers.py DIR     gets them, 300 MB with what they need

They are in an environment of their own, because they need packages that silo does not.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any, NoReturn

PACKAGES = ("dspyce==0.2.2", "datacite==1.4.1")
_READ_ITEMS = """
import json, os, sys
from dspyce.saf import read_saf_package
found = {}
for name in sorted(os.listdir(sys.argv[1])):
    item = read_saf_package(os.path.join(sys.argv[1], name))
    metadata = {}
    for schema in item.metadata.get_schemas():
        for field, values in item.metadata.get_by_schema(schema).items():
            metadata[field] = [value.value for value in values]
    bundles = {
        bundle.name: [one.file_name for one in bundle.bitstreams] for bundle in item.get_bundles()
    }
    found[name] = {"handle": item.handle, "metadata": metadata, "bundles": bundles,
                   "collections": [one.get_identifier() for one in item.collections]}
print(json.dumps(found))
"""
_VALIDATE = """
import json, os, sys
from datacite.schema45 import validator
for name in sorted(os.listdir(sys.argv[1])):
    if name.endswith(".json"):
        with open(os.path.join(sys.argv[1], name), encoding="utf-8") as file:
            document = json.load(file)
        for error in validator.iter_errors(document):
            print(json.dumps([name, error.json_path, error.message]))
"""


def install(directory: Path) -> None:
    """Get the programs, if they are not there yet."""
    done = directory / "installed.txt"
    if done.exists() and done.read_text() == "\n".join(PACKAGES):
        return
    venv.create(directory, with_pip=True, clear=True)
    pip = [str(directory / "bin/python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *PACKAGES], check=True)
    done.write_text("\n".join(PACKAGES))


def read_items(directory: Path) -> dict[str, Any]:
    """Return what dspyce reads of each item below a directory: name → its parts."""
    found: dict[str, Any] = json.loads(_run(_READ_ITEMS, directory))
    return found


def invalid_documents(directory: Path) -> list[list[str]]:
    """Return (file, place, fault) for each fault that the schema of DataCite 4.5 finds."""
    return [json.loads(line) for line in _run(_VALIDATE, directory).splitlines()]


def _run(program: str, directory: Path) -> str:
    place = Path(os.environ.get("PEER_FILES", Path.home() / ".cache" / "recordsilo-peers"))
    python = place / "bin/python"
    if not (place / "installed.txt").exists():
        _missing(f"{python} is not there (see tests/siloexport/real_peers.py)")
    done = subprocess.run(
        [python, "-c", program, directory], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _missing(reason: str) -> NoReturn:
    import pytest  # noqa: PLC0415  # not there for who only installs

    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    install(parser.parse_args().directory)
    sys.exit()
