"""Tell a directory below which a disk is to be mounted, and is not: a new Silo there is a mistake.

Source: fstab(5); proc(5), ``/proc/pid/mountinfo``. `os.path.ismount` does not know bind mounts.
"""

import os

from recordsilo.disk import network_disks

FSTAB = "/etc/fstab"


def unmounted_above(path: str) -> str:
    """Return where ``/etc/fstab`` mounts a disk that has a path, if it is not mounted; or ``""``.

    A disk that is not mounted by itself (``noauto``), such as a removable one, does not count.

    Args:
        path: A directory, or the place of one.
    """
    wanted, there = _points(FSTAB, 1), _points(network_disks.MOUNTS, 4)
    place = os.path.realpath(path)
    while there and place not in there and place != os.path.dirname(place):
        if place in wanted:
            return place
        place = os.path.dirname(place)
    return ""


def _points(table: str, column: int) -> set[str]:
    """The directories in a column of a table of the system; none if there is no table."""
    try:
        with open(table, encoding="utf-8", errors="surrogateescape") as file:
            lines = [line.split() for line in file if not line.lstrip().startswith("#")]
    except OSError:
        return set()
    found = {
        network_disks.unescaped(one[column])
        for one in lines
        if len(one) > column and not (table == FSTAB and "noauto" in ",".join(one[3:4]).split(","))
    }
    return {os.path.realpath(one) for one in found if one.startswith("/") and "\0" not in one}
