"""What the tests of imports share: records of a harvest, and the command."""

from typing import Any

from click.testing import CliRunner

from recordsilo import Silo
from recordsilo.records.manifest import Manifest, Origin
from siloimport.commands import import_group

TWO = "oai:example.org:2"
DC = (
    b"<metadata><oai_dc:dc xmlns:oai_dc='http://www.openarchives.org/OAI/2.0/oai_dc/'"
    b" xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:title>%s</dc:title></oai_dc:dc></metadata>"
)


def harvested(silo: Silo, identifier: str, text: str, version: str = "1") -> None:
    with silo.batch([identifier]) as batch:
        edit = batch.edit(identifier)
        prefixes = {"oai_dc": "2024-05-01T00:00:00"}
        origin = Origin("harvest", None, prefixes, "silo harvest", "test", "2024-06-01T00:00:00")
        edit.add_version(version, date="2024-05-01T00:00:00", origin=origin, log="harvested")
        edit.put(version, "oai_dc", DC % text.encode(), metadata=True)


def call(*arguments: object) -> tuple[int, str]:
    """Call `silo import`; returns its exit code and all that it said."""
    result = CliRunner().invoke(import_group, [*map(str, arguments)], standalone_mode=False)
    code = getattr(result.exception, "exit_code", None) or result.return_value or 0
    said = getattr(result.exception, "format_message", lambda: result.exception or "")()
    assert isinstance(code, int)
    return code, f"{result.output}{said}"


def what_is_in(silo: Silo) -> dict[str, tuple[Any, ...]]:
    """All manifests' versions, and all content."""
    found = {}
    for identifier in silo:
        record = silo[identifier]
        manifest: Manifest = record.state
        contents = {}
        for version in manifest.versions:
            for path in version.paths:
                with record.get_stream(path, version.name) as stream:
                    contents[version.name, path] = stream.read()
        found[identifier] = (manifest.versions, manifest.current_version, contents)
    return found
