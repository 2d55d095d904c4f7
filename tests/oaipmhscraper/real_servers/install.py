"""Install the servers and harvesters of others that the tests need: python install.py DIRECTORY.

Each in a virtual environment of its own, since pycsw wants an older SQLAlchemy than
anybody else; what is there already is left as it is.
"""

import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = {
    "pycsw": ["pycsw==2.6.2", "sqlalchemy<2", "setuptools<81"],
    "oai_repo": ["oai_repo==0.5.2"],
    "pyoai": ["pyoai==2.5.0", "lxml<5", "setuptools<81"],  # its client calls what lxml 5 lacks
    "resync": ["resync==2.0.1", "setuptools<81"],
}


def install(directory: Path) -> None:
    for name, packages in PACKAGES.items():
        place = directory / name
        done = place / "installed.txt"
        wanted = "\n".join(packages)
        if done.exists() and done.read_text() == wanted:
            continue
        venv.create(place, with_pip=True, clear=True)
        pip = [str(place / "bin" / "python"), "-m", "pip", "--quiet"]
        subprocess.run([*pip, "install", "--disable-pip-version-check", *packages], check=True)
        done.write_text(wanted)


if __name__ == "__main__":
    install(Path(sys.argv[1]))
