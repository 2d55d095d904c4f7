"""Makes jobs of targets in a Heritrix, and takes up those that a kill has ended."""

import os

from politeweb.addresses import is_loopback, parts_of
from silocrawl.heritrix.client import LATEST, ActionResult, Heritrix
from silocrawl.heritrix.errors import ActionRefused
from silocrawl.heritrix.jobs import FRESH, JobPlan, configuration
from silocrawl.heritrix.noted import note
from silocrawl.heritrix.states import HeritrixAction, HeritrixJob, HeritrixState
from silowork.queues.values import Queues

CONFIGURATION = "crawler-beans.cxml"


def make_job(heritrix: Heritrix, queues: Queues, plan: JobPlan, jobs: str = "") -> HeritrixJob:
    """Make a job and build it; what a kill has ended is made again.

    Args:
        heritrix: Where.
        queues: Where the target of the job is noted.
        plan: What it is to be like.
        jobs: See `directory_of`.

    Raises:
        ActionRefused: There is such a job, with a configuration of its own; or it cannot be built.
        ProfileUnknown: The profile of the Heritrix is not known.
    """
    heritrix.create(plan.name)
    profile = heritrix.read(plan.name, CONFIGURATION)
    if FRESH.encode() not in profile:
        raise ActionRefused(
            f"there is a job {plan.name} already, with a configuration of its own;"
            " give another name, or remove it first"
        )
    made = configuration(profile, plan)
    note(queues, plan.name, target=plan.target.name)
    heritrix.write(plan.name, CONFIGURATION, made)
    job = heritrix.act(plan.name, HeritrixAction.BUILD).job
    note_directory(queues, heritrix.url, job, jobs)
    return job


def resume_job(heritrix: Heritrix, name: str) -> ActionResult:
    """Let a job go on from its last checkpoint, if it does not run.

    Raises:
        ActionRefused: It ended, or has no checkpoint.
    """
    job = heritrix.job(name)
    if job.is_active:
        return ActionResult(job, is_new=False)
    if job.state is HeritrixState.FINISHED:
        raise ActionRefused(
            f"the job {name} has ended: {job.description}; to go on from its last checkpoint, tear"
            " it down first"
        )
    return heritrix.launch(name, LATEST)


def note_directory(queues: Queues, url: str, job: HeritrixJob, jobs: str = "") -> None:
    """Note where on this machine's disk the archives of a job are, if they are; see `noted`."""
    if found := directory_of(url, job, jobs):
        note(queues, job.name, directory=found)


def directory_of(url: str, job: HeritrixJob, jobs: str = "") -> str:
    """Where on this machine's disk a job is; empty if it is not.

    Args:
        url: Of the Heritrix. Only one of this machine is believed where its jobs are.
        jobs: The directory of its jobs, as this machine sees it; empty if nobody has said so.
    """
    if jobs:
        directory = os.path.join(os.path.abspath(jobs), job.name)
    elif is_loopback(parts_of(url).hostname or "") and os.path.isabs(job.configuration):
        directory = os.path.dirname(job.configuration)
    else:
        return ""
    return directory if os.path.isdir(directory) else ""
