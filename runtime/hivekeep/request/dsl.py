"""Text in, plan out: the request language.

`parse` accepts the four forms and refuses everything else with one of the kinds of
`hivekeep_contract.request.DSL_ERRORS`. Which verbs exist and what their arguments mean is not its business.
"""

from hivekeep.request.calls import Draft, read_batch, read_calls
from hivekeep.request.faults import fault
from hivekeep.request.json_form import read_json, settle_references
from hivekeep.request.plan import Mode, Op, Plan, PrevRef
from hivekeep.request.printing import print_plan
from hivekeep.request.tokens import BLANKS, skip
from hivekeep_contract.errors import ParseError
from hivekeep_contract.limits import MAX_OPS, MAX_OPS_INPUT_BYTES
from hivekeep_contract.request import RESERVED_ENVELOPE_ARGS

__all__ = ["Mode", "Op", "Plan", "PrevRef", "parse", "print_plan"]


def parse(text: str) -> Plan:
    """Parse an `ops` string (rules: "Request language" of the API reference).

    The checks run in this order: empty, too large, form, syntax, number of operations, place of `$prev`,
    reserved arguments. The first that fails raises ParseError with `dsl_error` (its kind) and, where there
    is one, `position` (characters from the start of `text`, 0-based). Write-key conflicts: `write_keys`.
    """
    body = text.rstrip(BLANKS)
    start = skip(body, 0)
    if start == len(body):
        raise fault("Empty", 0, "there is no operation")
    first = body[start]
    is_json = first == "{" or (first == "[" and body.startswith("{", skip(body, start + 1)))
    _check_encoding(body, start, is_json)
    if is_json:
        plan = read_json(body, start)
        _check_count(plan)
        plan = settle_references(plan, body)
    else:
        draft = read_batch(body, start) if first == "[" else read_calls(body, start)
        plan = draft.plan
        _check_count(plan)
        if draft.references:
            _check_references(draft)
    for op in plan.ops:
        if not RESERVED_ENVELOPE_ARGS.isdisjoint(op.args):
            raise _reserved(op)
    return plan


def _check_encoding(body: str, start: int, is_json: bool) -> None:
    """Refuse a text over the byte limit, then one with half a surrogate pair (it has no UTF-8 form)."""
    if body.isascii() and len(body) - start <= MAX_OPS_INPUT_BYTES:
        return
    lone = None
    try:
        encoded = body.encode()
    except UnicodeEncodeError as error:
        encoded, lone = body.encode("utf-8", "surrogatepass"), error.start
    size = len(encoded) - start
    if size > MAX_OPS_INPUT_BYTES:
        raise fault(
            "InputTooLarge",
            None,
            f"{size} bytes were given, the limit is {MAX_OPS_INPUT_BYTES}",
            len=size,
            max=MAX_OPS_INPUT_BYTES,
        )
    if lone is not None:
        kind = "InvalidJson" if is_json else "InvalidValue"
        raise fault(kind, lone, "half of a surrogate pair is no character")


def _check_count(plan: Plan) -> None:
    count = len(plan.ops)
    if count > MAX_OPS:
        raise fault(
            "TooManyOps",
            None,
            f"{count} operations were given, the limit is {MAX_OPS}",
            count=count,
            max=MAX_OPS,
        )


def _check_references(draft: Draft) -> None:
    """A reference needs an operation before it in the same chain."""
    argument, position, reference = draft.references[0]
    if draft.plan.mode == "chain" and position >= draft.first_end:
        return
    why = (
        "the first operation of a chain has none before it" if draft.plan.mode == "chain" else "there is no chain here"
    )
    raise fault(
        "PrevRefOutsideChain",
        position,
        f"{reference} in argument {argument!r} means the result of the operation before, and {why};"
        " write a(...) | b(id=$prev.id), or escape a literal text with a backslash",
        argument=argument,
    )


def _reserved(op: Op) -> ParseError:
    name = min(RESERVED_ENVELOPE_ARGS.intersection(op.args))
    return fault(
        "ReservedEnvelopeArg",
        None,
        f"{name!r} is a field of the request tool itself, not an argument of {op.verb!r}; give it beside ops",
        argument=name,
        verb=op.verb,
    )
