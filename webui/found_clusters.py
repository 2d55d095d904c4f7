"""The clusters that a page asks for, found once for several pages of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from recordsilo import Silo
from silocuration.review.clusters import Method
from silocuration.review.counts import CLUSTERED
from silocuration.review.variants import Variants, probable_variants
from webui.http.errors import BadRequest
from webui.http.messages import whole_number
from webui.timed_cache import TimedCache

_FOUND: TimedCache[list[Variants]] = TimedCache()


@dataclass(frozen=True, slots=True)
class AskedClusters:
    """Which clusters are looked for.

    Attributes:
        field: A key of `CLUSTERED`; empty for all.
        distance: See `silocuration.review.clusters.clusters`.
    """

    field: str
    method: Method
    distance: int

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> "AskedClusters":
        """Read the fields of an address or a form.

        Raises:
            BadRequest: One of them is wrong.
        """
        field = fields.get("field", "").strip()
        method = _method(fields.get("method", "").strip())
        distance = whole_number(fields.get("distance", "").strip() or "1", 1, 3)
        if distance is None:
            raise BadRequest(
                "{name} must be a number from {least} to {most}.", name="distance", least=1, most=3
            )
        return cls(clustered(field) if field else "", method, distance)

    @property
    def fields(self) -> dict[str, object]:
        """Itself, for addresses and forms."""
        return {"field": self.field, "method": self.method.value, "distance": self.distance}

    def found(self, silo: Silo) -> list[Variants]:
        """The clusters by which most records change first."""
        names = (self.field,) if self.field else tuple(CLUSTERED)
        return _FOUND.get(
            silo,
            (names, self.method, self.distance),
            lambda: probable_variants(silo, names, self.method, distance=self.distance),
        )


def forget_clusters(silo: Silo) -> None:
    """Look for clusters again, because something was decided."""
    _FOUND.forget(silo)


def clustered(name: str) -> str:
    """Check the name of a field.

    Raises:
        BadRequest: It has no clusters.
    """
    if name not in CLUSTERED:
        raise BadRequest(
            "Choose one of these fields: {known} (field).", known=", ".join(sorted(CLUSTERED))
        )
    return name


def _method(name: str) -> Method:
    try:
        return Method(name or Method.FINGERPRINT)
    except ValueError:
        raise BadRequest(
            "Unknown method; choose one of {known}.", known=", ".join(Method)
        ) from None
