"""Whether a deposit is as this export left it, by what the server gives back of it (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass

from siloexport.targets.sword import entry as entries
from siloexport.targets.sword.client import There
from siloexport.targets.sword.package import PackageContent
from siloexport.values import UnfinishedDeposit

SLUG, STEPS, CREATES, MEDIA = "slug", "steps", "creates", "media"
"""Names of facts in the ledger: what was sent, where, and whether in steps."""


@dataclass(frozen=True, slots=True)
class DepositLook:
    """A deposit there with its content; None if the server does not give content back."""

    there: There
    content: PackageContent | None

    @property
    def sealed(self) -> str:
        """The key that its description names; or ``""``."""
        return entries.sealed(self.there.receipt.terms)[1]

    @property
    def own(self) -> str:
        """The key of the deposit if all is as an export left it; else ``""``.

        The content has the files that it says, and the description, where the server gives it
        back, is the one that was sent with it.
        """
        if self.content is None or not self.content.is_untouched:
            return ""
        if self.sealed and (
            self.sealed != self.content.key
            or entries.described_there(self.there.receipt.terms)
            != self.content.about.get("described")
        ):
            return ""
        return self.content.key

    def is_result(self, left: UnfinishedDeposit) -> bool:
        """Whether an unfinished deposit is there as a whole.

        If the server does not give back content, that is known only of a deposit that was
        created in one request: it is there by its Slug, and was not before.
        """
        if self.content is not None:
            return (
                self.content.is_untouched
                and self.content.key == left.key
                and self.sealed in {left.key, ""}
            )
        is_one_request = bool(left.facts.get(SLUG)) and not left.facts.get(STEPS)
        return self.sealed in {left.key, ""} and is_one_request

    def is_half_made(self, lefts: Sequence[UnfinishedDeposit]) -> bool:
        """Whether an interrupted creation of this export left it without its content."""
        if any(left.facts.get(CREATES) == self.there.edit for left in lefts):
            return True
        if not any(left.facts.get(STEPS) for left in lefts):
            return False
        is_empty = self.content is None or not (self.content.files or self.content.about)
        return is_empty and not self.sealed

    def is_half_replaced(self, lefts: Sequence[UnfinishedDeposit]) -> bool:
        """Whether an interrupted replacement by this export left new content there."""
        content = self.content
        if content is None or not content.is_untouched:
            return False
        return any(left.key == content.key for left in lefts)
