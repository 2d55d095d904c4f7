"""What a Silo has, to compare it with another one."""

import json
import os
from typing import Any


def contents(directory: str) -> dict[str, Any]:
    """Every file under the pairtree; manifests without the time of their writing."""
    found: dict[str, Any] = {}
    root = os.path.join(directory, "pairtree_root")
    for place, _, names in os.walk(root):
        for name in names:
            path = os.path.join(place, name)
            with open(path, "rb") as file:
                content = file.read()
            found[os.path.relpath(path, root)] = (
                _timeless(content) if name == "__manifest.json" else content
            )
    return found


def _timeless(content: bytes) -> Any:
    manifest = json.loads(content)
    del manifest["checksum"]
    manifest.pop("changed", None)
    for origin in manifest["origins"].values():
        del origin["date"]
    return manifest
