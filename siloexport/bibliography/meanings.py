"""The identifiers that values have beside the metadata, as in an authority file (pure).

A name is known as it is written, or as ``Family, Given``. A contributor who is not known gets the
identifier of the creator of that name. An institution that somebody belongs to, or that grants a
degree, gets that of the publisher of that name; its field is ``affiliation``. Where the metadata
does not say whether a name is that of a person, an ORCID or a ROR does.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from recordsilo.value_identifiers import IdentifiersOfValues, ValueIdentifier
from siloexport.bibliography.texts import orcid_in
from siloexport.bibliography.values import Bibliography, Name

_KINDS = {"ORCID": "person", "ROR": "organization"}


def with_meanings(found: Bibliography, known: IdentifiersOfValues) -> Bibliography:
    """Return what a document says, with the identifiers of its values.

    Args:
        found: Of one document; documents are put together after this.
        known: Of all values, or of those of the record.
    """
    if not known:
        return found
    creators = tuple(_named(one, known, "creator") for one in found.creators)
    contributors = tuple(_named(one, known, "contributor", "creator") for one in found.contributors)
    means = {
        "creator": {one.text: one.meant for one in creators if one.meant},
        "contributor": {one.text: one.meant for one in contributors if one.meant},
        "publisher": _known((one.text for one in found.publishers), known, "publisher"),
        "affiliation": _known(_institutions(found), known, "affiliation", "publisher"),
        "subject": _known((one.text for one in found.subjects), known, "subject"),
    }
    means = {field: values for field, values in means.items() if values}
    return replace(found, creators=creators, contributors=contributors, means=means)


def with_orcids(found: Bibliography) -> Bibliography:
    """Return what all documents say, with an ORCID from outside where they have none."""
    if not found.means:
        return found
    return replace(
        found,
        creators=tuple(map(_with_orcid, found.creators)),
        contributors=tuple(map(_with_orcid, found.contributors)),
    )


def _with_orcid(name: Name) -> Name:
    if name.orcid or name.meant is None or name.meant.scheme != "ORCID":
        return name
    return replace(name, orcid=orcid_in(name.meant.number))


def _named(name: Name, known: IdentifiersOfValues, *fields: str) -> Name:
    forms = dict.fromkeys((name.text, f"{name.family}, {name.given}"))
    meant = next(iter(_known(forms, known, *fields).values()), None)
    kind = name.kind or _KINDS.get(meant.scheme if meant else "", "")
    if kind == "organization":
        return replace(name, meant=meant, kind=kind, family="", given="")
    return replace(name, meant=meant, kind=kind)


def _institutions(found: Bibliography) -> Iterator[str]:
    for name in (*found.creators, *found.contributors):
        yield from name.affiliations
    yield found.degree.grantor


def _known(
    texts: Iterable[str], known: IdentifiersOfValues, *fields: str
) -> dict[str, ValueIdentifier]:
    """Return those of the texts that have an identifier, each by the first field that knows it."""
    tables = [known[field] for field in fields if field in known]
    found = ((text, table[text]) for text in texts for table in reversed(tables) if text in table)
    return dict(found)
