"""Packages of what was crawled: their list, and each with its way through the steps."""

from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any

from silocrawl.in_time import in_time
from silocrawl.packages.kept import NoPackage, load_package, load_packages
from silocrawl.packages.layout import merged_name
from silocrawl.packages.receipts import PackageReceipt, ReceiptInvalid, receipt_of
from silocrawl.packages.retrying import Unbegun, retry, unbegun
from silocrawl.packages.settings import load_settings
from silocrawl.packages.store import open_store
from silocrawl.packages.submitting import kept_receipt
from silocrawl.packages.values import Package, PackageInvalid, PackageState, check_package_id
from silocrawl.packages.watching import merged_at
from silocrawl.sharing import has_queues, open_own_queues
from webui.activity import note
from webui.crawling import opening
from webui.crawling.opening import hidden, told
from webui.http.errors import NotFound
from webui.http.messages import Response
from webui.people.roles import Role
from webui.rendering import View, changed_answer
from webui.site import Call
from webui.words.texts import text as _

LISTED = 50
STATES = {
    PackageState.BEGUN: "begun",
    PackageState.PACKAGED: "packaged",
    PackageState.DESCRIBED: "described",
    PackageState.SUBMITTED: "submitted",
    PackageState.INDEXED: "indexed",
    PackageState.VERIFIED: "verified",
    PackageState.MERGED: "merged",
}
STEPS = {
    PackageState.PACKAGED: "Archives copied into the store, with ARKs and SHA-512",
    PackageState.DESCRIBED: "Described by METS and PREMIS, in a bag",
    PackageState.SUBMITTED: "Submitted, read back, and a receipt kept",
    PackageState.INDEXED: "Index for the access nodes",
    PackageState.VERIFIED: "Verified: digests, index, logs and ARKs",
    PackageState.MERGED: "Merged on every access node",
}
ADVICE = {
    PackageState.PACKAGED: "See that every archive file that the error names is there and closed.",
    PackageState.DESCRIBED: "See that the disk of this Silo has room.",
    PackageState.SUBMITTED: (
        "See that the store answers and has room; what differs there is not replaced."
    ),
    PackageState.INDEXED: "See that the archive files in the store can be read.",
    PackageState.VERIFIED: (
        "Restore the file that the error names from a copy; nothing was deleted here."
    ),
    PackageState.MERGED: "Run silo crawl merge on the access nodes that lack it.",
}
NO_NODES = "No access node is named; name them with silo crawl store DIR --node NAME."
RETRIED = {
    "yes": "It is tried again as soon as silo crawl run comes to it.",
    "no": "It waits to be tried again already.",
}
"""English texts of the catalogue, as the above."""


@dataclass(frozen=True, slots=True)
class StepLine:
    """A step on the way of a package.

    Attributes:
        said: What it does.
        at: When it was done; None if it was not.
        is_next: Whether it is the first that was not.
        error: Why it failed; empty if it did not.
        advice: What to do then.
        is_unasked: Whether it is next, but nobody is named to do it.
    """

    said: str
    at: datetime | None
    is_next: bool = False
    error: str = ""
    advice: str = ""
    is_unasked: bool = False


def show(call: Call) -> View:
    """List the packages, the newest first, and the checkpoints of which there is none yet."""
    start = call.request.start
    with told(call):
        found, damaged = load_packages(call.site.path)
        waiting = _unbegun(call)
    newest = found[::-1]
    some = newest[start : start + LISTED]
    following = start + LISTED if len(newest) > start + LISTED else 0
    faults = [hidden(call, str(error)) for error in damaged]
    waiting = [one._replace(reason=hidden(call, one.reason)) for one in waiting]
    data = {
        "lines": some,
        "total": len(found),
        "unbegun": waiting,
        "faults": faults,
        "state": lambda one: _(STATES[one.state]),
        "at": opening.package,
        "dead_url": opening.dead("checkpoints-to-package"),
        "previous_url": opening.packages(start=max(0, start - LISTED) or None) if start else "",
        "next_url": opening.packages(start=following) if following else "",
    }
    twin = {
        "packages": [_brief(call, one) for one in some],
        "waiting": [one._asdict() for one in waiting],
        "problems": faults,
        "next": data["next_url"] or None,
    }
    return View("crawl_packages.mako", data, twin, opening.packages(start=start or None))


def show_one(call: Call) -> View:
    """Show a package: its steps, archive files, receipt, and who has merged it."""
    one = _named(call)
    with told(call):
        named = load_settings(call.site.path).nodes
    steps = steps_of(one, hidden(call, one.error), has_nodes=bool(named))
    receipt, fault = _receipt(call, one)
    nodes, lost = _nodes(one, named)
    may_retry = bool(one.error) and call.user.may(Role.MANAGER)
    data = {
        "one": one,
        "state": _(STATES[one.state]),
        "steps": steps,
        "receipt": receipt,
        "fault": hidden(call, fault),
        "nodes": nodes,
        "lost": hidden(call, lost),
        "place": hidden(call, receipt.place) if receipt else "",
        "action": opening.package(one.id, "/retry") if may_retry else "",
        "done": _(RETRIED.get(call.request.query.get("retried", ""), "")),
        "list_url": opening.packages(),
    }
    twin = _brief(call, one) | {
        "steps": [asdict(step) | {"at": _iso(step.at)} for step in steps],
        "warcs": [
            {"name": warc.name, "ark": warc.ark, "bytes": warc.size, "sha512": warc.sha512,
             "viral": warc.is_viral}
            for warc in one.warcs
        ],
        "receipt": {"place": data["place"], "written": receipt.written} if receipt else None,
        "nodes": {node: _iso(at) for node, at in nodes},
    }  # fmt: skip
    return View("crawl_package.mako", data, twin, opening.package(one.id))


def try_again(call: Call) -> Response:
    """Let the step of a package that failed be done again."""
    one = _named(call)
    with told(call), open_own_queues(call.site.path) as queues:
        is_new = retry(queues, one)
    note(call, "retry package", message=one.id)
    url = opening.package(one.id, retried="yes" if is_new else "no")
    return changed_answer(call, url, {"package": one.id, "is_new": is_new}, 200)


def steps_of(one: Package, error: str, *, has_nodes: bool) -> list[StepLine]:
    """The steps of a package, in their order, with what happened.

    Args:
        error: Why the next one failed; empty if it did not.
        has_nodes: Whether the settings name access nodes, which the last step waits for.
    """
    times = dict(one.history)
    following = next((state for state in STEPS if not one.has(state)), None)
    return [
        StepLine(_(said), times.get(state))
        if state is not following
        else _next(state, error, is_unasked=state is PackageState.MERGED and not has_nodes)
        for state, said in STEPS.items()
    ]


def _next(state: PackageState, error: str, *, is_unasked: bool) -> StepLine:
    advice = _(ADVICE[state]) if error else _(NO_NODES) if is_unasked else ""
    return StepLine(_(STEPS[state]), None, True, error, advice, is_unasked and not error)


def _unbegun(call: Call) -> list[Unbegun]:
    if not has_queues(call.site.path):
        return []
    with open_own_queues(call.site.path) as queues:
        return unbegun(call.site.path, queues)


def _named(call: Call) -> Package:
    try:
        name = check_package_id(call.params["package"])
    except PackageInvalid:
        raise NotFound("There is no package of this name.") from None
    with told(call):
        try:
            return load_package(call.site.path, name)
        except NoPackage:
            raise NotFound("There is no package of this name.") from None


def _receipt(call: Call, one: Package) -> tuple[PackageReceipt | None, str]:
    try:
        content = kept_receipt(call.site.path, one.id)
        return (receipt_of(content, one.id), "") if content is not None else (None, "")
    except (ReceiptInvalid, OSError) as error:
        return None, str(error)


def _nodes(one: Package, named: tuple[str, ...]) -> tuple[list[tuple[str, datetime | None]], str]:
    """When each access node has merged a package, and why that is not known."""
    if not one.has(PackageState.VERIFIED):
        return [], ""
    ((found, fault),) = in_time([partial(_marks, one, named)])
    return found or [], fault


def _marks(one: Package, named: tuple[str, ...]) -> list[tuple[str, datetime | None]]:
    """The nodes that are named, and others that have left a mark."""
    store = open_store(one.store)
    marked = sorted(name.rpartition("/")[2] for name in store.names(merged_name(one.id)))
    return [
        (node, merged_at(store, one.id, node) if node in marked else None)
        for node in dict.fromkeys((*named, *marked))
    ]


def _brief(call: Call, one: Package) -> dict[str, Any]:
    return {
        "package": one.id,
        "ark": one.ark,
        "state": one.state.value,
        "error": hidden(call, one.error),
        "bytes": one.size,
        "crawled": _iso(one.ended),
    }


def _iso(at: datetime | None) -> str | None:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else None
