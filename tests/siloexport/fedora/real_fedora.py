"""A real Fedora 6.0.0 on loopback: fetched from the package registry, started, stopped.

python tests/siloexport/fedora/real_fedora.py fetch DIR     63 MB and 13 MB, with Maven
python tests/siloexport/fedora/real_fedora.py run DIR       until Ctrl-C
"""

import argparse
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

USER = "fedoraAdmin"
EXPORTER = "exporter"
"""A user in the role fedoraUser, who may do what an ACL says; password as the name."""
PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
ARTIFACTS = {
    "fcrepo-webapp.war": "org.fcrepo:fcrepo-webapp:6.0.0:war",
    "jetty-runner.jar": "org.eclipse.jetty:jetty-runner:9.4.54.v20240208:jar",
}
# Without the realm the web application answers 503 to everything.
REALM = """<?xml version="1.0"?>
<!DOCTYPE Configure PUBLIC "-//Jetty//Configure//EN" "http://www.eclipse.org/jetty/configure_9_3.dtd">
<Configure id="Server" class="org.eclipse.jetty.server.Server">
  <Call name="addBean"><Arg>
    <New class="org.eclipse.jetty.security.HashLoginService">
      <Set name="name">fcrepo</Set>
      <Set name="config">{users}</Set>
    </New>
  </Arg></Call>
</Configure>
"""


def fetch(directory: Path) -> None:
    """Get what is not there yet."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, artifact in ARTIFACTS.items():
        if not (directory / name).exists():
            subprocess.run(
                ["mvn", "-B", "-q", f"{PLUGIN}:copy", f"-Dartifact={artifact}",
                 f"-DoutputDirectory={directory}", "-Dmdep.stripVersion=true"],
                check=True,
            )  # fmt: skip


def lacks(directory: Path) -> str:
    """Why none can be started here; "" if it can."""
    missing = [name for name in ARTIFACTS if not (directory / name).exists()]
    if missing:
        return f"{directory} lacks {' and '.join(missing)}"
    return "" if shutil.which("java") else "there is no java"


def start(files: Path, home: Path, port: int = 0) -> tuple[int, str]:
    """Start one in a session of its own, and wait until it answers; (process id, its root)."""
    if not port:
        from ports import free_port  # noqa: PLC0415  # of the tests; not there for `make fedora`

        port = free_port()
    home.mkdir(parents=True, exist_ok=True)
    users = f"{USER}: {USER},fedoraAdmin\n{EXPORTER}: {EXPORTER},fedoraUser\n"
    (home / "users.properties").write_text(users)
    (home / "realm.xml").write_text(REALM.format(users=home / "users.properties"))
    with open(home / "log", "ab") as log:
        process = subprocess.Popen(
            ["java", "-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
             f"-Dfcrepo.home={home}", "-Dfcrepo.jms.enabled=false",
             "-Dfcrepo.dynamic.jms.port=0", "-jar", files / "jetty-runner.jar",
             "--config", home / "realm.xml", "--host", "127.0.0.1", "--port", str(port),
             "--path", "/", files / "fcrepo-webapp.war"],
            stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
    root = f"http://127.0.0.1:{port}/rest"
    pid = process.pid
    # Waited for here, it is gone when it ends, whichever process stops it by its number.
    threading.Thread(target=process.wait, daemon=True).start()
    _wait_until_ready(pid, root, home)
    return pid, root


def _wait_until_ready(pid: int, root: str, home: Path) -> None:
    until = time.monotonic() + 240
    while time.monotonic() < until:
        try:
            if requests.get(f"{root}/", auth=(USER, USER), timeout=60).status_code == 200:
                return
        except requests.RequestException:
            pass
        if not _runs(pid):
            break
        time.sleep(0.3)
    stop(pid)
    raise RuntimeError(f"Fedora did not start: {(home / 'log').read_text()[-2000:]}")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def stop(pid: int) -> None:
    """Stop one, and wait until it is gone."""
    for number, seconds in ((signal.SIGTERM, 20), (signal.SIGKILL, 10)):
        if not _runs(pid):
            return
        os.kill(pid, number)
        until = time.monotonic() + seconds
        while time.monotonic() < until and _runs(pid):
            time.sleep(0.1)


@contextmanager
def shared(files: Path, directory: Path) -> Iterator[str]:
    """One server for all processes that name the same directory; the last one out stops it."""
    directory.mkdir(parents=True, exist_ok=True)
    with _counted(directory) as users:
        if users == 0:
            home = Path(tempfile.mkdtemp(dir=directory))
            pid, root = start(files, home)
            (directory / "server").write_text(f"{pid} {root}")
        (directory / "users").write_text(str(users + 1))
    pid_text, root = (directory / "server").read_text().split()
    try:
        yield root
    finally:
        with _counted(directory) as users:
            (directory / "users").write_text(str(users - 1))
            if users == 1:
                stop(int(pid_text))


@contextmanager
def _counted(directory: Path) -> Iterator[int]:
    with open(directory / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        users = directory / "users"
        yield int(users.read_text()) if users.exists() else 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["fetch", "run"])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--port", type=int, default=8080)
    given = parser.parse_args()
    fetch(given.directory)
    if given.what == "fetch":
        return
    home = given.directory / "home"
    print("starting, which takes some ten seconds …", flush=True)
    pid, root = start(given.directory, home, given.port)
    print(f"Fedora 6.0.0 is at {root}/  (user {USER}, password {USER})")
    print(
        f"its data and its log are in {home}; stop it with Ctrl-C, or with: kill {pid}", flush=True
    )
    try:
        while _runs(pid):
            time.sleep(0.5)
    except KeyboardInterrupt:
        print("\nstopping …")
    finally:
        stop(pid)


if __name__ == "__main__":
    sys.exit(main())
