"""Long work shared with a second process, in chunks.

On two cores, a second process does part of the work. It receives chunks and returns answers,
both of plain values. This process works too, whenever it would have to wait. Answers come in
the order of the chunks, so the result does not depend on which process worked. The second
process has no state and may end at any time; unanswered chunks are then worked on here.
"""

import contextlib
import marshal
import os
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import IO, Any, TypeVar

from recordsilo.child_process import end_with_parent, wait_for_reader_of
from recordsilo.garbage import collect_rarely

Q = TypeVar("Q")
A = TypeVar("A")
_PACKAGES = os.path.abspath(os.path.join(os.path.dirname(__file__), ".."))
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); from {} import main; main()"
_AHEAD = 2
"""The largest number of unanswered chunks of the second process: one current, one next."""
_HELD = 6
"""The number of answers kept while an earlier one is missing; then that one is waited for."""


def cores() -> int:
    """The number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def shared(
    chunks: Iterable[Q], second: "SecondProcess", work: Callable[[Q], A], read: Callable[[Any], A]
) -> Iterator[A]:
    """Work on chunks in both processes, and yield the answers in the order of the chunks.

    Args:
        chunks: Taken as they are worked on; at most `_HELD` more than answers were returned.
        second: The second process; the caller closes it.
        work: Works on a chunk here.
        read: Makes the same answer from that of the second process.
    """
    waiting: deque[tuple[Q, list[A]]] = deque()

    def first() -> A:
        chunk, answers = waiting[0]
        if answers:
            found = answers[0]
        else:
            answer = second.answer()
            found = work(chunk) if answer is None else read(answer)
        waiting.popleft()
        return found

    for chunk in chunks:
        if second.is_listening() and second.unanswered < _AHEAD:
            second.ask(chunk)
            waiting.append((chunk, []))
        else:
            waiting.append((chunk, [work(chunk)]))
        while waiting and (waiting[0][1] or second.has_answer() or len(waiting) > _HELD):
            yield first()
    while waiting:
        yield first()


class SecondProcess:
    """The second process; the first check of `is_listening` starts it.

    Args:
        module: The module whose ``main`` is called in the process; it calls `serve`.
        arguments: In its ``sys.argv``, from the third on.
        tell: Called in another thread, whenever `answer` would not wait.

    Attributes:
        unanswered: The number of requests whose answers were not taken.
    """

    def __init__(
        self, module: str, *arguments: str, tell: Callable[[], object] = lambda: None
    ) -> None:
        self._program, self._arguments = _PROGRAM.format(module), arguments
        self._tell = tell
        self._process: subprocess.Popen[bytes] | None = None
        self._questions: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._answers: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._send, self._receive)
        ]
        self._listens = threading.Event()
        self._is_gone = False
        self.unanswered = 0

    def is_listening(self) -> bool:
        """Whether it has announced that it is ready; does not wait."""
        self._start_if_possible()
        return self._listens.is_set() and not self._is_gone

    def ask(self, question: Any) -> None:
        """Send a question, of plain values; does not wait."""
        self._start_if_possible()
        self._questions.put(question)
        self.unanswered += 1

    def no_more(self) -> None:
        """Let it end after the questions that it was asked; does not wait."""
        self._questions.put(None)

    def start(self) -> None:
        """Start it, if it has not been started yet; does not wait.

        Raises:
            OSError: No such interpreter, or too many processes.
        """
        if self._process is not None:
            return
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter and a module of ours
            [sys.executable, "-P", "-c", self._program, _PACKAGES, *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for thread in self._threads:
            thread.start()

    def _start_if_possible(self) -> None:
        if not self._is_gone:
            try:
                self.start()
            except (OSError, ValueError):
                self._is_gone = True

    def _send(self) -> None:
        """Send requests in a separate thread, because the process may be busy writing."""
        assert self._process is not None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError), self._process.stdin:
            while (question := self._questions.get()) is not None:
                _write(self._process.stdin, question)

    def _receive(self) -> None:
        """Receive answers in a separate thread, so that the process need not wait."""
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            _read(self._process.stdout)
            self._listens.set()
            while True:
                self._answers.put(_read(self._process.stdout))
                self._tell()
        except (EOFError, OSError, MemoryError):
            self._answers.put(None)
            self._tell()

    def has_answer(self) -> bool:
        """Whether `answer` would not wait."""
        return self._is_gone or not self._answers.empty()

    def answer(self) -> Any:
        """The answer to the oldest open question; None if the process has ended."""
        self.unanswered -= 1
        if self._is_gone or self._process is None or (content := self._answers.get()) is None:
            self._is_gone = True
            return None
        try:
            return marshal.loads(content)  # noqa: S302 - a process of ours
        except (EOFError, ValueError, TypeError):
            self._is_gone = True
            return None

    def wait(self) -> int:
        """Wait until the process has ended, and return its exit code."""
        return 0 if self._process is None else self._process.wait()

    def close(self) -> None:
        """End the process at once, if it has not ended."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        self._questions.put(None)
        for thread in self._threads:
            if thread.ident is not None:  # otherwise interrupted before it was started
                thread.join()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()


def _write(stream: IO[bytes], value: Any) -> None:
    """Write a value after its size, so that it can be read at once; marshal reads word by word."""
    content = marshal.dumps(value)
    stream.write(len(content).to_bytes(_SIZE, "little"))
    stream.write(content)
    stream.flush()


def _read(stream: IO[bytes]) -> bytes:
    """Read the bytes of the next value.

    Raises:
        EOFError: The stream ended before or within a value.
    """
    size = stream.read(_SIZE)
    content = stream.read(int.from_bytes(size, "little"))
    if len(size) < _SIZE or len(content) < int.from_bytes(size, "little"):
        raise EOFError
    return content


_SIZE = 8


def serve(work: Callable[[Any], Any]) -> None:
    """Run the second process until its parent ends or closes the pipe. Called once.

    Its standard input has the questions, marshalled; its standard output gets None first, which
    announces that it listens, and then an answer for each question.

    Args:
        work: Answers a question; called one question at a time.
    """
    collect_rarely()
    asked, answered = sys.stdin.buffer, sys.stdout.buffer
    parent_gone = partial(wait_for_reader_of, answered.fileno())
    end_with_parent(parent_gone, signal.SIG_IGN, seconds=0)  # the parent handles signals
    with contextlib.suppress(EOFError, BrokenPipeError):
        _write(answered, None)
        while True:
            _write(answered, work(marshal.loads(_read(asked))))  # noqa: S302 - our parent
