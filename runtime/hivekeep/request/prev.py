"""References become values: the arguments of a chained operation, filled from the result before it.

The result is the canonical (verbose) one. A value taken out of it is copied, so no operation can change what
an earlier one answered.
"""

import copy
from collections.abc import Callable
from typing import Any

from hivekeep.request.json_values import depth_exceeds, type_name
from hivekeep.request.plan import PrevRef
from hivekeep_contract.errors import PrevReferenceFailed, ResultTooDeep
from hivekeep_contract.limits import RESULT_DEPTH_LIMIT

_FIELDS_SHOWN = 100


def substitute(args: dict[str, Any], prev_result: Any, takes_container: Callable[[str], bool]) -> dict[str, Any]:
    """Replace every `PrevRef` in `args`, at any depth, by what it names in `prev_result`.

    `takes_container(name)` says whether that parameter accepts an array or object; where it does not, a
    reference to one is refused here with the fields it has, because that is nearly always a forgotten
    `.id`. Raises PrevReferenceFailed (nothing ran), and ResultTooDeep for a container nested over the
    limit.
    """
    return {name: _argument(name, value, prev_result, takes_container) for name, value in args.items()}


def _argument(name: str, value: Any, prev_result: Any, takes_container: Callable[[str], bool]) -> Any:
    filled = _fill(value, prev_result)
    if isinstance(value, PrevRef) and isinstance(filled, (dict, list)) and not takes_container(name):
        raise _failed(
            value,
            f"argument {name!r} takes a single value and this is {type_name(filled)}; name a part of it.",
            value.text,
            filled,
        )
    return filled


def _fill(value: Any, prev_result: Any) -> Any:
    if isinstance(value, PrevRef):
        return _detach(_resolve(value, prev_result))
    if isinstance(value, list):
        return [_fill(member, prev_result) for member in value]
    if isinstance(value, dict):
        return {key: _fill(member, prev_result) for key, member in value.items()}
    return value


def _detach(value: Any) -> Any:
    if not isinstance(value, (dict, list)):
        return value
    if depth_exceeds(value, RESULT_DEPTH_LIMIT):
        raise ResultTooDeep(
            f"the result before is nested deeper than {RESULT_DEPTH_LIMIT} containers and cannot be passed on"
        )
    return copy.deepcopy(value)


def _resolve(reference: PrevRef, prev_result: Any) -> Any:
    here, walked = prev_result, "$prev"
    for step in reference.steps:
        if isinstance(step, str):
            here = _field(reference, here, walked, step)
        else:
            here = _element(reference, here, walked, step)
        walked += _spell(step)
    return here


def _field(reference: PrevRef, here: Any, walked: str, name: str) -> Any:
    if not isinstance(here, dict):
        problem = f"{walked} is {type_name(here)}, expected an object for {_spell(name)!r}."
    elif name not in here:
        problem = f"{walked} has no field {name!r}."
    else:
        return here[name]
    raise _failed(reference, problem, walked, here)


def _element(reference: PrevRef, here: Any, walked: str, index: int) -> Any:
    if not isinstance(here, list):
        problem = f"{walked} is {type_name(here)}, expected an array for {_spell(index)!r}."
    elif index >= len(here):
        problem = f"{walked} has no index {index}."
    else:
        return here[index]
    raise _failed(reference, problem, walked, here)


def _failed(reference: PrevRef, problem: str, walked: str, here: Any) -> PrevReferenceFailed:
    return PrevReferenceFailed(
        f"{reference.text} cannot be resolved: {problem}{_available(here)}",
        details={"reference": reference.text, "walked": walked},
    )


def _available(here: Any) -> str:
    """What there is to choose from at the point where the walk stopped."""
    if isinstance(here, dict):
        names = sorted(here)
        more = ["..."] if len(names) > _FIELDS_SHOWN else []
        return f" Available top-level fields: [{', '.join(names[:_FIELDS_SHOWN] + more)}]"
    if isinstance(here, list):
        return f" The array has {len(here)} elements."
    return ""


def _spell(step: str | int) -> str:
    return f".{step}" if isinstance(step, str) else f"[{step}]"
