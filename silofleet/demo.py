"""The part of `silo demo` that makes a fleet; what it needs is loaded when it runs."""

import os
import shlex

import click

from recordsilo import Silo
from recordsilo.cli import ExitCode, fail
from recordsilo.demos import DemoPart

_ENDPOINTS = {"sample-theses": "uketd_dc", "sample-articles": "pmc_fm"}
"""Name of an endpoint → the format that it is harvested in."""


def _run(silo_path: str, _site: str) -> None:
    """Harvest the sample as two endpoints of a fleet beside it, and show the commands."""
    from silofleet.commands.table import fleet  # noqa: PLC0415  # it loads the fleet

    def call(*words: str, shown: bool = True) -> None:
        if shown:
            click.echo(f"$ silo fleet {shlex.join(words)}")
        if code := fleet.main([*words], "silo fleet", standalone_mode=False):
            fail("not every harvest was whole; run the same command again", ExitCode(code))

    with Silo(silo_path, create=False) as silo:
        url = str(silo.state["base_oai_url"])
    many = f"{os.path.relpath(silo_path)}-fleet"
    is_new = not os.path.exists(many)
    call("init", many)
    for name, prefix in _ENDPOINTS.items():
        if is_new:
            call("add", many, url, "--name", name, "--prefix", prefix)
        else:
            call("readdress", many, name, url)  # its port may be another one today
    call("run", many, "--until-idle", "--quiet")
    call("status", many)
    click.echo(f"To see it as a page, afterwards: silo serve {shlex.quote(many)}")


FLEET = DemoPart(
    "fleet",
    "Harvest the sample as two endpoints of a fleet, too.",
    lambda: None,
    _run,
)
