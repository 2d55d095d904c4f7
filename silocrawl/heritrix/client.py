"""A client of Heritrix 3: what is done with its jobs, on top of what is asked (`asking`).

Each action asks for the state first: what is done already is success. Then it waits, with a limit,
for the state it leads to.
"""

import re
import time
from dataclasses import dataclass

from silocrawl.heritrix.asking import Asking
from silocrawl.heritrix.connection import AddressRefused, Unanswered
from silocrawl.heritrix.errors import ActionRefused, FileNotThere, HeritrixJobNotFound, TookTooLong
from silocrawl.heritrix.states import HeritrixAction, HeritrixJob, HeritrixState, Next, next_of

SECONDS = 120.0
"""How long an action waits for the state it leads to."""
LATEST = "latest"
_BETWEEN = (0.1, 2.0)
"""Seconds between two looks: the least, and the most."""
JOB_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_CHECKPOINT = re.compile(r"cp\d{5,}-\d{14}")


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What became of an action.

    Attributes:
        job: The job after it.
        is_new: Whether it was done now; else it was done already.
        checkpoint: The name of the checkpoint, of this action; else "".
    """

    job: HeritrixJob
    is_new: bool
    checkpoint: str = ""


class Heritrix(Asking):
    """A Heritrix; threads may share one. See `Asking` for its arguments."""

    def create(self, name: str) -> ActionResult:
        """Make a job from Heritrix's default profile, which is not yet fit to be built.

        Raises:
            AddressRefused: The name has other characters than letters, digits, ``_``, ``-``, ``.``.
            ActionRefused: Heritrix did not make it.
        """
        if not JOB_NAME.fullmatch(name):
            raise AddressRefused(
                f"{name!r} is not a valid name of a job: letters, digits, _, - and ."
            )
        try:
            return ActionResult(self.job(name), is_new=False)
        except HeritrixJobNotFound:
            self._post(action="create", createpath=name)
        try:
            return ActionResult(self.job(name), is_new=True)
        except HeritrixJobNotFound:
            raise ActionRefused(f"Heritrix made no job {name}; its log may say why") from None

    def rescan(self) -> None:
        """Let it look for new jobs in its directory."""
        self._post(action="rescan")

    def act(self, name: str, action: HeritrixAction, seconds: float = SECONDS) -> ActionResult:
        """Do something with a job, and wait until it is done.

        Args:
            name: The job.
            action: What is done; see also `launch` and `checkpoint`.
            seconds: How long to wait.

        Raises:
            HeritrixJobNotFound: There is none of that name.
            ActionRefused: The job's state does not permit it.
            TookTooLong: Heritrix has not done it in time, but was asked to.
        """
        if action is HeritrixAction.LAUNCH:
            return self.launch(name, seconds=seconds)
        if action is HeritrixAction.CHECKPOINT:
            return self.checkpoint(name, seconds)
        return self._act(name, action, _Waiting(seconds))

    def launch(self, name: str, checkpoint: str = "", seconds: float = SECONDS) -> ActionResult:
        """Launch a job, built or not; see `act`.

        Args:
            name: The job.
            checkpoint: The one to go on from, or `LATEST`; by default the job begins anew. A job
                that is active already is not launched, and goes on from none.
            seconds: How long to wait.

        Raises:
            ActionRefused: Also if there is no such checkpoint.
        """
        waiting = _Waiting(seconds)
        if self.job(name).state is HeritrixState.UNBUILT:
            self._act(name, HeritrixAction.BUILD, waiting)
        job = self.job(name)
        if checkpoint and job.state is HeritrixState.NASCENT:
            if not job.checkpoints or checkpoint not in {LATEST, *job.checkpoints}:
                known = ", ".join(job.checkpoints) or "none"
                raise ActionRefused(
                    f"the job {name} has no checkpoint {checkpoint}; those it has: {known}"
                )
            checkpoint = job.checkpoints[0] if checkpoint == LATEST else checkpoint
            done = self._act(name, HeritrixAction.LAUNCH, waiting, checkpoint=checkpoint)
            return ActionResult(done.job, done.is_new, checkpoint if done.is_new else "")
        return self._act(name, HeritrixAction.LAUNCH, waiting)

    def checkpoint(self, name: str, seconds: float = SECONDS) -> ActionResult:
        """Make a checkpoint; see `act`.

        Returns:
            With the name of the newest checkpoint. It is not new if the job is paused and has
            fetched nothing since.

        Raises:
            ActionRefused: Also if Heritrix made none.
        """
        waiting, known = _Waiting(seconds), self.newest_checkpoint(name)
        job, is_sent = self._until(name, HeritrixAction.CHECKPOINT, waiting, is_sent=False)
        while is_sent:
            if (newest := self.newest_checkpoint(name)) != known:
                return ActionResult(self.job(name), is_new=True, checkpoint=newest)
            job = self.job(name)
            if waiting.is_answered and job.state is not HeritrixState.CHECKPOINTING:
                break
            waiting.pause(job, HeritrixAction.CHECKPOINT)
        if not known:
            raise ActionRefused(f"Heritrix made no checkpoint of {name}; {_told(job)}")
        return ActionResult(job, is_new=False, checkpoint=known)

    def newest_checkpoint(self, name: str) -> str:
        """Return the name of the last complete checkpoint of a job, or ""."""
        try:
            made = sorted(filter(_CHECKPOINT.fullmatch, self.names(name, "checkpoints")))
        except FileNotThere:
            return ""
        return next((one for one in reversed(made) if self._is_valid(name, one)), "")

    def _is_valid(self, name: str, checkpoint: str) -> bool:
        try:
            return "valid" in self.names(name, f"checkpoints/{checkpoint}")
        except FileNotThere:
            return False

    def _act(
        self, name: str, action: HeritrixAction, waiting: "_Waiting", **more: str
    ) -> ActionResult:
        is_sent = False
        while True:
            job, is_now = self._until(name, action, waiting, is_sent=is_sent, **more)
            if not is_now:
                return ActionResult(job, is_sent)
            is_sent = True

    def _until(
        self, name: str, action: HeritrixAction, waiting: "_Waiting", *, is_sent: bool, **more: str
    ) -> tuple[HeritrixJob, bool]:
        """Wait until an action is done, or can be asked for, and ask: whether it was."""
        while True:
            job = self.job(name)
            step = next_of(action, job, is_sent=is_sent)
            if step is Next.DONE:
                return job, False
            if step is Next.SEND:
                waiting.is_answered = self._asked(name, action, waiting, **more)
                return job, True
            if step is not Next.WAIT:
                raise ActionRefused(f"the job {name} {step}")
            if action is HeritrixAction.BUILD and waiting.is_answered:
                raise ActionRefused(f"the job {name} was not built; {_told(job)}")
            waiting.pause(job, action)

    def _asked(self, name: str, action: HeritrixAction, waiting: "_Waiting", **more: str) -> bool:
        """Ask for an action; whether that was answered while we wait for it to be done."""
        path, form = self.path_of(name), {"action": str(action), **more}
        try:
            status, body = self.connection.whole(
                "POST", path, form=form, read_timeout=max(waiting.left(), 1.0)
            )
        except Unanswered:
            return False
        self.check(status, body, name)
        return True

    def _post(self, **form: str) -> None:
        status, body = self.connection.whole("POST", "/engine", form=form)
        self.check(status, body)


class _Waiting:
    """The limit of an action, and the pauses between two looks."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._end = seconds, time.monotonic() + seconds
        self._between = _BETWEEN[0]
        self.is_answered = True

    def left(self) -> float:
        return self._end - time.monotonic()

    def pause(self, job: HeritrixJob, action: HeritrixAction) -> None:
        """Wait for a moment.

        Raises:
            TookTooLong: The time is over.
        """
        if self.left() <= 0:
            raise TookTooLong(
                f"the job {job.name} is {job.state} after {self._seconds:g} seconds of waiting for"
                f" its {action}; the same command goes on waiting"
            )
        time.sleep(min(self._between, max(self.left(), 0.01)))
        self._between = min(self._between * 1.5, _BETWEEN[1])


def _told(job: HeritrixJob) -> str:
    lines = job.faults or job.log
    return f"its log says: {lines[0]}" if lines else "its log is empty"
