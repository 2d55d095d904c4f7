"""A real RabbitMQ on loopback, which can be killed and started again."""

import logging
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pika
import pytest
from pika.exceptions import AMQPError
from ports import free_port
from waiting import wait_until

PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server"
"""What Debian's /usr/sbin/rabbitmq-server runs as another user; started by itself, it writes only
where it is told to."""
SECONDS_TO_START = 200.0
logging.getLogger("pika").setLevel(logging.CRITICAL)  # it logs each failed try with a traceback


class RabbitMQ:
    """One that is running, or was killed.

    Attributes:
        url: Its address, with the login of its user.
    """

    def __init__(self, directory: Path, more: str = "") -> None:
        self._directory, port = directory, free_port()
        self.port = port
        self.url = f"amqp://guest:guest@127.0.0.1:{port}/%2F"
        (directory / "rabbitmq.conf").write_text(
            f"listeners.tcp.default = 127.0.0.1:{port}\nvm_memory_high_watermark.absolute = 1GB\n"
            f"disk_free_limit.absolute = 50MB\n{more}"
        )
        (directory / "plugins").write_text("[].")
        self._names, loopback = free_port(), "127.0.0.1"
        self._environment = {
            **os.environ,
            "HOME": str(directory),
            "RUNNING_UNDER_SYSTEMD": "true",  # the script becomes the server, so its pid is known
            "ERL_EPMD_ADDRESS": loopback,
            "ERL_EPMD_PORT": str(self._names),
            "RABBITMQ_NODENAME": f"silo{port}@localhost",
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "-kernel inet_dist_use_interface {127,0,0,1} +S 2:2"
            ),
            "RABBITMQ_CONFIG_FILE": str(directory / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": str(directory / "none"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(directory / "plugins"),
            "RABBITMQ_MNESIA_BASE": str(directory / "mnesia"),
            "RABBITMQ_LOG_BASE": str(directory / "log"),
            "RABBITMQ_PID_FILE": str(directory / "pid"),
        }
        self._server: subprocess.Popen[bytes] | None = None
        self._mapper: subprocess.Popen[bytes] | None = None

    def start(self, *, waits: bool = True) -> None:
        """Start it, with what was stored before."""
        if self._mapper is None:  # else the server starts one that nobody ends
            self._mapper = _started(
                ["epmd", "-address", "127.0.0.1", "-port", str(self._names)], self._environment
            )
        with open(self._directory / "output", "ab") as output:
            self._server = _started([PROGRAM], self._environment, output)
        if waits:
            self.wait()

    def wait(self) -> None:
        """Wait until it answers."""
        wait_until(lambda: self._has_ended() or self._answers(), SECONDS_TO_START, between=0.2)
        assert not self._has_ended(), (self._directory / "output").read_text()[-2000:]

    def kill(self) -> None:
        """Kill it, with no time to write anything."""
        if self._server is not None:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()
            self._server = None

    def end(self) -> None:
        """End it and what it needs."""
        self.kill()
        if self._mapper is not None:
            self._mapper.kill()
            self._mapper.wait()
            self._mapper = None

    def _has_ended(self) -> bool:
        return self._server is None or self._server.poll() is not None

    def _answers(self) -> bool:
        try:
            with connected(self.url):
                return True
        except (AMQPError, OSError):
            return False


def _started(
    command: list[str], environment: Mapping[str, str], output: object = subprocess.DEVNULL
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,  # type: ignore[arg-type]
        start_new_session=True,
    )  # fmt: skip


@contextmanager
def connected(url: str) -> Iterator[pika.adapters.blocking_connection.BlockingChannel]:
    """A channel to a broker."""
    with pika.BlockingConnection(pika.URLParameters(url)) as connection:
        yield connection.channel()


@contextmanager
def rabbitmq_in(directory: Path, more: str = "") -> Iterator[RabbitMQ]:
    """A RabbitMQ; skipped where it is not installed, but not in CI."""
    if not (os.access(PROGRAM, os.X_OK) and shutil.which("epmd")):
        reason = "rabbitmq-server is not installed"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    directory.mkdir(parents=True, exist_ok=True)
    found = RabbitMQ(directory, more)
    try:
        found.start()
        yield found
    finally:
        found.end()


@pytest.fixture(scope="session")
def rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitMQ]:
    """A RabbitMQ; for a conftest."""
    with rabbitmq_in(tmp_path_factory.mktemp("rabbitmq")) as found:
        yield found
