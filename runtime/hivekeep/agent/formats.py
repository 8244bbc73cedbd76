"""The formats of texts that the schemas of the gateway name, for the validator and for texts outside of a body.

Invariant: a checker accepts exactly what the printed type promises, also without the schema around it. JSON Schema
counts characters and knows no calendar; the gateway counts UTF-16 units and refuses the 30th of February.
Source: gateway rules, scalars.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from hivekeep_contract.gateway import TEXT_FORMATS, TextFormat

Checker = Callable[[str], bool]


def utf16_units(text: str) -> int:
    """How many UTF-16 code units a text has; a character beyond U+FFFF has two."""
    return len(text) + sum(character > "\uffff" for character in text)


def _checker(text_format: TextFormat) -> Checker:
    matches = re.compile(text_format.pattern).fullmatch
    units_max = text_format.units_max
    if units_max is None:
        return lambda text: matches(text) is not None
    # the length comes first: it bounds what the pattern looks at
    return lambda text: len(text) <= units_max and matches(text) is not None and utf16_units(text) <= units_max


def _on_the_calendar(in_form: Checker) -> Checker:
    def check(text: str) -> bool:
        if not in_form(text):
            return False
        try:
            datetime.fromisoformat(text)
        except ValueError:
            return False
        return True

    return check


#: By the name of the format, as jsonschema-rs takes them.
FORMATS: dict[str, Checker] = {name: _checker(text_format) for name, text_format in TEXT_FORMATS.items()}
FORMATS["gateway_timestamp"] = _on_the_calendar(FORMATS["gateway_timestamp"])
