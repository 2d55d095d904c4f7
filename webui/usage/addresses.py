"""The addresses of the pages of usage."""

from recordsilo.disk.identifier import url_segment
from webui import urls


def usage(part: str = "", **fields: object) -> str:
    """How the records are used, or a part of it: ``top``, ``days.csv`` …."""
    return urls.with_query(urls.at("/usage") + (f"/{part}" if part else ""), fields)


def usage_of(kind: str, key: str, part: str = "", **fields: object) -> str:
    """How a record or an entity was used.

    Args:
        kind: ``record``, or any kind of entity.
        key: Identifier of the record, or key of the entity.
        part: ``/records.csv``, for example.
        fields: The period.
    """
    if kind == "record":
        path = urls.at(f"/usage/records/{url_segment(key)}")
    else:
        path = urls.at(f"/usage/entities/{urls.segment(key)}")
    return urls.with_query(path + part, fields)
