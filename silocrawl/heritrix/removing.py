"""Takes a job away with its files, which REST cannot: where its directory can be reached."""

import shutil
from pathlib import Path

from silocrawl.heritrix.client import Heritrix
from silocrawl.heritrix.errors import ActionRefused, HeritrixJobNotFound
from silocrawl.heritrix.states import HeritrixState

_ARCHIVES = (".warc", ".warc.gz", ".arc", ".arc.gz", ".open")


def remove_job(client: Heritrix, name: str, jobs: str, *, with_archives: bool = False) -> None:
    """Delete the directory of a job, and let Heritrix forget it; after a kill, do it again.

    Args:
        name: The job.
        jobs: The directory of Heritrix's jobs, as this machine has it; it is only believed if
            the job in it has the configuration that Heritrix tells of.
        with_archives: Delete WARC files too.

    Raises:
        HeritrixJobNotFound: There is none of that name.
        ActionRefused: It is not torn down, has WARC files, or is not in that directory.
        OSError: The files cannot be deleted.
    """
    job, directory = client.job(name), Path(jobs) / name
    if job.state is not HeritrixState.UNBUILT:
        raise ActionRefused(f"the job {name} is {job.state}; tear it down first")
    configuration = directory / Path(job.configuration).name
    is_own = not directory.is_symlink() and configuration.is_file()
    if not is_own or configuration.read_bytes() != client.read(name, configuration.name):
        where = Path(job.configuration).parent
        raise ActionRefused(
            f"{directory} is not the job {name}: on the machine of Heritrix it is {where}"
        )
    archives = sum(one.name.endswith(_ARCHIVES) for one in directory.rglob("*") if one.is_file())
    if archives and not with_archives:
        raise ActionRefused(
            f"the job {name} has {archives:,} WARC files; package them, or give --with-archives"
        )
    for one in directory.iterdir():
        if one.is_dir() and not one.is_symlink():
            shutil.rmtree(one)
        elif one != configuration:  # the last one, so that the same command can go on
            one.unlink()
    configuration.unlink()
    directory.rmdir()
    client.rescan()
    try:
        job = client.job(name)
    except HeritrixJobNotFound:
        return
    raise ActionRefused(f"the files of {name} are deleted, but Heritrix still tells of it")
