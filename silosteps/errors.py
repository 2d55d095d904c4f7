"""What can go wrong below a step: one class each, one sentence each."""


class StepsError(Exception):
    """Anything these rooms refuse or cannot do; its text is meant for the operator."""


class InputUnreadable(StepsError):
    """A file cannot be opened or decompressed, or breaks off in the middle."""

    def __init__(self, name: str, reason: str) -> None:
        self.name, self.reason = name, reason
        super().__init__(f"{name} cannot be read: {reason}")


class PackageMissing(StepsError):
    """A package is needed that the base install does not bring."""

    def __init__(self, purpose: str, package: str) -> None:
        self.package = package
        super().__init__(f"{purpose} needs the package {package}: pip install {package}")


class StepFileInvalid(StepsError):
    """A file of steps is not as `silosteps.step_file` describes."""


class WorkerDied(StepsError):
    """A process that worked on an input was killed; its work is not done."""
