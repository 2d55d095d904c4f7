"""The import of access logs as a kind of job, for schedules and for several workers.

The logs are those that ``logs`` in ``usage.toml`` names: no form can name a file of the server.
"""

from dataclasses import replace

from recordsilo.extras import PackageMissing
from recordsilo.wording import counted
from silosteps.errors import StepsError
from silowork.errors import JobRefused
from silowork.forms import JobForm
from silowork.values import Ending, Problem
from silowork.work import Asked, Fields, Kind, Work
from usagestats.errors import UsageError
from usagestats.packages import check_extra
from usagestats.rules.settings import logs_of, read_settings
from usagestats.settings import check_settings
from usagestats.values import Fate


def run(work: Work) -> Ending:
    """Import the logs, and count.

    Raises:
        Interrupted: The job was asked to end; another run continues.
        PackageMissing: The extra is not installed.
    """
    check_extra()
    # The engine is loaded here: the page reads the kinds of all jobs.
    from usagestats.importing.importing import ImportRequest, import_logs  # noqa: PLC0415

    def show(_name: str, lines: int) -> None:
        work.advanced(lines)
        work.end_if_asked()

    logs = logs_of(work.silo_path, read_settings(work.silo_path))
    receipt = import_logs(work.silo_path, ImportRequest(logs), progress=show)
    problems = [Problem("", sentence) for sentence in receipt.failed]
    if receipt.nothing_fits:
        problems.append(Problem("", "no pattern fits any path; see usage/usage.toml"))
    problems += [
        Problem("", f"the expression {one!r} of usage/usage.toml took too long and was left out")
        for one in receipt.left_out
    ]
    problems += [
        Problem("", f"{counted(number, 'line')} {'is' if number == 1 else 'are'} {what}")
        for what, number in (
            ("unreadable", receipt.number(Fate.UNREADABLE)),
            ("of frozen days", sum(receipt.late.values())),
        )
        if number
    ]
    counts = {"lines": receipt.lines, **{str(fate): receipt.number(fate) for fate in Fate}}
    return Ending(receipt.whole, receipt.text(), receipt.as_json(), counts, problems)


def _form(silo_path: str) -> JobForm:
    """The logs are listed as the settings name them."""
    form = JobForm(
        "Import access logs",
        "Count how the records are used, from the access logs of the web server.",
        "Usage",
        note="Logs, as usage/usage.toml names them:",
        see=("/usage", "Usage"),
        order=40,
    )
    try:
        _asked({}, silo_path, 0)
        return replace(form, listed=tuple(read_settings(silo_path).logs))
    except JobRefused as error:
        return replace(form, note="", fault=str(error))


def _asked(_fields: Fields, silo_path: str, _records: int) -> Asked:
    try:
        check_settings(silo_path)
        logs = logs_of(silo_path, read_settings(silo_path))
    except UsageError as error:
        raise JobRefused(str(error)) from None
    if not logs:
        raise JobRefused(
            "name the access logs in usage/usage.toml of the Silo, such as "
            "logs = ['/var/log/apache2/access.log*']"
        )
    return Asked("Import access logs", {})


USAGE_IMPORT = Kind(
    "usage-import", "Import access logs", run, lane="usage",
    foreseen=(UsageError, StepsError, PackageMissing),
    read=_asked, form=_form, begun="Import of access logs started", result="lines", did="{n} lines",
)  # fmt: skip
