"""The ledger of a Silo's jobs.

One SQLite file, ``curation/jobs/ledger.sqlite``. The page writes requests, the job's process
its progress; every change is one transaction, which is on stable storage when the call
returns. The same directory has the journals of batch edits (`silocuration.batch.journal`).
"""

import json
import os
import re
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from recordsilo.disk.atomic_file import make_in_silo
from recordsilo.records.manifest import now_text
from silowork.errors import LedgerUnreadable, NoSuchJob
from silowork.ledger_file import LedgerFile, LedgerKind, Mode, new_id
from silowork.values import ACTIVE, OVER, Advance, Ending, Job, Problem, State, Wish

LEDGER = ("curation", "jobs", "ledger.sqlite")
KEPT_PROBLEMS = 10_000
"""Problems stored for one job; further ones are only counted."""

_ID = re.compile(r"[A-Za-z0-9][\w.-]{0,127}")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS job (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    arguments TEXT NOT NULL,
    agent TEXT NOT NULL,
    made TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued',
    wish TEXT NOT NULL DEFAULT '',
    sent INTEGER NOT NULL DEFAULT 0,
    begun TEXT NOT NULL DEFAULT '',
    ended TEXT NOT NULL DEFAULT '',
    crashes INTEGER NOT NULL DEFAULT 0,
    done INTEGER NOT NULL DEFAULT 0,
    total INTEGER,
    step TEXT NOT NULL DEFAULT '',
    counts TEXT NOT NULL DEFAULT '{}',
    text TEXT NOT NULL DEFAULT '',
    report TEXT NOT NULL DEFAULT '{}',
    sentence TEXT NOT NULL DEFAULT '',
    problems INTEGER NOT NULL DEFAULT 0,
    mark TEXT NOT NULL DEFAULT '{}',
    revision INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS problem (
    job TEXT NOT NULL,
    number INTEGER NOT NULL,
    identifier TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (job, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ledger (id TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS pace (
    job TEXT PRIMARY KEY,
    since TEXT NOT NULL,
    done INTEGER NOT NULL
) WITHOUT ROWID;
"""
KIND = LedgerKind(_SCHEMA, LedgerUnreadable, added=frozenset({"ledger", "pace"}))
_COLUMNS = (
    "id, kind, title, arguments, agent, made, state, wish, sent, begun, ended, crashes,"
    " done, total, step, counts, text, report, sentence, problems, mark, revision"
)
_PACE = (
    ", coalesce((SELECT since FROM pace WHERE job = job.id), ''),"
    " coalesce((SELECT pace.done FROM pace WHERE job = job.id), 0)"
)
_NO_PACE = ", '', 0"
_HAS_PACE = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'pace'"


class JobLedger:
    """The jobs of one Silo. Every method opens the file itself, so any thread may call it.

    Raises (every method):
        LedgerUnreadable: The file is not a ledger, is corrupt, or the disk refuses it.
    """

    def __init__(self, silo_path: str) -> None:
        self.silo_path = silo_path
        self.path = os.path.join(silo_path, *LEDGER)

    # ------------------------------------------------------------------ reading

    def job(self, job_id: str) -> Job:
        """One job.

        Raises:
            NoSuchJob: There is no such job.
        """
        found = self._rows("WHERE id = ?", (job_id,))
        if not found:
            raise NoSuchJob(job_id)
        return found[0]

    def jobs(self, limit: int = 100, before: str = "") -> list[Job]:
        """Return jobs, newest first; with `before`, those made before that job."""
        where = "WHERE id < ? ORDER BY id DESC LIMIT ?"
        return self._rows(where, (before or "~", limit))

    def jobs_of(self, agent: str, limit: int, until: str) -> list[Job]:
        """Return the jobs that somebody started, the last one made first.

        Args:
            agent: Who started them.
            limit: The largest number to return.
            until: Leave out jobs that were made later and are over.
        """
        among = ", ".join("?" * len(OVER))
        return self._rows(
            f"WHERE agent = ? AND (made <= ? OR state NOT IN ({among}))"
            " ORDER BY made DESC, id DESC LIMIT ?",
            (agent, until, *OVER, limit),
        )

    def active(self) -> list[Job]:
        """Return jobs that wait or run, oldest first."""
        found = self._rows("WHERE state IN (?, ?) ORDER BY id", ACTIVE)
        return [job for job in found if job.state in ACTIVE]

    def problems(self, job_id: str, limit: int = 200, after: int = 0) -> list[tuple[int, Problem]]:
        """Return what a job did not do, numbered from 1.

        Args:
            limit: The largest number to return.
            after: Return those with higher numbers.
        """
        with self._read() as connection:
            rows = connection.execute(
                "SELECT number, identifier, reason FROM problem"
                " WHERE job = ? AND number > ? ORDER BY number LIMIT ?",
                (job_id, after, limit),
            )
            return [(number, Problem(identifier, reason)) for number, identifier, reason in rows]

    # ------------------------------------------------------------------ writing

    def ledger_id(self) -> str:
        """Return the unique id of this ledger, 32 hexadecimal digits; made once."""
        with self._write() as connection:
            connection.execute(
                "INSERT INTO ledger SELECT ? WHERE NOT EXISTS (SELECT 1 FROM ledger)",
                (secrets.token_hex(16),),
            )
            (found,) = connection.execute("SELECT id FROM ledger").fetchone()
            return str(found)

    def add(
        self,
        kind: str,
        title: str,
        arguments: Mapping[str, Any],
        agent: str,
        job_id: str = "",
    ) -> Job:
        """Add a waiting job; an existing job with that id is returned unchanged.

        Args:
            arguments: The arguments of the kind, as JSON values.
            agent: Who starts it.
            job_id: Its id; by default a new one.
        """
        job_id = job_id or new_id()
        with self._write() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO job (id, kind, title, arguments, agent, made)"
                " VALUES (?, ?, ?, ?, ?, ?)",
                (job_id, kind, title, json.dumps(dict(arguments)), agent, now_text()),
            )
        return self.job(job_id)

    def note_sent(self, job_id: str, *, sent: bool = True) -> None:
        """Note whether the queue was notified of the job."""
        self._set(job_id, (), sent=int(sent))

    def claim(self, job_id: str, most_crashes: int) -> Job | None:
        """Start a job, or continue one whose process died.

        Returns:
            The job, now running; None if there is nothing to do: it is over or paused, or
            was asked to be, or its process died too often.
        """
        job = self.job(job_id)
        if job.state not in ACTIVE:
            return None
        crashes = job.crashes + (job.state is State.RUNNING)
        if job.wish:
            self.interrupt(job_id)
        elif crashes > most_crashes:
            self.end(job_id, Ending(False, sentence=_GAVE_UP.format(times=crashes)))
        elif self._start(job, crashes):
            return self.job(job_id)
        return None

    def _start(self, job: Job, crashes: int) -> bool:
        """Let a job run, and forget its pace before a pause or a crash."""
        begun = job.begun or now_text()
        now = {"state": State.RUNNING, "begun": begun, "crashes": crashes}
        with self._write() as connection:
            connection.execute("DELETE FROM pace WHERE job = ?", (job.job_id,))
            return self._update(connection, job.job_id, ACTIVE, **now, ended="", sentence="")

    def note_crash(self, job_id: str, most_crashes: int) -> None:
        """Note that the process of an unfinished job died; give up after too many times."""
        job = self.job(job_id)
        if job.state in ACTIVE and job.crashes >= most_crashes:
            self.end(job_id, Ending(False, sentence=_GAVE_UP.format(times=job.crashes + 1)))
        else:
            again = {"state": State.QUEUED, "crashes": job.crashes + 1, "sent": 0}
            self._set(job_id, ACTIVE, **again)

    def advance(self, job_id: str, advance: Advance) -> Wish:
        """Store the progress of the running job; return what was requested of it."""
        given = {"done": advance.done, "total": advance.total, "step": advance.step}
        with self._write() as connection:
            if self._update(connection, job_id, (State.RUNNING,), **given):
                first = (job_id, now_text(), advance.done)
                connection.execute("INSERT OR IGNORE INTO pace VALUES (?, ?, ?)", first)
        return self.job(job_id).wish

    def keep(self, job_id: str, mark: Mapping[str, Any], problems: Iterable[Problem]) -> None:
        """Store where the running job continues after a stop, and what it did not do so far.

        Args:
            mark: Where it continues, as JSON values.
            problems: What it did not do since the last call.
        """
        with self._write() as connection:
            count = _add_problems(connection, job_id, problems)
            states = (State.RUNNING,)
            self._update(connection, job_id, states, mark=json.dumps(dict(mark)), problems=count)

    def end(self, job_id: str, ending: Ending) -> None:
        """Store the result of a job; its problems, if any are given, replace the stored ones."""
        with self._write() as connection:
            if ending.problems is not None:
                _forget_problems(connection, job_id)
            count = _add_problems(connection, job_id, ending.problems or ())
            self._update(
                connection,
                job_id,
                ACTIVE,
                state=ending.state,
                wish=Wish.NONE,
                ended=now_text(),
                crashes=0,
                counts=json.dumps(dict(ending.counts)),
                text=ending.text,
                report=json.dumps(dict(ending.report)),
                sentence=ending.sentence,
                problems=count,
                mark="{}",
            )

    def interrupt(self, job_id: str) -> State:
        """Note that a job was interrupted; return its new state, by what was requested.

        The request is read here, so even a late one counts.
        """
        with self._write() as connection:
            for wish, state in ((Wish.PAUSE, State.PAUSED), (Wish.STOP, State.STOPPED)):
                ended = now_text() if state is State.STOPPED else ""
                connection.execute(
                    "UPDATE job SET state = ?, wish = '', ended = ?, crashes = 0,"
                    " revision = revision + 1 WHERE id = ? AND wish = ? AND state IN (?, ?)",
                    (state, ended, job_id, wish, *ACTIVE),
                )
            self._update(connection, job_id, (State.RUNNING,), state=State.QUEUED, sent=0)
        return self.job(job_id).state

    def ask(self, job_id: str, wish: Wish) -> bool:
        """Request a job to pause or stop; immediate if it is not running.

        Returns:
            Whether this was possible: the job is not over.
        """
        rests = State.PAUSED if wish is Wish.PAUSE else State.STOPPED
        ended = "" if wish is Wish.PAUSE else now_text()
        waiting = (State.QUEUED,) if wish is Wish.PAUSE else (State.QUEUED, State.PAUSED)
        if self._set(job_id, waiting, state=rests, ended=ended, wish=Wish.NONE):
            return True
        return self._set(job_id, (State.RUNNING,), wish=wish)

    def dismiss(self, job_id: str) -> bool:
        """Note that nothing is to be done about a failed job; return whether it is one."""
        return self._set(job_id, (State.FAILED,), wish=Wish.DISMISS)

    def requeue(self, job_id: str, states: Sequence[State]) -> bool:
        """Let a job in one of these states wait for a worker again; return whether it does."""
        return self._set(
            job_id, states, state=State.QUEUED, wish=Wish.NONE, sent=0, crashes=0, sentence="",
            ended="",
        )  # fmt: skip

    def forget_problems(self, job_id: str) -> None:
        """Delete the stored problems of a job, before it is retried."""
        with self._write() as connection:
            _forget_problems(connection, job_id)

    # ------------------------------------------------------------------ within

    def _rows(self, where: str, values: Sequence[object]) -> list[Job]:
        with self._read() as connection:
            # a ledger of before has no table of paces until something is written
            is_new = connection.execute(_HAS_PACE).fetchone()
            columns = _COLUMNS + (_PACE if is_new else _NO_PACE)
            found = connection.execute(
                f"SELECT {columns} FROM job {where}",  # noqa: S608  # where is this module's
                values,
            )
            return [_job(row) for row in found]

    def _set(self, job_id: str, states: Sequence[State], **values: object) -> bool:
        with self._write() as connection:
            return self._update(connection, job_id, states, **values)

    @staticmethod
    def _update(
        connection: sqlite3.Connection, job_id: str, states: Sequence[State], **values: object
    ) -> bool:
        """Change a job that is in one of the states (none given: in any)."""
        names = ", ".join(f"{name} = ?" for name in values)
        among = f" AND state IN ({', '.join('?' * len(states))})" if states else ""
        done = connection.execute(
            f"UPDATE job SET {names}, revision = revision + 1 WHERE id = ?{among}",  # noqa: S608  # names are keywords of this module
            (*values.values(), job_id, *states),
        )
        return done.rowcount > 0

    @contextmanager
    def _read(self) -> Iterator[sqlite3.Connection]:
        with self._opened("read") as file, file.reading() as connection:
            connection.text_factory = _text
            yield connection

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        with self._opened("create") as file, file.transaction() as connection:
            connection.text_factory = _text
            yield connection

    @contextmanager
    def _opened(self, mode: Mode) -> Iterator[LedgerFile]:
        try:
            if mode == "create":
                make_in_silo(self.silo_path, os.path.dirname(self.path))
            with LedgerFile(self.path, KIND, mode) as file:
                yield file
        except OSError as error:
            raise LedgerUnreadable(self.path, error.strerror or str(error)) from error


_GAVE_UP = "the job's process died {times} times, and was not started again"


def _forget_problems(connection: sqlite3.Connection, job_id: str) -> None:
    connection.execute("DELETE FROM problem WHERE job = ?", (job_id,))
    connection.execute("UPDATE job SET problems = 0 WHERE id = ?", (job_id,))


def _add_problems(connection: sqlite3.Connection, job_id: str, problems: Iterable[Problem]) -> int:
    """Add problems to a job, up to the limit; return how many it has."""
    (count,) = connection.execute("SELECT problems FROM job WHERE id = ?", (job_id,)).fetchone()
    stream = enumerate(problems, int(count) + 1)
    kept = islice(stream, max(0, KEPT_PROBLEMS - int(count)))
    connection.executemany(
        "INSERT INTO problem VALUES (?, ?, ?, ?)",
        ((job_id, number, one.identifier, one.reason) for number, one in kept),
    )
    (named,) = connection.execute(
        "SELECT coalesce(max(number), 0) FROM problem WHERE job = ?", (job_id,)
    ).fetchone()
    return max(int(count), int(named)) + sum(1 for _ in stream)


def _job(row: Sequence[Any]) -> Job:
    """Read a job from its row; an unreadable one counts as failed, so that others still run."""
    try:
        return _sound(row)
    except (ValueError, RecursionError) as error:
        job_id, kind, title = (one if isinstance(one, str) else repr(one) for one in row[:3])
        reason = f"its entry in the ledger of jobs cannot be read ({error}); start it again"
        return Job(job_id, kind, title, {}, "", "", State.FAILED, sentence=reason)


def _sound(row: Sequence[Any]) -> Job:
    """Read a valid row; raises ValueError or RecursionError if a value is invalid."""
    (
        job_id, kind, title, arguments, agent, made, state, wish, sent, begun, ended, crashes,
        done, total, step, counts, text, report, sentence, problems, mark, revision, since, before,
    ) = row  # fmt: skip
    texts = (
        job_id, kind, title, arguments, agent, made, begun, ended, step, counts, text, report,
        sentence, mark, since,
    )  # fmt: skip
    if not all(isinstance(one, str) for one in texts):
        raise ValueError("a text is not UTF-8")
    if not all(isinstance(one, int) for one in (sent, crashes, done, total or 0, problems, before)):
        raise ValueError("a number is malformed")
    if not _ID.fullmatch(job_id):
        raise ValueError("its id is malformed")
    return Job(
        job_id=job_id,
        kind=kind,
        title=title,
        arguments=_object(arguments),
        agent=agent,
        made=made,
        state=State(state),
        wish=Wish(wish),
        sent=bool(sent),
        begun=begun,
        ended=ended,
        crashes=crashes,
        advance=Advance(done, total, step),
        counts=_object(counts),
        text=text,
        report=_object(report),
        sentence=sentence,
        problems=problems,
        mark=_object(mark),
        revision=revision,
        since=since,
        done_before=before,
    )


def _object(text: str) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("what should be a JSON object is not")  # noqa: TRY004  # as malformed JSON
    return found


def _text(stored: bytes) -> str | bytes:
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored
