"""Words as English, for tables, descriptions and refusals."""

from __future__ import annotations

import json
from typing import Any

from tools.generate.model import GATEWAY, AnyOf, Bounds, EnumUse, ListOf, MapOf, Param, Scalar, ShapeUse, Word


def type_text(word: Word) -> str:
    """The type column of a table: `array<id>`, `"a" | "b"`, `kg.entity`."""
    text = _expr_text(word)
    return f"{text} | null" if word.nullable else text


def accepts(word: Word) -> str:
    """A noun phrase that completes "must be": `a number from 0.0 to 1.0`."""
    expr = word.expr
    text: str
    if isinstance(expr, Scalar):
        text = expr.accepts
    elif isinstance(expr, EnumUse):
        text = f"one of {', '.join(enum_words(expr))}"
    elif isinstance(expr, ListOf):
        text = f"a list, each item {accepts(expr.item)}"
    elif isinstance(expr, MapOf):
        text = f"an object, each value {accepts(expr.value)}"
    elif isinstance(expr, AnyOf):
        text = ", or ".join(dict.fromkeys(accepts(option) for option in expr.options))
    else:
        text = "an object"
    bounds = "" if word.bounds.clamp else describe_bounds(word.bounds)
    return f"{text} ({bounds})" if bounds else text


def enum_words(use: EnumUse) -> list[str]:
    """Values, then the aliases that are not just another case of one."""
    folded = {value.lower() for value in use.values}
    return [word for word in use.accepted if word in use.values or word.lower() not in folded]


def describe_bounds(bounds: Bounds) -> str:
    """`1 to 100`, `at most 512 bytes`, `clamped to 1..1000`."""
    values = bounds.values
    if bounds.clamp and values:
        return f"clamped to {number(values.get('min', 0))}..{number(values['max'])}" if "max" in values else ""
    facts = [
        _range(values.get("min"), values.get("max"), ""),
        _range(values.get("min_items"), values.get("max_items"), " items"),
        _range(values.get("min_length"), values.get("max_length"), " characters"),
        _range(None, values.get("max_bytes"), " bytes"),
    ]
    return ", ".join(fact for fact in facts if fact)


def number(value: float) -> str:
    """A number as a reader writes it."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def default_text(param: Param) -> str:
    """The required/default column: `required`, a JSON default, or nothing."""
    if param.required:
        return "required"
    return f"`{json_text(param.default)}`" if param.has_default else "optional"


def json_text(value: Any) -> str:
    """A JSON value on one line."""
    return json.dumps(value, ensure_ascii=False)


def _range(low: float | None, high: float | None, unit: str) -> str:
    if low is not None and high is not None:
        return f"{number(low)} to {number(high)}{unit}"
    if high is not None:
        return f"at most {number(high)}{unit}"
    return f"at least {number(low)}{unit}" if low is not None else ""


def _enum_text(use: EnumUse) -> str:
    """The values; the name of a whole enum of the gateway, where some have dozens."""
    room, _, name = use.enum.name.rpartition(".")
    if room == GATEWAY and use.values == tuple(use.enum.values):
        return name
    return " | ".join(f'"{value}"' for value in use.values)


def _expr_text(word: Word) -> str:
    expr = word.expr
    if isinstance(expr, Scalar):
        return expr.name
    if isinstance(expr, EnumUse):
        return expr.enum.name if expr.enum.lenient else _enum_text(expr)
    if isinstance(expr, ListOf):
        return f"array<{type_text(expr.item)}>"
    if isinstance(expr, MapOf):
        return f"map<{type_text(expr.value)}>"
    if isinstance(expr, AnyOf):
        return " | ".join(type_text(option) for option in expr.options)
    if isinstance(expr, ShapeUse):
        return "object" if expr.inline else expr.shape.partition(".")[2]
    raise TypeError(expr)
