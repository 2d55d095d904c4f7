"""The script in docs/export.md, executed: it curates, exports and verifies."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from recordsilo import Silo

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


def test_script_in_the_page_curates_and_exports(
    silo: Silo, tmp_path: Path, harvest: Callable[..., None]
) -> None:
    (script,) = re.findall(
        r"^```py\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(script.splitlines()) <= 24
    for number in (5, 6, 7, 8):
        harvest(silo, f"oai:example.org:{number}", f"A theory of {number}")
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == (
        "to be written: 3\nwhole: True; in the target: 3\ndifferences: 0\n",
        "",
    )
    assert len(list((tmp_path / "licensed").glob("*.tar"))) == 3
