"""The client is usable without a Silo, and as cheap to load."""

import subprocess
import sys


def test_the_client_loads_no_store_no_arrays_and_no_command_line():
    program = "import sys; from oaipmhclient import Client; print(*sys.modules)"
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name.partition(".")[0] for name in said.stdout.split()}
    assert {"oaipmhclient", "politeweb"} <= loaded
    assert not loaded & {"recordsilo", "oaipmhscraper", "silowork", "numpy", "click", "rich"}
