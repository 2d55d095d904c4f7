"""Machines that ssh reaches: each an sshd on loopback, with keys and programs of its own."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ports import free_port
from waiting import wait_until

_SSHD = "/usr/sbin/sshd"
MISSING = [one for one in (_SSHD, "ssh", "rsync", "flock") if not shutil.which(one)]


class Machine:
    """A machine: its user's key, what its user knows of others, and its own programs.

    Attributes:
        name: As others know it.
        bin: Comes first in its ``PATH``.
        config: The configuration of its user's ssh.
    """

    def __init__(self, directory: Path, name: str) -> None:
        self.name, self.port = name, free_port()
        self._directory = directory / name
        self.bin, self.config = self._directory / "bin", self._directory / "config"
        self.bin.mkdir(parents=True)
        self.config.touch()
        for key in ("user_key", "host_key"):
            path = str(self._directory / key)
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
        self.ssh()

    def ssh(self, *options: str) -> None:
        """Give its user an ssh with options; ``~/.ssh`` cannot be set by the environment."""
        words = ["exec", shutil.which("ssh") or "ssh", "-F", str(self.config), *options]
        self.program("ssh", f'{shlex.join(words)} "$@"')

    def program(self, name: str, script: str) -> None:
        """Put a program before the others."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
        path.chmod(0o755)

    def hold(self, name: str) -> "Held":
        """Let a program wait before it starts, until the hold is released."""
        held = Held(self._directory / f"{name}.hold", self._directory / f"{name}.pid")
        held.path.touch()
        self.program(
            name,
            f'echo $$ > "{held.pid_path}.new"; mv "{held.pid_path}.new" "{held.pid_path}"\n'
            f'while [ -e "{held.path}" ]; do sleep 0.05; done\n'
            f'exec {shutil.which(name)} "$@"',
        )
        return held

    def release_all(self) -> None:
        """Let every program go on that waits, also after a test that failed."""
        for path in self._directory.glob("*.hold"):
            path.unlink()

    def knows(self, other: "Machine", *, key: bool = True, host: bool = True) -> None:
        """Let its user log in on another machine, or all but that."""
        known = self._directory / f"known_{other.name}"
        known.write_text(
            f"[127.0.0.1]:{other.port} {(other._directory / 'host_key.pub').read_text('utf-8')}"
            if host
            else "",
            "utf-8",
        )
        with self.config.open("a", encoding="utf-8") as file:
            file.write(
                f"Host {other.name}\n HostName 127.0.0.1\n Port {other.port}\n"
                f' IdentityFile "{self._directory / "user_key"}"\n IdentitiesOnly yes\n'
                f' UserKnownHostsFile "{known}"\n GlobalKnownHostsFile none\n'
                " StrictHostKeyChecking ask\n"
            )
        if key:
            with (other._directory / "authorized_keys").open("a", encoding="utf-8") as file:
                file.write((self._directory / "user_key.pub").read_text("utf-8"))

    @contextmanager
    def reachable(self) -> Iterator[None]:
        """Run its sshd."""
        if os.getuid() == 0:  # sshd gives up its rights in this directory
            Path("/run/sshd").mkdir(exist_ok=True)
        config = self._directory / "sshd_config"
        config.write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nPidFile none\nUsePAM no\nStrictModes no\n"
            f'HostKey "{self._directory / "host_key"}"\nPasswordAuthentication no\n'
            f"KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\n"
            f'AuthorizedKeysFile "{self._directory / "authorized_keys"}"\n'
            "Subsystem sftp internal-sftp\n"
            f'SetEnv "PATH={self.bin}:{os.environ["PATH"]}"\n',
            "utf-8",
        )
        log = self._directory / "sshd.log"
        process = subprocess.Popen([_SSHD, "-D", "-f", str(config), "-E", str(log)])
        try:
            wait_until(lambda: log.exists() and "Server listening" in log.read_text("utf-8"))
            yield
        finally:
            process.terminate()
            process.wait()


class Held:
    """A program that waits."""

    def __init__(self, path: Path, pid_path: Path) -> None:
        self.path, self.pid_path = path, pid_path

    def pid(self) -> int:
        """Its process, once it was started."""
        wait_until(self.pid_path.exists)
        return int(self.pid_path.read_text("utf-8"))

    def release(self) -> None:
        """Let it go on, and every later one."""
        self.path.unlink()


def session_of(pid: int) -> int:
    """The process of sshd for the connection that started a process."""
    while pid > 1:
        name, _, rest = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(") ")
        if "(sshd" in name:
            return pid
        pid = int(rest.split()[1])
    raise AssertionError("no sshd started the process")


def is_alive(pid: int) -> bool:
    """Whether a process is at work."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text("utf-8")
    return False


@contextmanager
def reachable(machines: Sequence[Machine]) -> Iterator[None]:
    """Run the sshd of each machine."""
    if not machines:
        yield
        return
    with machines[0].reachable(), reachable(machines[1:]):
        yield
