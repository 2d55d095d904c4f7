"""`make release`: from the tagged commit to files in dist/ that may be uploaded.

The order: one version everywhere, the tag; man pages, the source distribution and from it the
wheel; what must be in them; types; a clean environment outside of the checkout for each Python,
with the demo and the smoke test; the SBOM. dist/ gets all files at the end, or none.
Nothing is uploaded.
"""

import argparse
import hashlib
import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from release import contents
from release.agreement import NotAgreed, Version, agreed, check_tag
from release.pythons import find
from release.trial import TOOLS, UV, Failed, Trial, run, tool

ROOT = Path(__file__).resolve().parents[2]
SILO = os.path.join(os.path.dirname(sys.executable), "silo")
PYTHONS = ("3.11", "3.12", "3.13")
SHARED = {
    "docs": "share/recordsilo/docs",
    "man": "share/man/man1",
    "completions/bash": "share/bash-completion/completions",
    "completions/zsh": "share/zsh/site-functions",
    "completions/fish": "share/fish/vendor_completions.d",
}
"""Directory in the source → directory below the prefix where its files go."""
COMPLETIONS = {"bash": "silo", "zsh": "_silo", "fish": "silo.fish"}


def main() -> int:
    """Make a release, or end with a sentence."""
    parser = argparse.ArgumentParser(prog="make release", description=__doc__)
    parser.add_argument("--rehearse", action="store_true", help="without a tag")
    parser.add_argument("--python", action="append", help="only on this version; repeatable")
    parser.add_argument("--into", default=str(ROOT / "dist"), help="default: dist/")
    given = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="silo-release-") as work:
            _release(given, Path(work))
    except (NotAgreed, Failed, OSError) as error:
        print(f"make release: {error}", file=sys.stderr)
        return 1
    return 0


def _release(given: argparse.Namespace, work: Path) -> None:
    version = _checked(rehearse=given.rehearse)
    print(f"Version {version.number} of {version.date}", flush=True)
    source, tracked = work / "source", _lines("git", "ls-tree", "-r", "--name-only", "HEAD")
    generated = _exported(source, work, version)
    sdist, wheel = _built(source, work / "dist", tracked, generated)
    missed = _tried(given.python or PYTHONS, Trial(work, sdist, wheel, version.number))
    target = Path(given.into)
    target.mkdir(parents=True, exist_ok=True)
    files = sorted((work / "dist").iterdir())
    sums = "".join(f"{_digest(one)}  {one.name}\n" for one in files)
    for one in files:
        shutil.copyfile(one, target / f".{one.name}")
    for one in files:
        os.replace(target / f".{one.name}", target / one.name)
    (target / "SHA256SUMS").write_text(sums, encoding="ascii")
    print(f"\n{sums}\nThese files and SHA256SUMS are in {target}.")
    for sentence in missed:
        print(sentence)
    if given.rehearse:
        print("This was a rehearsal: the commit has no tag, so upload nothing of it.")
        return
    places = " ".join(os.path.relpath(target / one.name) for one in (sdist, wheel))
    print(f"Nothing was uploaded. To upload: uvx --from '{TOOLS['twine']}' twine upload {places}")


def _checked(*, rehearse: bool) -> Version:
    texts = [
        (ROOT / name).read_text() for name in ("pyproject.toml", "CHANGELOG.md", "CITATION.cff")
    ]
    version = agreed(*texts)
    if not (ROOT / ".git").exists():
        raise Failed("a release is made of a git repository, and this directory is none")
    if changed := _lines("git", "status", "--porcelain", "--untracked-files=no"):
        raise Failed(f"{changed[0][3:]} differs from the last commit; commit it first")
    if not rehearse:
        check_tag(version, _lines("git", "tag", "--points-at", "HEAD"))
    return version


def _exported(source: Path, work: Path, version: Version) -> list[str]:
    """Copy what is committed, add man pages and completions, and return the paths of these."""
    run("git", "archive", "--format=tar", f"--output={work / 'source.tar'}", "HEAD", cwd=ROOT)
    with tarfile.open(work / "source.tar") as packed:
        packed.extractall(source, filter="data")
    run(sys.executable, "-m", "release.man_pages", str(source / "man"), version.date, cwd=ROOT)
    for shell, name in COMPLETIONS.items():
        place = source / "completions" / shell
        place.mkdir(parents=True)
        script = run(SILO, "completion", shell, cwd=ROOT)
        (place / name).write_text(script, encoding="utf-8")
    made = [*(source / "man").iterdir()]
    made += [source / "completions" / shell / name for shell, name in COMPLETIONS.items()]
    return sorted(path.relative_to(source).as_posix() for path in made)


def _built(
    source: Path, target: Path, tracked: list[str], generated: list[str]
) -> tuple[Path, Path]:
    """Build the source distribution, and the wheel from it; check what is in them."""
    date = _lines("git", "log", "-1", "--format=%ct")[0]
    run(
        *tool("pyproject-build", "--installer", "uv", "--outdir", str(target), str(source)),
        env={"SOURCE_DATE_EPOCH": date},
    )
    (sdist,) = target.glob("*.tar.gz")
    (wheel,) = target.glob("*.whl")
    run(*tool("twine", "check", "--strict", str(sdist), str(wheel)))
    run(*tool("cffconvert", "--validate", "-i", str(source / "CITATION.cff")))
    stem = sdist.name.removesuffix(".tar.gz")
    with tarfile.open(sdist) as packed:
        in_sdist = [one.name for one in packed if one.isfile()]
    with zipfile.ZipFile(wheel) as zipped:
        in_wheel = zipped.namelist()
    faults = contents.sdist_faults(in_sdist, tracked, generated, stem)
    faults += contents.wheel_faults(in_wheel, [*tracked, *generated], SHARED, stem)
    if faults:
        raise Failed("; ".join(faults[:10]))
    print(f"{sdist.name}: {len(in_sdist):,} files; {wheel.name}: {len(in_wheel):,}", flush=True)
    shutil.copyfile(source / "requirements.lock", target / f"{stem}-requirements.txt")
    return sdist, wheel


def _tried(versions: tuple[str, ...], trial: Trial) -> list[str]:
    """Try the wheel on each Python; return a sentence for each that is not there."""
    found = {version: find(version, UV) for version in versions}
    missed = [
        f"Not tried on Python {version}: it is not on this machine, and uv could not get it."
        for version, path in found.items()
        if not path
    ]
    pythons = [path for path in found.values() if path]
    if not pythons:
        raise Failed("there is none of the Pythons " + ", ".join(versions))
    trial.types(pythons[0])
    for path in pythons:
        trial.smoke(path, with_pip=path == pythons[0])
    trial.deployment(pythons[-1])
    return missed


def _lines(*command: str) -> list[str]:
    return run(*command, cwd=ROOT).splitlines()


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main())
