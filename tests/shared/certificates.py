"""A certificate for tests of TLS."""

import subprocess
from pathlib import Path


def self_signed(directory: Path) -> Path:
    """Make a certificate for 127.0.0.1 with its key, signed by itself; return its file."""
    path = directory / "self.pem"
    crt = path.with_suffix(".crt")
    command = [
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
        "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(path), "-out", str(crt),
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + crt.read_bytes())
    return path
