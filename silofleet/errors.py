"""Errors of a fleet: one hierarchy, each message one sentence."""

import os
from collections.abc import Collection


class FleetError(Exception):
    """Base of everything this package raises."""


class NotAFleet(FleetError):
    """The directory has no fleet."""

    def __init__(self, directory: str, *, is_silo: bool = False) -> None:
        super().__init__(
            f"{directory} is a Silo; a fleet is a directory of Silos"
            if is_silo
            else f"{directory} is not a fleet; to make one: silo fleet init {directory}"
        )


class FleetRefused(FleetError):
    """A request that cannot be carried out; nothing was changed."""


class NoConnection(FleetRefused):
    """A machine cannot be reached by ssh, or not any more."""

    def __init__(self, host: str, other: str, reason: str) -> None:
        said = f"ssh from {host} to {other} fails" if host else f"ssh to {other} fails"
        advice = ""
        if "Permission denied" in reason or "verification failed" in reason:
            there = "there, " if host else ""
            advice = f'; {there}"ssh {other} true" must end without a question'
        super().__init__(f"{said}: {reason}{advice}")


class NoSuchEndpoint(FleetRefused):
    """The fleet has no endpoint of that name, or none or several of that address."""

    def __init__(self, name: str, near: str = "", several: Collection[str] = ()) -> None:
        meant = f"; did you mean {near}?" if near else ""
        super().__init__(
            f"{name} is the address of {len(several)} endpoints; give a name:"
            f" {', '.join(sorted(several))}"
            if several
            else f"the fleet has no endpoint {name!r}{meant}"
        )


class EndpointMoving(FleetRefused):
    """The Silo of an endpoint is being moved to another node."""

    def __init__(self, name: str, target: str) -> None:
        super().__init__(
            f"the Silo of {name} is being moved to {target}; to go on with that:"
            f" silo fleet move DIR {name} --to {target}"
        )


class WishesInvalid(FleetError):
    """The file of wishes cannot be read."""


class FleetStateUnreadable(FleetError):
    """The file of the fleet's state is damaged, or of a later version of the program."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(
            f"{path} cannot be read ({reason}); make it again from the receipts of the Silos:"
            f" silo fleet rebuild {os.path.dirname(os.path.dirname(path))}"
        )


class StateMissing(FleetError):
    """A fleet has wishes and no state."""

    def __init__(self, directory: str, path: str) -> None:
        super().__init__(
            f"there is no {path}; to make it from the receipts: silo fleet rebuild {directory}"
        )


class ClockRunning(FleetError):
    """Another process runs the fleet."""

    def __init__(self, directory: str) -> None:
        super().__init__(
            f"another process is running the fleet {directory}, and a fleet has one scheduler"
        )


class BrokerUnreachable(FleetError):
    """The Redis of a fleet does not answer."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the broker cannot be reached: {reason}")


class BrokerOfAnother(FleetRefused):
    """The Redis belongs to another fleet."""

    def __init__(self, key: str, path: str) -> None:
        super().__init__(
            f"the broker belongs to another fleet than {path} names; name another database of the"
            f" Redis, such as redis://host/1. If that fleet is gone, delete its key {key}"
            f" (redis-cli del {key}); if this one was rebuilt elsewhere, delete {path}"
        )
