"""The installed part of the provider has nothing that only tests use."""

import pkgutil
import subprocess
import sys

import oaipmhprovider


def test_every_module_is_used_by_the_demo_or_by_the_command() -> None:
    installed = {
        found.name for found in pkgutil.walk_packages(oaipmhprovider.__path__, "oaipmhprovider.")
    }
    script = (
        "import sys, webui.demo, siloprovider.commands, oaipmhprovider.__main__;print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    assert installed - set(loaded) == set()
