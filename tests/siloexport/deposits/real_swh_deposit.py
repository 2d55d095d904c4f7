"""A real server of SWORDv2: swh-deposit of Software Heritage, with PostgreSQL, on loopback.

Its files are a virtual environment with ``swh.deposit[server]`` and ``psycopg2-binary`` from PyPI
(`make swh-deposit`); PostgreSQL is that of the system.
"""

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

USER, PASSWORD = "ann", "secret"
COLLECTION = "theses"
_SETTINGS = """\
from swh.deposit.settings.development import *
DATABASES = {{"default": {{"ENGINE": "django.db.backends.postgresql", "NAME": "deposit",
                           "HOST": "{sockets}", "USER": "{user}"}}}}
MEDIA_ROOT = "{media}"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # the usual takes seconds
DEBUG = False
LOGGING_CONFIG = None
"""
_CONFIGURATION = """\
scheduler: {cls: memory}
storage: {cls: memory}
storage_metadata: {cls: memory}
authentication_provider: basic
checks: false
max_upload_size: 209715200
swh_authority_url: http://127.0.0.1/
private: {secret_key: none}
"""
_MAKE = """\
import django; django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
from swh.deposit.models import DepositClient, DepositCollection
collection = DepositCollection.objects.create(name="{collection}")
client = DepositClient.objects.create_user(username="{user}", password="{password}",
    provider_url="https://repository.example.org/", domain="example.org")
client.collections = [collection.id]
client.save()
"""
_SERVE = """\
import django; django.setup()
from django.core.wsgi import get_wsgi_application
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
WSGIRequestHandler.log_message = lambda *_: None
make_server("127.0.0.1", {port}, get_wsgi_application(), Server).serve_forever()
"""


def lacks(files: Path) -> str:
    """Say what is missing; ``""`` for nothing."""
    if not (files / "bin" / "swh").exists():
        return f"swh-deposit is not in {files} (see `make swh-deposit`)"
    if postgresql() is None:
        return "PostgreSQL is not installed"
    return ""


def postgresql() -> Path | None:
    """Return the directory of the programs of PostgreSQL."""
    for one in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (one / "initdb").exists():
            return one
    found = shutil.which("initdb")
    return Path(found).parent if found else None


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _as_postgres() -> dict[str, object]:
    """PostgreSQL refuses to run as root."""
    return {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}


@contextlib.contextmanager
def _database(home: Path) -> Iterator[str]:
    """Run a PostgreSQL that listens on a socket in a directory only."""
    programs = postgresql()
    assert programs is not None
    data = home / "data"
    data.mkdir()
    home.chmod(0o755)
    user = pwd.getpwuid(os.geteuid()).pw_name
    if os.geteuid() == 0:
        shutil.chown(data, "postgres", "postgres")
    how = _as_postgres()
    subprocess.run(  # type: ignore[call-overload]
        [programs / "initdb", "-D", data, "-U", user, "-A", "trust", "--no-sync"],
        check=True, capture_output=True, cwd="/", **how,
    )  # fmt: skip
    server = subprocess.Popen(  # type: ignore[call-overload]
        [programs / "postgres", "-D", data, "-k", data, "-c", "listen_addresses=", "-F"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", **how,
    )  # fmt: skip
    try:
        for _ in range(150):
            made = subprocess.run(
                [programs / "createdb", "-h", data, "-U", user, "deposit"],
                capture_output=True, check=False,
            )  # fmt: skip
            if made.returncode == 0:
                break
            time.sleep(0.2)
        else:
            raise RuntimeError(f"PostgreSQL does not start: {made.stderr.decode()}")
        yield str(data)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)


@contextlib.contextmanager
def running(files: Path) -> Iterator[str]:
    """Run the server with an empty database; yields the address of its service document.

    Args:
        files: The virtual environment.
    """
    home = Path(tempfile.mkdtemp(prefix="swh-", dir="/tmp"))
    try:
        yield from _running(files, home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _running(files: Path, home: Path) -> Iterator[str]:
    with _database(home) as sockets:
        user = pwd.getpwuid(os.geteuid()).pw_name
        (home / "swh_settings.py").write_text(
            _SETTINGS.format(sockets=sockets, user=user, media=home / "uploads"), encoding="utf-8"
        )
        (home / "config.yml").write_text(_CONFIGURATION, encoding="utf-8")
        environment = {
            **os.environ, "PYTHONPATH": str(home), "DJANGO_SETTINGS_MODULE": "swh_settings",
            "SWH_CONFIG_FILENAME": str(home / "config.yml"), "no_proxy": "*",
        }  # fmt: skip
        python = files / "bin" / "python"
        made = _MAKE.format(collection=COLLECTION, user=USER, password=PASSWORD)
        subprocess.run([python, "-c", made], env=environment, check=True, capture_output=True)
        port = _free_port()
        with (home / "server.log").open("wb") as log:
            server = subprocess.Popen(
                [python, "-c", _SERVE.format(port=port)], env=environment, stdout=log, stderr=log
            )
            try:
                url = f"http://127.0.0.1:{port}/1/servicedocument/"
                _await(url, server, home / "server.log")
                yield url
            finally:
                server.terminate()
                server.wait(30)


def _await(url: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(300):
        if server.poll() is not None:
            break
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"swh-deposit does not start: {log.read_text(errors='replace')[-2000:]}")


if __name__ == "__main__":
    with running(Path(sys.argv[1])) as address:
        print(address, flush=True)
        time.sleep(float(sys.argv[2]))
