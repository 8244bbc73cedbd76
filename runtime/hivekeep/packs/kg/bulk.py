"""What bulk create and bulk link have in common: entries that are judged one by one before anything is written.

Invariant: a refused entry has written nothing, because all entries are judged before the first one is stored. So when
the call is not atomic it is enough to leave the refused ones out, and one transaction holds the others and the audit
row: what the answer says of each entry is what was committed.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from hivekeep.packs.context import Context
from hivekeep_contract.errors import HivekeepError, InvalidInput
from hivekeep_contract.models import kg as models

T = TypeVar("T")


def judge(
    entries: Sequence[dict[str, Any]], prepare: Callable[[dict[str, Any]], T], *, param: str, atomic: bool
) -> list[T | HivekeepError]:
    """What `prepare` makes of each entry, or the error it raised; when atomic the first error ends the call.

    That error is raised again as it was, its message led by the place of the entry (`items[3]`).
    """
    judged: list[T | HivekeepError] = []
    for index, entry in enumerate(entries):
        try:
            judged.append(prepare(entry))
        except HivekeepError as error:
            if atomic:
                raise _at(f"{param}[{index}]", error) from None
            judged.append(error)
    return judged


def _at(place: str, error: HivekeepError) -> HivekeepError:
    return type(error)(f"{place}: {error.message}", details=error.details, code=error.code, **error.fields)


def failure(error: HivekeepError) -> models.ItemError:
    """The error of a refused entry."""
    return cast("models.ItemError", {**error.body(), "domain_disposition": "not_committed"})


def refuse_others(ctx: Context, args: object, param: str, accepted: Iterable[str]) -> None:
    """Refuse arguments that describe one record beside the list `param`; raises InvalidInput that names the first."""
    allowed = (param, *accepted)
    for name in sorted(ctx.given.difference(allowed)):
        if getattr(args, name) is not None:
            raise InvalidInput(
                f"{ctx.verb}: {name!r} belongs into each of {param} when {param} is given; "
                f"accepted beside it: {', '.join(accepted)}"
            )
