"""Build the website: `PYTHONPATH=tools python -m website` (make site)."""

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import main as sphinx

from website.commands import write_commands
from website.interface import write_interface
from website.pages import ROOT, stage

HERE = Path(__file__).parent
STAGED = ROOT / "build/website"
SITE = ROOT / "site"


def main() -> int:
    """Build the website in site/; a warning is an error. Gives the exit code."""
    for directory in (STAGED, SITE):
        shutil.rmtree(directory, ignore_errors=True)
    stage(STAGED)
    write_commands(STAGED)
    write_interface(STAGED)
    options = ["-q", "-W", "--keep-going", "-j", "auto", "-c", str(HERE)]
    return sphinx([*options, "-d", f"{STAGED}.doctrees", str(STAGED), str(SITE)])


sys.exit(main())
