"""The fields of the `request` tool beside `ops`: closed, checked before anything is parsed or run."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from hivekeep.request.json_values import type_name
from hivekeep.request.suggest import did_you_mean
from hivekeep_contract.errors import InvalidParams
from hivekeep_contract.request import ENVELOPE_FIELDS, FORMATS, PRESENTATIONS, Format, Presentation

_SHOWN = 60

Word = TypeVar("Word", bound=str)


class ToolCall(NamedTuple):
    """One call of the `request` tool, every field checked and defaulted."""

    ops: str
    presentation: Presentation
    presentation_per_op: tuple[Presentation | None, ...] = ()
    format: Format = "json"
    format_per_op: tuple[Format | None, ...] = ()
    save_to: str | None = None
    request_id: int | None = None

    def presentation_of(self, index: int) -> Presentation:
        """The presentation of the operation at `index` (0-based)."""
        if not self.presentation_per_op:
            return self.presentation
        return _of(self.presentation_per_op, index) or self.presentation

    def format_of(self, index: int) -> Format:
        """The output format of the operation at `index` (0-based)."""
        if not self.format_per_op:
            return self.format
        return _of(self.format_per_op, index) or self.format

    def check_lengths(self, count: int) -> None:
        """Refuse a per-operation list longer than the request; raises InvalidParams."""
        if not self.presentation_per_op and not self.format_per_op:
            return
        for name, given in (
            ("presentation_per_op", self.presentation_per_op),
            ("format_per_op", self.format_per_op),
        ):
            if len(given) > count:
                raise InvalidParams(f"{name} has {len(given)} entries, but the request has {count} operations")


def parse_tool_call(arguments: Mapping[str, Any], *, default_presentation: Presentation = "agent") -> ToolCall:
    """Check the arguments object of one tool call; null stands for an absent optional field.

    `default_presentation` is "agent" for the tool and "verbose" for the command line. Raises InvalidParams.
    """
    for name in arguments:
        if name not in ENVELOPE_FIELDS:
            hint = did_you_mean(name, ENVELOPE_FIELDS) or "."
            fields = ", ".join(ENVELOPE_FIELDS)
            raise InvalidParams(f"unknown field {name[:_SHOWN]!r}{hint} The fields are {fields}")
    ops = arguments.get("ops")
    if not isinstance(ops, str):
        raise InvalidParams(f"ops must be a string of operations, not {type_name(ops)}")
    save_to = arguments.get("save_to")
    if save_to is not None and not (isinstance(save_to, str) and save_to.strip()):
        raise InvalidParams("save_to must be a file path that is not blank")
    return ToolCall(
        ops=ops,
        presentation=_choice(arguments, "presentation", PRESENTATIONS) or default_presentation,
        presentation_per_op=_choices(arguments, "presentation_per_op", PRESENTATIONS),
        format=_choice(arguments, "format", FORMATS) or "json",
        format_per_op=_choices(arguments, "format_per_op", FORMATS),
        save_to=save_to,
        request_id=_request_id(arguments.get("request_id")),
    )


def _of(per_op: tuple[Word | None, ...], index: int) -> Word | None:
    return per_op[index] if index < len(per_op) else None


def _choice(arguments: Mapping[str, Any], name: str, choices: tuple[Word, ...]) -> Word | None:
    value = arguments.get(name)
    return None if value is None else _checked(value, name, choices)


def _choices(arguments: Mapping[str, Any], name: str, choices: tuple[Word, ...]) -> tuple[Word | None, ...]:
    values = arguments.get(name)
    if values is None:
        return ()
    if not isinstance(values, list):
        raise InvalidParams(f"{name} must be an array with one entry an operation, not {type_name(values)}")
    return tuple(
        None if value is None else _checked(value, f"{name}[{index}]", choices) for index, value in enumerate(values)
    )


def _checked(value: Any, name: str, choices: tuple[Word, ...]) -> Word:
    for choice in choices:
        if value == choice:
            return choice
    given = f"{value!r}{did_you_mean(value, choices)}" if isinstance(value, str) else type_name(value)
    raise InvalidParams(f"{name} must be one of {', '.join(choices)}, not {given}")


def _request_id(value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value == 0:
        raise InvalidParams("request_id must be an integer other than 0")
    return value
