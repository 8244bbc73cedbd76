"""The JSON form: `{"tool": ..., "args": {...}}` or an array of such objects. Strict JSON, no chains."""

import json
import re
from typing import Any, NoReturn

from hivekeep.request.faults import fault, misplaced
from hivekeep.request.plan import Op, Plan
from hivekeep.request.references import names_prev, settle
from hivekeep.request.suggest import did_you_mean
from hivekeep.request.tokens import is_identifier, is_verb
from hivekeep.strict_json import finite_float, refuse_constant
from hivekeep_contract.errors import ParseError
from hivekeep_contract.limits import NESTING_DEPTH_LIMIT

_KEYS = ("tool", "args")
_decode = json.JSONDecoder(parse_float=finite_float, parse_constant=refuse_constant).raw_decode
# A string without its closing quote runs to the end: looking for another start inside it would take quadratic time.
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(text: str, start: int) -> Plan:
    """Parse the JSON form that fills `text` from `start`; `settle_references` is still to be applied.

    Raises ParseError: InvalidJson, NestingTooDeep, EmptyBatch, UnexpectedChar, InvalidIdentifier,
    UnsupportedVerbNesting.
    """
    _check_depth(text, start)
    value = _load(text, start)
    if isinstance(value, dict):
        return Plan("single", (_operation(value, 0, start),))
    if not value:
        raise fault("EmptyBatch", start, "the batch holds no operation")
    return Plan("parallel", tuple(_operation(member, index, start) for index, member in enumerate(value)))


def settle_references(plan: Plan, text: str) -> Plan:
    """Refuse `$prev` in any string value (PrevRefInJsonForm) and take the backslash from escaped ones."""
    if "$" not in text and "\\u" not in text:
        return plan
    ops = (
        Op(op.verb, {name: _settled(value, op.verb, name, text) for name, value in op.args.items()}) for op in plan.ops
    )
    return Plan(plan.mode, tuple(ops))


def _settled(value: Any, verb: str, argument: str, text: str) -> Any:
    if isinstance(value, str):
        if names_prev(value):
            _refuse_reference(value, verb, argument, text)
        return settle(value)
    if isinstance(value, list):
        return [_settled(member, verb, argument, text) for member in value]
    if isinstance(value, dict):
        return {key: _settled(member, verb, argument, text) for key, member in value.items()}
    return value


def _refuse_reference(value: str, verb: str, argument: str, text: str) -> NoReturn:
    # The decoded value no longer knows its place; a reference spelled with \u escapes has no exact one.
    position = max(text.find(f'"{value}"'), 0)
    raise fault(
        "PrevRefInJsonForm",
        position,
        f"argument {argument!r} of {verb!r} holds {value[:60]!r}, but the JSON form has no chains;"
        " write a chain a(...) | b(id=$prev.id), or escape a literal text with a backslash",
        argument=argument,
        verb=verb,
    )


def _check_depth(text: str, start: int) -> None:
    """Count open brackets outside strings before any decoding, so that no input exhausts the decoder."""
    if text.count("[") + text.count("{") <= NESTING_DEPTH_LIMIT:
        return
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text, start):
        character = token[0]
        if character in ("[", "{"):
            depth += 1
            if depth > NESTING_DEPTH_LIMIT:
                raise fault(
                    "NestingTooDeep",
                    token.start(),
                    f"arrays and objects are nested {depth} deep, the limit is {NESTING_DEPTH_LIMIT}",
                    depth=depth,
                    max=NESTING_DEPTH_LIMIT,
                )
        elif character in ("]", "}"):
            depth -= 1


def _load(text: str, start: int) -> Any:
    try:
        value, end = _decode(text, start)
    except json.JSONDecodeError as error:
        raise fault("InvalidJson", error.pos, error.msg) from None
    except ValueError as error:
        raise fault("InvalidJson", start, str(error)) from None
    if end < len(text):
        raise misplaced(text, end, "the end of the text", "the JSON form is one object or one array of objects")
    if _SURROGATE_ESCAPE.search(text, start):
        _refuse_lone_surrogates(value, text, start)
    return value


def _refuse_lone_surrogates(value: Any, text: str, start: int) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        place = _SURROGATE_ESCAPE.search(text, start)
        raise fault(
            "InvalidJson", place.start() if place else start, "half of a surrogate pair is no character"
        ) from None


def _operation(value: Any, index: int, start: int) -> Op:
    if not isinstance(value, dict):
        raise _wrong_shape(index, start, 'is no object; write {"tool": "verb", "args": {...}}')
    for key in value:
        if key not in _KEYS:
            raise _wrong_shape(index, start, f"has the unknown key {key!r}{did_you_mean(key, _KEYS)}", key=key)
    tool = value.get("tool")
    if not isinstance(tool, str):
        raise _wrong_shape(index, start, 'needs "tool", a string that names the verb')
    args = value.get("args", {})
    if not isinstance(args, dict):
        raise _wrong_shape(index, start, 'has "args" that is no object')
    if not is_verb(tool):
        raise _bad_verb(tool, index, start)
    return Op(tool, args)


def _wrong_shape(index: int, start: int, text: str, **fields: object) -> ParseError:
    return fault("InvalidJson", start, f"operation {index + 1} {text}", op_index=index, **fields)


def _bad_verb(tool: str, index: int, start: int) -> ParseError:
    parts = tool.split(".")
    if len(parts) > 2 and all(is_identifier(part) for part in parts):
        return fault(
            "UnsupportedVerbNesting",
            start,
            f"operation {index + 1}: {tool!r} has more than one dot",
            verb=tool,
        )
    return fault("InvalidIdentifier", start, f"operation {index + 1}: {tool[:60]!r} is no verb name", verb=tool[:60])
