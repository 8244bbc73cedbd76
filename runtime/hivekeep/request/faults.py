"""How a refusal of the request language is worded: kind first, then the place, then what to do."""

from hivekeep_contract.errors import ParseError
from hivekeep_contract.limits import ERROR_MESSAGE_MAX_CHARS


def fault(kind: str, position: int | None, text: str, **fields: object) -> ParseError:
    """Build the error of one kind of `hivekeep_contract.request.DSL_ERRORS`.

    `position` counts characters from the start of the `ops` string (0-based); None where no single place is
    at fault. `fields` are the counts and names the kind carries (`count`, `max`, `found`, `expected`, ...).
    Message and fields are cut: a refusal must not repeat a megabyte of input.
    """
    for name, value in fields.items():
        if isinstance(value, str):
            fields[name] = value[:ERROR_MESSAGE_MAX_CHARS]
    place = "" if position is None else f" at position {position}"
    if position is not None:
        fields["position"] = position
    message = f"{kind}{place}: {text}"[:ERROR_MESSAGE_MAX_CHARS]
    return ParseError(message, details=None, reason="parse-error", dsl_error=kind, **fields)


def misplaced(text: str, position: int, expected: str, hint: str = "") -> ParseError:
    """The fault for a character, or the end of the text, standing where `expected` is needed."""
    more = f"; {hint}" if hint else ""
    if position >= len(text):
        return fault("UnexpectedEof", position, f"the text ends where {expected} is needed{more}", expected=expected)
    found = text[position]
    return fault(
        "UnexpectedChar",
        position,
        f"found {found!r}, expected {expected}{more}",
        found=found,
        expected=expected,
    )


def unclosed(text: str, position: int, opened: int, expected: str, hint: str = "") -> ParseError:
    """The fault for a bracket opened at `opened` that meets the end of the text or a foreign character."""
    if position >= len(text):
        return fault("UnclosedBracket", opened, f"{text[opened]!r} is never closed", expected=expected)
    return misplaced(text, position, expected, hint)
