"""Crawls at work: ours, and the jobs of each Heritrix, with what may be done about them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, NamedTuple

from silocrawl.heritrix.client import Heritrix
from silocrawl.heritrix.engines import EngineSettings, connected, load_engines
from silocrawl.heritrix.errors import ActionRefused, HeritrixError, HeritrixJobNotFound, TookTooLong
from silocrawl.heritrix.states import HeritrixAction, HeritrixJob
from silocrawl.heritrix.watching import SECONDS_OF_AN_ANSWER, longest_queues
from silocrawl.in_time import in_time
from silocrawl.own_job import OwnJob, own_job
from silocrawl.packages.own_checkpoints import ask_for_checkpoint
from webui.activity import note
from webui.crawling import opening
from webui.crawling.opening import hidden, queues_of, told
from webui.http.errors import ChangeConflict, NotFound, ServerBusy, as_sentence
from webui.http.messages import Response
from webui.people.roles import Role
from webui.rendering import View, changed_answer
from webui.site import Call
from webui.words.texts import text as _

ACTIONS = {
    HeritrixAction.PAUSE: "Pause",
    HeritrixAction.UNPAUSE: "Continue",
    HeritrixAction.CHECKPOINT: "Make a checkpoint",
    HeritrixAction.TERMINATE: "Terminate",
}
DONE = {
    "pause": "Job paused.",
    "unpause": "Job continued.",
    "checkpoint": "Checkpoint made.",
    "terminate": "Job terminated.",
    "asked": "Heritrix was asked for it, and is at work on it.",
    "own": "The crawl was asked for a checkpoint, and makes it within a minute.",
}
STATES = {"running": "running", "idle": "not running", "shared": "on several machines"}
"""English texts of the catalogue, as the above."""
SECONDS_OF_AN_ACTION = 15.0
"""For which a request waits; Heritrix goes on afterwards."""


class EngineLine(NamedTuple):
    """A Heritrix in the list: its jobs as (name, state in its words, address of the page)."""

    name: str
    url: str
    version: str
    jobs: list[tuple[str, str, str]]
    fault: str


def show(call: Call) -> View:
    """List our own crawl, and the jobs of each Heritrix."""
    own = _own(call)
    with told(call):
        engines = load_engines(call.site.path)
    lines = [
        EngineLine(one.name, one.url, "", [], hidden(call, fault)) if found is None else found
        for one, (found, fault) in zip(engines, in_time(map(_asking, engines)), strict=True)
    ]
    data = {
        "own": own,
        "own_state": _(STATES[own.state]),
        "own_url": opening.own_crawl(),
        "targets_url": opening.targets(),
        "engines": lines,
    }
    twin = {
        "own": _own_object(own),
        "engines": [
            {"name": one.name, "url": one.url, "version": one.version, "fault": one.fault,
             "jobs": [{"name": name, "state": said} for name, said, _url in one.jobs]}
            for one in lines
        ],
    }  # fmt: skip
    return View("crawl_jobs.mako", data, twin, opening.jobs())


def _asking(settings: EngineSettings) -> Callable[[], EngineLine]:
    def ask() -> EngineLine:
        engine = connected(settings, SECONDS_OF_AN_ANSWER).engine()
        jobs = [(name, said, opening.job(settings.name, name)) for name, said in engine.jobs]
        return EngineLine(settings.name, settings.url, engine.version, jobs, "")

    return ask


# --------------------------------------------------------------------------- ours


def show_own(call: Call) -> View:
    """Show our own crawl: its rate, queues, hosts, and the end of its log."""
    own = _own(call)
    data = {
        "own": own,
        "state": _(STATES[own.state]),
        "action": f"{opening.own_crawl()}/checkpoint" if _may_manage(call) else "",
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
        "jobs_url": opening.jobs(),
        "status_url": opening.status(),
    }
    return View("crawl_own.mako", data, _own_object(own), opening.own_crawl())


def checkpoint_own(call: Call) -> Response:
    """Ask our own crawl, which runs, for a checkpoint.

    Raises:
        ChangeConflict: None runs.
    """
    own = _own(call)
    if own.is_running is False:
        raise ChangeConflict(
            "No crawl is running here that could make a checkpoint. Without one, run on the "
            "server: silo crawl checkpoint DIR"
        )
    ask_for_checkpoint(call.site.path)
    note(call, "ask for checkpoint")
    return changed_answer(call, opening.own_crawl(done="own"), {"done": "asked"}, 202)


def _own(call: Call) -> OwnJob:
    with told(call), queues_of(call) as queues:
        return own_job(call.site.path, queues, datetime.now(UTC))


def _own_object(own: OwnJob) -> dict[str, Any]:
    return {
        "state": own.state,
        "rate": round(own.rate, 3),
        "checkpoint": own.checkpoint,
        "queues": {name: asdict(size) for name, size in own.sizes.items()},
        "hosts": [{"host": host, "addresses": number} for host, number in own.hosts],
        "log": {"name": own.log, "tail": list(own.tail)},
    }


# --------------------------------------------------------------------------- Heritrix


def show_one(call: Call) -> View:
    """Show a job of a Heritrix as it is now."""
    settings, name = _engine(call), call.params["job"]
    with _answered(call):
        client = connected(settings, SECONDS_OF_AN_ANSWER)
        job, checkpoint = client.job(name), client.newest_checkpoint(name)
        queues = _longest(client, job)
    permitted = [one for one in ACTIONS if one in job.actions] if _may_manage(call) else []
    data = {
        "job": job,
        "engine": settings.name,
        "checkpoint": checkpoint,
        "queues": queues,
        "actions": [(one.value, _(ACTIONS[one])) for one in permitted],
        "at": lambda action: opening.job(settings.name, name, f"/{action}"),
        "done": _(DONE.get(call.request.query.get("done", ""), "")),
        "jobs_url": opening.jobs(),
    }
    twin = _job_object(job) | {
        "engine": settings.name,
        "checkpoint": checkpoint,
        "longest_queues": [{"queue": queue, "addresses": number} for queue, number in queues],
    }
    return View("crawl_job.mako", data, twin, opening.job(settings.name, name))


def act(call: Call) -> Response:
    """Do something with a job of a Heritrix, and wait until it is done, but not for long.

    Raises:
        NotFound: There is no such job or action.
        ChangeConflict: The state of the job does not permit it.
    """
    settings, name, action = _engine(call), call.params["job"], call.params["action"]
    if action not in set(ACTIONS):
        raise NotFound("There is no page at this address.")
    is_done = True
    with _answered(call):
        try:
            connected(settings, SECONDS_OF_AN_ACTION).act(
                name, HeritrixAction(action), SECONDS_OF_AN_ACTION
            )
        except TookTooLong:
            is_done = False
    note(call, f"{action} crawl job", message=f"{settings.name}: {name}")
    url = opening.job(settings.name, name, done=action if is_done else "asked")
    told_of = {"job": name, "action": action, "is_done": is_done}
    return changed_answer(call, url, told_of, 200 if is_done else 202)


def _engine(call: Call) -> EngineSettings:
    with told(call):
        found = {one.name: one for one in load_engines(call.site.path)}
    if call.params["engine"] not in found:
        raise NotFound("There is no Heritrix of this name.")
    return found[call.params["engine"]]


def _longest(client: Heritrix, job: HeritrixJob) -> list[tuple[str, int]]:
    try:
        return longest_queues(client, job.name) if job.is_active else []
    except HeritrixError:  # of another version; the rest is shown all the same
        return []


@contextmanager
def _answered(call: Call) -> Iterator[None]:
    try:
        yield
    except HeritrixJobNotFound:
        raise NotFound("There is no crawl job of this name.") from None
    except ActionRefused as error:
        raise ChangeConflict(as_sentence(str(error))) from None
    except HeritrixError as error:
        raise ServerBusy(as_sentence(hidden(call, str(error)))) from None


def _may_manage(call: Call) -> bool:
    return call.user.may(Role.MANAGER)


def _job_object(job: HeritrixJob) -> dict[str, Any]:
    found = asdict(job)
    return found | {"actions": sorted(job.actions), "state": job.state.value}
