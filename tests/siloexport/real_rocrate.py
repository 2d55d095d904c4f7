"""The validator and the reader of RO-Crates of others, in an environment of their own.

python tests/siloexport/real_rocrate.py install DIR      makes it, 80 MB
DIR/bin/python tests/siloexport/real_rocrate.py check CRATE ...

The validator works offline: the context of RO-Crate 1.2 comes from the reader's package, whose
terms are those of 1.3; `test_rocrate.py` checks that crates use only terms of 1.2.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any, NoReturn

PACKAGES = ("roc-validator==0.13.0", "rocrate==0.16.0")
_CONTEXT = "https://w3id.org/ro/crate/1.2/context"
_KIND = "application/ld+json"


def install(directory: Path) -> None:
    """Make the environment, if it is not there yet."""
    done = directory / "installed.txt"
    if done.exists() and done.read_text() == "\n".join(PACKAGES):
        return
    venv.create(directory, with_pip=True, clear=True)
    pip = [str(directory / "bin" / "pip"), "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *PACKAGES], check=True)
    done.write_text("\n".join(PACKAGES))


def findings(*crates: Path) -> list[dict[str, Any]]:
    """What the validator requires of each crate, and what the reader reads."""
    place = Path(os.environ.get("ROCRATE_FILES", Path.home() / ".cache" / "recordsilo-rocrate"))
    if not (place / "installed.txt").exists():
        _missing(f"{place} is not there (see tests/siloexport/real_rocrate.py)")
    command = [str(place / "bin" / "python"), __file__, "check", *map(str, crates)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def _missing(reason: str) -> NoReturn:
    import pytest  # noqa: PLC0415  # not there for who only installs

    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


# -- in the environment ------------------------------------------------------------------


def _check(crates: list[str]) -> None:
    with tempfile.TemporaryDirectory() as cache:
        _put_context(f"{cache}/http")
        for crate in crates:
            found = {"required": _required(crate, f"{cache}/http"), **_read(crate)}
            print(json.dumps(found))


def _put_context(cache: str) -> None:
    import requests  # noqa: PLC0415
    import rocrate  # noqa: PLC0415
    from rocrate_validator.utils.http import HttpRequester  # noqa: PLC0415
    from urllib3.response import HTTPResponse  # noqa: PLC0415

    content = Path(rocrate.__file__).with_name("data").joinpath("ro-crate.jsonld").read_bytes()
    answer = requests.Response()
    answer.status_code, answer.url, answer._content = 200, _CONTEXT, content
    answer.headers["Content-Type"] = _KIND
    answer.raw = HTTPResponse(content, {"Content-Type": _KIND}, 200, preload_content=False)
    answer.request = requests.Request("GET", _CONTEXT).prepare()
    HttpRequester(cache_path=cache, offline=True).session.cache.save_response(answer)


def _required(crate: str, cache: str) -> list[str]:
    from rocrate_validator import models, services  # noqa: PLC0415

    settings = services.ValidationSettings(
        rocrate_uri=crate, profile_identifier="ro-crate-1.2", offline=True, cache_path=cache,
        requirement_severity=models.Severity.REQUIRED,
    )  # fmt: skip
    issues = services.validate(settings).get_issues()
    return [f"{one.check.identifier}: {one.message}" for one in issues]


def _read(crate: str) -> dict[str, Any]:
    from rocrate.rocrate import ROCrate  # noqa: PLC0415

    read = ROCrate(crate)
    people = [one for one in read.contextual_entities if one.type == "Person"]
    return {
        "name": read.name,
        "files": sorted(str(one.id) for one in read.data_entities if one.type == "File"),
        "there": all((Path(crate) / one.id).exists() or Path(one.source).exists()
                     for one in read.data_entities if one.type == "File"),
        "people": sorted(one["name"] for one in people),
    }  # fmt: skip


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    install(Path(arguments[0])) if what == "install" else _check(arguments)
