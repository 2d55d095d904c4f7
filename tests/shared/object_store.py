"""An object store for tests: in memory, or moto's S3 on loopback."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import fsspec
import pytest
import requests

BUCKET = "warcs"
STORE = f"s3://{BUCKET}/fleet"


@contextmanager
def s3_server() -> Iterator[str]:
    """moto's S3 with a bucket; the address of its service."""
    from moto.server import ThreadedMotoServer  # noqa: PLC0415  # takes a second

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    requests.post(f"{address}/moto-api/reset", timeout=30)  # what an earlier test left
    try:
        yield address
    finally:
        server.stop()


def use_s3(patch: pytest.MonkeyPatch, address: str) -> None:
    """Let this process, and those that it starts, use a service."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        patch.delenv(name, raising=False)
    patch.setenv("AWS_ENDPOINT_URL", address)
    patch.setenv("AWS_ACCESS_KEY_ID", "AKIATESTS")
    patch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-tests")
    patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    patch.setenv("AWS_MAX_ATTEMPTS", "1")
    patch.setenv("AWS_CONFIG_FILE", "/dev/null")
    fsspec.get_filesystem_class("s3").clear_instance_cache()


def memory_files(patch: pytest.MonkeyPatch) -> Any:
    """The files of ``memory://``, emptied, which the program accepts for this test."""
    from filestores import schemes  # noqa: PLC0415

    patch.setattr(schemes, "SCHEMES", frozenset({"memory", "s3"}))
    files = fsspec.filesystem("memory")
    files.store.clear()
    return files
