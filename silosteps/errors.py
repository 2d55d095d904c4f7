"""Errors of this package: a class for each cause, with one sentence."""


class StepsError(Exception):
    """Base class; the text is for the operator."""


class DiskFull(StepsError):
    """The disk of the files that a step writes has no space left.

    Args:
        place: The directory of the step's temporary files.
        step: Its name.
    """

    def __init__(self, place: str, step: str) -> None:
        self.place, self.step = place, step
        super().__init__(
            f"no space left on the disk (at step {step}, whose temporary files are in {place}); "
            "make room, then the same command continues"
        )


class InputUnreadable(StepsError):
    """A file cannot be opened or decompressed, or is truncated."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason
        super().__init__(f"{name} cannot be read: {reason}")


class DirectoryUnusable(StepsError):
    """A directory has a name that the engine cannot use."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"the name {path} is not UTF-8, which DuckDB needs; use another directory")


class StepFileInvalid(StepsError):
    """A file of steps does not have the form that `silosteps.step_file` describes."""


class WorkerDied(StepsError):
    """A process that worked on an input was killed; its work is incomplete."""
