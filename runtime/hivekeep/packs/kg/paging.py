"""Limits of pages: what was asked for, what is used, and whether the two differ."""

from typing import NamedTuple

from hivekeep_contract.models import kg as models


class Limit(NamedTuple):
    """The size of one page."""

    requested: int
    effective: int

    @property
    def clamped(self) -> bool:
        """Whether the cap was lower than what was asked for."""
        return self.requested != self.effective

    def report(self) -> models.Page:
        """The three fields that every page carries."""
        return {
            "requested_limit": self.requested,
            "effective_limit": self.effective,
            "limit_clamped": self.clamped,
        }


def clamp(requested: int, cap: int) -> Limit:
    """The page size for a request under a cap."""
    return Limit(requested, min(requested, cap))
