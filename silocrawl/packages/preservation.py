"""What PREMIS says of a package, and Dublin Core: what is in it, what happened, rights (pure).

Source: PREMIS Data Dictionary 3.0; https://id.loc.gov/vocabulary/preservation/eventType
"""

import re
from collections.abc import Iterator
from datetime import datetime

from infopackages.premis import Agent, Event, Id, Object, Relationship, RightsStatement
from silocrawl.moments import in_iso
from silocrawl.packages.layout import warc_path
from silocrawl.packages.settings import StoreSettings
from silocrawl.packages.values import Package

REPRESENTATION = "crawl"
_FORMAT, _PRONOM = "application/warc", "fmt/289"


def objects(package: Package) -> Iterator[Object]:
    """Yield the package itself, and the crawl in it."""
    yield Object((Id(package.ark, "ARK"), Id(package.id)), "intellectualEntity", package.id)
    yield Object(
        (_crawl(package),),
        "representation",
        relations=(Relationship("structural", "represents", Id(package.ark, "ARK")),),
        events=(_event_id(package, "captured"),),
    )


def warc_objects(package: Package) -> Iterator[Object]:
    """Yield the WARC files."""
    for one in package.warcs:
        path = f"{package.id}/{warc_path(one.name, is_viral=one.is_viral)}"
        yield Object(
            (Id(one.ark, "ARK"), Id(path)),
            "file",
            one.name,
            {"SHA-512": one.sha512},
            one.size,
            _FORMAT,
            _PRONOM,
            (Relationship("structural", "is included in", _crawl(package)),),
        )


def events(package: Package, packaged: datetime, software: str) -> Iterator[Event]:
    """Yield what happened, in order.

    Args:
        packaged: When the package was made.
        software: What made it.
    """
    crawl, maker = _crawl(package), ((Id(software), "executing program"),)
    crawler = ((Id(package.software or "unknown"), "executing program"),)
    upto = f"up to checkpoint {package.checkpoint} at {in_iso(package.ended)}"
    yield Event(
        _event_id(package, "captured"),
        "capture",
        in_iso(package.started),
        (f"crawl start: {package.crawl_id or package.stream}, {upto}",),
        agents=crawler,
        objects=(crawl,),
    )
    scan = package.scan
    if scan:
        found = [one for one in package.viral if one.signature]
        yield Event(
            _event_id(package, "scanned"),
            "virus check",
            in_iso(scan.at),
            outcome="fail" if found else "pass",
            outcome_note=f"{len(found)} of {len(package.warcs)} WARC files: something harmful",
            agents=((Id(scan.agent), "executing program"),),
            objects=(crawl,),
        )
    for number, one in enumerate(package.viral, 1):
        yield Event(
            _event_id(package, f"harmful-{number}"),
            "virus check",
            in_iso(scan.at if scan else package.ended),
            outcome="fail",
            outcome_note=one.signature or "something harmful",
            agents=((Id(scan.agent), "executing program"),) if scan else crawler,
            objects=(Id(one.ark, "ARK"),),
        )
    yield Event(
        _event_id(package, "digested"),
        "message digest calculation",
        in_iso(packaged),
        ("SHA-512 of each WARC file, while it was copied into the store",),
        "success",
        "what was read back from the store has the same digest",
        maker,
        (crawl,),
    )
    yield Event(
        _event_id(package, "packaged"),
        "information package creation",
        in_iso(packaged),
        agents=maker,
        objects=(Id(package.ark, "ARK"),),
    )


def agents(package: Package, software: str) -> Iterator[Agent]:
    """Yield who did it: programs, each once."""
    scan = [package.scan.agent] if package.scan else []
    for name in dict.fromkeys([package.software or "unknown", *scan, software]):
        yield Agent(Id(name), name, "software")


def rights(package: Package, settings: StoreSettings) -> Iterator[RightsStatement]:
    """Yield what the settings of the store say of rights."""
    given = settings.rights
    if given:
        acts = tuple(filter(None, re.split(r"[\s,;]+", given.get("act", ""))))
        yield RightsStatement(
            Id(f"{package.id}#rights"),
            given.get("basis", "other"),
            given.get("note", ""),
            given.get("document", ""),
            acts,
            given.get("granted-from", ""),
            (Id(package.ark, "ARK"),),
        )


def description(package: Package, organization: str) -> Iterator[tuple[str, str]]:
    """Yield what the package is, in Dublin Core.

    Args:
        organization: Who crawled; ``""`` if that is not stated.
    """
    yield "title", title(package)
    yield "identifier", package.ark
    yield "type", "Collection"
    yield "format", _FORMAT
    yield "date", f"{in_iso(package.started)}/{in_iso(package.ended)}"
    if organization:
        yield "publisher", organization


def title(package: Package) -> str:
    """Return what the package is, for people."""
    return f"Crawls {package.stream} up to checkpoint {package.checkpoint}"


def _crawl(package: Package) -> Id:
    return Id(f"{package.id}/representations/{REPRESENTATION}")


def _event_id(package: Package, what: str) -> Id:
    return Id(f"{package.id}#{what}")
