"""Rows of the published tables: constants, fields, parameters, shapes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tools.generate.describe import default_text, describe_bounds, type_text
from tools.generate.html import slug
from tools.generate.model import Contract, Expr, Field, ListOf, Param, Shape, ShapeUse, Word
from tools.generate.sentences import when_text


def cell(text: object) -> str:
    """Text that may stand in one cell of a Markdown table."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def code(text: str) -> str:
    """Text in such a cell that is set as code."""
    return f"`{cell(text)}`"


def constant_row(name: str, entry: Mapping[str, Any]) -> dict[str, str]:
    """A constant with its value as a reader writes it."""
    value = entry["value"]
    if isinstance(value, dict):
        shown = ", ".join(f"{key} {_constant(item)}" for key, item in value.items())
    elif isinstance(value, str):
        # As JSON: a separator of line breaks would otherwise break the row.
        shown = f"`{json.dumps(value, ensure_ascii=False)}`"
    else:
        shown = _constant(value)
    return {"name": name, "value": shown, "doc": entry["doc"]}


def _constant(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def shape_row(contract: Contract, shape: Shape) -> dict[str, Any]:
    """A named shape with its fields, and the anchor of its heading."""
    return {
        "name": shape.name.partition(".")[2],
        "title": f"Shape {shape.name}",
        "anchor": slug(f"Shape {shape.name}", set()),
        "doc": shape.doc,
        "open": shape.open,
        "fields": field_rows(contract, shape.fields),
    }


def field_rows(contract: Contract, fields: tuple[Field, ...], prefix: str = "") -> list[dict[str, str]]:
    """A row for each field; the fields of an object written in place follow it as `edges[].weight`."""
    rows: list[dict[str, str]] = []
    for field in fields:
        presence = "may be missing" if field.optional else "always"
        name = prefix + field.name
        rows.append({"name": name, **_type(field.word), "presence": presence, "doc": field.doc})
        rows += field_rows(contract, *_inline(contract, field.word.expr, name))
    return rows


def _inline(contract: Contract, expr: Expr, name: str) -> tuple[tuple[Field, ...], str]:
    if isinstance(expr, ListOf):
        return _inline(contract, expr.item.expr, f"{name}[]")
    if isinstance(expr, ShapeUse) and expr.inline:
        return contract.shapes[expr.shape].fields, f"{name}."
    return (), ""


def param_rows(contract: Contract, params: tuple[Param, ...]) -> list[dict[str, str]]:
    """A row for each parameter; the fields of an object written in place follow it."""
    rows: list[dict[str, str]] = []
    for param in params:
        rows.append(_param(param))
        for row in field_rows(contract, *_inline(contract, param.word.expr, param.name)):
            default = "required" if row["presence"] == "always" else "optional"
            rows.append({**row, "default": default})
    return rows


def _type(word: Word) -> dict[str, str]:
    """A type as text, and as Markdown."""
    text = type_text(word)
    return {"type": text, "shown": code(text)}


def _param(param: Param) -> dict[str, str]:
    facts = [param.doc]
    bounds = describe_bounds(param.word.bounds)
    if bounds:
        facts.append(f"{bounds[0].upper()}{bounds[1:]}.")
    if param.scope:
        facts.append(f"Only for {' and '.join(param.scope)}.")
    if param.needs:
        facts.append(f"Needs `{param.needs}`.")
    if param.when:
        facts.append(f"Only {when_text(param.when)}.")
    if param.word.nullable:
        facts.append("`null` is a value.")
    if param.aliases:
        facts.append(f"Also named {', '.join(f'`{alias}`' for alias in param.aliases)}.")
    return {
        "name": param.name,
        **_type(param.word),
        "default": default_text(param),
        "doc": " ".join(facts),
    }
