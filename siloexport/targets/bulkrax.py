"""The table that Bulkrax imports into Hyku and Hyrax (pure).

Read from Bulkrax 9.4: values are split by the field mapping of the importer, whose default also
splits at ``:`` and ``;``; so a mapping comes with the table. Nothing can be escaped. Columns are
stripped of white space. Paths in ``file`` are below ``files/`` beside the table; in the rows of
works, releases differ in how they look up a path with a slash, in those of file sets they agree.
The parents of a record have numbered columns, because the stock mapping does not split them.

Source: samvera/bulkrax, csv_parser.rb, csv_entry.rb, file_set_entry_behavior.rb; samvera/hyku,
application.rb.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from siloexport.targets.sheet_facts import Row, SheetFacts, cell, nearest, set_name, single

MODEL = "GenericWork"
VISIBILITIES = ("open", "authenticated", "restricted")
_MOST_PARENTS = 32
_PARENTS = tuple(f"parents_{number}" for number in range(1, _MOST_PARENTS + 1))
_SPLIT = (
    "title", "alternative_title", "creator", "contributor", "publisher", "date_created",
    "resource_type", "subject", "language", "abstract", "description", "identifier",
    "related_url", "source", "bibliographic_citation", "license", "rights_statement",
    "rights_notes",
)  # fmt: skip
_WHOLE = (
    "visibility", "visibility_during_embargo", "embargo_release_date",
    "visibility_after_embargo",
)  # fmt: skip
_STATEMENT = re.compile(
    r"https?://rightsstatements\.org/(?:vocab|page)/([A-Za-z]+(?:-[A-Z]+)*)/1\.0(?:/\S*)?"
)
_LICENCE = re.compile(
    r"https?://creativecommons\.org/licenses/((?:by)(?:-(?:nc|nd|sa))*)/4\.0(?:/\S*)?"
)
_PUBLIC = re.compile(r"https?://creativecommons\.org/publicdomain/(zero|mark)/1\.0(?:/\S*)?")


@dataclass(frozen=True, slots=True)
class BulkraxTable:
    """See `siloexport.targets.sheet_facts.SheetTable`.

    Attributes:
        model: The work type of records.
        visibility: Of records whose metadata does not say who may see them.
    """

    model: str = MODEL
    visibility: str = VISIBILITIES[0]
    file_name: str = "bulkrax.csv"
    encoding: str = "utf-8"  # older releases take a byte order mark for part of a column's name
    columns: tuple[str, ...] = ("source_identifier", "model", *_SPLIT, *_WHOLE, *_PARENTS, "file")
    required: frozenset[str] = frozenset({"source_identifier", "model", "title"})

    def headed(self, used: Sequence[str]) -> list[str]:
        """See `Table`: one column of parents needs no number."""
        alone = _PARENTS[1] not in used
        return ["parents" if one == _PARENTS[0] and alone else one for one in used]

    def collections(self, specs: Sequence[str], names: Mapping[str, str]) -> Iterator[Row]:
        for spec in specs:
            above = nearest(spec, specs)
            yield {
                "source_identifier": set_name(spec),
                "model": "Collection",
                "title": single(names.get(spec) or spec),
                "visibility": self.visibility,
                **_parents([above] if above else []),
            }

    def rows(self, facts: SheetFacts, sets: Sequence[str], day: str) -> Iterator[Row]:
        values = facts.values
        access = self._access(facts, day)
        yield {
            "source_identifier": facts.name,
            "model": self.model,
            "title": single(facts.title),
            "alternative_title": cell(values["alternatives"]),
            "creator": cell(one["text"] for one in values["creators"]),
            "contributor": cell(one["text"] for one in values["contributors"]),
            "publisher": cell(values["publishers"]),
            "date_created": single(values["issued"]),
            "resource_type": cell(values["types"]),
            "subject": cell(values["subjects"]),
            "language": cell(values["languages"]),
            "abstract": cell(values["abstracts"]),
            "description": cell(values["notes"]),
            "identifier": cell([values["identifier"], *values["identifiers"]]),
            "related_url": cell(values["relations"]),
            "source": cell(values["sources"]),
            "bibliographic_citation": cell(values["citations"]),
            **_rights(values["rights"]),
            **access,
            **_parents(sets),
        }
        for file in facts.files:
            yield {
                "source_identifier": f"{facts.name} {file['place'].partition('/')[2]}",
                "model": "FileSet",
                "title": single(file["path"]),
                "file": file["place"],
                "parents_1": facts.name,
                **access,
            }

    def _access(self, facts: SheetFacts, day: str) -> dict[str, str]:
        until = facts.values["until"]
        if until > day:
            return {
                "visibility": "embargo",
                "visibility_during_embargo": "restricted",
                "embargo_release_date": until,
                "visibility_after_embargo": "open",
            }
        is_open = facts.is_open(day)
        if is_open is None:
            return {"visibility": self.visibility}
        return {"visibility": "open" if is_open else "restricted"}

    def companion(self) -> tuple[str, str]:
        """See `Table`: a field mapping that splits only at the delimiter."""
        mapping: dict[str, object] = {
            "bulkrax_identifier": {
                "from": ["source_identifier"], "source_identifier": True, "generated": True,
                "search_field": "bulkrax_identifier_tesim",
            },
            "model": {"from": ["model"]},
            **{name: {"from": [name], "split": r"\|"} for name in _SPLIT},
            **{name: {"from": [name]} for name in _WHOLE},
            "parents": {"from": ["parents"], "related_parents_field_mapping": True},
            "children": {"from": ["children"], "related_children_field_mapping": True},
            "file": {"from": ["file"], "split": r"\|"},
        }  # fmt: skip
        content = json.dumps({"Bulkrax::CsvParser": mapping}, indent=1)
        return "field_mappings.json", f"{content}\n"


def _parents(specs: Sequence[str]) -> dict[str, str]:
    names = map(set_name, specs[:_MOST_PARENTS])
    return dict(zip(_PARENTS, names, strict=False))


def _rights(rights: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the columns of rights: statements and licences that Hyrax knows, and all others."""
    found: dict[str, list[str]] = {"rights_statement": [], "license": [], "rights_notes": []}
    for one in rights:
        uri = one["uri"]
        if match := _STATEMENT.fullmatch(uri):
            known = f"http://rightsstatements.org/vocab/{match[1]}/1.0/"
            found["rights_statement"].append(known)
        elif match := _LICENCE.fullmatch(uri):
            found["license"].append(f"https://creativecommons.org/licenses/{match[1]}/4.0/")
        elif match := _PUBLIC.fullmatch(uri):
            known = f"http://creativecommons.org/publicdomain/{match[1]}/1.0/"
            found["license"].append(known)
        else:
            found["rights_notes"].append(" ".join(filter(None, [one["text"], uri])))
    return {name: cell(values) for name, values in found.items()}
