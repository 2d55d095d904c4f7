"""A release is one version under one name, wherever either is written."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXTS = {".cff", ".html", ".lock", ".mako", ".md", ".py", ".sh", ".toml", ".yml", ""}
WRONG_NAME = re.compile(
    r"\brecordsilo\[|\b(?:pipx?|uv|tool)\b[^\n]* (?:install|add)\b[^\n]* '?recordsilo\b(?![/._])"
)
"""What pip would take for the library of 2010."""


def texts() -> dict[str, str]:
    """Path → text of what is written by hand, without this test and the page that explains it."""
    own = {"tests/test_release.py", "docs/adr/0070-a-distribution-of-another-name.md"}
    tops = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    found: dict[str, str] = {}
    for top in sorted(ROOT.iterdir()):
        if top.is_file() or top.name in tops | {"docs", "tests", "tools", "benchmarks", ".ci"}:
            for path in [top] if top.is_file() else sorted(top.rglob("*")):
                name = path.relative_to(ROOT).as_posix()
                if path.is_file() and path.suffix in TEXTS and name not in own:
                    found[name] = path.read_text("utf-8", errors="replace")
    return found


def test_no_text_lets_pip_install_the_library_of_2010() -> None:
    wrong = {name: told[0] for name, text in texts().items() if (told := WRONG_NAME.search(text))}
    assert wrong == {}
    for target in ("recordsilo", "'recordsilo[usage]'", "-U recordsilo==1.0"):
        assert all(WRONG_NAME.search(f"{do} {target}") for do in ("pip install", "uv add"))
