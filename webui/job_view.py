"""How jobs are shown: their outcome, their totals, and their receipts (pure).

The list of jobs, the page of a job and that of a batch edit use the same words, colours
and icons.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from oaipmhscraper.jobs import HARVEST
from silocuration.batch.journal import CHANGED, Doing
from silocuration.jobs import CHANGE, PREVIEW, UNDO
from siloexport.jobs import DRY_RUN, EXPORT
from silowork.kinds import done_in_all, kind_names, kind_of
from silowork.values import ACTIVE, Job, JobAction, State
from webui import urls
from webui.http.bodies import human_size
from webui.job_times import blocker, time_to_go
from webui.people.roles import Role, User
from webui.words.durations import in_words
from webui.words.sentences import sentence
from webui.words.texts import counted, numeral
from webui.words.texts import text as _

STATES = {
    State.QUEUED: "Waiting",
    State.RUNNING: "Running",
    State.PAUSED: "Paused",
    State.DONE: "Finished",
    State.FAILED: "Failed",
    State.STOPPED: "Cancelled",
}
"""English texts of the catalogue."""
ACTIONS = {
    JobAction.PAUSE: "Pause",
    JobAction.RESUME: "Resume",
    JobAction.STOP: "Cancel",
    JobAction.RETRY: "Retry",
    JobAction.DISMISS: "Dismiss",
}
SetName = Callable[[str], str]
"""setSpec → what the set is called."""
STEPS = ("grouping", "proposals")
"""Steps of jobs that are no metadata prefixes; English texts of the catalogue."""
COUNT_LABELS = {
    "promised": "promised by the repository",
    "listed": "listed",
    "new": "new",
    "updated": "updated",
    "unchanged": "unchanged",
    "duplicates": "listed twice",
    "quarantined": "set aside",
    "unreachable": "unreachable",
    "kept": "not undone: changed later",
    "left_out": "left out",
    "stored": "of them in the Silo now",
    "written": "written",
    "records": "records",
    "failed": "failed",
    "skipped": "skipped",
    "done": "changed",
    "undone": "undone",
    "planned": "waiting",
    "values changed": "values changed",
    "create": "created",
    "add version": "versions added",
    "replace": "replaced",
    "describe": "descriptions updated",
    "withdraw": "withdrawn",
    "leave": "deleted at the source left out",
    "empty": "with nothing to export",
    "nothing": "unchanged",
    "conflicts": "conflicts",
    "links": "links",
    "full texts": "full texts",
    "inputs": "inputs",
    "read byte for byte": "read byte for byte",
    "warnings": "warnings",
    "damage": "damaged",
    "records indexed": "records indexed",
    "not indexed": "not indexed",
    "to decide": "to decide",
    "proposed": "proposed",
    "versions": "versions",
    "counted": "counted",
    "bots": "bots",
    "other": "other",
    "unreadable": "unreadable",
}
"""English texts for the names of counts; other names are shown as they are."""
LIST_COLUMNS = {
    "listed": "Listed",
    "new": "New",
    "updated": "Updated",
    "unchanged": "Unchanged",
    "deleted": "Deleted",
    "stored": "In the Silo",
}
"""Columns of the table of a harvest's lists."""
ICONS = {
    "done": "✓",
    "partial": "!",
    "failed": "✕",
    "running": "▸",
    "waiting": "…",
    "paused": "‖",
    "cancelled": "■",
    "undone": "↶",
}
_NAMES = {
    State.QUEUED: "waiting",
    State.RUNNING: "running",
    State.PAUSED: "paused",
    State.DONE: "done",
    State.FAILED: "failed",
    State.STOPPED: "cancelled",
}


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The outcome of a job.

    Attributes:
        name: One of `ICONS`; gives the colour.
        word: For people.
    """

    name: str
    word: str

    @property
    def icon(self) -> str:
        """Stands before the word."""
        return ICONS[self.name]


def outcome_of(job: Job, undone: Mapping[Doing, int] | None = None) -> JobOutcome:
    """Return the outcome of a job.

    Args:
        undone: For a batch edit, how many of its records are undone, being undone, or could
            not be.
    """
    if job.wish and not job.is_over:
        return JobOutcome("running", _("Pausing") if job.wish == "pause" else _("Cancelling"))
    if job.is_over and (taken := undone_outcome(undone or {})):
        return taken
    if job.state is State.FAILED and not job.sentence and job.problems:
        number = failures(job)
        words = some_skipped(number) if has_only_skipped(job) else _failed(number)
        return JobOutcome("partial", words)
    return JobOutcome(_NAMES[job.state], _(STATES[job.state]))


def failures(job: Job) -> int:
    """How many records a job did not do; of an export, `Job.problems` counts only the first."""
    names = ("failed", "conflicts", "skipped") if job.kind == EXPORT.name else ()
    return max(job.problems, sum(job.counts.get(name, 0) for name in names))


def has_only_skipped(job: Job) -> bool:
    """Whether a job did everything but records that it had to leave as they are."""
    if job.sentence or job.counts.get("failed"):
        return False
    return bool(job.counts.get("skipped") or (job.kind == UNDO.name and job.counts.get("kept")))


def some_skipped(number: int) -> str:
    """What is said of a job that left some records as they are."""
    return counted("Finished, {n} skipped", "Finished, {n} skipped", number)


def _failed(number: int) -> str:
    return counted("Finished, {n} failed", "Finished, {n} failed", number)


def undone_outcome(counts: Mapping[Doing, int]) -> JobOutcome | None:
    """The state of undoing a batch edit; None if it was not undone.

    Args:
        counts: Number of its records in each state.
    """
    if counts.get(Doing.UNDOING):
        return JobOutcome("running", _("Being undone"))
    undone = counts.get(Doing.UNDONE)
    if undone and counts.get(Doing.DONE):
        changed = sum(counts.get(state, 0) for state in CHANGED)
        said = _("Partly undone: {n} of {all}", n=numeral(undone), all=numeral(changed))
        return JobOutcome("partial", said)
    if kept := counts.get(Doing.KEPT):
        if not counts.get(Doing.UNDONE):
            said = counted("Not undone, {n} skipped", "Not undone, {n} skipped", kept)
            return JobOutcome("partial", said)
        return JobOutcome("partial", counted("Undone, {n} skipped", "Undone, {n} skipped", kept))
    return JobOutcome("undone", _("Undone")) if undone else None


def said_in_all(job: Job) -> str:
    """The job's total, such as ``3,666 harvested``; empty if it is not known."""
    number = done_in_all(job)
    if number is None:
        return ""
    one, many = forms_of_total(PREVIEW.did if job.arguments.get(DRY_RUN) else kind_of(job.kind).did)
    return counted(one, many, number)


def forms_of_total(did: str) -> tuple[str, str]:
    """A job's total for one and for many: ``{n} link`` and ``{n} links``, or alike in English."""
    return did.removesuffix("s"), did


def share_of(job: Job, active: Iterable[Job] = ()) -> str:
    """Progress, such as ``oai_dc: 1,200 of 3,200``; of a waiting job, what it waits for.

    Args:
        active: The jobs that wait or run, the oldest first.
    """
    if ahead := blocker(job, active):
        return _("Waits for: {title}", title=title_of(ahead))
    done, left = _done_of(job), time_to_go(job, datetime.now(UTC))
    return f"{done} · {left}" if left else done


def _done_of(job: Job) -> str:
    how_far = job.advance
    name = _(how_far.step) if how_far.step in STEPS else how_far.step
    step, done = f"{name}: " if name else "", numeral(how_far.done)
    if how_far.total is None:
        return f"{step}{done}"
    return step + _("{n} of {total}", n=done, total=numeral(how_far.total))


def left_out(job: Job) -> str:
    """Deleted records that a batch edit left out, in words; empty if there are none."""
    number = job.counts.get("deleted", 0) if job.kind == CHANGE.name else 0
    return counted("{n} deleted record left out", "{n} deleted records left out", number) \
        if number else ""  # fmt: skip


def job_json(
    job: Job, undone: Mapping[Doing, int] | None = None, active: Iterable[Job] = ()
) -> dict[str, Any]:
    """A job as JSON values, with the texts and actions of its page; `active` as in `share_of`."""
    outcome = outcome_of(job, undone)
    known = job.to_json()
    if "target" in job.report:
        known["report"] = {**known["report"], "target": target_of(job)}
    return known | {
        "outcome": {"name": outcome.name, "word": outcome.word},
        "done_in_all": done_in_all(job),
        "share": share_of(job, active),
        "actions": [one.value for one in _offered(job)],
    }


def target_of(job: Job) -> str:
    """Where an export went: a directory beside the Silo is named without what it is in."""
    target = str(job.report.get("target") or "")
    return "/".join(target.split("/")[-2:]) if target.startswith("/") else target


def title_of(job: Job) -> str:
    """Return the title of a job, which is in English, as the page says it."""
    if (known := _(job.title)) != job.title:
        return known
    for said in TITLES:
        begins = said.partition("{")[0]
        if job.title.startswith(begins):
            title = job.title.removeprefix(begins)
            return _(said, title=sentence(title) if said.startswith(PREVIEWED) else title)
    return sentence(job.title)


TITLES = ("Batch edit: {title}", "Preview: {title}", "Undo: {title}", "Count values: {title}",
          "Reconcile {title}", "Harvest {title}", "Import {title}")  # fmt: skip
"""Of jobs that the page begins; English texts of the catalogue."""
PREVIEWED = "Preview: "


def may_steer(user: User, job: Job) -> bool:
    """Whether a user may pause, cancel or retry a job.

    Only managers may steer kinds that curators may not start, or that no package has any more.
    """
    by_curators = job.kind in kind_names() and kind_of(job.kind).by_curators
    return user.may(Role.CURATOR if by_curators else Role.MANAGER)


@dataclass(frozen=True, slots=True)
class Shown:
    """A job as lists and pages show it.

    Attributes:
        url: Of the job: its events and its actions are below it.
        page: Where it is shown: a batch edit has its own page.
        title: See `title_of`.
        did: The job's total.
        actions: (action, label) of the buttons that the user may press.
        left_out: See `left_out`.
    """

    job: Job
    outcome: JobOutcome
    share: str
    title: str
    did: str
    left_out: str
    url: str
    page: str
    actions: Sequence[tuple[str, str]]

    @property
    def is_active(self) -> bool:
        """Whether it waits or runs."""
        return self.job.state in ACTIVE

    @classmethod
    def of(
        cls,
        job: Job,
        user: User,
        undone: Mapping[Doing, int] | None = None,
        active: Iterable[Job] = (),
    ) -> "Shown":
        """Return a job as a user sees it; see `outcome_of` and `share_of`."""
        may = may_steer(user, job)
        return cls(
            job,
            outcome_of(job, undone),
            share_of(job, active),
            title_of(job),
            said_in_all(job),
            left_out(job),
            urls.job(job.job_id),
            page_of(job),
            [(one.value, action_label(job, one)) for one in _offered(job) if may],
        )


def _offered(job: Job) -> Iterator[JobAction]:
    """The actions on a job; of a preview, which writes nothing, no records are retried."""
    is_preview = bool(job.kind == EXPORT.name and job.arguments.get(DRY_RUN))
    for action in job.actions:
        if not (is_preview and action is JobAction.RETRY and job.problems and not job.sentence):
            yield action


def page_of(job: Job) -> str:
    """Where a job is shown; a batch edit, its preview and its undoing share a page."""
    change = job.arguments.get("job")
    return urls.bulk_job(str(change)) if change else urls.job(job.job_id)


def action_label(job: Job, action: JobAction) -> str:
    """The label of a button that acts on a job."""
    if action is JobAction.RETRY and job.state is State.STOPPED:
        return _("Resume")
    if action is JobAction.RETRY and job.problems and not job.sentence:
        return _("Retry failed records")
    return _(ACTIONS[action])


@dataclass(frozen=True, slots=True)
class JobReceipt:
    """The receipt of a job, for display as tables.

    Attributes:
        figures: (label, number) of records.
        facts: (label, text).
        columns: Of `lists`, without the first.
        lists: (name, numbers) of each list of a harvest.
        notes: Sentences.
        text: The receipt in one text, if there is nothing else.
    """

    figures: Sequence[tuple[str, str]]
    facts: Sequence[tuple[str, str]]
    columns: Sequence[str]
    lists: Sequence[tuple[str, Sequence[str]]]
    notes: Sequence[str]
    text: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.figures or self.facts or self.lists or self.notes or self.text)


def receipt_of(job: Job, set_name: SetName = str) -> JobReceipt:
    """The receipt of a job, from its counts and its report."""
    report = job.report
    figures = [(_count_label(job.kind, name), numeral(n)) for name, n in job.counts.items()]
    notes = [sentence(str(one)) for one in report.get("notes", ())]
    lists = [_list_row(one, set_name) for one in report.get("lists", ())]
    is_bare = not figures and not lists
    target, place = str(report.get("target") or ""), target_of(job)
    return JobReceipt(
        figures,
        _facts(job),
        [_(label) for label in LIST_COLUMNS.values()],
        lists,
        notes,
        (job.text.replace(target, place) if target else job.text) if is_bare else "",
    )


def receipt_of_harvest(found: Mapping[str, Any], set_name: SetName = str) -> JobReceipt:
    """The receipt that a harvest left in the Silo; empty if there is none."""
    if not found:
        return JobReceipt((), (), (), (), ())
    counts = {name: number for name, number in found.get("counts", {}).items() if number}
    told = {_(label): str(found.get(name) or "") for name, label in FACTS.items()}
    return JobReceipt(
        [(_count_label(HARVEST.name, name), numeral(number)) for name, number in counts.items()],
        [(label, text) for label, text in told.items() if text],
        [_(label) for label in LIST_COLUMNS.values()],
        [_list_row(one, set_name) for one in found.get("lists") or ()],
        (),
    )


def _count_label(kind: str, name: str) -> str:
    own = kind_of(kind).counts if kind in kind_names() else {}
    return _(own.get(name) or COUNT_LABELS.get(name) or name.replace("_", " "))


def _facts(job: Job) -> list[tuple[str, str]]:
    report = job.report
    known = {**report, "target": target_of(job)}
    facts = [(_(label), str(known.get(name) or "")) for name, label in FACTS.items()]
    requests = report.get("requests")
    if isinstance(requests, Mapping):
        facts.append((_("Requests"), numeral(requests.get("sent", 0))))
        facts.append((_("Received"), human_size(int(requests.get("bytes", 0)))))
    facts.append((_("Time"), _time_of(job)))
    return [(label, text) for label, text in facts if text]


FACTS = {"base_url": "Repository", "moved_to": "Redirects to", "target": "Target"}
"""Texts of a report that the receipt shows."""


def _time_of(job: Job) -> str:
    try:
        began, ended = map(datetime.fromisoformat, (job.begun, job.ended))
    except ValueError:
        return ""
    return in_words((ended - began).total_seconds())


def _list_row(one: Mapping[str, Any], set_name: SetName) -> tuple[str, list[str]]:
    counts = one.get("counts") or {}
    of_set = f", {set_name(one['set'])}" if one.get("set") else ""
    numbers = [numeral(counts.get(name) or 0) for name in LIST_COLUMNS]
    return f"{one.get('metadata_prefix', '')}{of_set}", numbers
