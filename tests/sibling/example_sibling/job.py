"""A job: give stars to all records without stars."""

from example_sibling.stars import give_stars, read_stars
from recordsilo import Silo
from silowork.errors import JobRefused
from silowork.forms import Field, Input, JobForm
from silowork.values import Ending
from silowork.work import Asked, Fields, Kind, Work


def _run(work: Work) -> Ending:
    number = int(work.arguments["number"])
    with Silo(work.silo_path, create=False) as silo:
        known = read_stars(silo.path)
        given = {name: number for name in silo if name not in known}
        give_stars(silo.path, given)
    work.advanced(len(given), len(given))
    return Ending(True, f"{len(given)} records have {number} stars now", counts={"new": len(given)})


def _read(fields: Fields, _silo_path: str, _records: int) -> Asked:
    number = fields.get("number", "3")
    if number not in {"0", "1", "2", "3", "4", "5"}:
        raise JobRefused("the number of stars (number) must be from 0 to 5")
    return Asked(f"Give {number} stars", {"number": number})


_NUMBER = Field("number", "Stars", Input.NUMBER, default="3", least=0, most=5)
_FORM = JobForm("Give stars to all", "To records that have none.", "Stars", (_NUMBER,))
STAR_ALL = Kind(
    "star-all", "Give stars to all", _run, lane="stars", read=_read, form=lambda _path: _FORM
)
