"""Uploaded files that are previewed before they are applied.

They are kept in ``.silo/uploads/staged`` for a day, under a name that cannot be guessed. So
exactly the previewed file is applied, even if the page was restarted in between.
"""

import contextlib
import json
import os
import re
import secrets
import time
from collections.abc import Mapping

from recordsilo.disk.atomic_file import replace_file
from webui.http.errors import NotFound
from webui.site import Site

_TOKEN = re.compile(r"[0-9a-f]{32}")
_KEPT_SECONDS = 24 * 3600


def keep(site: Site, about: Mapping[str, str], content: bytes) -> str:
    """Keep a file for a day; return its token.

    Args:
        about: What the file is for, such as its fields.
    """
    directory = _directory(site)
    os.makedirs(directory, exist_ok=True)
    _forget_old(directory)
    token = secrets.token_hex(16)
    replace_file(os.path.join(directory, token + ".bin"), content)
    replace_file(os.path.join(directory, token + ".json"), json.dumps(dict(about)).encode())
    return token


def load(site: Site, token: str) -> tuple[dict[str, str], bytes]:
    """Return a kept file.

    Raises:
        NotFound: No such file, or it has expired.
    """
    path = os.path.join(_directory(site), token)
    try:
        if not _TOKEN.fullmatch(token):
            raise FileNotFoundError(token)
        with open(path + ".json", "rb") as about, open(path + ".bin", "rb") as content:
            return json.load(about), content.read()
    except FileNotFoundError:
        raise NotFound(
            "This file no longer exists, because uploads are kept for one day. Upload it again."
        ) from None


def forget(site: Site, token: str) -> None:
    """Delete a kept file."""
    for ending in (".json", ".bin"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(_directory(site), token + ending))


def _forget_old(directory: str) -> None:
    oldest = time.time() - _KEPT_SECONDS
    with os.scandir(directory) as entries:
        for entry in entries:
            with contextlib.suppress(FileNotFoundError):
                if entry.stat(follow_symlinks=False).st_mtime < oldest:
                    os.unlink(entry.path)


def _directory(site: Site) -> str:
    return os.path.join(site.spool_dir, "staged")
