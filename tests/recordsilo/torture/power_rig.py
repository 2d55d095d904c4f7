"""A file system with power failures: ext4 in an image file, shut down without a log flush.

The ioctl stops the file system where it is: nothing that is only in memory, neither
content nor journal, reaches the image any more, and every later call fails with EIO.
Mounting it again replays the journal, as after a power cut. It needs root.

What it is not: a medium that loses its own cache. Writes that reached the image stay.

Source: Linux, fs/ext4/ioctl.c, ``ext4_force_shutdown``; the number is that of XFS.
"""

import fcntl
import os
import shutil
import struct
import subprocess
import tempfile
import time
from functools import cache
from types import TracebackType

from recordsilo.disk.atomic_file import GroupBarrier

_GOINGDOWN = 0x8004587D  # FS_IOC_GOINGDOWN: _IOR('X', 125, __u32)
_NO_LOG_FLUSH = 2

GRADES_OF_EXT4 = {
    "ordered": "data=ordered",
    "writeback": "data=writeback,noauto_da_alloc",
}
"""How much of ext4's own caution is on: what it does by itself, and the least it can do."""


class PowerRig:
    """An image file with a file system, mounted from entry to exit.

    Args:
        directory: Where the image and the mount point are made.
        options: Of the mount.
        block_size: Of the file system, in bytes; None: as mkfs chooses.
        inodes: How many it has, with no block kept for root; None: as mkfs chooses.

    Attributes:
        path: The mount point.
    """

    def __init__(
        self,
        directory: str,
        options: str,
        megabytes: int = 512,
        block_size: int | None = None,
        inodes: int | None = None,
    ) -> None:
        self._make = ["-b", str(block_size)] if block_size else []
        self._make += ["-N", str(inodes), "-m", "0"] if inodes else []
        self.image, self.path = f"{directory}/image", f"{directory}/mounted"
        self._options, self._megabytes = options, megabytes
        self._mounted = False

    def __enter__(self) -> "PowerRig":
        os.mkdir(self.path)
        with open(self.image, "wb") as image:
            image.truncate(self._megabytes << 20)
        lazy = "lazy_itable_init=0,lazy_journal_init=0"
        _run("mkfs.ext4", "-q", "-F", *self._make, "-E", lazy, self.image)
        self._mount()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, at: TracebackType | None
    ) -> None:
        if self._mounted:
            self._unmount()
        os.unlink(self.image)

    def _mount(self) -> None:
        _run("mount", "-o", f"loop,{self._options}", self.image, self.path)
        self._mounted = True

    def _unmount(self) -> None:
        """The loop device, which mount made, is given back by the kernel at once."""
        for _ in range(50):
            if subprocess.run(["umount", self.path], capture_output=True, check=False).returncode:
                time.sleep(0.1)  # busy
            else:
                break
        else:
            _run("umount", "--lazy", self.path)
        self._mounted = False

    def cut(self) -> None:
        """Cut the power. Nothing can be flushed from then on, so nothing acknowledged."""
        fd = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(fd, _GOINGDOWN, struct.pack("I", _NO_LOG_FLUSH))
            for flush in (os.fsync, _syncfs):
                try:
                    flush(fd)
                except OSError:
                    continue
                raise AssertionError("flushed after the cut: this rig proves nothing")
        finally:
            os.close(fd)

    def power_on(self) -> None:
        """Mount what the cut left; every process that used it has to be gone."""
        self._unmount()
        self._mount()


def _syncfs(fd: int) -> None:
    GroupBarrier(f"/proc/self/fd/{fd}").flush()


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")


@cache
def why_not() -> str:
    """Why no power can be cut on this machine; empty where it can."""
    if os.geteuid() != 0:
        return "mounting an image needs root"
    if missing := [name for name in ("mkfs.ext4", "mount", "umount") if not shutil.which(name)]:
        return f"{missing[0]} is not installed"
    try:
        with (
            tempfile.TemporaryDirectory() as directory,
            PowerRig(directory, "data=ordered", megabytes=8) as rig,
        ):
            rig.cut()
    except OSError as error:
        return f"this machine does not let an image be mounted and shut down: {error}"
    return ""
