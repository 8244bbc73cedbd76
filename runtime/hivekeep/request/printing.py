"""Plan in, text out: the canonical spelling, which `dsl.parse` reads back as the same plan."""

import json
from typing import Any

from hivekeep.request.plan import Op, Plan, PrevRef
from hivekeep.request.references import protect
from hivekeep.request.tokens import is_identifier


def print_plan(plan: Plan) -> str:
    """Print a plan so that `parse(print_plan(plan)) == plan`.

    The function-call form is used, except for argument names that only JSON can spell. Raises ValueError for
    a value that is not JSON (NaN, infinity).
    """
    if all(is_identifier(name) for op in plan.ops for name in op.args):
        calls = [_call(op) for op in plan.ops]
        if plan.mode == "parallel":
            return f"[{', '.join(calls)}]"
        return " | ".join(calls)
    operations = [f'{{"tool": {_value(op.verb)}, "args": {_value(op.args)}}}' for op in plan.ops]
    return f"[{', '.join(operations)}]" if plan.mode == "parallel" else operations[0]


def _call(op: Op) -> str:
    return f"{op.verb}({', '.join(f'{name}={_value(value)}' for name, value in op.args.items())})"


def _value(value: Any) -> str:
    if isinstance(value, PrevRef):
        return value.text
    if isinstance(value, str):
        return _plain(protect(value))
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_plain(key)}: {_value(member)}' for key, member in value.items())}}}"
    return _plain(value)


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
