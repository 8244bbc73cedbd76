"""The fields of a gateway request against the printed schemas: the body of a write, the query string of a read.

Invariant: a fault is told as a word of the contract and the place of a known field. No value and no unknown name of a
client is repeated (gateway rules, envelopes).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema_rs

from hivekeep.agent.formats import FORMATS
from hivekeep.dispatch.compiled import Schemas
from hivekeep_contract.gateway import Operation
from hivekeep_contract.gateway_errors import Reason, ValidationError

Pairs = Sequence[tuple[str, str]]

_SECTION = "gateway"
_BODIES = "bodies"
_QUERIES = "queries"
_WHOLE = re.compile(r"0|[1-9][0-9]{0,18}")
_REASONS: dict[str, Reason] = {
    "additionalProperties": "unknown_field",
    "required": "missing_field",
    "type": "wrong_type",
    "maxLength": "too_long",
    "maxItems": "too_long",
}
"""The word for a fault by the rule of the schema that it breaks; any other rule is about the value."""


class Fields:
    """The compiled schemas of all operations, each made when it is first needed."""

    def __init__(self) -> None:
        self._schemas = Schemas()
        self._validators: dict[tuple[str, str], jsonschema_rs.Draft202012Validator] = {}

    def check_body(self, operation: Operation, body: Mapping[str, Any]) -> None:
        """Raise ValidationError, with the place of the field, for a body that the operation does not take."""
        _check(self._validator(_BODIES, operation), body)

    def query(self, operation: Operation, pairs: Pairs) -> dict[str, Any]:
        """The fields of a query string by name, whole numbers as such.

        Raises ValidationError for a field that the operation does not take, that comes twice, or that has a value
        which it does not take.
        """
        types = {field.name: field.type for field in operation.query}
        fields: dict[str, Any] = {}
        for name, text in pairs:
            if name not in types:
                raise ValidationError("query_unknown")
            if name in fields:
                raise ValidationError("query_repeated", field=_pointer([name]))
            fields[name] = _number(text) if types[name] == "integer" else text
        for fault in self._validator(_QUERIES, operation).iter_errors(fields):
            raise ValidationError("query_value", field=_pointer(_place(fault)))
        return operation.defaults | fields

    def _validator(self, part: str, operation: Operation) -> jsonschema_rs.Draft202012Validator:
        key = (part, operation.name)
        found = self._validators.get(key)
        if found is None:
            schema = self._schemas[_SECTION][part][operation.name]
            found = jsonschema_rs.Draft202012Validator(schema, validate_formats=True, formats=FORMATS)
            self._validators[key] = found
        return found


def _check(validator: jsonschema_rs.Draft202012Validator, body: Mapping[str, Any]) -> None:
    """The first fault of a body; looked for only in one that has any."""
    if validator.is_valid(body):
        return
    fault = min(validator.iter_errors(body), key=lambda error: len(error.instance_path))
    raise ValidationError(_REASONS.get(_rule(fault), "wrong_value"), field=_pointer(_place(fault)))


def _rule(fault: jsonschema_rs.ValidationError) -> str:
    """The keyword that a value breaks."""
    return str(fault.schema_path[-1])


def _place(fault: jsonschema_rs.ValidationError) -> list[str | int]:
    """The steps to the field at fault, all of them names of the contract and places in lists."""
    place = list(fault.instance_path)
    if _rule(fault) == "required":
        place.append(fault.kind.property)  # type: ignore[attr-defined]
    return place


def _pointer(place: Sequence[str | int]) -> str | None:
    """A JSON pointer (RFC 6901); None for the whole."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in place) or None


def _number(text: str) -> int | str:
    """A whole number in plain decimal digits without leading zeros; any other text as it is, which no number is."""
    return int(text) if _WHOLE.fullmatch(text) else text
