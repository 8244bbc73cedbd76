"""From the caller's arguments to the canonical ones, or to a sentence that says what is wrong.

Invariant: valid arguments cost one schema check and the normalisers the contract names; sentences are looked up
only for arguments that are refused, and every one of them comes from the contract.
"""

from collections.abc import Mapping
from typing import Any

from hivekeep.dispatch import faults
from hivekeep.dispatch.compiled import CompiledVerb
from hivekeep.request.suggest import did_you_mean
from hivekeep_contract.errors import InvalidInput

SHOWN_VALUE_CHARS = 80


def canonical_arguments(compiled: CompiledVerb, args: dict[str, Any]) -> tuple[Any, frozenset[str]]:
    """The arguments object of the verb and the names that were given (canonical names, null ones included).

    Raises InvalidInput that names the argument, what was given and what is accepted.
    """
    if not compiled.validator.is_valid(args):
        raise InvalidInput(_sentence(compiled, args))
    if compiled.aliases:
        args = _without_aliases(compiled, args)
    given = frozenset(args)
    if None in args.values():
        args = {name: value for name, value in args.items() if value is not None or name not in compiled.not_nullable}
    values = dict(args)
    for name, normaliser, many in compiled.normalisers:
        if name not in values or (value := values[name]) is None:
            continue
        try:
            values[name] = [normaliser(item) for item in value] if many else normaliser(value)
        except ValueError as error:
            raise InvalidInput(f"{compiled.verb.name}: {name!r} must be {error}; got {_shown(value)}") from None
    for name, attr in compiled.renamed.items():
        if name in values:
            values[attr] = values.pop(name)
    return compiled.args_class(**values), given


def _without_aliases(compiled: CompiledVerb, args: Mapping[str, Any]) -> dict[str, Any]:
    renamed: dict[str, Any] = {}
    for name, value in args.items():
        real = compiled.aliases.get(name, name)
        if real in renamed:
            raise InvalidInput(f"{compiled.verb.name}: {real!r} is given twice, under two of its names")
        renamed[real] = value
    return renamed


def _sentence(compiled: CompiledVerb, args: Mapping[str, Any]) -> str:
    """The first fault as a sentence of the contract."""
    from hivekeep_contract.reference import RULES, VERBS

    verb = compiled.verb.name
    known = VERBS[verb].params
    spellings = {**dict.fromkeys(known, ""), **compiled.aliases}
    for name in args:
        if name not in spellings:
            accepted = ", ".join(known) or "none"
            hint = did_you_mean(name, spellings) or "."
            return f"{verb}: unknown argument {name!r}{hint} Accepted: {accepted}"
    for name, text in known.items():
        if text.required and not any(spelling in args for spelling in _spellings(compiled, name)):
            return f"{verb}: {name!r} is required and must be {text.accepts}"
    fault = min(compiled.validator.iter_errors(dict(args)), key=lambda error: len(error.schema_path))
    where = list(fault.instance_path)
    if where and (inner := faults.within(compiled.schema, fault)):
        return f"{verb}: {inner.place!r} {inner.says}; got {_shown(_at(args, inner.path))}"
    if where:
        name = str(where[0])
        accepts = known[compiled.aliases.get(name, name)].accepts
        got = _shown(_at(args, where))
        if where[1:]:
            return (
                f"{verb}: {faults.place(where)!r} is refused ({fault.message}); {name!r} must be {accepts}; got {got}"
            )
        return f"{verb}: {name!r} must be {accepts}; got {got}"
    schema_path = list(fault.schema_path)
    rules = RULES.get(verb, ())
    index = schema_path[1] if len(schema_path) > 1 and schema_path[0] == "allOf" else None
    return (
        f"{verb}: {rules[index].says}" if isinstance(index, int) and index < len(rules) else f"{verb}: {fault.message}"
    )


def _spellings(compiled: CompiledVerb, name: str) -> list[str]:
    return [name, *(alias for alias, real in compiled.aliases.items() if real == name)]


def _at(value: Any, path: list[Any]) -> Any:
    for step in path:
        value = value[step]
    return value


def _shown(value: Any) -> str:
    """A value for a message: short, and never more of a long text than its beginning."""
    import json

    text = json.dumps(value, ensure_ascii=False)
    if len(text) <= SHOWN_VALUE_CHARS:
        return text
    size = f" ({len(value):,} items)" if isinstance(value, list) else ""
    return f"{text[:SHOWN_VALUE_CHARS]}...{size}"
