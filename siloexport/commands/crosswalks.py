"""`silo export crosswalk …`: which crosswalks there are, whether one is right, what it makes."""

import contextlib
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

import click
from click.shell_completion import CompletionItem

from recordsilo import Silo
from recordsilo.cli import ExitCode, Group, example, fail, open_silo, shown
from recordsilo.commands import completion
from recordsilo.commands.options import (
    all_of,
    directory,
    identifier,
    json_array,
    json_object,
    print_json,
)
from recordsilo.errors import RecordSiloError
from recordsilo.extras import needed
from recordsilo.progress import counting
from recordsilo.selection import Selection
from recordsilo.wording import counted
from siloexport.crosswalk_names import BUILT_IN
from siloexport.errors import ExportError

_NAMED = 3


def _names(ctx: click.Context, param: click.Parameter, typed: str) -> list[CompletionItem]:
    """Complete the name of a built-in crosswalk, or a file."""
    named = completion.offered(sorted(BUILT_IN), typed)
    return [*named, *completion.files(ctx, param, typed)]


@contextlib.contextmanager
def _errors() -> Iterator[None]:
    try:
        yield
    except ExportError as error:
        fail(str(error))


def _check_extra() -> None:
    needed("rdflib", "A crosswalk", "rdf")


@click.group(cls=Group)
def crosswalk() -> None:
    """List crosswalks, check one, and preview what records become by it.

    A crosswalk says how metadata is mapped to RDF.
    """


@crosswalk.command("list", epilog=example("silo export crosswalk list"))
@json_array
def list_command(*, as_json: bool) -> None:
    """List the built-in crosswalks."""
    if as_json:
        print_json([{"name": name, "about": about} for name, about in BUILT_IN.items()])
        return
    for name, about in BUILT_IN.items():
        click.echo(f"{name:12}{about}")


@crosswalk.command(
    epilog=example(
        "silo export crosswalk check mine.toml", "silo export crosswalk check mine.toml myrepo"
    )
)
@click.argument("crosswalk_file", metavar="CROSSWALK", shell_complete=_names)
@click.argument("silo_dir", metavar="[DIR]", required=False, shell_complete=completion.directories)
@json_object
def check(*, crosswalk_file: str, silo_dir: str | None, as_json: bool) -> int:
    """Check a crosswalk, and with DIR count the records that each of its formats reads.

    The exit code is 1 if it does not read the metadata of some records.
    """
    _check_extra()
    from siloexport.crosswalk import Crosswalk  # noqa: PLC0415 - loads rdflib

    with _errors():
        found = Crosswalk.named(crosswalk_file)
    about: dict[str, Any] = {
        "crosswalk": crosswalk_file,
        "id": found.id,
        "version": found.version,
        "merge": str(found.merge),
        "formats": [{"root": one.root, "fields": len(one.fields)} for one in found.formats],
        "files": [one.pattern for one in found.files],
    }
    if not as_json:
        fields = sum(len(one.fields) for one in found.formats)
        click.echo(
            f"{crosswalk_file}: valid; version {found.version}, merge {found.merge}, "
            f"{counted(len(found.formats), 'format')}, {counted(fields, 'field')}"
        )
    if silo_dir is None:
        if as_json:
            print_json(about)
        return ExitCode.OK
    with open_silo(silo_dir) as silo:
        tried = _Trial(found)
        tried.run(silo, quiet=as_json)
    if as_json:
        print_json(about | tried.to_json())
    else:
        tried.show()
    return ExitCode.LOSSES if tried.unread or tried.failed else ExitCode.OK


class _Trial:
    """Counts which formats of a crosswalk read the current versions of a Silo's records."""

    def __init__(self, crosswalk: Any) -> None:
        self.crosswalk = crosswalk
        self.records = 0
        self.read: Counter[int] = Counter()
        self.unread: dict[str, list[str]] = {}
        self.failed: dict[str, str] = {}

    def run(self, silo: Silo, *, quiet: bool) -> None:
        """Read the metadata of all records."""
        selection = Selection()
        with counting("checking", selection.total(silo), quiet=quiet) as progress:
            for name in selection.iterate(silo):
                self.records += 1
                try:
                    self._add(silo, name)
                except (ExportError, RecordSiloError) as error:
                    self.failed[name] = str(error)
                progress(self.records)

    def _add(self, silo: Silo, name: str) -> None:
        record = silo[name]
        metadata = {}
        for path in record.state.current.metadata_files:
            if not path.endswith(".about"):
                with record.get_stream(path) as stream:
                    metadata[path] = stream.read()
        found = self.crosswalk.formats_of(metadata)
        any(self.crosswalk.mapped(metadata))  # evaluates what `found` does not
        self.read.update({number for number, _ in found})
        if metadata and not found:
            self.unread.setdefault(", ".join(metadata), []).append(name)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        numbers = range(len(self.crosswalk.formats))
        return {
            "records": self.records,
            "read": [self.read[number] for number in numbers],
            "unread": {files: len(names) for files, names in self.unread.items()},
            "failed": self.failed,
        }

    def show(self) -> None:
        """Print the counts."""
        for number, one in enumerate(self.crosswalk.formats):
            click.echo(f"{self.read[number]:>9,}  {shown(one.root)}")
        for files, names in self.unread.items():
            some = ", ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")
            click.echo(f"{len(names):>9,}  read by no format: {shown(files)} ({shown(some)})")
        for name, reason in list(self.failed.items())[:20]:
            click.echo(f"silo: {shown(name)}: {shown(reason)}", err=True)


@crosswalk.command(
    epilog=example(
        "silo export crosswalk show myrepo 3038",
        "silo export crosswalk show myrepo 3038 --crosswalk mine.toml --turtle",
        "silo export crosswalk show myrepo 3038 --layout pcdm",
    )
)
@directory
@identifier
@all_of(
    click.option("--crosswalk", "crosswalk_file", metavar="FILE.toml", default="default",
                 show_default=True, shell_complete=_names,
                 help="A file, or the name of a built-in crosswalk."),
    click.option("--version", default="", metavar="VERSION",
                 shell_complete=completion.versions, help="By default the current version."),
    click.option("--to", "container", metavar="URL", help="The container of the export."),
    click.option("--layout", type=click.Choice(["plain", "pcdm"]), default="plain",
                 show_default=True, help="In pcdm, files and collections are described, too."),
    click.option("--turtle", is_flag=True, help="Print all statements as Turtle."),
    json_object,
)  # fmt: skip
def show(
    *, silo_dir: str, item: str, crosswalk_file: str, version: str, container: str | None,
    layout: str, turtle: bool, as_json: bool,
) -> int:  # fmt: skip
    """Preview what a record becomes in Fedora; nothing is sent."""
    _check_extra()
    from siloexport import preview as made  # noqa: PLC0415 - loads rdflib
    from siloexport.crosswalk import Crosswalk  # noqa: PLC0415
    from siloexport.targets.fedora.layout import Layout  # noqa: PLC0415

    with open_silo(silo_dir) as silo, _errors():
        mapping = Crosswalk.named(crosswalk_file)
        found = made.preview(
            silo, item, mapping,
            version=version, container=container or made.ROOT, layout=Layout(layout),
        )  # fmt: skip
    if as_json:
        print_json(found.to_json())
    elif turtle:
        click.echo(found.turtle(), nl=False)
    else:
        _show(found, made)
    for name in found.unread:
        click.echo(f"silo: no format of {crosswalk_file} reads {shown(name)}", err=True)
    return ExitCode.LOSSES if found.unread and not found.mapped else ExitCode.OK


def _show(found: Any, made: Any) -> None:
    click.echo(f"{found.subject}  (version {shown(found.version)})")
    rows = [(one.predicate, one.term, one.file) for one in found.mapped]
    _rows([*rows, *((to, term, "") for _, to, term in found.own)], made)
    for subject, group in itertools.groupby(found.others, lambda one: one[0]):
        click.echo(shown(str(subject)))
        _rows([(to, term, "") for _, to, term in group], made)


def _rows(statements: list[tuple[Any, Any, str]], made: Any) -> None:
    rows = [(made.shortened(str(to)), made.shown(term), file) for to, term, file in statements]
    width = max((len(to) for to, _, _ in rows), default=0)
    for to, term, file in rows:
        click.echo(shown(f"  {to:{width}}  {term}" + (f"  [{file}]" if file else "")))
