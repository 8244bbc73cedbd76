"""The function-call forms: one call, a batch in brackets, a chain joined by bars.

An argument that is a plain string, number or literal is read by one pattern, one that is a container of plain JSON by
the C decoder; every other spelling, and every refusal, goes through the careful steps below. Both agree on every text
that the quick way accepts.
"""

import re
from typing import Any, NamedTuple

from hivekeep.request.faults import fault, misplaced, unclosed
from hivekeep.request.plan import Op, Plan
from hivekeep.request.tokens import BLANK, BLANKS, IDENT, is_identifier, skip
from hivekeep.request.values import LITERALS, Found, ValueReader, is_plain
from hivekeep_contract.errors import ParseError

_HEAD = re.compile(rf"({IDENT}(?:\.{IDENT})?){BLANK}*\({BLANK}*(\))?")
_PLAIN_ARGUMENT = re.compile(
    rf"{BLANK}*({IDENT}){BLANK}*={BLANK}*"
    r'(?:(?:"(?![$])([^"]*+)"'
    r"|(-?(?:0|[1-9][0-9]{0,17}))"
    r"|(true|false|null))"
    rf"{BLANK}*[,)]|(?=[\[{{]))"
)
"""An argument with the sign behind it, or, when nothing but its name is captured, up to its container.

Of a string it looks for the end only, which is several times as fast; `is_plain` says whether it may stand as it is.
"""

_ENDS = (",", ")")
# What a writer may have meant as a name, whether or not it is one.
_NAME_LIKE = re.compile(rf'[^{BLANKS}=(),.|\[\]{{}}"]+')
_NAMED_ONLY = "arguments are named: write name=value"


class Draft(NamedTuple):
    """A plan before the checks that look at all of it; `first_end` is where its first operation ends."""

    plan: Plan
    references: list[Found]
    first_end: int


def read_calls(text: str, start: int) -> Draft:
    """Parse a call or a chain that fills `text` from `start`. Raises ParseError."""
    reader = ValueReader(text)
    op, at = _call(reader, start)
    ops = [op]
    first_end = at
    if at < len(text):
        at = skip(text, at)
    while at < len(text):
        if text[at] != "|":
            raise _after_call(reader, at, chained=len(ops) > 1)
        op, at = _call(reader, _op_start(text, skip(text, at + 1), "in a chain"))
        ops.append(op)
        at = skip(text, at)
    return Draft(Plan("chain" if len(ops) > 1 else "single", tuple(ops)), reader.references, first_end)


def read_batch(text: str, start: int) -> Draft:
    """Parse a bracketed batch of calls that fills `text` from `start`. Raises ParseError."""
    reader = ValueReader(text)
    at = skip(text, start + 1)
    if text[at : at + 1] == "]":
        raise fault("EmptyBatch", start, "the batch holds no operation")
    if at >= len(text):
        raise unclosed(text, at, start, "an operation")
    ops: list[Op] = []
    while True:
        op, at = _call(reader, _op_start(text, at, "in a batch"))
        ops.append(op)
        at = skip(text, at)
        found = text[at : at + 1]
        if found == "]":
            break
        if found != ",":
            raise _mixed(at) if found == "|" else unclosed(text, at, start, "',' or ']'")
        at = skip(text, at + 1)
        if text[at : at + 1] == "]":
            raise fault("TrailingComma", at, "a comma stands right before the end of the batch")
    at = skip(text, at + 1)
    if at < len(text):
        raise _mixed(at) if text[at] == "|" else misplaced(text, at, "the end of the text")
    return Draft(Plan("parallel", tuple(ops)), reader.references, 0)


def _call(reader: ValueReader, position: int) -> tuple[Op, int]:
    """Read `verb(name=value, ...)`; return the operation and the position after its parenthesis."""
    text = reader.text
    head = _HEAD.match(text, position)
    if head is None:
        raise _bad_head(text, position)
    args: dict[str, Any] = {}
    at = head.end()
    if head[2]:
        return Op(head[1], args), at
    while True:
        plain = _PLAIN_ARGUMENT.match(text, at)
        if plain is None:
            at = _careful_argument(reader, at, args, head)
        else:
            name, string, integer, literal = plain.groups()
            if name in args:
                raise _duplicate(plain.start(1), name)
            if string is not None:
                if is_plain(string):
                    args[name] = string
                    at = plain.end()
                else:
                    at = _careful_argument(reader, at, args, head)
            elif integer is not None:
                args[name] = int(integer)
                at = plain.end()
            elif literal is not None:
                args[name] = LITERALS[literal]
                at = plain.end()
            else:
                end = _plain_container(reader, plain.end(), args, name)
                at = _careful_argument(reader, at, args, head) if end is None else end
        if text[at - 1] == ")":
            return Op(head[1], args), at


def _plain_container(reader: ValueReader, position: int, args: dict[str, Any], name: str) -> int | None:
    """Read the container at `position` into `args`, when it is plain JSON; return the position after its end sign.

    None asks for the careful steps; `args` is as it was then.
    """
    read = reader.plain_container(position)
    if read is None:
        return None
    value, at = read
    text = reader.text
    if text[at : at + 1] not in _ENDS:
        at = skip(text, at)
        if text[at : at + 1] not in _ENDS:
            return None
    args[name] = value
    return at + 1


def _careful_argument(reader: ValueReader, position: int, args: dict[str, Any], head: re.Match[str]) -> int:
    """Read one argument into `args`; return the position after the `,` or `)` that ends it. `head` opened the call."""
    text = reader.text
    opened = text.index("(", head.end(1))
    start = skip(text, position)
    if not args and start >= len(text):
        raise unclosed(text, start, opened, "an argument or ')'")
    name, at = _argument_name(text, start, trailing=bool(args))
    if name in args:
        raise _duplicate(start, name)
    at = skip(text, at)
    if text[at : at + 1] != "=":
        raise misplaced(text, at, "'='", _NAMED_ONLY)
    args[name], at = reader.read(skip(text, at + 1), name)
    quoted = text[at - 1] == '"'
    at = skip(text, at)
    if text[at : at + 1] not in _ENDS:
        hint = f"argument {name!r} ends before it"
        if quoted:
            hint += '; a double quote inside a string is written \\"'
        raise unclosed(text, at, opened, "',' or ')'", hint)
    return at + 1


def _argument_name(text: str, position: int, *, trailing: bool) -> tuple[str, int]:
    word = _NAME_LIKE.match(text, position)
    if word is None:
        hint = "a comma stands right before it" if trailing and text[position : position + 1] == ")" else _NAMED_ONLY
        raise misplaced(text, position, "an argument name", hint)
    if not is_identifier(word[0]):
        raise _not_an_identifier(word[0], position, f"an argument name; {_NAMED_ONLY}")
    return word[0], word.end()


def _bad_head(text: str, position: int) -> ParseError:
    """Find out why no `verb(` starts here."""
    at = position
    for dots in range(3):
        word = _NAME_LIKE.match(text, at)
        if word is None:
            hint = "no blank may stand beside the dot" if dots else ""
            return misplaced(text, at, "a verb name", hint)
        if not is_identifier(word[0]):
            return _not_an_identifier(word[0], at, "a verb name")
        at = word.end()
        if text[at : at + 1] != ".":
            break
        if dots == 1:
            return fault(
                "UnsupportedVerbNesting",
                at,
                f"the verb {text[position:at]!r} goes on with a second dot; write pack.verb",
            )
        at += 1
    at = skip(text, at)
    hint = "no blank may stand beside the dot" if text[at : at + 1] == "." else "a call is verb(name=value, ...)"
    return misplaced(text, at, "'('", hint)


def _op_start(text: str, position: int, where: str) -> int:
    if text[position : position + 1] == "[":
        raise fault("MixedSeparators", position, f"a batch may not stand {where}; send it as a request of its own")
    return position


def _after_call(reader: ValueReader, position: int, *, chained: bool) -> ParseError:
    """The fault for what stands after a complete call outside brackets."""
    text = reader.text
    if text[position] != ",":
        return misplaced(text, position, "'|' or the end of the text")
    if chained or _bar_follows(reader, position):
        return _mixed(position)
    return misplaced(text, position, "'|' or the end of the text", "write several operations as [a(), b()]")


def _bar_follows(reader: ValueReader, position: int) -> bool:
    """Whether calls separated by commas go on from `position` until a bar is met."""
    text = reader.text
    at = position
    try:
        while text[at : at + 1] == ",":
            _, at = _call(reader, skip(text, at + 1))
            at = skip(text, at)
    except ParseError:
        return False
    return text[at : at + 1] == "|"


def _mixed(position: int) -> ParseError:
    return fault(
        "MixedSeparators",
        position,
        "',' and '|' are mixed; a request is either a batch [a(), b()] or a chain a() | b()",
    )


def _duplicate(position: int, name: str) -> ParseError:
    return fault("DuplicateArg", position, f"the argument {name!r} is given twice", argument=name)


def _not_an_identifier(word: str, position: int, what: str) -> ParseError:
    return fault(
        "InvalidIdentifier",
        position,
        f"{word[:60]!r} is not {what}; names are ASCII letters, digits and _, and start with no digit",
    )
