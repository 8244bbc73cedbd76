"""Looks at one value of an entry and says what is wrong with it.

Invariant: what passes can be stored, hashed and exported as it is; a refusal names a field by JSON pointer and never
repeats what was given.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from hivekeep.agent.formats import FORMATS
from hivekeep.request.json_values import depth_exceeds
from hivekeep_contract.gateway_errors import ValidationError
from hivekeep_contract.limits import SOURCE_MAPPING_MAX

ID_FORMAT = "gateway_id"
MOMENT_FORMAT = "gateway_timestamp"


def text(value: object, field: str, *, most: int, blank: bool = False) -> str:
    """A string of at most `most` characters that UTF-8 and the text indexes can hold; `blank` admits an empty one.

    Raises ValidationError.
    """
    if not isinstance(value, str):
        raise ValidationError("wrong_type", field=field)
    if not (blank or value.strip()) or not is_storable(value):
        raise ValidationError("wrong_value", field=field)
    if len(value) > most:
        raise ValidationError("too_long", field=field)
    return value


def is_storable(value: str) -> bool:
    """Whether a string has neither NUL nor half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def formatted(value: object, field: str, form: str) -> str:
    """A string of one of the gateway's formats. Raises ValidationError."""
    if not isinstance(value, str):
        raise ValidationError("wrong_type", field=field)
    if not FORMATS[form](value):
        raise ValidationError("wrong_value", field=field)
    return value


def identifier(value: object, field: str) -> str:
    """An id: not blank, at most 256 UTF-16 units, without control characters. Raises ValidationError."""
    return formatted(value, field, ID_FORMAT)


def mapping(value: object, field: str) -> str:
    """What a managed source calls one of its entries. Raises ValidationError."""
    return text(value, field, most=SOURCE_MAPPING_MAX)


def word(value: object, field: str, accepted: Collection[str]) -> str:
    """One of the accepted words. Raises ValidationError."""
    if not isinstance(value, str):
        raise ValidationError("wrong_type", field=field)
    if value not in accepted:
        raise ValidationError("wrong_value", field=field)
    return value


def confidence(value: object, field: str) -> float:
    """A number from 0 to 1. Raises ValidationError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValidationError("wrong_type", field=field)
    if not 0 <= value <= 1:
        raise ValidationError("wrong_value", field=field)
    return float(value)


def whole(value: object, field: str) -> int:
    """A positive integer. Raises ValidationError."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValidationError("wrong_type", field=field)
    if not 0 < value < 1 << 53:
        raise ValidationError("wrong_value", field=field)
    return value


def truth(value: object, field: str) -> bool:
    """A boolean. Raises ValidationError."""
    if not isinstance(value, bool):
        raise ValidationError("wrong_type", field=field)
    return value


def members(value: object, field: str, known: Collection[str]) -> dict[str, Any]:
    """An object whose keys are all known. Raises ValidationError, which does not name an unknown key."""
    if not isinstance(value, dict):
        raise ValidationError("wrong_type", field=field or None)
    if not value.keys() <= set(known):
        raise ValidationError("unknown_field", field=field or None)
    return value


def required(value: Mapping[str, Any], field: str, needed: Collection[str]) -> None:
    """Refuse an object that lacks a member. Raises ValidationError."""
    for name in needed:
        if name not in value:
            raise ValidationError("missing_field", field=f"{field}/{name}")


def items(value: object, field: str, *, most: int) -> list[Any]:
    """A list of at most `most` items. Raises ValidationError."""
    if not isinstance(value, list):
        raise ValidationError("wrong_type", field=field)
    if len(value) > most:
        raise ValidationError("too_long", field=field)
    return value


def relative_path(value: object, field: str, *, most: int) -> str:
    """A path below a repository, with slashes: an absolute one would say where somebody keeps it.

    Raises ValidationError.
    """
    path = text(value, field, most=most)
    if path.startswith(("/", "~", "\\")) or path[1:2] == ":" or ".." in path.replace("\\", "/").split("/"):
        raise ValidationError("wrong_value", field=field)
    return path


def free_json(value: object, field: str, *, depth: int) -> None:
    """Refuse a JSON value that nests deeper than `depth` or holds what cannot be stored. Raises ValidationError."""
    if depth_exceeds(value, depth):
        raise ValidationError("nested_too_deep", field=field)
    if not _can_be_stored(value):
        raise ValidationError("wrong_value", field=field)


def _can_be_stored(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(is_storable, value)) and all(map(_can_be_stored, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_can_be_stored, value))
    if isinstance(value, str):
        return is_storable(value)
    return not isinstance(value, float) or math.isfinite(value)
