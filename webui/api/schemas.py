"""The schemas of the JSON twins: the components of the OpenAPI document (pure).

Source: OpenAPI 3.1.1, "Schema Object"; JSON Schema 2020-12.
"""

from collections.abc import Mapping
from typing import Any

from crawlmatch.report import TABLES

Schema = Mapping[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
TRUTH: Schema = {"type": "boolean"}
ANY_OBJECT: Schema = {"type": "object"}


def ref(name: str) -> Schema:
    """A reference to a component."""
    return {"$ref": f"#/components/schemas/{name}"}


def members(**properties: Schema) -> Schema:
    """An object with exactly these members."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def each(schema: Schema, *names: str) -> dict[str, Schema]:
    """Several members of one schema."""
    return dict.fromkeys(names, schema)


def several(schema: Schema) -> Schema:
    """The schema of an array."""
    return {"type": "array", "items": schema}


def table(schema: Schema) -> Schema:
    """An object whose keys are data."""
    return {"type": "object", "additionalProperties": schema}


def or_null(schema: Schema) -> Schema:
    """The value or null."""
    return {"anyOf": [schema, {"type": "null"}]}


def one_of(*texts: str) -> Schema:
    """One of several texts."""
    return {"type": "string", "enum": list(texts)}


_NULL_TEXT = or_null(TEXT)
_NULL_COUNT = or_null(COUNT)
_OUTCOME = members(name=TEXT, word=TEXT)
HARVEST_LINE = members(
    **each(TEXT, "id", "started", "what", "state"),
    missing=several(TEXT),
    outcome=_OUTCOME,
    counts=table(or_null(COUNT)),
)
_ENDPOINT: Mapping[str, Schema] = {
    **each(
        TEXT, "name", "url", "state", "said", "every", "depth", "window", "hours", "host", "node"
    ),
    **each(TEXT, "moved_to", "outcomes"),
    **each(_NULL_TEXT, "last_whole", "started", "ended", "outcome", "due", "added"),
    **each(COUNT, "records", "failures", "epoch"),
    **each(several(TEXT), "prefixes", "sets", "tags"),
    "promised": _NULL_COUNT,
    "spread": TRUTH,
}
_NODE = members(
    **each(COUNT, "slots", "room", "free_bytes", "free_inodes"),
    node=TEXT,
    seen=TEXT,
    lost=TRUTH,
    open=TRUTH,
)
_RUN = members(
    **each(COUNT, "run", "done", "changed"),
    **each(_NULL_TEXT, "started", "ended", "outcome"),
    node=TEXT,
    said=TEXT,
    total=_NULL_COUNT,
)
_PLACE: Schema = {
    "type": "object",
    "properties": {"repository": TEXT, "identifier": TEXT, "node": TEXT},
    "required": ["repository", "identifier"],
}
_SET = members(spec=TEXT, name=TEXT)
_ROW = members(
    **each(TEXT, "identifier", "url", "title", "datestamp", "current_version"),
    **each(several(TEXT), "creators", "types", "publishers"),
    **each(TRUTH, "deleted", "curated", "upstream_newer", "unreadable"),
    year=_NULL_TEXT,
    doi=_NULL_TEXT,
    versions=COUNT,
    revision=COUNT,
    sets=several(_SET),
    columns={
        **table(several(TEXT)),
        "description": "Values of the columns that packages contribute.",
    },
)
_FILE: Schema = {
    "type": "object",
    "properties": {
        "path": TEXT,
        "url": TEXT,
        "size": or_null(COUNT),
        "sha256": _NULL_TEXT,
        "metadata": TRUTH,
        "type": _NULL_TEXT,
        "fault": {**TEXT, "description": "Why the file cannot be read; absent where it can be."},
    },
    "required": ["path", "url", "size", "sha256", "metadata", "type"],
    "additionalProperties": False,
}
_ORIGIN = members(
    **each(TEXT, "kind", "agent", "message", "date"), of=_NULL_TEXT, prefixes=table(TEXT)
)
_VERSION = {
    "name": TEXT,
    "url": TEXT,
    "date": TEXT,
    "read_only": TRUTH,
    "state": _NULL_TEXT,
    "origin": _ORIGIN,
    "log": several(TEXT),
    "files": several(ref("File")),
}
_SAID: Schema = {
    "type": "object",
    "properties": {"text": TEXT, "lang": TEXT},
    "required": ["text"],
    "additionalProperties": False,
}
_SELECT = {
    **ANY_OBJECT,
    "description": "Words, filters and identifiers; what asks nothing is absent.",
}
_SAVED = {
    "name": TEXT,
    "url": TEXT,
    "title": TEXT,
    "agent": TEXT,
    "date": TEXT,
    "select": _SELECT,
}
_COLLECTION = each(TEXT, "name", "title", "text", "url", "picture", "feed", "date", "agent")
_VALUE = or_null(members(text=TEXT, lang=TEXT))
_DIGEST = or_null(members(size=COUNT, sha256=TEXT))
_FILE_DIFFERENCE = members(
    path=TEXT,
    change=one_of("added", "removed", "changed"),
    form=or_null(one_of("xml", "text", "binary", "large")),
    before=_DIGEST,
    after=_DIGEST,
    fields=table(
        several(
            members(
                change=one_of("same", "moved", "changed", "added", "removed"),
                before=_VALUE,
                after=_VALUE,
            )
        )
    ),
    lines=several(TEXT),
)

SCHEMAS: Mapping[str, Schema] = {
    "Error": members(
        error=members(
            status={"type": "integer", "minimum": 400, "maximum": 599}, code=TEXT, message=TEXT
        )
    ),
    "Row": _ROW,
    "Citation": {**several(ANY_OBJECT), "description": "Items of CSL JSON."},
    "Look": members(
        look=one_of("list", "compact", "table"), columns=several(TEXT), widths=table(COUNT)
    ),
    "File": _FILE,
    "Version": members(**_VERSION),
    "RecordVersion": members(identifier=TEXT, revision=COUNT, **_VERSION),
    "Records": members(
        **each(_NULL_TEXT, "after", "next", "previous"),
        total=COUNT,
        limit=COUNT,
        records=several(ref("Row")),
        filters=table(TEXT),
    ),
    "Home": members(
        **each(COUNT, "records", "deleted", "curated", "with_findings"),
        name=TEXT,
        base_url=TEXT,
        formats=table(COUNT),
        collection=table(table(COUNT)),
        collections=several(ref("Collection")),
        newest=several(members(**each(TEXT, "identifier", "title", "url", "date", "number"))),
        of_packages=table(ANY_OBJECT),
        findings=several(members(code=TEXT, means=TEXT, count=COUNT, url=TEXT)),
        harvests=several(HARVEST_LINE),
        waiting=several(
            members(kind=TEXT, number=or_null(COUNT), outcome=_OUTCOME, url=TEXT, next_step=TEXT)
        ),
        activity=several(
            members(
                **each(TEXT, "date", "agent", "action", "said", "message", "identifier", "url"),
                title=TEXT,
                records=COUNT,
                is_cut=TRUTH,
                is_title=TRUTH,
            )
        ),
    ),
    "Silos": members(
        total=COUNT,
        previous=_NULL_TEXT,
        next=_NULL_TEXT,
        silos=several(
            members(
                **each(TEXT, "name", "title", "url"),
                records=_NULL_COUNT,
                years=table(COUNT),
                last_harvest=or_null(HARVEST_LINE),
            )
        ),
    ),
    "AllFound": members(
        total=COUNT,
        has_more=TRUTH,
        sort=TEXT,
        silos=COUNT,
        by_index=TRUTH,
        hits=several(
            {
                "allOf": [_PLACE],
                "properties": {
                    "title": TEXT,
                    "creators": several(TEXT),
                    "year": _NULL_TEXT,
                    "types": several(TEXT),
                    "doi": _NULL_TEXT,
                    "datestamp": TEXT,
                    "deleted": TRUTH,
                    "score": or_null({"type": "number"}),
                    "also_in": several(_PLACE),
                },
            }
        ),
        facets=table(several(ref("FacetValue"))),
        did_not_answer=several(members(name=TEXT, why=TEXT)),
    ),
    "Fleet": members(
        counts=table(COUNT),
        endpoints=several(members(**_ENDPOINT)),
        nodes=several(_NODE),
        day=members(
            ended=several(ANY_OBJECT), due=several(members(hour=TEXT, due=COUNT, overdue=COUNT))
        ),
    ),
    "EndpointRuns": members(**_ENDPOINT, runs=several(_RUN)),
    "Harvests": members(
        harvests=several(
            {
                "allOf": [
                    HARVEST_LINE,
                    members(receipt={"type": ["object", "null"]}),
                ]
            }
        ),
        next=_NULL_TEXT,
    ),
    "Crawls": members(
        crawls=several(members(name=TEXT, matched=TEXT, links=COUNT, full_texts=COUNT, url=TEXT)),
        problems=several(TEXT),
    ),
    "Crawl": members(
        **each(COUNT, "seed_rows", "full_texts", "held_before", "unseeded_full_texts"),
        name=TEXT,
        matched=TEXT,
        outcomes=table(COUNT),
        dedupe_share={"type": ["number", "null"], "minimum": 0, "maximum": 1},
        **{name: several(ref("FacetValue")) for name in TABLES},
    ),
    "Sets": members(
        sets=several(members(spec=TEXT, name=TEXT, records=COUNT, years=table(COUNT), url=TEXT))
    ),
    "Found": members(
        **each(_NULL_TEXT, "after", "next", "previous"),
        total=COUNT,
        limit=COUNT,
        sort=TEXT,
        record={**_NULL_TEXT, "description": "The record that the words name."},
        remarks={**several(TEXT), "description": "Why the words may have found nothing."},
        meant=or_null(
            members(
                words=_NULL_TEXT,
                records=COUNT,
                without=several(members(condition=TEXT, records=COUNT)),
            )
        ),
        records=several(ref("Row")),
        facets=table(several(ref("FacetValue"))),
        filters={"type": "object", "description": "Words and filters, as in a selection."},
    ),
    "Suggestions": members(
        suggestions=several(
            members(
                kind=one_of("title", "creator", "subject", "identifier"),
                **each(TEXT, "label", "text", "url"),
                records=COUNT,
            )
        )
    ),
    "FacetValue": members(value=TEXT, count=COUNT),
    "FacetValues": members(
        field=TEXT, match=TEXT, values=several(ref("FacetValue")), complete=TRUTH
    ),
    "Collection": members(**_COLLECTION),
    "Collections": members(collections=several(ref("Collection"))),
    "CollectionFound": members(
        **_COLLECTION,
        first=several(TEXT),
        sort=TEXT,
        select=ANY_OBJECT,
        total=COUNT,
        records=several(ref("Row")),
        next=_NULL_TEXT,
    ),
    "CollectionForm": members(**each(TEXT, "title", "text", "sort")),
    "CollectionOrder": members(**_COLLECTION, first=several(TEXT)),
    "CollectionEnded": members(ended=TEXT),
    "SavedSearch": members(**_SAVED),
    "SavedSearches": members(
        searches=several({"anyOf": [ref("SavedSearch"), members(name=TEXT, url=TEXT, fault=TEXT)]})
    ),
    "SavedSearchFound": members(
        **_SAVED, records=several(ref("Row")), missing=several(TEXT), next=_NULL_TEXT
    ),
    "PastedList": members(
        identifiers=several(TEXT), records=several(ref("Row")), missing=several(TEXT)
    ),
    "Selected": members(count=COUNT, here=_NULL_COUNT, said=TEXT, search=TEXT),
    "Selection": members(
        count=COUNT,
        here=_NULL_COUNT,
        said=TEXT,
        search=TEXT,
        records=several(ref("Row")),
        next=_NULL_TEXT,
    ),
    "Record": members(
        **each(TEXT, "identifier", "url", "title", "current_version", "version"),
        **each(TRUTH, "deleted", "curated", "upstream_newer"),
        revision=COUNT,
        results=or_null(
            members(
                url=TEXT, place=or_null(COUNT), total=COUNT, previous=_NULL_TEXT, next=_NULL_TEXT
            )
        ),
        description=table(several(_SAID)),
        findings=several(members(code=TEXT, field=TEXT, value=TEXT)),
        sets=several(_SET),
        metadata=ANY_OBJECT,
        versions=several(ref("Version")),
    ),
    "Differences": members(
        **each(TEXT, "identifier", "before", "after"),
        revision=COUNT,
        files=several(_FILE_DIFFERENCE),
    ),
    "Source": members(
        identifier=TEXT,
        version=TEXT,
        complete=TRUTH,
        harvest=or_null(
            members(
                **each(_NULL_TEXT, "base_url", "started", "ended"),
                id=TEXT,
                state=TEXT,
                files=several(TEXT),
            )
        ),
        response=or_null(
            members(where=TEXT, request=TEXT, status=COUNT, received=TEXT, size=COUNT, record=TEXT)
        ),
    ),
    "Question": members(
        **each(TEXT, "title", "text", "method", "action", "identifier"),
        revision=COUNT,
        fields=several(members(name=TEXT, kind=TEXT, value=TEXT, required=TRUTH)),
    ),
    "Manifest": {**ANY_OBJECT, "description": "The record's manifest, with the keys of 2010."},
    "Deleted": members(deleted=TEXT),
}
"""Component → its schema; every object of the page is described completely."""
