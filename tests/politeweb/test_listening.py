"""What is logged of a server's work."""

import errno
import logging
from types import SimpleNamespace

import pytest

from politeweb import listening


def test_a_process_without_file_descriptors_is_told_once_and_others_each_time(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(listening.time, "sleep", pauses.append)
    log = listening.ServerLog(logging.getLogger("server"))
    for number in (errno.EMFILE, errno.EMFILE, errno.ENFILE, errno.EBADF):
        try:
            raise OSError(number, "no more")
        except OSError:
            log.note("Error in serve", logging.ERROR, traceback=True)
    assert len(pauses) == 3
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR"]
    assert "`ulimit -n` sets the limit" in caplog.messages[0]
    assert caplog.records[1].exc_info


def test_what_lasts_is_told_again_after_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    clock = SimpleNamespace(sleep=lambda _seconds: None, monotonic=lambda: now[0])
    monkeypatch.setattr(listening, "time", clock)
    log = listening.ServerLog(logging.getLogger("server"))
    told = []
    for seconds in (0.0, 59.0, 2.0, 1.0, 58.0):
        now[0] += seconds
        try:
            raise OSError(errno.EMFILE, "no more")
        except OSError:
            log.note("Error in serve", logging.ERROR, traceback=True)
        told.append(len(caplog.records))
    assert told == [1, 1, 2, 2, 2]


def test_a_message_without_an_error_is_logged_as_it_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    listening.ServerLog(logging.getLogger("server")).note("100 %s", logging.INFO, traceback=False)
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [("INFO", "100 %s")]
    assert not caplog.records[0].exc_info
