"""The steps of packages, from queue to queue; each may be done again after it was killed.

A message says only which package it is about. What is done is what the package lacks: its state is
noted when a step has ended, and the message is acknowledged after that, together with the next one.
One process works on the packages of a Silo at a time.
"""

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from recordsilo.disk.locks import Locks
from silocrawl.beside import working_beside
from silocrawl.errors import CrawlingError, MessageInvalid
from silocrawl.messages import (
    PACKAGE_QUEUES,
    TO_CDX,
    TO_CHECK,
    TO_PACKAGE,
    TO_SIP,
    TO_SUBMIT,
    TO_VERIFY,
)
from silocrawl.packages.building import begin, build, delete_local, load_checkpoint
from silocrawl.packages.describing import describe
from silocrawl.packages.indexing import index
from silocrawl.packages.kept import has_package, keep_package, load_package, load_packages
from silocrawl.packages.layout import receipt_name
from silocrawl.packages.merging import check_merged
from silocrawl.packages.settings import StoreSettings, load_settings, store_address
from silocrawl.packages.store import FileStore, open_store
from silocrawl.packages.submitting import submit
from silocrawl.packages.values import (
    Package,
    PackageLater,
    PackageState,
    PackagingError,
    Told,
    checkpoint_of,
    package_id_of,
    package_message,
)
from silocrawl.packages.verifying import verify, verify_again
from silocrawl.packages.work import PackageWork
from silowork.queues.steps import MessageFailed, MessageLater, MessageRefused, QueueStep
from silowork.queues.values import Message, MessageState, Queued, Queues

MOST_TRIES, SECONDS_OF_A_STEP = 5, 2 * 86_400.0
_SECONDS_UNTIL_FREE, _MOST_MESSAGES = 5.0, 100_000
_LOCK = "packages"
_MOST_RECEIPTS = 5
"""That are looked for in a store, so that a package may be taken out of it."""

logger = logging.getLogger("silocrawl")


@dataclass(frozen=True, slots=True)
class Step:
    """A step of packages.

    Attributes:
        queue: Of the messages of packages that lack it.
        state: Which it brings a package to.
        work: Does it.
    """

    queue: str
    state: PackageState
    work: Callable[[PackageWork, StoreSettings], Package]


def check_access(work: PackageWork, settings: StoreSettings) -> Package:
    """Delete the archives here if that is wanted; then see whether all nodes have the package."""
    if settings.delete_local:
        delete_local(work)
    return check_merged(work, settings)


STEPS = (
    Step(TO_PACKAGE, PackageState.PACKAGED, build),
    Step(TO_SIP, PackageState.DESCRIBED, describe),
    Step(TO_SUBMIT, PackageState.SUBMITTED, submit),
    Step(TO_CDX, PackageState.INDEXED, index),
    Step(TO_VERIFY, PackageState.VERIFIED, verify),
    Step(TO_CHECK, PackageState.MERGED, check_access),
)
_NEXT = dict(zip(PACKAGE_QUEUES, (*PACKAGE_QUEUES[1:], ""), strict=True))


@contextmanager
def working_alone(silo_path: str, *, waits: bool = True) -> Iterator[bool]:
    """Work on the packages of a Silo during the block.

    Args:
        waits: Whether to wait for the end of a step of another process.

    Yields:
        Whether it may.
    """
    locks = Locks.of_silo(silo_path)
    if waits:
        with locks.hold_name(_LOCK):
            yield True
    else:
        with locks.hold_name_if_free(_LOCK) as is_free:
            yield is_free


def begun(silo_path: str, message: Queued, settings: StoreSettings) -> Package:
    """Return the package of a message, which begins with its checkpoint.

    Raises:
        MessageInvalid: It names none.
        PackagingError: Its checkpoint is not there, is damaged, or lacks a WARC file.
        NotVerified: It was well once, and is not now.
    """
    package_id = package_id_of(message.body)
    if has_package(silo_path, package_id):
        found = load_package(silo_path, package_id)
        if found.is_unwell:
            found = verify_again(silo_path, found)
        return moved(silo_path, found, settings)
    name, directory = checkpoint_of(message.body)
    checkpoint = load_checkpoint(silo_path, name, directory)
    if checkpoint.package_id != package_id:
        raise MessageInvalid(f"the checkpoint {name} is that of {checkpoint.package_id}")
    return begin(silo_path, checkpoint, settings, store_address(silo_path, settings))


def moved(silo_path: str, package: Package, settings: StoreSettings) -> Package:
    """A package that has only begun goes to the store that is named now."""
    if package.has(PackageState.PACKAGED) or not settings.store:
        return package
    store = store_address(silo_path, settings)
    if store == package.store:
        return package
    warcs = tuple(replace(one, size=-1, sha512="") for one in package.warcs)
    return keep_package(silo_path, replace(package, store=store, warcs=warcs))


def is_finished(package: Package, settings: StoreSettings) -> bool:
    """Whether no step has anything to do with a package any more."""
    if settings.delete_local and any(os.path.lexists(one.path) for one in package.warcs):
        return False
    return (
        package.has(PackageState.MERGED if settings.nodes else PackageState.VERIFIED)
        and not package.error
    )


def advance(
    silo_path: str, package: Package, step: Step, settings: StoreSettings,
    told: Told = lambda _: None,
) -> Package:  # fmt: skip
    """Do a step of a package that lacks it, and note it; the caller works alone.

    Raises:
        PackagingError: It failed; the package notes why.
        PackageLater: It waits for others.
        OSError: The disk refused.
    """
    if package.has(step.state):
        return package
    try:
        work = PackageWork(silo_path, package, _store_of(silo_path, package), told)
        found = step.work(work, settings)
    except (PackagingError, OSError) as error:
        known = load_package(silo_path, package.id)  # what the step has noted so far
        keep_package(silo_path, replace(known, error=str(error)))
        raise
    if step.state is PackageState.MERGED and not settings.nodes:  # nobody is to have it
        return found if not found.error else keep_package(silo_path, replace(found, error=""))
    return keep_package(silo_path, found.reached(step.state, datetime.now(UTC)))


def _store_of(silo_path: str, package: Package) -> FileStore:
    """Open the store of a package; it is made only if it is to get the first one of the Silo.

    The directory in which a disk is mounted is there without the disk, too, and empty.
    """
    if package.has(PackageState.PACKAGED):
        return open_store(package.store)
    known = load_packages(silo_path)[0]
    there = [one for one in known if one.store == package.store and one.has(PackageState.SUBMITTED)]
    store = open_store(package.store, is_new=not there)
    last = there[-_MOST_RECEIPTS:]
    if last and all(store.size(receipt_name(one.id)) is None for one in last):
        raise PackagingError(
            f"the store {store.address} has no receipt of {last[-1].id}, which was submitted to it;"
            " mount its disk, or correct the address"
        )
    return store


# --------------------------------------------------------------------------- by messages


def queue_steps(silo_path: str) -> list[QueueStep]:
    """Return the steps for `run_steps`; packages that are further come first."""
    return [
        QueueStep(step.queue, partial(work_on, silo_path), most=1, seconds=SECONDS_OF_A_STEP)
        for step in reversed(STEPS)
    ]


def packaging(silo_path: str, lease: float) -> AbstractContextManager[None]:
    """Work on packages in a child while the block runs, if the Silo names a store for them."""
    try:
        settings = load_settings(silo_path)
    except PackagingError as error:
        logger.warning("nothing is packaged: %s", error)
        return nullcontext()
    if not settings.store:
        return nullcontext()
    return working_beside(silo_path, queue_steps(silo_path), lease, "nothing is packaged")


def work_on(silo_path: str, message: Queued) -> list[Message]:
    """Do the step of a message; return the message of the next one.

    Raises:
        MessageRefused, MessageFailed, MessageLater: See there.
        OSError: The disk refused.
    """
    step = next(one for one in STEPS if one.queue == message.queue)
    with working_alone(silo_path, waits=False) as may:
        if not may:
            raise MessageLater(_SECONDS_UNTIL_FREE)
        try:
            settings = load_settings(silo_path)
            package = begun(silo_path, message, settings)
            return following(step.queue, advance(silo_path, package, step, settings))
        except PackageLater as error:
            raise MessageLater(error.seconds) from None
        except MessageInvalid as error:
            raise MessageRefused(str(error)) from None
        except CrawlingError as error:
            kind = MessageRefused if message.tries >= MOST_TRIES else MessageFailed
            raise kind(str(error)) from None


def following(queue: str, package: Package) -> list[Message]:
    """The message that follows from one of a queue."""
    return [package_message(_NEXT[queue], package)] if _NEXT[queue] else []


# --------------------------------------------------------------------------- in the foreground


def finish(
    silo_path: str,
    queues: Queues,
    message: Message,
    settings: StoreSettings,
    told: Told = lambda _: None,
) -> tuple[Package, str]:
    """Do all steps that a package lacks, and acknowledge its messages; the caller works alone.

    Args:
        queues: The Silo's own queues.
        message: That of its checkpoint.
        settings: In place of those of the Silo.
        told: Gets the number of bytes worked on since the last call.

    Returns:
        The package, and what it waits for; empty if for nothing.

    Raises:
        MessageInvalid, PackagingError: A step failed; its message waits to be tried again.
        OSError: The disk refused.
    """
    queues.put([message])
    package = begun(silo_path, Queued(message.queue, "", message.key, message.body, 1), settings)
    for step in STEPS:
        try:
            package = advance(silo_path, package, step, settings, told)
        except PackageLater as error:
            return package, str(error)
        queues.done(_messages(queues, step.queue, package.id), following(step.queue, package))
    return package, ""


def _messages(queues: Queues, queue: str, package_id: str) -> Sequence[Queued]:
    """The messages of a package in a queue, also those that failed."""
    return [
        one
        for state in MessageState
        for one in queues.peek(queue, state, _MOST_MESSAGES)
        if one.key == package_id
    ]
