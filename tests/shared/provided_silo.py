"""A Silo for tests of its provider: records as a harvest stores them, and a clock."""

from datetime import datetime
from typing import Any

import pytest
from provider_asker import Asker

from recordsilo import Silo
from recordsilo.records.manifest import Origin

DC = (
    '<metadata xmlns="http://www.openarchives.org/OAI/2.0/"><oai_dc:dc '
    'xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/">{}</oai_dc:dc></metadata>'
)
MODS = '<mods xmlns="http://www.loc.gov/mods/v3"><titleInfo><title>{}</title></titleInfo></mods>'
EDIT = "recordsilo.records.edit.now_text"


class Clock:
    """The time of the Silo and of the provider, a second later with each look."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seconds = 0
        monkeypatch.setattr(EDIT, self.text)

    def text(self) -> str:
        minutes, seconds = divmod(self.seconds, 60)
        return f"2026-03-01T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.000000"

    def now(self) -> datetime:
        return datetime.fromisoformat(f"{self.text()}+00:00")

    def tick(self, seconds: int = 1) -> str:
        self.seconds += seconds
        return f"{self.text()[:19]}Z"


def harvest(silo: Silo, identifier: str, *, sets: tuple[str, ...] = (), **files: str) -> None:
    """Store a version as a harvest does."""
    with silo.editing(identifier) as edit:
        name = str(len(edit.manifest.versions) + 1)
        origin = Origin("harvest", prefixes=dict.fromkeys(files, "2020-01-01T00:00:00"))
        edit.add_version(name, date="2020-01-01T00:00:00", origin=origin)
        for path, text in files.items():
            edit.put(name, path, text.encode(), metadata=True)
        edit.set_metadata("setSpec", list(sets))


def headers(ask: Asker, **more: str) -> list[tuple[str, str, bool]]:
    """Identifier, datestamp and whether it is deleted, of a whole list."""
    given = {"metadataPrefix": "oai_dc", **more}
    if ask.codes(verb="ListIdentifiers", **given) == ["noRecordsMatch"]:
        return []
    return [
        (one.findtext("{*}identifier"), one.findtext("{*}datestamp"), "status" in one.attrib)
        for page in ask.pages("ListIdentifiers", **given)
        for one in page.iter("{*}header")
    ]


def given(ask: Asker, identifier: str, prefix: str = "oai_dc") -> Any:
    return ask(verb="GetRecord", identifier=identifier, metadataPrefix=prefix)


def dc(title: str) -> str:
    return DC.format(f"<dc:title>{title}</dc:title>")
