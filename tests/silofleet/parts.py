"""Parts of a fleet as processes of their own, and waiting for what they do."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from waiting import wait_until

PROGRAM = str(Path(__file__).parent / "fleet_program.py")


class Part:
    """A process that is started again after it was killed."""

    def __init__(
        self, arguments: list[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        self._arguments, self._log, self._environment = arguments, log, environment
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self._arguments, stdout=log, stderr=log, env=self._environment
            )

    def end(self) -> None:
        self.process.kill()
        self.process.wait()

    def kill(self) -> None:
        self.end()
        self.start()


def wait(is_so: Callable[[], bool], seconds: float, tmp_path: Path) -> None:
    """Wait until something is so; says what is in the logs if it does not come about."""
    try:
        wait_until(is_so, seconds, between=0.3)
    except AssertionError as error:
        logs = "\n".join(one.read_text()[-1500:] for one in tmp_path.glob("*.log"))
        raise AssertionError(f"{error}\n{logs}") from None
