"""Source changes of curated records: three values side by side, and decisions."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from recordsilo import HarvestedRecord, Silo
from recordsilo.errors import RecordSiloError
from silocuration.editing.changes import CannotChange, metadata_fields
from silocuration.editing.fields import Fields, values_of
from silocuration.editing.merge import FieldConflict
from silocuration.errors import UpstreamRefused
from silocuration.proposal_jobs import PROPOSE
from silocuration.upstream import (
    Review,
    ReviewKind,
    accept,
    follow,
    keep,
    resolve,
    review,
    reviews,
    undecided,
)
from webui import urls
from webui.activity import note_job
from webui.editing.curator import expected_revision
from webui.http.errors import BadRequest
from webui.http.messages import Response, redirect, revision_tag
from webui.queues import ROUND, Before, QueuePlace, Round
from webui.record.field_differences import FieldDifferences, Valued, compare_fields, valued
from webui.record.version_differences import fields_json
from webui.rendering import View, changed_answer, json_answer
from webui.site import Call
from webui.words.field_labels import field_label
from webui.words.texts import text as _

PAGE = 100
"""Number of records of the queue per page."""
COUNTED = 50
"""Maximum number of records behind one that are looked at to say how many are left."""
LOOKED_AT = 1000
"""Maximum number of records that are read for a page if few are of the requested kind."""
KIND_LABELS: Mapping[ReviewKind, str] = {
    ReviewKind.CONFLICT: "both changed the same fields",
    ReviewKind.PROPOSED: "proposal to accept",
    ReviewKind.CLEAN: "merges cleanly",
    ReviewKind.DELETED: "deleted at the source",
    ReviewKind.UNREADABLE: "cannot be merged",
}
DONE: Mapping[str, str] = {
    "accepted": "Proposal accepted: it is now the working copy. The previous working copy is kept.",
    "kept": "The edited version is kept.",
    "followed": "The source version is now the current version. The edited version is kept.",
    "resolved": "Merge prepared. Accept the proposal to make it the working copy.",
}
"""English texts of the catalogue."""
CHANGE_LABELS: Mapping[ReviewKind, str] = {
    ReviewKind.CONFLICT: "What the source changed",
    ReviewKind.PROPOSED: "What the proposal changes in the edited version",
    ReviewKind.CLEAN: "What the merge changes in the edited version",
}
"""English texts of the catalogue: what the differences shown for a kind are."""
Choice = tuple[tuple[str, str], ...]


def show(call: Call) -> View | Response:
    """List the records that need a decision; with ``round``, lead to the next one.

    Raises:
        BadRequest: Unknown kind of source change.
    """
    wanted = call.request.query.get("kind", "")
    if wanted and wanted not in set(ReviewKind):
        raise BadRequest("Unknown kind; choose one of {known}.", known=", ".join(ReviewKind))
    kinds = frozenset([ReviewKind(wanted)]) if wanted else frozenset(ReviewKind)
    after, round_ = call.request.query.get("after", ""), _round(call)
    next_one = _next(call.site.silo, kinds, after) if round_ else ""
    if round_ and not (next_one or round_.done or round_.passed):  # it was begun at the end
        next_one = _next(call.site.silo, kinds, "")
    if round_ and next_one:
        fields = {"kind": wanted, ROUND: round_.field, "done": call.request.query.get("done", "")}
        return redirect(
            urls.upstream(next_one, **fields, last=call.request.query.get("record", ""))
        )
    if round_:  # at the end of the queue, the list shows what was skipped
        after = ""
    found, last = _queue(call.site.silo, kinds, after)
    first = urls.with_query(urls.upstream_list(), {"kind": wanted})
    following = (
        urls.with_query(urls.upstream_list(), {"kind": wanted, "after": last}) if last else ""
    )
    counts = Counter(one.kind for one in found)
    lines = [_line(call.site.silo, one) for one in found]
    decided = call.request.query.get("record", "")
    data = {
        "lines": lines,
        "decided": decided if _said(call) else "",
        "begin": urls.with_query(
            urls.upstream_list(),
            {"kind": wanted, "after": decided, ROUND: Round(int(time.time())).field},
        ),
        "round_said": round_.told(time.time()) if round_ else "",
        "field_label": field_label,
        "counts": [(kind, _(label), counts[kind]) for kind, label in KIND_LABELS.items()],
        "labels": {kind: _(label) for kind, label in KIND_LABELS.items()},
        "kind": wanted,
        "first": first if after else "",
        "following": following,
        "done": _said(call),
    }
    twin = {
        "records": [
            {**one.review.to_json(), "title": one.title, "changes": fields_json(one.changes)}
            for one in lines
        ],
        "complete": not (after or following),
        "next": urls.twin(following) if following else None,
    }
    return View("upstream.mako", data, twin, first)


@dataclass(frozen=True, slots=True)
class QueueLine:
    """A record of the queue.

    Attributes:
        changes: What `CHANGE_LABELS` says of its kind; empty for the others.
    """

    review: Review
    title: str
    changes: tuple[FieldDifferences, ...]
    label: str


def _line(silo: Silo, found: Review) -> QueueLine:
    title = silo.row(found.identifier).title or found.identifier
    changes = _changes(silo[found.identifier], found)
    return QueueLine(found, title, changes, _(CHANGE_LABELS.get(found.kind, "")))


def _changes(record: HarvestedRecord, found: Review) -> tuple[FieldDifferences, ...]:
    """What the source changed, if a person must choose; else what the merge would change here."""

    def values(version: str) -> Valued:
        return valued(_fields_of(record, version))

    try:
        if found.kind is ReviewKind.CONFLICT:
            return compare_fields(values(found.base), values(found.theirs))
        if found.kind is ReviewKind.PROPOSED:
            return compare_fields(values(found.ours), values(found.proposal))
        if found.kind is ReviewKind.CLEAN and found.merged is not None:
            return compare_fields(values(found.ours), valued(found.merged.fields))
    except (CannotChange, RecordSiloError):
        return ()  # changed since it was reviewed
    return ()


def _next(silo: Silo, kinds: frozenset[ReviewKind], after: str) -> str:
    """The first record behind another one that something is to be decided about."""
    return next((one.identifier for one in reviews(silo, kinds=kinds, after=after)), "")


def _round(call: Call) -> Round | None:
    """The round that one is in; None outside of a queue."""
    written = call.field(ROUND) or call.request.query.get(ROUND, "")
    return Round.of(written, time.time()) if written else None


def _place(call: Call, identifier: str) -> QueuePlace | None:
    """Where a record is in the queue; None outside of one."""
    round_ = _round(call)
    if round_ is None:
        return None
    query = call.request.query
    kind = call.field("kind") or query.get("kind", "")
    behind = undecided(call.site.silo, COUNTED, identifier)
    last = query.get("last", "")
    row = call.site.silo.rows([last]).get(last) if last else None
    before = Before(_said(call), row.title or last, urls.record(last)) if row else None
    fields = {"kind": kind, "after": identifier, ROUND: round_.skipped().field}
    return QueuePlace.at(
        round_,
        time.time(),
        back=urls.with_query(urls.upstream_list(), {"kind": kind}),
        skip=urls.with_query(urls.upstream_list(), fields),
        left=None if kind else behind.changes + behind.proposals + 1,
        is_more=not behind.is_all,
        before=before,
    )


def _queue(silo: Silo, kinds: frozenset[ReviewKind], after: str) -> tuple[list[Review], str]:
    """A page of the queue, and the last record that was read for it; empty at the end."""
    found: list[Review] = []
    last = ""
    for number, one in enumerate(reviews(silo, after=after)):
        if len(found) == PAGE or number == LOOKED_AT:
            return found, last
        last = one.identifier
        if one.kind in kinds:
            found.append(one)
    return found, ""


def _said(call: Call) -> str:
    done = call.request.query.get("done", "")
    return _(DONE[done]) if done in DONE else ""


def propose(call: Call) -> Response:
    """Start a job that makes proposals for all records without conflicts."""
    job = call.site.jobs.begin(PROPOSE.name, "Propose all clean merges", {}, call.user.name)
    note_job(call, job, job.kind)
    location = urls.job(job.job_id)
    return changed_answer(call, location, {"job": job.job_id, "url": location}, 202)


def show_one(call: Call) -> View:
    """Show the three values of each field in conflict, and the possible decisions."""
    record = call.record
    return _view(call, record, _review(call, record))


def _view(
    call: Call, record: HarvestedRecord, found: Review, fault: str = "", status: int = 200
) -> View:
    line = _line(call.site.silo, found)
    data = {
        "line": line,
        "fault": fault,
        "taken": call.form.fields or _taken(record, found),
        "found": found,
        "conflicts": list(enumerate(found.conflicts)),
        "label": _(KIND_LABELS[found.kind]),
        "revision": record.revision,
        "field_label": field_label,
        "text": _text,
        "queue": (place := _place(call, record.item_id)),
        "kind": call.field("kind") or call.request.query.get("kind", ""),
        "done": "" if place and place.before else _said(call),
    }
    url = urls.upstream(record.item_id)
    tag = {"ETag": revision_tag(record.revision)}
    twin = {**found.to_json(), "changes": fields_json(line.changes)}
    return View("upstream_record.mako", data, twin, url, status, tag)


def _taken(record: HarvestedRecord, found: Review) -> dict[str, str]:
    """The choices of which an open proposal was made, as the fields of the form."""
    if found.kind is not ReviewKind.PROPOSED or not found.can_resolve:
        return {}
    taken: dict[str, str] = {}
    try:
        proposed = _fields_of(record, found.proposal)
    except (CannotChange, RecordSiloError):  # changed since it was reviewed
        return {}
    for number, one in enumerate(found.conflicts):
        text = _text(values_of(proposed, one.name))
        sides = {"ours": one.ours, "theirs": one.theirs, "base": one.base}
        side = next((name for name, values in sides.items() if _text(values) == text), "own")
        taken |= {f"take-{number}": side, f"own-{number}": text}
    return taken


def _fields_of(record: HarvestedRecord, version: str) -> Fields:
    """The fields of a version.

    Raises:
        CannotChange, RecordSiloError: They cannot be read.
    """
    return metadata_fields(record.state.version(version), record.read)[2]


def _review(call: Call, record: HarvestedRecord) -> Review:
    found = review(call.site.silo, record.item_id)
    if found is None:
        raise UpstreamRefused(record.item_id, "has nothing new to decide")
    return found


def _text(values: Fields) -> str:
    return "\n".join(one.folded for one in values)


def decide(call: Call) -> View | Response:
    """Accept, keep, follow, or resolve (field ``do``); missing choices are asked for again.

    Raises:
        BadRequest: Unknown decision, or invalid choice.
    """
    action = call.field("do")
    if action not in _DECISIONS:
        raise BadRequest(
            "Unknown decision; choose one of {known} (field do).", known=", ".join(_DECISIONS)
        )
    record = call.record
    revision = expected_revision(call, record.revision)
    if action == "resolve" and not call.wants_json:
        found = _review(call, record)
        choices = _choices(call, found)
        left = [field_label(one.name) for one in found.conflicts if one.name not in choices]
        if left:
            fault = _("Also choose a value for {fields}.", fields=", ".join(left))
            return _view(call, record, found, fault, 409)
    done = _DECISIONS[action](call, record, revision)
    if call.wants_json:
        return json_answer({"identifier": record.item_id, "done": done})
    round_ = _round(call)
    way = {"kind": call.field("kind"), "done": done}
    if done == "resolved":
        way[ROUND] = round_.field if round_ else ""
        return redirect(urls.upstream(record.item_id, **way))
    if round_:
        way |= {"after": record.item_id, ROUND: round_.decided().field}
    return redirect(urls.with_query(urls.upstream_list(), way | {"record": record.item_id}))


def _accept(call: Call, record: HarvestedRecord, revision: int | None) -> str:
    accept(call.site.silo, record.item_id, agent=call.user.name, if_revision=revision)
    return "accepted"


def _keep(call: Call, record: HarvestedRecord, revision: int | None) -> str:
    keep(call.site.silo, record.item_id, agent=call.user.name, if_revision=revision)
    return "kept"


def _follow(call: Call, record: HarvestedRecord, revision: int | None) -> str:
    follow(call.site.silo, record.item_id, agent=call.user.name, if_revision=revision)
    return "followed"


def _resolve(call: Call, record: HarvestedRecord, _revision: int | None) -> str:
    """Resolve conflicts, only at the revision for which the choices were numbered."""
    choices = _choices(call, _review(call, record))
    resolve(
        call.site.silo, record.item_id, choices, agent=call.user.name, if_revision=record.revision
    )
    return "resolved"


def _choices(call: Call, found: Review) -> dict[str, Choice]:
    """The form's choice for each conflict, without the open ones."""
    said = ((one.name, _chosen(call, f"{n}", one)) for n, one in enumerate(found.conflicts))
    return {name: chosen for name, chosen in said if chosen is not None}


def _chosen(call: Call, number: str, conflict: FieldConflict) -> Choice | None:
    """The form's choice for a field: a side, or other values; None if nothing was chosen."""
    if call.field(f"name-{number}", conflict.name) != conflict.name:
        raise BadRequest(
            "The conflicts have changed since this form was opened. Reload the record."
        )
    sides = {"base": conflict.base, "ours": conflict.ours, "theirs": conflict.theirs}
    side = call.field(f"take-{number}")
    if side in sides:
        return tuple((one.folded, one.lang) for one in sides[side])
    if side != "own":
        return None
    languages = {one.folded: one.lang for values in sides.values() for one in values}
    lines = (" ".join(line.split()) for line in call.field(f"own-{number}").splitlines())
    return tuple((line, languages.get(line, "")) for line in lines if line)


_DECISIONS: Mapping[str, Callable[[Call, HarvestedRecord, int | None], str]] = {
    "accept": _accept,
    "keep": _keep,
    "follow": _follow,
    "resolve": _resolve,
}
