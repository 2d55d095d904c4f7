"""The commands `silo crawl verify` and `merge`: packages in their store, and on access nodes."""

from collections.abc import Iterator
from datetime import UTC, datetime

import click

from recordsilo.cli import ExitCode, example, fail, shown
from recordsilo.commands import completion
from recordsilo.commands.options import directory, json_array, print_json, quiet_option
from recordsilo.wording import counted
from silocrawl.commands.opening import in_sentences, megabytes, opened, store_help, store_option
from silocrawl.packages.checking import CheckedPackage, check_package
from silocrawl.packages.kept import keep_package, load_package, load_packages
from silocrawl.packages.merging import AccessNode, Merged
from silocrawl.packages.steps import working_alone
from silocrawl.packages.store import open_store
from silocrawl.packages.submitting import kept_receipt
from silocrawl.packages.values import Package, PackageState, PackagingError, Told
from silocrawl.packages.verifying import changes_of


@click.command(
    "verify",
    epilog=example(
        "silo crawl verify myrepo",
        "silo crawl verify myrepo --store /mnt/copy --package own-cp00001-20261124220000 --json",
        "silo crawl verify --node reading-room access",
    ),
)
@directory
@store_option
@click.option("--package", "names", multiple=True, metavar="ID", help="This package; repeatable.")
@click.option("--node", metavar="NAME", help="DIR is that of this access node; look at its index.")
@json_array
@quiet_option
def verify_command(
    *,
    silo_dir: str,
    store: str | None,
    names: tuple[str, ...],
    node: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Verify the packages in the store; print a sentence for each.

    The bytes of each file in the store are compared with the receipt, the manifests, METS and
    PREMIS; the index and the logs with the records in the WARC files; the ARKs with those minted.
    A file that is damaged is named. With --node: whether an access node finds the first and the
    last record of each WARC file. Exit code 1 if something is wrong; silo crawl status reports it
    until a later verification succeeds, unless --store named a copy.
    """
    if node is not None:
        with in_sentences():
            found = list(_on_node(silo_dir, node, store, names))
        return _report(found, names, as_json=as_json)
    with opened(silo_dir) as silo:
        packages, damaged = load_packages(silo.path)
        rows = [{"package": "", "well": False, "said": str(error)} for error in damaged]
        with megabytes(quiet=quiet or as_json) as told:
            for one in packages:
                if not names or one.id in names:
                    rows.append(_checked(silo.path, one, store, told))
                    if not as_json:
                        click.echo(shown(str(rows[-1]["said"])))
    return _report(rows, names, as_json=as_json, is_told=True)


def _checked(silo_path: str, one: Package, copy: str | None, told: Told) -> dict[str, object]:
    """Check a package in its store, and note what was found; or in a copy of the store."""
    if not one.has(PackageState.SUBMITTED):
        said = f"{one.id} is not submitted yet; silo crawl package goes on with it"
        return {"package": one.id, "well": None, "said": said, "faults": []}
    try:
        kept = kept_receipt(silo_path, one.id)
        found = check_package(
            open_store(copy or one.store), one.id, kept=kept, package=one, told=told
        )
    except PackagingError as error:
        found = CheckedPackage(one.id, faults=[str(error)])
    if not copy and changes_of(one, found):
        with working_alone(silo_path):
            if changed := changes_of(load_package(silo_path, one.id), found):
                keep_package(silo_path, changed)
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
    return {
        "package": one.id,
        "well": not found.faults,
        "said": found.sentence(now),
        "faults": found.faults,
        "captures": found.captures,
        "nodes": list(found.nodes),
        "shown_from": found.receipt.shown_from if found.receipt else None,
    }


def _on_node(
    access: str, name: str, address: str | None, names: tuple[str, ...]
) -> Iterator[dict[str, object]]:
    node = AccessNode(access, name)
    merged = node.merged()
    if not merged:
        fail(f"{access} is not the directory of a node with packages; silo crawl merge brings them")
    for package, place in merged.items():
        if not names or package in names:
            try:
                found = node.check(package, open_store(address or place))
            except PackagingError as error:
                found = Merged(package, why=str(error), is_fault=True)
            records = counted(found.captures, "record")
            said = f"{package} is well on {name}: {records} found of the ends of its WARC files"
            if found.is_fault:
                said = f"{package} is NOT WELL on {name}: {found.why}"
            yield {"package": package, "well": not found.is_fault, "said": said}


def _report(
    rows: list[dict[str, object]], names: tuple[str, ...], *, as_json: bool, is_told: bool = False
) -> int:
    if as_json:
        print_json(rows)
    for row in rows if not as_json else ():
        if not is_told or not row["package"]:
            click.echo(shown(str(row["said"])))
    if unknown := sorted(set(names) - {str(row["package"]) for row in rows}):
        fail(f"there is no package {unknown[0]}; silo crawl packages lists them")
    if not rows and not as_json:
        click.echo("silo: no packages; see silo crawl package", err=True)
    return ExitCode.LOSSES if any(row["well"] is False for row in rows) else ExitCode.OK


@click.command(
    "merge", epilog=example("silo crawl merge --store /srv/store --node reading-room access")
)
@click.argument("access", metavar="ACCESS_DIR", shell_complete=completion.directories)
@click.option("--store", required=True, metavar="PLACE", help=store_help)
@click.option("--node", required=True, metavar="NAME", help="This node, as the Silos name it.")
@quiet_option
def merge(*, access: str, store: str, node: str, quiet: bool) -> int:
    """Bring the packages of a store to this access node, which needs no Silo.

    Packages that were verified and whose embargo is over get into ACCESS_DIR/index and
    ACCESS_DIR/places.tsv, which pywb reads while it runs: start wayback in ACCESS_DIR. Then the
    store gets a mark. Run it regularly, for example by cron: no package is merged twice.
    Exit code 1 if a package is damaged.
    """
    faults = told = 0
    with in_sentences():
        there = AccessNode(access, node)
        for one in there.merge(open_store(store), datetime.now(UTC)):
            faults, told = faults + one.is_fault, told + 1
            if one.is_fault:
                which = f"{one.package} is not merged: " if one.package else ""
                click.echo(shown(f"silo: {which}{one.why}"), err=True)
            elif not quiet:
                done = f"merged, {counted(one.captures, 'capture')}"
                click.echo(shown(f"{one.package}: {f'waits: {one.why}' if one.why else done}"))
        if not told and not quiet:
            place = open_store(store).address
            count = sum(known == place for known in there.merged().values())
            has = f"{node} has all of {place}: {counted(count, 'package')}"
            said = has if count else f"there is no package in {place}"
            click.echo(shown(f"silo: nothing to merge: {said}"), err=True)
    return ExitCode.LOSSES if faults else ExitCode.OK
