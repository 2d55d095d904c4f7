"""Run a server of another project on a loopback port; independent of pytest."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
ENVIRONMENTS = Path(os.environ.get("OAI_PMH_SERVERS") or HERE.parents[2] / ".venv" / "servers")
QUERIES = {"oai_repo": "", "pycsw": "?mode=oaipmh", "pyoai": ""}
TITLES = {
    f"oai:real.example:{number:04}": f"Record {number:04}: Smith & Sons – naïve café"
    for number in range(1, 56)
}
"""What each of them serves: identifier → title."""


class NotInstalled(Exception):
    """The server's environment is not there."""


@contextmanager
def running(name: str, directory: Path) -> Iterator[str]:
    """Start a server; give its base URL; stop it.

    Raises:
        NotInstalled: ``install.py`` was not run.
    """
    python = ENVIRONMENTS / name / "bin" / "python"
    if not python.exists():
        raise NotInstalled(f"{name} is not there: python {HERE / 'install.py'} {ENVIRONMENTS}")
    command = [str(python), "-W", "ignore", str(HERE / f"{name}_server.py"), str(directory)]
    with (
        (directory / "server.log").open("w") as log,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port, (directory / "server.log").read_text()[-2000:]
            yield f"http://127.0.0.1:{port}/{QUERIES[name]}"
        finally:
            process.kill()
