"""Refuse Silos on network file systems, where SQLite and locks do not hold between machines.

Source: proc(5), ``/proc/pid/mountinfo``; https://www.sqlite.org/wal.html, section 1.
"""

import os
import re

from recordsilo.errors import OnNetworkDisk

MOUNTS = "/proc/self/mountinfo"
_TYPES = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "glusterfs", "gpfs", "lustre", "ncpfs",
    "nfs", "nfs4", "orangefs", "pvfs2", "smb3", "smbfs", "wekafs",
    "fuse.ceph", "fuse.ceph-fuse", "fuse.davfs2", "fuse.glusterfs", "fuse.juicefs", "fuse.mfs",
    "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "fuse.smbnetfs", "fuse.gcsfuse", "fuse.goofys",
})  # fmt: skip
_ESCAPE = re.compile(r"\\([0-7]{3})")


def refuse_network_disk(path: str, *, forced: bool = False) -> None:
    """Refuse a directory on a network file system.

    Nothing is refused where the system does not tell its file systems (without ``/proc``).

    Args:
        path: A directory, or the place of one.
        forced: Refuse nothing.

    Raises:
        OnNetworkDisk: Several machines may share the directory.
    """
    if forced:
        return
    try:
        with open(MOUNTS, encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read().splitlines()
    except OSError:
        return
    kind = file_system_of(os.path.realpath(path), lines)
    if kind in _TYPES:
        raise OnNetworkDisk(path, kind)


def file_system_of(path: str, mounts: list[str]) -> str:
    """Return the type of the file system that has a path, such as ``ext4``; ``""`` if unknown.

    Args:
        path: Absolute, without links.
        mounts: The lines of a ``mountinfo``; later mounts hide earlier ones.
    """
    found, length = "", 0
    for line in mounts:
        left, _, right = line.partition(" - ")
        fields, kind = left.split(" "), right.partition(" ")[0]
        if len(fields) > 4:
            point = unescaped(fields[4]).rstrip("/")
            if len(point) >= length and (path + "/").startswith(point + "/"):
                found, length = kind, len(point)
    return found


def unescaped(text: str) -> str:
    """Return a field of a table of file systems, which has blanks as octal numbers."""
    return _ESCAPE.sub(lambda octal: chr(int(octal[1], 8)), text)
