"""One unreadable manifest affects only its own record."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.cli import silo_command
from recordsilo.disk.identifier import clean, ppath
from recordsilo.errors import ManifestUnreadable
from webui.app import create_app
from webui.site import SiteSettings

DC = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Gulls</dc:title></oai_dc:dc>'
)
ODD = "r:1"
Members = dict[str, Any]


def setting(key: str, value: Any) -> Callable[[Members], object]:
    return lambda members: members.update({key: value})


def nested(levels: int) -> Any:
    found: Any = "x"
    for _ in range(levels):
        found = [found]
    return found


def renamed(members: Members, new: str) -> None:
    """Give version ``wc`` another name, wherever the manifest has it."""
    members.update(json.loads(json.dumps(members).replace('"wc"', json.dumps(new))))
    for key in ("files", "subdir", "metadata_files", "digests", "origins"):
        members[key].pop("wc", None)


def file_renamed(members: Members, new: str) -> None:
    """Give the file ``oai_dc`` another name, wherever the manifest has it."""
    for key in ("files", "digests", "metadata_files"):
        text = json.dumps(members[key]).replace('"oai_dc"', json.dumps(new))
        members[key] = json.loads(text)


def size_of(members: Members, size: int) -> None:
    members["digests"]["wc"]["oai_dc"]["size"] = size


REFUSED: dict[str, Callable[[Members], object]] = {
    "a revision of 64 bits": setting("revision", 1 << 63),
    "a revision of 400 digits": setting("revision", 10**400),
    "a format of 64 bits": setting("format", 1 << 63),
    "a size of 64 bits": lambda members: size_of(members, 1 << 63),
    "a size below 0": lambda members: size_of(members, -1),
    "a version's name of 254 bytes": lambda members: renamed(members, "x" * 254),
    "a version's name of half a character": lambda members: renamed(members, "\ud800"),
    "a version's name of a byte that is not text": lambda members: renamed(members, "\udc80"),
    "a file's name of 256 bytes": lambda members: file_renamed(members, "x" * 256),
    "a file's name of half a character": lambda members: file_renamed(members, "\ud800"),
    "NaN": setting("metadata", {"number": float("nan")}),
    "an infinite number": setting("other", float("inf")),
    "metadata of 900 levels": setting("metadata", {"deep": nested(900)}),
    "metadata of 65 levels": setting("other", nested(65)),
}
READ: dict[str, Callable[[Members], object]] = {
    "a number of 400 digits in the metadata": setting("metadata", {"number": 10**400}),
    "half characters in the metadata": setting("metadata", {"\ud800": "", "setSpec": "\ud800"}),
    "a file's name of a byte that is not text": lambda members: file_renamed(members, "\udc80"),
    "a version's name of control characters": lambda members: renamed(members, "\x1b[31m\n"),
    "a version's name of 253 bytes": lambda members: renamed(members, "x" * 253),
    "a date that is none": setting("date", "99999-99-99T99:99:99"),
    "a date at the end of time": setting("date", "9999-12-31T23:59:59-14:00"),
    "a date before the beginning of time": setting("date", "0001-01-01T00:00:00+14:00"),
    "a set's name of 5,000 letters": setting("metadata", {"setSpec": ["x" * 5000]}),
    "sets that are none": setting("metadata", {"setSpec": [1 << 70, None, {}]}),
    "a deletion at no date": setting(
        "metadata", {"deleted_at_date": "\ud800", "deleted_at_version": 1}
    ),
    "marks that are none": setting("metadata", {"duplicate_of": [1], "not_duplicate_of": 1 << 70}),
    "metadata of 60 levels": setting("metadata", {"deep": nested(60)}),
}  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("odd") / "s"
    with Silo(str(path)) as silo:
        for number in range(3):
            record = silo.get_item(f"r:{number}")
            record.put_stream("oai_dc", DC, None, True)
            record.clone_version("1", "wc")
    return path


@pytest.fixture
def silo(built: Path, request: pytest.FixtureRequest) -> Any:
    """The Silo with one manifest changed, and no index."""
    manifest = built / "pairtree_root" / ppath(ODD) / "__manifest.json"
    content = manifest.read_bytes()
    members = json.loads(content)
    members.pop("checksum")
    request.param(members)
    manifest.write_text(json.dumps(members))
    for suffix in ("", "-wal", "-shm"):
        (built / f".silo/index.sqlite{suffix}").unlink(missing_ok=True)
    yield str(built)
    manifest.write_bytes(content)


def ask(app: Any, address: str, accept: str) -> tuple[int, bytes]:
    path, _, query = address.partition("?")
    environ = {
        "REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": query, "REQUEST_URI": address,
        "SCRIPT_NAME": "", "SERVER_NAME": "127.0.0.1", "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "127.0.0.1", "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_LENGTH": "0", "HTTP_ACCEPT": accept, "wsgi.input": io.BytesIO(),
        "wsgi.url_scheme": "http", "wsgi.errors": io.StringIO(), "wsgi.version": (1, 0),
        "wsgi.multithread": True, "wsgi.multiprocess": False, "wsgi.run_once": False,
    }  # fmt: skip
    begun: list[str] = []
    body = b"".join(app(environ, lambda status, _headers, _exc=None: begun.append(status)))
    return int(begun[-1][:3]), body


def page_of(identifier: str, below: str = "") -> str:
    return "/records/" + quote(clean(identifier), safe="+=") + below


LISTS = ("/search", "/search?q=gulls", "/sets", "/quality", "/quality/duplicates", "/upstream",
         "/search/results.csv", "/search/results.jsonl")  # fmt: skip


def check_lists(silo: str, expected: int) -> None:
    """Lists, pages and exports go on with the other records."""
    with Silo(silo, create=False) as opened:
        assert len(list(opened.page().rows)) == expected
        app = create_app(opened, SiteSettings(agent="a.curator"))
        for accept in ("text/html", "application/json"):
            for address in (*LISTS, page_of("r:0")):
                status, body = ask(app, address, accept)
                assert status == 200, (address, body)
    for command in (["ls"], ["search", "gulls"], ["check"], ["repair", "--dry-run"], ["quality"]):
        run([command[0], silo, *command[1:]])


def run(arguments: list[str]) -> str:
    """Run `silo`; any exit, and no exception that nobody expects."""
    done = CliRunner().invoke(silo_command, arguments, standalone_mode=False)
    assert done.exception is None, (arguments, done.exception)
    return done.output


@pytest.mark.parametrize("silo", REFUSED.values(), ids=REFUSED, indirect=True)
def test_a_manifest_with_a_value_that_nothing_can_bear_is_refused_and_the_rest_goes_on(
    silo: str, tmp_path: Path
) -> None:
    with Silo(silo, create=False) as opened:
        with pytest.raises(ManifestUnreadable):
            opened[ODD]
        assert opened.reindex() == 3
        assert [one.identifier for one in opened.unread()] == [ODD]
        app = create_app(opened, SiteSettings(agent="a.curator"))
        status, body = ask(app, page_of(ODD), "application/json")
        assert (status, json.loads(body)["error"]["code"]) == (503, "manifest_unreadable")
    check_lists(silo, 3)
    run(["export", "csv", silo, str(tmp_path / "table.csv")])
    assert (tmp_path / "table.csv").read_text(encoding="utf-8-sig").count("Gulls") == 2
    damage = [line for line in run(["check", silo, "--json"]).splitlines() if '"damage"' in line]
    assert any(ppath(ODD) in line for line in damage)


@pytest.mark.long
@pytest.mark.parametrize("silo", READ.values(), ids=READ, indirect=True)
def test_a_manifest_with_an_odd_value_is_read_shown_and_exported(silo: str, tmp_path: Path) -> None:
    check_lists(silo, 3)
    with Silo(silo, create=False) as opened:
        assert opened[ODD].metadata is not None
        app = create_app(opened, SiteSettings(agent="a.curator"))
        for accept in ("text/html", "application/json"):
            for below in ("", "/versions/1", "/differences?before=1&after=wc"):
                status, body = ask(app, page_of(ODD, below), accept)
                assert status < 500, (below, body)
    for target in ("csv", "jsonl", "links", "zip"):
        place = tmp_path / f"out.{target}"
        run(["export", target, silo, str(place)])
        assert os.path.exists(place)
