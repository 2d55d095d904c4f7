"""What is logged of a server's work."""

import errno
import logging

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
