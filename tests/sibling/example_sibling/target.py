"""An export: identifiers with a minimum number of stars, one per line."""

from collections.abc import Callable
from typing import BinaryIO

from example_sibling.stars import read_stars
from recordsilo import Silo
from recordsilo.selection import Selection
from siloexport.target_kinds import FormField, TargetKind, Values
from siloexport.targets.tables import TableReport
from silowork.forms import Input


def _write(
    silo: Silo, selection: Selection, out: BinaryIO, values: Values, progress: Callable[[int], None]
) -> TableReport:
    report, stars = TableReport(), read_stars(silo.path)
    for identifier in selection.iterate(silo):
        report.records += 1
        if stars.get(identifier, 0) >= float(values["least"]):
            out.write(f"{identifier}\n".encode())
            report.rows += 1
        progress(report.records)
    return report


STAR_LIST = TargetKind(
    "star-list",
    "List of stars",
    "Export a list of stars",
    "Write the identifiers of records with stars to OUT or to standard output.",
    (FormField("least", "At least", Input.NUMBER, default="1", help="Minimum number of stars."),),
    ("silo export star-list myrepo best.txt --least 4",),
    write=_write,
    ending="txt",
    media_type="text/plain; charset=utf-8",
)
