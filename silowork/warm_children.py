"""Children forked from a warm process, with messages both ways.

A server process (`multiprocessing`'s forkserver) has loaded the modules once; each child is a fork
of it, which shares its memory and starts in some milliseconds. A child ends with its parent.
"""

import contextlib
import logging
import multiprocessing
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, Concatenate, ParamSpec

from recordsilo.child_process import SECONDS_TO_END, end_with_parent
from recordsilo.garbage import collect_rarely
from silowork.children import SECONDS_BETWEEN_LOOKS, told
from silowork.stop import Stop

P = ParamSpec("P")
_Pipe = Connection
_context = multiprocessing.get_context("forkserver")
_preloaded = ["recordsilo.cli"]
"""Modules of the warm process. `multiprocessing` runs the main script again in each child, and the
script `silo` imports this one, which took 30 ms in each child of a process without it."""
_left: list[int] = []
"""Pipes at whose ends warm processes end, of `_leave_removed_directory`: at once, and then the exit
code of the last child would be lost."""
_lock = threading.Lock()
"""Of the list of children that `multiprocessing` keeps, and of their exit codes, which can be read
once: to start a child, it reads those of the others."""
_LOST = 255
"""The exit code of a child, which may still be at work, if the warm process has ended."""

logger = logging.getLogger("silowork")


def warm(*modules: str) -> None:
    """Start the warm process, if there is none, so that a child need not wait for it.

    It gets neither SIGINT, which a terminal sends to all processes, nor SIGTERM, as systemd does:
    it ends with this process, and tells until then how children ended.

    Args:
        modules: That it loads, with those of earlier calls; they start no threads.

    Raises:
        OSError: No process can be started.
    """
    _leave_removed_directory()
    _preloaded.extend(module for module in modules if module not in _preloaded)
    _context.set_forkserver_preload(_preloaded)
    with _safe_path():
        resource_tracker.ensure_running()  # it lets both in again, so it comes first
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _leave_removed_directory() -> None:
    """Forget a warm process whose socket was removed, as cleaners of ``/tmp`` do after some days.

    `multiprocessing` would look for it, and for its directory, for ever. The process of before
    tells how its children end, until `cool`.
    """
    server: Any = forkserver._forkserver  # nothing public tells of it
    this: Any = multiprocessing.current_process()
    directory = this._config.get("tempdir")
    if directory and not os.path.isdir(directory):
        os.mkdir(directory, 0o700)
    address = server._forkserver_address
    if address and os.path.isabs(address) and not os.path.lexists(address):
        _left.append(server._forkserver_alive_fd)
        server._forkserver_address = server._forkserver_alive_fd = server._forkserver_pid = None


def cool() -> None:
    """End the warm process, whose children have ended, and wait until it has."""
    while _left:
        os.close(_left.pop())
    with _lock, contextlib.suppress(ProcessLookupError, ChildProcessError):
        server: Any = forkserver._forkserver  # nothing public ends it
        tracker: Any = resource_tracker._resource_tracker
        if server._forkserver_pid is not None:
            os.kill(server._forkserver_pid, signal.SIGKILL)  # it may be loading modules
            server._stop()
        tracker._stop()


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Let processes that start here import nothing from the current directory."""
    name = "PYTHONSAFEPATH"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


class ChildEnded(Exception):
    """A child process has ended; the text says how, as a predicate."""


class WarmChild:
    """A child at work, and the pipe to it; one thread uses it.

    It can be given to `multiprocessing.connection.wait`, which waits for what it says.

    Args:
        work: A function of a module; the child ends when it returns. Its first argument is a
            `Parent`.
        arguments: Its other arguments, which can be pickled.

    Raises:
        OSError: No process can be started.
    """

    def __init__(
        self,
        work: Callable[Concatenate["Parent", P], object],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> None:
        ours, theirs = _context.Pipe()
        try:
            with _lock:
                warm()
                process = _context.Process(target=_work, args=(theirs, work, arguments, named))
                process.start()
        except BaseException as error:
            ours.close()
            if isinstance(error, EOFError):
                raise OSError("the process that children are forked from has ended") from None
            raise
        finally:
            theirs.close()
        self._process, self._pipe = process, ours

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process.pid is not None
        return self._process.pid

    def fileno(self) -> int:
        """Return the descriptor of the pipe."""
        return self._pipe.fileno()

    def say(self, message: Any) -> None:
        """Send a message, unless the child has ended; waits while the pipe is full.

        Args:
            message: Can be pickled; None asks it to end.
        """
        with contextlib.suppress(OSError):
            self._pipe.send(message)

    def heard(self) -> list[Any]:
        """Return what it has said since the last call; does not wait.

        Raises:
            ChildEnded: It has ended, and nothing is left to be heard.
        """
        said: list[Any] = []
        try:
            while self._pipe.poll():
                said.append(self._pipe.recv())
        except (EOFError, OSError):
            if not said:
                code = self._code(SECONDS_TO_END)
                how = "has not ended yet" if code is None else told(code)
                raise ChildEnded(how) from None
        return said

    def _code(self, seconds: float | None) -> int | None:
        """Its exit code, for which this waits some seconds, or as long as it takes."""
        wait([self._process.sentinel], seconds)
        with _lock:
            return self._process.exitcode

    def ask_to_end(self) -> None:
        """Ask it to end: it is interrupted, and ends by itself if it goes on for too long."""
        self.say(None)

    def end_of(self, stop: Stop) -> int:
        """Wait for the end of a child that says nothing; ask it to end as soon as `stop` is.

        Nothing can be heard afterwards.

        Returns:
            Its exit code, negative if a signal killed it; `_LOST` if the warm process was killed.
        """
        self._wait(self._process.sentinel, stop)
        if self._code(0) == _LOST:
            self._wait(self._pipe, stop)
        return self.join()

    def _wait(self, end: int | Connection, stop: Stop) -> None:
        while not wait([end], SECONDS_BETWEEN_LOOKS):
            if stop.asked:
                self.ask_to_end()
                wait([end], SECONDS_TO_END + 2.0)
                return

    def join(self, seconds: float = SECONDS_TO_END) -> int:
        """Wait for its end; kill it if that takes too long. Nothing can be heard afterwards.

        Returns:
            Its exit code, as of `end_of`.
        """
        code = self._code(seconds)
        if code is None:
            self._process.kill()
            code = self._code(None)
        with _lock:
            self._process.close()
        self._pipe.close()
        assert code is not None
        return code


# --------------------------------------------------------------------------- in the child


class Parent:
    """The parent of this process.

    Attributes:
        stop: Asked when the parent has ended, or wants this process to end. A block of
            ``stop.interrupting()`` is interrupted then.
    """

    def __init__(self, pipe: "_Pipe[Any, Any]") -> None:
        self._pipe = pipe
        self._messages: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.stop = Stop()

    def say(self, message: Any) -> None:
        """Send a message, unless the parent has ended."""
        with contextlib.suppress(OSError):
            self._pipe.send(message)

    def hear(self) -> Any:
        """Wait for the next message and return it; None if this process is to end."""
        return self._messages.get()

    def wait_for_end(self) -> None:
        """Receive messages until one asks this process to end, or the parent has ended."""
        try:
            while (message := self._pipe.recv()) is not None:
                self._messages.put(message)
        finally:
            self._messages.put(None)


def _work(pipe: "_Pipe[Any, Any]", work: Callable[..., object], arguments: Any, named: Any) -> None:
    collect_rarely()
    parent, code = Parent(pipe), os.EX_OK
    end_with_parent(parent.wait_for_end, parent.stop.on_signal)
    try:
        work(parent, *arguments, **named)
    except SystemExit as asked:
        code = asked.code if isinstance(asked.code, int) else _told_and_failed(asked.code)
    except BaseException:  # process boundary: the parent hears that it ended
        logger.exception("the child process %s", os.getpid())
        code = os.EX_SOFTWARE
    os._exit(code)


def _told_and_failed(reason: str | None) -> int:
    """The exit code of ``sys.exit(reason)``, whose reason is logged if there is one."""
    if reason:
        logger.error("%s", reason)
    return 1 if reason else os.EX_OK
