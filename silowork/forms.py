"""Forms that start jobs, as values: a package describes one, the page draws and reads it (pure)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

Choices: TypeAlias = tuple[tuple[str, str], ...]
"""Values, each with its label in English."""


class Input(StrEnum):
    """The type of a field."""

    TEXT = "text"
    NUMBER = "number"
    URL = "url"
    DATE = "date"
    CHOICE = "choice"
    TEXTS = "texts"
    """Several texts: a repeatable option; in a form, separated by spaces."""
    TICK = "tick"
    """A box: ``yes`` if it is ticked, else the field is missing."""
    TICKS = "ticks"
    """A box for each choice; that of a value is the field ``NAME-VALUE``, as in `TICK`."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a form.

    Attributes:
        name: In the form; ``kind``, ``when`` and ``at`` are the page's.
        label: In English.
        input: Type of the value.
        required: Whether it must have a value.
        default: The value if the field is empty; for `Input.TICKS`, the values that are ticked,
            separated by spaces.
        choices: For `Input.CHOICE` and `Input.TICKS`.
        others: For `Input.TICKS`, the field in which a text names values that are no choice,
            separated by spaces; it may name choices, too.
        help: A sentence below the field.
        pattern: Regular expression that a text matches completely.
        least, most: Bounds of a number.
    """

    name: str
    label: str
    input: Input = Input.TEXT
    required: bool = False
    default: str = ""
    choices: Choices = ()
    others: str = ""
    help: str = ""
    pattern: str = ""
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True, slots=True)
class JobForm:
    """The form that starts jobs of one kind.

    Attributes:
        heading: Its heading, and the label of its button, in English.
        explained: What the job does, in a sentence.
        group: The heading that it is listed below.
        fields: In their order.
        note: A sentence above the fields.
        listed: Texts below the note, such as the names of what is read.
        fault: Why no job can be started now; a sentence, instead of the fields.
        see: Where its results are: an address of the page and its label.
        order: Of the forms, and so of their groups.
    """

    heading: str
    explained: str
    group: str
    fields: tuple[Field, ...] = ()
    note: str = ""
    listed: tuple[str, ...] = ()
    fault: str = ""
    see: tuple[str, str] | None = None
    order: int = 60
