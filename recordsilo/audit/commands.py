"""The commands `silo check`, `silo repair` and `silo accept`."""

import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import IntEnum

import click

from recordsilo.audit import passes
from recordsilo.audit.check import Audit
from recordsilo.audit.contributed import all_rules, check_names
from recordsilo.audit.findings import Code, Finding, Severity, printable, table
from recordsilo.audit.passes import Pass
from recordsilo.audit.record_check import RecordCheck
from recordsilo.audit.repair import MendedFinding, Outcome, SiloRepair
from recordsilo.cli import ExitCode, example, fail, open_silo
from recordsilo.commands.options import Number, directory, identifier, json_lines, quiet_option
from recordsilo.disk.identifier import ppath
from recordsilo.disk.names import version_dirname
from recordsilo.errors import did_you_mean
from recordsilo.progress import counting
from recordsilo.records.harvested_record import HarvestedRecord
from recordsilo.sampling import share_of
from recordsilo.wording import counted

SECONDS_BETWEEN_NOTES = 10.0


class AuditExit(IntEnum):
    """The exit codes of `silo check` and `silo repair`.

    Wrong input gives 2 as well, as in every command, with a sentence on stderr.
    """

    CLEAN = 0
    WARNINGS = 1
    DAMAGE = 2
    STOPPED = 75
    """The time ran out and no damage was found so far; ``--resume`` continues."""


def _share(_context: click.Context, _option: click.Parameter, value: str | None) -> float | None:
    try:
        return None if value is None else share_of(value)
    except ValueError:
        raise click.BadParameter("a share is 10% or 0.1, more than 0 and at most 1") from None


# -- check ------------------------------------------------------------------------------


def _print_codes(context: click.Context, _option: click.Parameter, value: bool) -> None:
    if value:
        click.echo(table(all_rules()), nl=False)
        context.exit()


def _known(
    _context: click.Context, _option: click.Parameter, value: tuple[str, ...]
) -> tuple[str, ...]:
    known = check_names()
    for name in value:
        if name not in known:
            raise click.BadParameter(
                f"there is no check {name!r}; choose from: {', '.join(known)}"
                f"{did_you_mean(name, known)}"
            )
    return value


@click.command(epilog=example(
    "silo check myrepo",
    "silo check myrepo --sample 5%",
    "silo check myrepo --budget 3600 --resume   # a part each night",
    "silo check myrepo --json | jq .code | sort | uniq -c",
))  # fmt: skip
@directory
@click.option("--sample", metavar="P", callback=_share,
              help="Checksum only a random share of the records, such as 10% or 0.1; compare"
                   " names and sizes of the others.")  # fmt: skip
@click.option(
    "--seed",
    metavar="TEXT",
    help="Seed of the random share; the same seed selects the same records.",
)
@click.option("--budget", type=Number(min=0), metavar="SECONDS",
              help="Stop after about this time.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Continue where the last check stopped.")
@click.option("--without", metavar="NAME", multiple=True, callback=_known,
              help="Skip this check of another package; repeatable.")  # fmt: skip
@click.option("--codes", is_flag=True, is_eager=True, expose_value=False, callback=_print_codes,
              help="List the codes of all findings, and exit.")  # fmt: skip
@json_lines
@quiet_option
def check(*,
    silo_dir: str, sample: float | None, seed: str | None, budget: float | None, resume: bool,
    without: tuple[str, ...], as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Check the files of a Silo, its manifests and its index.

    Checks that other packages contribute run last.

    Nothing is changed. Each finding has a code (silo help audit), the path, what was
    expected and found, and what to do.

    \b
    Exit codes:
          0  clean
          1  warnings
          2  damage (or wrong input, with a sentence on stderr)
         75  stopped by --budget without damage so far; --resume continues
        130  interrupted; --resume continues
    """
    so_far = _begin(silo_dir, sample, seed, resume=resume)
    audit = Audit(silo_dir, share=so_far.share, seed=so_far.seed, without=without)
    run = _Pass(audit, so_far, budget, _printer(as_json))
    with counting("checking", quiet=quiet) as show_progress:
        run.go(show_progress)
    if as_json or not quiet or run.so_far.warnings or run.so_far.damage or not run.is_finished:
        _print_summary(run, as_json)
    return _exit_code(run.so_far.warnings, run.so_far.damage, is_finished=run.is_finished)


def _begin(silo_dir: str, share: float | None, seed: str | None, *, resume: bool) -> Pass:
    """The pass to continue, or a new one."""
    known = passes.load(silo_dir) if resume else None
    if known is None:
        return Pass(seed or secrets.token_hex(4), 1.0 if share is None else share)
    if share not in (None, known.share) or seed not in (None, known.seed):
        fail(
            f"the check to resume was started with --sample {known.share} --seed {known.seed}; "
            "omit these options, or start a new check without --resume"
        )
    return known


class _Pass:
    """One run of a pass; it saves its position from time to time.

    Attributes:
        is_finished: Whether everything is checked.
    """

    def __init__(
        self, audit: Audit, so_far: Pass, budget: float | None, report: Callable[[Finding], None]
    ) -> None:
        self.so_far, self.is_finished = so_far, False
        self._audit, self._report = audit, report
        self._end = float("inf") if budget is None else time.monotonic() + budget
        self._noted = time.monotonic()

    def go(self, show_progress: Callable[[int], None]) -> None:
        """Check until everything is done or the time runs out."""
        try:
            self._go(show_progress)
        except BaseException:
            self._note()
            raise
        if self.is_finished:
            passes.forget(self._audit.path)
        elif not self._note():
            fail("cannot write to the Silo, so the position of the check was not saved")

    def _go(self, show_progress: Callable[[int], None]) -> None:
        for step in self._audit.steps(self.so_far.place):
            for finding in step.findings:
                self._report(finding)
            self.so_far = self.so_far.after(step)
            show_progress(self.so_far.records)
            now = time.monotonic()
            if step.place is not None and now >= self._end:
                return
            if now - self._noted > SECONDS_BETWEEN_NOTES:
                self._note()
        self.is_finished = True

    def _note(self) -> bool:
        self._noted = time.monotonic()
        return passes.save(self._audit.path, self.so_far)


def _exit_code(warnings: int, damage: int, *, is_finished: bool = True) -> AuditExit:
    """Damage takes precedence over an unfinished check, and that over warnings."""
    if damage:
        return AuditExit.DAMAGE
    if not is_finished:
        return AuditExit.STOPPED
    return AuditExit.WARNINGS if warnings else AuditExit.CLEAN


def _printer(as_json: bool) -> Callable[[Finding], None]:
    if as_json:
        return lambda finding: click.echo(json.dumps(finding.as_json(), ensure_ascii=False))
    return lambda finding: click.echo("\n".join(_lines(finding)))


def _lines(finding: Finding) -> Iterator[str]:
    shown = finding.as_json()
    yield f"{shown['code']} {shown['severity']}: {shown['meaning']}"
    yield f"  path      {shown['path']}"
    if shown["identifier"]:
        yield f"  record    {shown['identifier']}"
    yield f"  expected  {shown['expected']}"
    yield f"  found     {shown['found']}"
    yield f"  to do     {shown['what_to_do']}"


def _print_summary(run: _Pass, as_json: bool) -> None:
    so_far = run.so_far
    if as_json:
        summary = {**asdict(so_far), "finished": run.is_finished}
        click.echo(json.dumps({"summary": summary}, ensure_ascii=False))
        return
    read = "" if so_far.share >= 1 else f" ({so_far.hashed:,} of them byte for byte)"
    counts = _counts(so_far.warnings, so_far.damage)
    stopped = "" if run.is_finished else "; stopped, --resume continues"
    click.echo(f"{counted(so_far.records, 'record')} checked{read}: {counts}{stopped}")


def _counts(warnings: int, damage: int) -> str:
    if not warnings and not damage:
        return "no findings"
    words = [(damage, "damage"), (warnings, "warning" if warnings == 1 else "warnings")]
    return ", ".join(f"{count:,} {word}" for count, word in words if count)


# -- repair -----------------------------------------------------------------------------


@click.command(epilog=example("silo repair myrepo --dry-run", "silo repair myrepo"))
@directory
@click.option("--dry-run", is_flag=True, help="Preview only; change nothing.")
@json_lines
@quiet_option
def repair(*, silo_dir: str, dry_run: bool, as_json: bool, quiet: bool) -> int:
    """Repair what can be repaired without guessing, and report the rest.

    Unfinished writes are finished or removed, a torn manifest is restored from its
    previous copy, and the index is rebuilt. Files that no manifest lists are moved to
    lost+found/ in the Silo. Only names and sizes are compared; to read every byte, use
    `silo check`. The exit codes are those of `silo check`, for the findings that remain.
    """
    mended = warnings = damage = 0
    with counting("repairing", quiet=quiet) as show_progress:
        for outcome in SiloRepair(silo_dir, dry_run=dry_run).run():
            _print_outcome(outcome, as_json, dry_run=dry_run)
            is_mended = isinstance(outcome, MendedFinding)
            is_damage = not is_mended and _severity(outcome) is Severity.DAMAGE
            mended += is_mended
            damage += is_damage
            warnings += not is_mended and not is_damage
            show_progress(mended + warnings + damage)
    if as_json:
        summary = {"mended": mended, "warnings": warnings, "damage": damage, "dry_run": dry_run}
        click.echo(json.dumps({"summary": summary}))
    elif not quiet or mended or warnings or damage:
        would = "would be repaired" if dry_run else "repaired"
        click.echo(f"{mended:,} {would}, left: {_counts(warnings, damage)}")
    return _exit_code(warnings, damage)


def _severity(outcome: Outcome) -> Severity:
    return (outcome.finding if isinstance(outcome, MendedFinding) else outcome).severity


def _print_outcome(outcome: Outcome, as_json: bool, *, dry_run: bool) -> None:
    if not isinstance(outcome, MendedFinding):
        _printer(as_json)(outcome)
        return
    finding = outcome.finding
    if as_json:
        shown = {**finding.as_json(), "done": printable(outcome.done), "dry_run": dry_run}
        click.echo(json.dumps(shown, ensure_ascii=False))
        return
    word = "would be repaired" if dry_run else "repaired"
    click.echo(f"{finding.code.number} {word}: {finding.code.meaning}")
    click.echo(f"  path      {printable(finding.path)}")
    click.echo(f"  done      {printable(outcome.done)}")


# -- accept -----------------------------------------------------------------------------


@click.command(epilog=example(
    "silo accept myrepo 6102 -m 'typos corrected with an editor'",
    "silo accept myrepo 6102 docs/licence.txt --version workingcopy",
))  # fmt: skip
@directory
@identifier
@click.argument("files", metavar="[FILE]...", nargs=-1)
@click.option("-v", "--version", help="Only this curated version (default: all of them).")
@click.option("--agent", default="", help="Name for the log (default: the user).")
@click.option("-m", "--message", default="", help="Reason, for the log.")
def accept(
    *, silo_dir: str, item: str, files: tuple[str, ...], version: str | None, agent: str,
    message: str,
) -> int:  # fmt: skip
    """Accept files that were edited outside the store, and record their new digests.

    Without FILE, every file of a curated version that differs from its digest is
    accepted. A FILE that was added outside becomes part of the version. Harvested
    versions cannot be changed. Other findings of the record are named on stderr; damage is
    never accepted (exit 1, or 2 if nothing was accepted).
    """
    with open_silo(silo_dir) as silo:
        record = silo[silo.resolve(item)]
        if version is not None and not record.version_is_curated(version):
            fail(f"version {version} of {record.item_id} is harvested; only edits of curated "
                 f"versions are accepted (silo clone {silo_dir} {item} makes a copy)")  # fmt: skip
        findings = RecordCheck(silo.path, ppath(record.item_id)).run(hashing=True).findings
        edits = _edits(findings, record)
        wanted = [edit for edit in edits if edit.is_wanted(files, version)]
        if missing := [name for name in files if name not in {edit.path for edit in wanted}]:
            fail(f"{missing[0]!r} was not edited in any curated version of {record.item_id}")
        for name in dict.fromkeys(edit.version for edit in wanted):
            paths = [edit.path for edit in wanted if edit.version == name]
            record.accept(paths, name, agent=agent, message=message)
            click.echo(f"{record.item_id}: accepted in version {name}: {', '.join(paths)}")
        accepted = {edit.finding for edit in wanted}
        left = [] if files else [finding for finding in findings if finding not in accepted]
        for finding in left:
            path, code = printable(finding.path), finding.code
            click.echo(f"silo: not accepted: {path}: {code.meaning}. {code.advice}", err=True)
    if not wanted and not left:
        click.echo(f"{record.item_id}: nothing was edited outside")
    is_damaged = any(finding.severity is Severity.DAMAGE for finding in left)
    return (ExitCode.LOSSES if wanted else ExitCode.USAGE) if is_damaged else ExitCode.OK


@dataclass(frozen=True, slots=True)
class _Edit:
    """A file of a curated version that was edited or added outside."""

    version: str
    path: str
    finding: Finding

    def is_wanted(self, files: tuple[str, ...], version: str | None) -> bool:
        """Whether it was requested; an added file must be named."""
        named = self.path in files if files else self.finding.code is Code.EDITED_OUTSIDE
        return named and version in (None, self.version)


def _edits(findings: Iterable[Finding], record: HarvestedRecord) -> list[_Edit]:
    edits = []
    for finding in findings:
        if finding.code in {Code.EDITED_OUTSIDE, Code.ADDED_OUTSIDE}:
            below = finding.path.removeprefix(f"pairtree_root/{ppath(record.item_id)}/")
            directory, _, path = below.partition("/")
            name = next(v for v in record.versions if version_dirname(v) == directory)
            edits.append(_Edit(name, path, finding))
    return edits
