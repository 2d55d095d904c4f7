"""Lines of the activity log for actions other than changes of records."""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import islice
from typing import Any

from recordsilo import Silo
from recordsilo.selection import selection_from
from silocuration.activity import Activity, ValueChange, changes_of, log_activity
from silocuration.batch.specs import summary
from silocuration.searches import SearchNotFound, SearchUnreadable, load_search
from silowork.kinds import begun_by_form, kind_of
from silowork.values import Job
from webui import urls
from webui.contributed import contributed
from webui.job_view import title_of as title_in_words
from webui.site import AnyCall, Call
from webui.words.texts import text as _


def note(
    call: AnyCall,
    action: str,
    *values: ValueChange,
    agent: str = "",
    identifier: str = "",
    message: str = "",
    job: str = "",
) -> None:
    """Log an action of the current user, or of `agent` if given.

    Args:
        call: The request; its user is the default agent.
        action: Code of the action, such as ``add schedule``.
        values: What changed.
        agent: Another agent than the user.
        identifier: The record that it was about.
        message: The reason, or a title.
        job: Id of the job concerned.

    Raises:
        OSError: The line could not be written; the action itself is done.
    """
    lines = changes_of(
        values,
        agent=agent or call.user.name,
        action=action,
        identifier=identifier,
        version="",
        message=message,
        job=job,
    )
    log_activity(call.site.path, lines)


def note_job(call: Call, job: Job, action: str) -> None:
    """Log who started a job or acted on it."""
    note(call, action, message=job.title, job=job.job_id)


# --------------------------------------------------------------------------- the log, for people


ACTIONS: Mapping[str, str] = {
    "accept": "Proposal accepted",
    "add account": "Account added",
    "add export place": "Export place added",
    "add repositories": "Repositories added",
    "add schedule": "Schedule added",
    "bulk": "Batch edit",
    "change": "Batch edit started",
    "change export place": "Export place changed",
    "change password": "Password changed",
    "change role": "Role changed",
    "change schedule": "Schedule changed",
    "copy": "Working copy created",
    "delete file": "File deleted",
    "delete record": "Record deleted",
    "delete rule": "Rule deleted",
    "delete search": "Saved search deleted",
    "delete version": "Version deleted",
    "dismiss": "Failed job dismissed",
    "discard change": "Previewed batch edit discarded",
    "edit": "Edited",
    "end collection": "Collection removed",
    "facet": "Count of values started",
    "follow": "Source version used",
    "keep": "Edited version kept",
    "keep rule": "Rule saved",
    "keep search": "Search saved",
    "mark": "Duplicates marked",
    "new record": "New record",
    "new version": "Version added",
    "pause": "Job paused",
    "pause schedule": "Schedule paused",
    "propose": "Merge proposed",
    "put": "File added",
    "remove account": "Account removed",
    "remove export place": "Export place removed",
    "remove schedule": "Schedule removed",
    "rename file": "File renamed",
    "rename version": "Version renamed",
    "resolve": "Merge prepared",
    "resume": "Job resumed",
    "resume schedule": "Schedule resumed",
    "retry": "Job retried",
    "run schedule": "Schedule run",
    "save collection": "Collection saved",
    "sign in": "Signed in",
    "sign out": "Signed out",
    "sign-in failed": "Sign-in failed",
    "stop": "Job stopped",
    "undo": "Batch edit undone",
}
"""English texts of the catalogue."""


SENTENCES: Mapping[str, str] = {
    "accept": "{who} accepted the proposal for {what}",
    "add account": "{who} added the account {what}",
    "add export place": "{who} added the export place {what}",
    "add schedule": "{who} added the schedule {what}",
    "attach document": "{who} attached a proposed document to {what}",
    "bulk": "{who} edited many records: {what}",
    "change role": "{who} changed the role of {what}",
    "change schedule": "{who} changed the schedule {what}",
    "copy": "{who} began to edit {what}",
    "delete file": "{who} deleted a file of {what}",
    "delete record": "{who} deleted the record {what}",
    "delete rule": "{who} deleted the rule {what}",
    "delete search": "{who} deleted the saved search {what}",
    "delete version": "{who} deleted a version of {what}",
    "dismiss": "{who} dismissed {what}",
    "edit": "{who} edited {what}",
    "end collection": "{who} removed the collection {what}",
    "follow": "{who} took the source version of {what}",
    "keep": "{who} kept the edited version of {what}",
    "keep rule": "{who} saved the rule {what}",
    "keep search": "{who} saved the search {what}",
    "new record": "{who} made the record {what}",
    "new version": "{who} added a version to {what}",
    "pause": "{who} paused {what}",
    "propose": "{who} prepared a merge of {what}",
    "put": "{who} added a file to {what}",
    "remove account": "{who} removed the account {what}",
    "reject document": "{who} rejected a document proposed for {what}",
    "rename file": "{who} renamed a file of {what}",
    "rename version": "{who} renamed a version of {what}",
    "resolve": "{who} prepared a merge of {what}",
    "resume": "{who} resumed {what}",
    "retry": "{who} tried again: {what}",
    "run schedule": "{who} ran the schedule {what}",
    "save collection": "{who} saved the collection {what}",
    "stop": "{who} stopped {what}",
    "undo": "{who} undid {what}",
    "undo document": "{who} undid the decision about a document of {what}",
}
"""Action → a sentence for what was acted on; English texts of the catalogue."""
BEGUN = "{who} started {what}"
"""The sentence of a job that somebody began."""
_PLACES = re.compile(r"(\{who\}|\{what\})")


def action_labels() -> Mapping[str, str]:
    """Return the actions in words; others are shown as the log has them."""
    kinds = {name: kind_of(name).begun_label for name in begun_by_form()}
    of_packages = {code: label for one in contributed() for code, label in one.actions.items()}
    labels = {**kinds, **of_packages, **ACTIONS}
    return {name: _(label) for name, label in labels.items()}


_PAGES: Mapping[str, Callable[[str], str]] = {
    "keep search": urls.saved_search,
    "keep rule": urls.rule,
    "save collection": urls.collection,
}
"""Action → the address of what it made, by its name."""


def in_words(line: Activity, set_name: Callable[[str], str] = str) -> tuple[str | None, str | None]:
    """The old and the new value of a line; of searches and rules what they say, in words.

    Args:
        line: A line of the log.
        set_name: setSpec → what the set is called.
    """
    tellers: Mapping[str, Callable[[str], str]] = {
        "search": partial(_search_in_words, set_name=set_name),
        "rule": _rule_in_words,
    }
    said = tellers.get(line.action.partition(" ")[2])
    if said is None or line.action not in ACTIONS:
        return line.old, line.new
    return line.old and said(line.old), line.new and said(line.new)


def _search_in_words(table: str, set_name: Callable[[str], str]) -> str:
    try:
        return selection_from(json.loads(table)).said(set_name) or _("all records")
    except (ValueError, RecursionError, TypeError):
        return table


def _rule_in_words(table: str) -> str:
    try:
        return summary({"rules": tomllib.loads(table)}) or table
    except (ValueError, LookupError, TypeError, AttributeError):
        return table


@dataclass(frozen=True, slots=True)
class ActivityEntry:
    """Consecutive lines of the log that belong together: those of one job, or of one edit.

    Attributes:
        said: The title of the job; otherwise the fields.
        is_title: Whether `said` is the title of a job, which says what was done.
        is_cut: Whether there are more lines than were read.
        lines: The newest first.
        title: The title of the record or the saved search; empty if there is none, or it is not
            known.
    """

    date: str
    agent: str
    action: str
    said: str
    identifier: str
    url: str
    records: int
    is_cut: bool
    is_title: bool
    message: str
    lines: tuple[Activity, ...]
    title: str = ""

    @property
    def what(self) -> str:
        """What was acted on: the title of the record or of the job, or a name."""
        return self.title or self.identifier or self.said

    @property
    def reason(self) -> str:
        """Why it was done; empty if that is not known, or the message is a title shown already."""
        is_shown = self.message in self.said or (not self.identifier and self.message in self.title)
        return "" if is_shown else self.message

    @property
    def sentence(self) -> list[str]:
        """The pieces of the sentence, in order; ``{who}`` and ``{what}`` stand for the links."""
        code = self.lines[0].action
        if self.what and (self.url or self.records < 2):
            is_begun = self.is_title and code in {"bulk", "undo"}
            said = BEGUN if is_begun else SENTENCES.get(code, BEGUN if self.is_title else "")
            if said:
                return [one for one in _PLACES.split(_(said)) if one]
        both = ["{who}", ": ", self.action]
        return [*both, " ", "{what}"] if self.what else both

    @property
    def changes(self) -> tuple[Activity, ...]:
        """The lines that name a record, or else all: who started a job changed nothing by that."""
        return tuple(one for one in self.lines if one.identifier or not self.records)

    def to_json(self) -> dict[str, Any]:
        """The entry as JSON values, without its lines."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "lines"}


def entries(
    lines: Iterable[Activity],
    jobs: Mapping[str, Job],
    title_of: Callable[[str], str],
    *,
    is_cut: bool = False,
) -> list[ActivityEntry]:
    """Group lines of the log, the newest first; other lines may stand between those of a job.

    Args:
        lines: The newest first.
        jobs: The newest jobs by id.
        title_of: The title of a batch edit by its id; empty if it is not known.
        is_cut: Whether the log has lines before these.
    """
    groups: dict[object, list[Activity]] = {}
    last: tuple[str, ...] = ()
    number = 0
    for one in lines:
        key = _together(one, jobs)
        if key != last:
            last, number = key, number + 1
        groups.setdefault(key if one.job else (number, key), []).append(one)
    return [
        _entry(group, jobs, title_of, is_cut=is_cut and key in (last, (number, last)))
        for key, group in groups.items()
    ]


def with_titles(
    silo: Silo, found: Iterable[ActivityEntry], set_name: Callable[[str], str] = str
) -> list[ActivityEntry]:
    """Add the titles of the records and saved searches that entries name.

    Args:
        found: The entries.
        set_name: setSpec → what the set is called.

    Cost: one query of the index, and a file for each saved search.
    """
    listed = list(found)
    rows = silo.rows([one.identifier for one in listed if one.identifier])
    titles = {name: row.title for name, row in rows.items()}
    return [
        replace(one, title=titles.get(one.identifier) or _titles_of_searches(silo, one, set_name))
        for one in listed
    ]


def _titles_of_searches(silo: Silo, one: ActivityEntry, set_name: Callable[[str], str]) -> str:
    """What saved searches or collections are called; empty if the entry is about others."""
    if one.lines[0].action.rpartition(" ")[2] not in {"search", "collection"}:
        return ""
    newest = {line.what: line for line in reversed(one.lines) if line.what}
    return ", ".join(_title_of_search(silo, line, set_name) for line in newest.values())


def _title_of_search(silo: Silo, line: Activity, set_name: Callable[[str], str]) -> str:
    """What a saved search is or was called; or else the words of the search, or its name."""
    if line.action != "delete search":
        with suppress(SearchNotFound, SearchUnreadable):
            return load_search(silo.path, line.what).title
    return line.message or next(filter(None, in_words(line, set_name)), line.what)


Placed = tuple[str, Activity]
"""A line with its place in the log."""


def whole_entries(
    lines: Iterator[Placed], jobs: Mapping[str, Job], most: int, most_more: int
) -> tuple[list[Placed], Placed | None]:
    """Read lines, and all others of the last entry, so that no page cuts a batch edit.

    Args:
        lines: The newest first.
        jobs: As for `entries`.
        most: Lines to read.
        most_more: Lines to read for the rest of the last entry; beyond that, it is cut.

    Returns:
        The lines, and the line after them; None if they are the last ones.
    """
    read = list(islice(lines, most))
    last = _together(read[-1][1], jobs) if read else ()
    for _number in range(most_more):
        one = next(lines, None)
        if one is None or _together(one[1], jobs) != last:
            return read, one
        read.append(one)
    return read, next(lines, None)


def is_together(one: Activity, other: Activity, jobs: Mapping[str, Job]) -> bool:
    """Whether two lines belong to the same entry."""
    return _together(one, jobs) == _together(other, jobs)


def _together(one: Activity, jobs: Mapping[str, Job]) -> tuple[str, ...]:
    """The key of an entry that lines share: their batch edit, or the job that ran it."""
    if one.job:
        edit = jobs[one.job].arguments.get("job", one.job) if one.job in jobs else one.job
        return ("job", str(edit), "bulk" if one.action == "change" else one.action)
    identifier = "" if one.action == "propose" else one.identifier  # many in one run
    return (one.action, one.agent, identifier, one.date[:16])


def _entry(
    lines: list[Activity],
    jobs: Mapping[str, Job],
    title_of: Callable[[str], str],
    *,
    is_cut: bool,
) -> ActivityEntry:
    newest, oldest = lines[0], lines[-1]
    records = len({one.identifier for one in lines if one.identifier})
    named = dict.fromkeys(reversed([one.what for one in lines if one.what]))
    said, url = ", ".join(named), ""
    is_undo_of = newest.action == "undo" and oldest.job in jobs and jobs[oldest.job].kind != "undo"
    is_title = oldest.job in jobs and not is_undo_of
    if newest.job:
        is_bulk = newest.action in {"bulk", "undo"}
        url = urls.bulk_job(newest.job) if is_bulk else urls.job(newest.job)
        edit = title_of(newest.job) if is_bulk else ""
        said = title_in_words(jobs[oldest.job]) if is_title else edit or oldest.message or said
    elif records > 1:
        said, url = _("Source changes"), urls.upstream_list()
    elif newest.identifier:
        url = urls.record(newest.identifier)
    elif newest.action in _PAGES and len(named) == 1:
        url = _PAGES[newest.action](newest.what)
    return ActivityEntry(
        date=newest.date,
        agent=newest.agent,
        action=action_labels().get(newest.action, newest.action),
        said=said,
        identifier="" if newest.job or records > 1 else newest.identifier,
        url=url,
        records=records,
        is_cut=is_cut,
        is_title=is_title,
        message=newest.message,
        lines=tuple(lines),
    )
