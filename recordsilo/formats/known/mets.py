"""METS: a wrapper around files and descriptions, which are in its ``dmdSec``.

Source: METS 1.12 (Library of Congress), "Descriptive Metadata Section".
"""

from collections.abc import Iterator

from lxml import etree

from recordsilo.formats import generic
from recordsilo.formats.collect import children_of
from recordsilo.formats.format import Format, Root


def documents(root: etree._Element) -> Iterator[etree._Element]:
    """The documents that describe the whole object; if there are none, all documents."""
    sections = {one.get("ID", ""): one for one in children_of(root, "dmdSec")}
    wanted = [sections[one] for one in _of_whole(root) if one in sections]
    for section in wanted or children_of(root, "dmdSec"):
        for wrap in children_of(section, "mdWrap"):
            for data in children_of(wrap, "xmlData"):
                yield from data.iterchildren(etree.Element)


def _of_whole(root: etree._Element) -> list[str]:
    """The sections that the first division of a structural map, the whole object, refers to."""
    for structure in children_of(root, "structMap"):
        for division in children_of(structure, "div"):
            if named := division.get("DMDID", "").split():
                return named
    return []


METS = Format(
    name="METS",
    version=1,
    roots=(Root("mets", ("http://www.loc.gov/METS/",)),),
    prefixes=("mets",),
    preference=4,
    read=generic.read,
    within=documents,
    link_prefixes={"http://www.loc.gov/METS/": "mets"},
    names={},
)
FORMATS = (METS,)
