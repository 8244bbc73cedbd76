"""Errors a door answers itself, in the shape dispatch gives to its own.

What it keeps true: an unexpected exception never reaches a client as text. The client gets kind `internal`
and an id; the same id stands on standard error with the exception's type and places, without arguments or
values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hivekeep.dispatch.call import NOT_COMMITTED, UNKNOWN, typed_error
from hivekeep.dispatch.run import failed_entry

if TYPE_CHECKING:
    from hivekeep_contract.errors import HivekeepError


def entry(error: HivekeepError, tool: str | None = None) -> dict[str, Any]:
    """The failure entry of a request without entries: `{ok, tool, domain_disposition, error}`.

    Such a request reached no handler, unless the error says that its operations were executed.
    """
    return failed_entry(tool, error, UNKNOWN if error.fields.get("executed") else NOT_COMMITTED)


def unexpected(failure: Exception) -> HivekeepError:
    """The typed error that stands for an exception nobody foresaw; its id is logged with type and places."""
    return typed_error(failure, "door")
