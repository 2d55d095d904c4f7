"""The sets of the sample repository, with setSpecs as in EPrints.

EPrints writes a setSpec as the hexadecimal bytes of ``field=value``, and each further level of
a hierarchical field as the bytes of its own code: ``QA`` below ``subjects=Q`` is
``7375626A656374733D51:5141``.
"""

from functools import lru_cache

from oaipmhprotocol import Set
from oaipmhprovider.sample.traits import KINDS, Traits
from oaipmhprovider.sample.vocabulary import Discipline, vocabulary

_KIND_NAMES = {
    "article": "Article",
    "thesis": "Thesis",
    "conference_item": "Conference or Workshop Item",
    "book_section": "Book Section",
    "monograph": "Monograph",
    "book": "Book",
    "dataset": "Dataset",
}
_DEGREE_SETS = ("theses", "Theses for the national e-theses service")
_OPEN_SETS = ("openaire", "OpenAIRE: open access publications")
_DESCRIPTION = (
    '<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/"'
    ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/oai_dc/'
    ' http://www.openarchives.org/OAI/2.0/oai_dc.xsd">'
    "<dc:description>%s</dc:description></oai_dc:dc>"
)


def hex_spec(field: str, *path: str) -> str:
    """Return the setSpec of ``field=path[0]`` and the levels below it.

    >>> hex_spec("status", "pub")
    '7374617475733D707562'
    >>> hex_spec("subjects", "Q", "QA")
    '7375626A656374733D51:5141'
    """
    first, *rest = path
    return ":".join(_hex(part) for part in (f"{field}={first}", *rest))


def _hex(text: str) -> str:
    return text.encode().hex().upper()


@lru_cache(maxsize=4096)
def set_specs_of(traits: Traits) -> tuple[str, ...]:
    """Return the sets of a record, the lowest one of each hierarchy."""
    discipline = vocabulary().disciplines[traits.discipline]
    specs = [
        hex_spec("status", "pub"),
        hex_spec("subjects", *discipline.path),
        hex_spec("divisions", discipline.faculty[0], discipline.school[0]),
        hex_spec("type", traits.kind),
    ]
    if traits.kind == "thesis":
        specs.append(_DEGREE_SETS[0])
    if traits.front_matter:
        specs.append(_OPEN_SETS[0])
    return tuple(specs)


def sample_sets() -> tuple[Set, ...]:
    """Return all sets, each once, parents before children."""
    names = {hex_spec("status", "pub"): "Status = Published"}
    for discipline in vocabulary().disciplines:
        names |= _subjects(discipline)
    for discipline in vocabulary().disciplines:
        names |= _divisions(discipline)
    names |= {hex_spec("type", kind): f"Type = {_KIND_NAMES[kind]}" for kind in KINDS}
    sets = [Set(spec, name) for spec, name in names.items()]
    return (
        *sets,
        Set(*_DEGREE_SETS, _described("Doctoral & master's theses, with abstracts.")),
        Set(*_OPEN_SETS, _described("Articles whose accepted version is open.")),
    )


def _subjects(discipline: Discipline) -> dict[str, str]:
    levels = range(1, len(discipline.path) + 1)
    return {
        hex_spec("subjects", *discipline.path[:n]): "Subject = " + ": ".join(discipline.names[:n])
        for n in levels
    }


def _divisions(discipline: Discipline) -> dict[str, str]:
    faculty, school = discipline.faculty, discipline.school
    return {
        hex_spec("divisions", faculty[0]): f"Division = {faculty[1]}",
        hex_spec("divisions", faculty[0], school[0]): f"Division = {faculty[1]}: {school[1]}",
    }


def _described(text: str) -> bytes:
    return (_DESCRIPTION % text.replace("&", "&amp;")).encode()
