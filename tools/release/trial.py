"""Clean environments outside of the checkout, in which a wheel is tried."""

import os
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

HERE = Path(__file__).parent
UV = os.path.join(os.path.dirname(sys.executable), "uv")
TOOLS = {
    "pyproject-build": "build[uv]>=1.3,<2",
    "twine": "twine>=6.2,<8",
    "cffconvert": "cffconvert>=2,<3",
    "cyclonedx-py": "cyclonedx-bom>=7,<8",
    "mypy": "mypy>=1.13,<3",
    "pyright": "pyright[nodejs]>=1.1.400,<2",
}
"""Command → what has it; uv runs each in an environment of its own."""
FOR_TESTS = ("hypothesis>=6.100,<7", "pytest>=8.2,<10", "pytest-timeout>=2.3,<3")


class Failed(Exception):
    """A step failed; the text says which, and how."""


def run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """Run a command, and return what it printed on stdout.

    Args:
        command: Its words.
        cwd: Its directory.
        env: Variables beside those of this process.

    Raises:
        Failed: It ended with another code than 0.
    """
    whole = {**os.environ, **(env or {})}
    done = subprocess.run(command, cwd=cwd, env=whole, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = f"{done.stdout}{done.stderr}".strip()
        raise Failed(f"{' '.join(command)} ended with {done.returncode}:\n{said}")
    return done.stdout


def tool(name: str, *arguments: str) -> list[str]:
    """Return the command that runs one of `TOOLS`."""
    return [UV, "tool", "run", "--quiet", "--from", TOOLS[name], name, *arguments]


@dataclass(frozen=True)
class Trial:
    """The trial of one wheel.

    Attributes:
        work: Directory outside of the checkout, for environments and what they make.
        sdist: The source distribution.
        wheel: The wheel.
        version: Its version.
    """

    work: Path
    sdist: Path
    wheel: Path
    version: str

    def smoke(self, python: str, *, with_pip: bool) -> None:
        """Install the wheel on a Python; run the smoke test and the sessions of the README.

        Args:
            python: Its path.
            with_pip: Whether by the Python's own venv and pip; otherwise by uv.

        Raises:
            Failed: Something does not work.
        """
        number = run(python, "-c", "import platform; print(platform.python_version())").strip()
        place = self.work / f"on-{number}"
        venv = place / "venv"
        print(f"Python {number}, installed by {'pip' if with_pip else 'uv'}:", flush=True)
        if with_pip:
            run(python, "-m", "venv", str(venv))
            run(str(venv / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check",
                str(self.wheel))  # fmt: skip
        else:
            self._venv(venv, python)
            self._install(venv, str(self.wheel))
        run(UV, "pip", "check", "--quiet", "--python", str(venv / "bin" / "python"))
        self._as_a_user(place, "python", str(shutil.copy(HERE / "smoke.py", place)), self.version)
        self.sessions(place)

    def sessions(self, place: Path) -> None:
        """Run the sessions of the README in an environment that has the wheel.

        Raises:
            Failed: One prints something else.
        """
        self._install(place / "venv", *FOR_TESTS)
        self._as_a_user(
            place, "pytest", "--quiet", "-p", "no:cacheprovider", "--no-header", "-k", "README",
            str(self._source / "tests" / "test_documents.py"),
        )  # fmt: skip

    def types(self, python: str) -> None:
        """Check a script that uses the wheel by mypy --strict and by pyright.

        Raises:
            Failed: A type is wrong or missing.
        """
        place = self.work / "types"
        self._venv(place / "venv", python)
        self._install(place / "venv", str(self.wheel))
        own = str(place / "venv" / "bin" / "python")
        script = str(shutil.copy(HERE / "typed_script.py", place))
        run(*tool("mypy", "--strict", "--python-executable", own, script), cwd=place)
        run(*tool("pyright", "--pythonpath", own, script), cwd=place)
        print("A script against the wheel: mypy --strict and pyright find nothing", flush=True)

    def deployment(self, python: str) -> None:
        """Install the locked versions of all extras, show the demo with them, write the SBOM.

        Raises:
            Failed: Something does not work.
        """
        place = self.work / "locked"
        self._venv(place / "venv", python)
        lock = str(self._source / "requirements.lock")
        self._install(place / "venv", "--require-hashes", "-r", lock)
        self._install(place / "venv", "--no-deps", str(self.wheel))
        print("The locked versions of all extras:", flush=True)
        self._as_a_user(place, "silo", "demo", "--usage", "--crawl", "--no-serve", "sample")
        stem = self.sdist.name.removesuffix(".tar.gz")
        bom = self.sdist.parent / f"{stem}.cdx.json"
        run(*tool(
            "cyclonedx-py", "environment", "--pyproject", str(self._source / "pyproject.toml"),
            "--mc-type", "application", "--output-reproducible", "--output-file", str(bom),
            str(place / "venv" / "bin" / "python"),
        ))  # fmt: skip

    @cached_property
    def _source(self) -> Path:
        """What the source distribution has, unpacked."""
        with tarfile.open(self.sdist) as packed:
            packed.extractall(self.work / "sdist", filter="data")
        return self.work / "sdist" / self.sdist.name.removesuffix(".tar.gz")

    def _venv(self, venv: Path, python: str) -> None:
        run(UV, "venv", "--quiet", "--python", python, str(venv))

    def _install(self, venv: Path, *what: str) -> None:
        run(UV, "pip", "install", "--quiet", "--python", str(venv / "bin" / "python"), *what)

    def _as_a_user(self, place: Path, program: str, *arguments: str) -> None:
        """Run a program of an environment in the home of somebody who has nothing else."""
        home = place / "home"
        home.mkdir(exist_ok=True)
        env = {
            "HOME": str(home),
            "LC_ALL": "C.UTF-8",
            "PATH": f"{place / 'venv' / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        }
        path = place / "venv" / "bin" / program
        done = subprocess.run([path, *arguments], cwd=home, env=env, check=False)
        if done.returncode != 0:
            raise Failed(f"{program} {' '.join(arguments)} ended with {done.returncode}")
