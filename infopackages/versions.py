"""How the versions of a record came to be, as events of PREMIS (pure)."""

from typing import Literal

from infopackages.premis import Event, Id

_MADE_BY = {
    "harvest": "capture", "import": "ingestion", "clone": "replication", "local": "creation",
}  # fmt: skip


def version_event(
    made: Id,
    origin: Literal["harvest", "import", "clone", "local"],
    when: str,
    *,
    of: str | None = None,
    datestamp: str = "",
    message: str = "",
    agent: str = "",
    undated: bool = False,
) -> Event:
    """Return how a version of a record came to be, as an event.

    Args:
        made: The version; the event's identifier is this and ``#made``.
        origin: Harvested, imported, copied from another version, or made here.
        when: In UTC, without a time zone (the form of 2010).
        of: The version it was copied from.
        datestamp: The source's, of a harvested one, in the same form.
        message: Why it was made, in the words of whoever did.
        agent: Who made it.
        undated: Whether ``when`` is the version's own date, since it is not known when it came.
    """
    details = [message or ({"clone": f"copied from version {of}"}.get(origin, ""))]
    if datestamp:
        details.append(f"datestamp of the source: {datestamp}Z")
    if undated:
        details.append("when it was made here is not known; the date is the version's of 2010")
    return Event(
        Id(f"{made.value}#made", made.type),
        _MADE_BY[origin],
        f"{when}Z",
        tuple(filter(None, details)),
        agents=((Id(agent), ""),) if agent else (),
        objects=(made,),
    )
