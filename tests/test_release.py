"""A release is one version under one name, wherever either is written."""

import re
import tomllib
from importlib.metadata import metadata
from pathlib import Path

import click
import pytest
from release.agreement import NotAgreed, Version, agreed, check_tag
from release.contents import PUT_BY_SETUPTOOLS, sdist_faults, wheel_faults
from release.man_pages import page

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


def the_three() -> tuple[str, str, str]:
    pyproject, changelog, citation = (
        (ROOT / name).read_text("utf-8")
        for name in ("pyproject.toml", "CHANGELOG.md", "CITATION.cff")
    )
    return pyproject, changelog, citation


def test_files_name_one_version() -> None:
    version = agreed(*the_three())
    check_tag(version, ["nightly", f"v{version.number}"])


def test_files_that_differ_are_named() -> None:
    pyproject, changelog, citation = the_three()
    number = agreed(pyproject, changelog, citation).number
    with pytest.raises(NotAgreed, match=r"first dated section of CHANGELOG.md is of none"):
        agreed(pyproject, "## Unreleased\n", citation)
    with pytest.raises(NotAgreed, match=r"CITATION.cff has version: 0.9; it must be "):
        agreed(pyproject, changelog, citation.replace(f"version: {number}", "version: 0.9"))
    with pytest.raises(NotAgreed, match=r"date-released: nothing"):
        agreed(pyproject, changelog, citation.replace("date-released", "date"))


@pytest.mark.parametrize(
    ("tags", "told"), [([], "has no tag v1.0.0"), (["v1.0.0", "v0.9"], "has the tag v0.9")]
)
def test_a_commit_has_the_tag_of_its_version_and_no_other(tags: list[str], told: str) -> None:
    with pytest.raises(NotAgreed, match=told):
        check_tag(Version("1.0.0", "2026-11-28"), tags)


TRACKED = ["a/__init__.py", "a/x.sql", "docs/a.md", "tests/__init__.py", ".ci/run", "setup.py"]
IN_WHEEL = [
    "a/__init__.py",
    "a/x.sql",
    "s-1.data/data/share/docs/a.md",
    *(f"s-1.dist-info/{name}" for name in [*PUT_BY_SETUPTOOLS, "licenses/LICENSE"]),
]


def test_a_wheel_has_the_packages_and_documents_and_nothing_else() -> None:
    shared = {"docs": "share/docs"}
    assert wheel_faults(IN_WHEEL, TRACKED, shared, "s-1") == []
    assert wheel_faults([*IN_WHEEL[1:], "tests/__init__.py"], TRACKED, shared, "s-1") == [
        "the wheel lacks a/__init__.py",
        "the wheel has tests/__init__.py, which it must not",
    ]


def test_a_source_distribution_has_what_git_tracks_and_what_was_made() -> None:
    names = [f"s-1/{name}" for name in [*TRACKED, "man/a.1", "PKG-INFO"] if name != ".ci/run"]
    assert sdist_faults(names, TRACKED, ["man/a.1"], "s-1") == []
    assert sdist_faults([*names[1:], "s-1/.venv/x"], TRACKED, ["man/a.1"], "s-1") == [
        "the source distribution lacks a/__init__.py",
        "the source distribution has .venv/x, which it must not",
    ]


def test_a_man_page_escapes_what_groff_would_take_for_its_own() -> None:
    @click.command("x", epilog="\b\nFor example:\n  x --a \\n")
    @click.option("--a-b", help="'one' and \\two")
    def command(a_b: str) -> None:
        """.TH is text.

        \b
        kept   as it is
        """

    lines = page(click.Context(command, info_name="x"), "2026-11-28").splitlines()
    assert r"\&.TH is text." in lines
    assert lines[lines.index(".nf") + 1] == "kept   as it is"
    assert r"\&'one' and \etwo" in lines
    assert r"  x \-\-a \en" in lines
    assert r"\fB\-\-a\-b TEXT\fR" in lines


def test_a_checkout_installs_without_what_is_made_for_a_release() -> None:
    files = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["data-files"]
    for pattern in (one for patterns in files.values() for one in patterns):
        assert "*" in pattern or (ROOT / pattern).is_file(), "setuptools stops at a missing file"


def test_the_description_on_an_index_has_no_links_into_the_checkout() -> None:
    told = metadata("silo-records").get_payload()
    assert isinstance(told, str)
    assert "# recordsilo" in told
    assert not re.findall(r"\]\((?!https?:)", told)


def test_the_container_copies_what_there_is_and_runs_as_a_user() -> None:
    lines = (ROOT / "Containerfile").read_text("utf-8").splitlines()
    copied = [
        line.split()[1] for line in lines if line.startswith("COPY ") and "--from" not in line
    ]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    assert all(line.split()[1].isdigit() for line in lines if line.startswith("USER "))
    assert {"ENTRYPOINT", "USER", "FROM"} <= {line.partition(" ")[0] for line in lines}
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert {"tests", ".*"} <= {*ignored}
    assert not {"docs", "requirements.lock"} & {*ignored}
