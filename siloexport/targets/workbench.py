"""The table that Islandora Workbench makes nodes and media of, and its configuration (pure).

The columns are fields of the Islandora Starter Site. Read from Islandora Workbench of May 2026:
values are split at the subdelimiter, which cannot be escaped; cells are stripped of white space;
a row whose first cell begins with ``#`` is a comment; a byte order mark is skipped. A row has one
file and one parent, which must come before it: a record with several files is a compound object.

Source: mjordan/islandora_workbench, workbench_utils.py, workbench_fields.py;
Islandora-Devops/islandora-starter-site, config/sync.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from recordsilo.media_types import media_type
from siloexport.targets.sheet_facts import Row, SheetFacts, cell, nearest, set_name, single

_COLLECTION = "http://purl.org/dc/dcmitype/Collection"
_COMPOUND = "http://vocab.getty.edu/aat/300242735"
_DOCUMENT = "https://schema.org/DigitalDocument"
_BINARY = "http://purl.org/coar/resource_type/c_1843"
_MODELS = {
    "image": "http://purl.org/coar/resource_type/c_c513",
    "audio": "http://purl.org/coar/resource_type/c_18cc",
    "video": "http://purl.org/coar/resource_type/c_12ce",
    "text": _DOCUMENT,
    "application": _BINARY,
}
_DOCUMENTS = (".pdf", ".doc", ".docx", ".ppt", ".pptx", ".odt", ".odp", ".rtf", ".epub")
_LONGEST_TITLE = 255
_LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh",
    "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "et": "Estonian", "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French",
    "ga": "Irish", "gd": "Scottish Gaelic", "gl": "Galician", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "is": "Icelandic", "it": "Italian",
    "ja": "Japanese", "ko": "Korean", "la": "Latin", "lt": "Lithuanian", "lv": "Latvian",
    "ms": "Malay", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian",
    "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese",
    "zh": "Chinese",
}  # fmt: skip
"""Language → the name of its term; others are left out, so that no codes become terms."""


@dataclass(frozen=True, slots=True)
class WorkbenchTable:
    """See `siloexport.targets.sheet_facts.SheetTable`.

    Attributes:
        member_of: ID of an existing node that everything at the top becomes a member of.
        host: Address of the Islandora, for the configuration.
    """

    member_of: str = ""
    host: str = ""
    file_name: str = "workbench.csv"
    encoding: str = "utf-8-sig"  # Workbench skips the mark, and Excel needs it
    columns: tuple[str, ...] = (
        "id", "parent_id", "field_member_of", "field_weight", "field_model", "file", "title",
        "field_full_title", "field_alt_title", "field_linked_agent", "field_edtf_date_issued",
        "field_genre", "field_subject", "field_language", "field_publisher", "field_abstract",
        "field_description", "field_rights", "field_identifier", "field_local_identifier",
        "field_parent_publication_title", "field_volume", "field_issue", "field_note",
        "published",
    )  # fmt: skip
    required: frozenset[str] = frozenset({"id", "file", "title", "field_model"})

    def headed(self, used: Sequence[str]) -> list[str]:
        return list(used)

    def collections(self, specs: Sequence[str], names: Mapping[str, str]) -> Iterator[Row]:
        for spec in specs:
            yield {
                "id": set_name(spec),
                "field_model": _COLLECTION,
                **_titled(names.get(spec) or spec),
                **self._member(nearest(spec, specs)),
            }

    def rows(self, facts: SheetFacts, sets: Sequence[str], day: str) -> Iterator[Row]:
        values, files = facts.values, facts.files
        is_one = len(files) == 1
        published = {"published": {True: "1", False: "0", None: ""}[facts.is_open(day)]}
        yield {
            "id": facts.name,
            **self._member(sets[0] if sets else ""),
            "field_model": _model(files[0]["path"]) if is_one else
                           _COMPOUND if files else _DOCUMENT,
            "file": f"files/{files[0]['place']}" if is_one else "",
            **_titled(facts.title),
            "field_alt_title": cell(values["alternatives"]),
            "field_linked_agent": cell(_agents(values)),
            "field_edtf_date_issued": single(values["issued"]),
            "field_genre": cell(f"genre:{one}" for one in values["types"]),
            "field_subject": cell(f"subject:{one}" for one in values["subjects"]),
            "field_language": cell(filter(None, map(_language, values["languages"]))),
            "field_publisher": cell(values["publishers"]),
            "field_abstract": cell(values["abstracts"]),
            "field_description": cell(values["notes"]),
            "field_rights": cell(" ".join(filter(None, [one["text"], one["uri"]]))
                                 for one in values["rights"]),
            "field_identifier": cell(values["identifiers"]),
            "field_local_identifier": single(values["identifier"]),
            "field_parent_publication_title": single(values["container"]["title"]),
            "field_volume": single(values["container"]["volume"]),
            "field_issue": single(values["container"]["issue"]),
            "field_note": cell([*values["citations"], *values["relations"], *values["sources"],
                                *values["coverages"]]),
            **published,
        }  # fmt: skip
        for number, file in enumerate([] if is_one else files, 1):
            yield {
                "id": f"{facts.name} {number}",
                "parent_id": facts.name,
                "field_weight": f"{number}",
                "field_model": _model(file["path"]),
                "file": f"files/{file['place']}",
                **_titled(file["path"]),
                **published,
            }

    def _member(self, spec: str) -> dict[str, str]:
        return {"parent_id": set_name(spec)} if spec else {"field_member_of": self.member_of}

    def companion(self) -> tuple[str, str]:
        """See `Table`: the configuration of a task that creates what the table has."""
        host = self.host or "https://islandora.example.org"
        return "workbench.yml", _CONFIGURATION.format(host=_quoted(host), table=self.file_name)


_CONFIGURATION = """\
# Islandora Workbench: ./workbench --config workbench.yml --check, then without --check.
# input_dir is the directory of this file, if Workbench is called from elsewhere: its path.
# The password is asked for, or taken from ISLANDORA_WORKBENCH_PASSWORD.
task: create
host: {host}
username: admin
input_dir: "."
input_csv: {table}
subdelimiter: "|"
content_type: islandora_object
allow_adding_terms: true
protected_vocabularies:
  - islandora_models
  - islandora_display
  - islandora_media_use
  - resource_types
# Records without files become nodes without media.
allow_missing_files: true
# Quotation marks stay as they are in the metadata.
clean_csv_values_skip:
  - smart_quotes
"""


def _quoted(text: str) -> str:
    """Return a text as a double-quoted scalar of YAML."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _titled(title: str) -> dict[str, str]:
    """Return the title, and beside one that Drupal has no room for, the whole title."""
    text = single(title)
    return {"title": text, "field_full_title": text if len(text) > _LONGEST_TITLE else ""}


def _model(path: str) -> str:
    if path.lower().endswith(_DOCUMENTS):
        return _DOCUMENT
    return _MODELS.get(media_type(path).partition("/")[0], _BINARY)


def _language(tag: str) -> str:
    return _LANGUAGES.get(tag.partition("-")[0], "")


def _agents(values: Mapping[str, Sequence[Mapping[str, str]]]) -> Iterator[str]:
    for one in (*values["creators"], *values["contributors"]):
        vocabulary = "corporate_body" if one["kind"] == "organization" else "person"
        role = "ctb" if one["role"] == "pbl" else one["role"]  # the one that the site lacks
        yield f"relators:{role}:{vocabulary}:{one['text']}"
