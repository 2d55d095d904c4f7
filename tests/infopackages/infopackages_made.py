"""A package of two representations, made below a directory, with names that need encoding."""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import IO

from infopackages import csip
from infopackages.files import XML, PackagedFile, add_chunks, add_written
from infopackages.mets import MetadataFile, MetsAgent
from infopackages.premis import Agent as PremisAgent
from infopackages.premis import (
    Event,
    Id,
    Object,
    Relationship,
    RightsStatement,
    write_premis,
)
from infopackages.versions import version_event

NAMES = ("plain.txt", "b c+d%e é.txt", "below/日本.gz", "a&b<c>\"'.txt")
DAY = "2026-01-01T00:00:00Z"
RIGHTS = tuple(
    RightsStatement(Id(f"rights-{number}"), basis, note, document, ("replicate", "use"), date)
    for number, (basis, note, document, date) in enumerate(
        product(
            ("copyright", "license", "statute", "policy"),
            ("", "a note"),
            ("", "https://example.org/law", "§ 16a"),
            ("", "2026-01-01"),
        )
    )
)


class Below:
    """Adds files below a directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def __call__(self, path: str, size: int, source: IO[bytes]) -> None:
        place = self.directory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        content = source.read(size)
        assert (len(content), source.read(1)) == (size, b"")
        place.write_bytes(content)


def premis_of(objects: Iterable[Object]) -> Iterator[Object]:
    yield Object(
        (Id("oai:example.org:1", "OAI identifier"), Id("package")), "intellectualEntity", "Ünamed"
    )
    yield Object(
        (Id("rep"),),
        "representation",
        relations=(Relationship("structural", "represents", Id("package")),),
        events=(Id("1#made"),),
    )
    yield from objects


def make_package(directory: Path, names: Iterable[str] = NAMES) -> csip.InformationPackage:
    """Make a package as whoever uses the writers does, and return its description."""
    add = Below(directory)
    representations = []
    for version in ("1", "working copy"):
        files = []
        below = f"representations/{version}/"
        for name in names:
            content = f"{version} {name}".encode()
            file = PackagedFile(f"{below}data/{name}", len(content), "", "text/plain", DAY)
            files.append(add_chunks(add, file, [content[:3], content[3:]]).moved(below, ""))
        objects = [
            Object((Id(one.path),), "file", one.path, {"SHA-512": one.sha512}, one.size,
                   one.media_type, "x-fmt/111")
            for one in files
        ]  # fmt: skip
        premis = add_written(add, below + csip.PREMIS, partial(write_premis, objects=objects))
        kept = MetadataFile(premis.moved(below, ""), "digiprovMD", "PREMIS", version="3.0")
        representations.append(csip.Representation(version, "A version", files, (kept,)))
    made = version_event(Id("rep"), "clone", "2024-01-01T00:00:00", of="0", agent="me \x01")
    checked = Event(
        Id("check"), "virus check", DAY, ("all files",), "success", "nothing found",
        ((Id("me"), "implementer"),), (Id("rep"),),
    )  # fmt: skip
    premis = add_written(
        add,
        csip.PREMIS,
        partial(
            write_premis,
            objects=premis_of(()),
            events=(made, checked),
            agents=(PremisAgent(Id("me"), "Me", "person", "1"),),
            rights=RIGHTS,
        ),
    )
    content = b"<dc/>"
    dc = add_chunks(add, PackagedFile("metadata/descriptive/dc.xml", 5, "", XML), [content])
    log = add_chunks(add, PackagedFile("documentation/log.txt", 5, "", "text/plain"), [content])
    package = csip.InformationPackage(
        directory.name, "A label", "Mixed", DAY,
        (
            MetsAgent.software("silo", "1.0"),
            MetsAgent("A library", note="1", note_kind="IDENTIFICATIONCODE"),
        ),
        (
            MetadataFile(dc, "dmdSec", "DC"),
            MetadataFile(premis, "digiprovMD", "PREMIS", version="3.0"),
        ),
        tuple(representations),
        (log,),
    )  # fmt: skip
    described = list(csip.add_descriptions(add, package))
    assert described[-1].path == csip.METS
    return package
