"""The reports, their metrics and columns, and exceptions (pure).

Source: COUNTER Code of Practice 5.1, sections 4.1 and 4.4, appendix D.
"""

from collections.abc import Collection
from dataclasses import dataclass

RELEASE = "5.1"
WORLD_ID, WORLD = "0000000000000000", "The World"
"""Customer of reports that are not about the readers of one institution."""
ITEM_METRICS = (
    "Total_Item_Investigations",
    "Total_Item_Requests",
    "Unique_Item_Investigations",
    "Unique_Item_Requests",
)
FIGURE_OF_METRIC = {
    "Total_Item_Investigations": "total_investigations",
    "Total_Item_Requests": "total_requests",
    "Unique_Item_Investigations": "unique_investigations",
    "Unique_Item_Requests": "unique_requests",
}
REGULAR, MACHINE = "Regular", "TDM"
"""Access methods. Release 5.1 has no other name for access by machines than TDM."""
ACCESS_METHODS = (REGULAR, MACHINE)
ACCESS_TYPES = ("Controlled", "Open", "Free_To_Read")
DATA_TYPES = (
    "Article", "Audiovisual", "Book_Segment", "Conference_Item", "Database_Full_Item", "Dataset",
    "Image", "Interactive_Resource", "Multimedia", "News_Item", "Other", "Patent",
    "Reference_Item", "Report", "Software", "Sound", "Standard", "Thesis_or_Dissertation",
    "Unspecified",
)  # fmt: skip
"""Data types of items (section 3.3.2)."""
MULTIMEDIA = ("Audiovisual", "Image", "Interactive_Resource", "Multimedia", "Sound")
PLATFORM_DATA_TYPES = tuple(
    sorted((
        *DATA_TYPES, "Book", "Conference", "Journal", "Newspaper_or_Newsletter", "Platform",
        "Reference_Work",
    ))
)  # fmt: skip
"""Data types that a filter of the Platform Report may name; repositories have those of items."""
PARENT_DATA_TYPES = {
    "Article": "Journal", "Book_Segment": "Book", "Conference_Item": "Conference",
    "News_Item": "Newspaper_or_Newsletter", "Reference_Item": "Reference_Work",
}  # fmt: skip
"""Data type of an item → that of its parent (table 3.q); other items have none."""
NO_YEAR, ALL_YEARS = "0001", "0001-9999"
"""Year of publication of an item whose year is unknown (section 3.3.7), and the default filter."""

ITEM_COLUMNS = (
    "Item", "Publisher", "Publisher_ID", "Platform", "Authors", "Publication_Date",
    "Article_Version", "DOI", "Proprietary_ID", "ISBN", "Print_ISSN", "Online_ISSN", "URI",
    "Parent_Title", "Parent_Authors", "Parent_Publication_Date", "Parent_Article_Version",
    "Parent_Data_Type", "Parent_DOI", "Parent_Proprietary_ID", "Parent_ISBN",
    "Parent_Print_ISSN", "Parent_Online_ISSN", "Parent_URI", "Data_Type", "YOP", "Access_Type",
    "Access_Method",
)  # fmt: skip
"""The columns of item reports in their order (table 4.p), without those of components."""
PLATFORM_COLUMNS = ("Platform", "Data_Type", "Access_Method")
ITEM_ATTRIBUTES = (
    "Authors", "Publication_Date", "Article_Version", "YOP", "Access_Type", "Access_Method",
)  # fmt: skip
_PARENT_COLUMNS = frozenset(one for one in ITEM_COLUMNS if one.startswith("Parent_"))


@dataclass(frozen=True, slots=True)
class Definition:
    """A report.

    Attributes:
        report_id: Such as ``IR_A1``.
        name: As in the header.
        about: A sentence for a list of reports.
        by_item: Whether it has a row for each item, not only for each type of data.
        metrics: Those that are counted here.
        named_metrics: Those that the header of a standard view names; empty for others.
        uncounted_metrics: Those that the report may have besides, but nobody counts here.
        attributes: Columns that may be asked for (Attributes_To_Show).
        data_types: The only types of data of a standard view; empty: all.
        left_out: Columns that a standard view does not have.
    """

    report_id: str
    name: str
    about: str
    by_item: bool
    metrics: tuple[str, ...]
    named_metrics: tuple[str, ...] = ()
    uncounted_metrics: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    data_types: tuple[str, ...] = ()
    left_out: frozenset[str] = frozenset()

    @property
    def is_view(self) -> bool:
        """Whether it is a standard view, whose filters are fixed."""
        return bool(self.named_metrics)

    @property
    def all_columns(self) -> tuple[str, ...]:
        """Every column that it may have before the metric, in order."""
        known = ITEM_COLUMNS if self.by_item else PLATFORM_COLUMNS
        return tuple(one for one in known if one not in self.left_out)

    def columns(self, shown: Collection[str], *, parents: bool) -> tuple[str, ...]:
        """Return the columns before the metric, in order.

        Args:
            shown: Those of `attributes` that were asked for.
            parents: Whether the parents of items were asked for.
        """
        if self.is_view:
            return self.all_columns
        hidden = {one for one in self.attributes if one not in shown}
        hidden |= frozenset() if parents else _PARENT_COLUMNS
        return tuple(one for one in self.all_columns if one not in hidden)


REQUESTS = ("Total_Item_Requests", "Unique_Item_Requests")
REPORTS = {
    one.report_id: one
    for one in (
        Definition(
            "PR", "Platform Report", "Usage of the whole site by type of data.", False,
            ITEM_METRICS, attributes=("Access_Method",), uncounted_metrics=(
                "Searches_Platform", "Unique_Title_Investigations", "Unique_Title_Requests",
            ),
        ),
        Definition(
            "PR_P1", "Platform Usage", "Requests of the whole site by type of data.", False,
            REQUESTS, ("Searches_Platform", *REQUESTS, "Unique_Title_Requests"),
            left_out=frozenset({"Access_Method"}),
        ),
        Definition(
            "IR", "Item Report", "Usage of each item.", True, ITEM_METRICS,
            attributes=ITEM_ATTRIBUTES, uncounted_metrics=("Limit_Exceeded", "No_License"),
        ),
        Definition(
            "IR_A1", "Journal Article Requests", "Requests of each journal article.", True,
            REQUESTS, REQUESTS, data_types=("Article",), left_out=frozenset({
                "ISBN", "Parent_Publication_Date", "Parent_Data_Type", "Parent_ISBN",
                "Data_Type", "YOP", "Access_Method",
            }),
        ),
        Definition(
            "IR_M1", "Multimedia Item Requests", "Requests of each multimedia item.", True,
            REQUESTS, REQUESTS, data_types=MULTIMEDIA, left_out=_PARENT_COLUMNS | {
                "Authors", "Publication_Date", "Article_Version", "ISBN", "Print_ISSN",
                "Online_ISSN", "YOP", "Access_Type", "Access_Method",
            },
        ),
    )
}  # fmt: skip

EXCEPTIONS = {
    1000: (503, "Service Not Available"),
    1030: (400, "Insufficient Information to Process Request"),
    2010: (403, "Requestor is Not Authorized to Access Usage for Institution"),
    3020: (400, "Invalid Date Arguments"),
    3030: (200, "No Usage Available for Requested Dates"),
    3031: (200, "Usage Not Ready for Requested Dates"),
    3032: (200, "Usage No Longer Available for Requested Dates"),
    3040: (200, "Partial Data Returned"),
    3050: (200, "Parameter Not Recognized in this Context"),
    3060: (200, "Invalid ReportFilter Value"),
    3062: (200, "Invalid ReportAttribute Value"),
    3063: (200, "Components Not Supported"),
}
"""Code → HTTP status and message (table D.1)."""
PARTIAL = 3040
ROBOTS_NOTE, SPIKE_WARNING = 0, 1
"""Codes of our own: a note, and a warning (table D.1 leaves 1 to 999 to services)."""


@dataclass(frozen=True, slots=True)
class ReportNotice:
    """An exception in the sense of COUNTER: an error, a warning or a note."""

    code: int
    message: str
    data: str = ""

    @classmethod
    def of(cls, code: int, data: str = "") -> "ReportNotice":
        """Make a standard exception."""
        return cls(code, EXCEPTIONS[code][1], data)

    @property
    def status(self) -> int:
        """HTTP status of a response that has only this exception."""
        return EXCEPTIONS[self.code][0] if self.code in EXCEPTIONS else 200

    def as_json(self) -> dict[str, object]:
        """The exception as the API writes it."""
        found: dict[str, object] = {"Code": self.code, "Message": self.message}
        return {**found, "Data": self.data} if self.data else found

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" ({self.data})" if self.data else "")
