"""Words as JSON Schema (draft 2020-12), for the wire, for results, and for the canonical types.

Wire: every accepted spelling, optional parameters admit null, rules are schema keywords. Body: the same for the
gateway, where null is a value only if it is said to be one. Results: the verbose
shape, closed. Arguments and records: the Python types of what a handler receives and answers, aliases and
rules resolved, formats dropped; the words of global vocabularies are plain text in records, because records
hold what was stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from tools.generate.describe import describe_bounds, enum_words
from tools.generate.model import (
    GATEWAY,
    AnyOf,
    Contract,
    EnumUse,
    Field,
    ListOf,
    MapOf,
    Param,
    Rule,
    Scalar,
    Shape,
    ShapeUse,
    Word,
)
from tools.generate.sentences import when_text

Schema = dict[str, Any]
Mode = Literal["wire", "body", "result", "arguments", "records"]

# what a client may send
_INPUTS = ("wire", "body")

# the rest (formats, patterns, bounds) would become other Python types
_CANONICAL_WORDS = ("type", "items", "additionalProperties", "enum")
_BOUND_WORDS = {
    "min": "minimum",
    "max": "maximum",
    "min_items": "minItems",
    "max_items": "maxItems",
    "min_length": "minLength",
    "max_length": "maxLength",
    # bytes are never fewer than characters, so this refuses early; the verb counts the bytes
    "max_bytes": "maxLength",
}


class SchemaWriter:
    """Writes the schemas of one contract; `ref` says where a shape's definition stands."""

    def __init__(self, contract: Contract, mode: Mode, ref: Callable[[str], str]) -> None:
        self._contract = contract
        self.mode = mode
        self._ref = ref
        self.used: set[str] = set()
        self.enums: set[str] = set()

    def word(self, word: Word) -> Schema:
        """The schema of one value."""
        schema = self._expr(word)
        if self.mode in _INPUTS and not word.bounds.clamp:
            for name, value in word.bounds.values.items():
                key = _BOUND_WORDS[name]
                schema[key] = min(value, schema[key]) if key in schema and key.startswith("max") else value
        return admit_null(schema) if word.nullable else schema

    def shape(self, shape: Shape, plus: tuple[Field, ...] = ()) -> Schema:
        """The schema of a named shape; closed unless it is declared open."""
        fields = (*shape.fields, *plus)
        schema: Schema = {"type": "object"}
        if shape.doc:
            schema["description"] = shape.doc
        schema["properties"] = {field.name: self._described(field) for field in fields}
        schema["required"] = [field.name for field in fields if not field.optional]
        if not shape.open and self.mode in (*_INPUTS, "result"):
            schema["additionalProperties"] = False
        return schema

    def fields(self, fields: Iterable[Field]) -> Schema:
        """The schema of an object with exactly these fields."""
        return self.shape(Shape("", "", tuple(fields), False))

    def definitions(self, names: Iterable[str] = ()) -> Schema:
        """The named shapes, and what they refer to, sorted."""
        self.used |= set(names)
        found: Schema = {}
        while missing := sorted(self.used - set(found)):
            for name in missing:
                found[name] = self.shape(self._contract.shapes[name])
        return dict(sorted(found.items()))

    def _described(self, field: Field) -> Schema:
        return {**self.word(field.word), "description": field.doc}

    def _expr(self, word: Word) -> Schema:
        expr = word.expr
        if isinstance(expr, Scalar):
            if self.mode in (*_INPUTS, "result"):
                return dict(expr.schema)
            # an argument holds what its normaliser makes of it, a result what it shows
            typed = expr.canonical if self.mode == "arguments" else expr.schema
            return {key: value for key, value in typed.items() if key in _CANONICAL_WORDS}
        if isinstance(expr, EnumUse):
            return self._enum(expr)
        if isinstance(expr, ListOf):
            return {"type": "array", "items": self.word(expr.item)}
        if isinstance(expr, MapOf):
            return {"type": "object", "additionalProperties": self.word(expr.value)}
        if isinstance(expr, AnyOf):
            return {"anyOf": [self.word(option) for option in expr.options]}
        return self._shape_use(expr)

    def _shape_use(self, use: ShapeUse) -> Schema:
        if use.plus:
            return self.shape(self._contract.shapes[use.shape], use.plus)
        self.used.add(use.shape)
        return {"$ref": self._ref(use.shape)}

    def _enum(self, use: EnumUse) -> Schema:
        if (self.mode in _INPUTS and use.enum.lenient) or (self.mode == "records" and "." not in use.enum.name):
            return {"type": "string"}
        if self.mode in _INPUTS:
            return {"type": "string", "enum": use.accepted}
        # an object of the gateway that takes fewer words stays one of the type that takes all
        whole = use.values == tuple(use.enum.values) or use.enum.name.startswith(f"{GATEWAY}.")
        if self.mode != "result" and whole:
            self.enums.add(use.enum.name)
            return {"$ref": self._ref(use.enum.name)}
        return {"type": "string", "enum": list(use.values)}


def admit_null(schema: Schema) -> Schema:
    """The same schema, null allowed too; spelt so that a validator can still say what is wrong."""
    null: Schema = {"type": "null"}
    if not schema or isinstance(schema.get("type"), list) or null in schema.get("anyOf", []):
        return schema
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], null]}
    # a reference has no type to widen; of a widened map the model printer forgets the type of the values
    if "type" not in schema or isinstance(schema.get("additionalProperties"), dict):
        return {"anyOf": [schema, null]}
    widened = {**schema, "type": [schema["type"], "null"]}
    if "enum" in schema:
        widened["enum"] = [*schema["enum"], None]
    return widened


def args_schema(
    contract: Contract, params: tuple[Param, ...], rules: tuple[Rule, ...], doc: str, mode: Mode = "wire"
) -> Schema:
    """The schema of an arguments object or a body, self-contained."""
    writer = SchemaWriter(contract, mode, lambda name: f"#/$defs/{name}")
    schema = object_schema(writer, params, rules, doc)
    definitions = writer.definitions()
    return {**schema, "$defs": definitions} if definitions else schema


def object_schema(writer: SchemaWriter, params: tuple[Param, ...], rules: tuple[Rule, ...], doc: str) -> Schema:
    """The schema of what a client sends, rules included.

    Each member of `allOf` carries the sentence of its rule as `description`, in the order of `rule_list`.
    """
    schema: Schema = {"type": "object", "description": doc, "properties": {}}
    for param in params:
        for spelling in (param.name, *param.aliases):
            schema["properties"][spelling] = param_schema(writer, param, spelling)
    plain = [param.name for param in params if param.required and not param.aliases]
    if plain:
        schema["required"] = plain
    schema["additionalProperties"] = False
    known = {param.name: param for param in params}
    parts = [_rule_schema(known, rule) for rule in rule_list(params, rules)]
    if parts:
        schema["allOf"] = parts
    return schema


def rule_list(params: tuple[Param, ...], rules: tuple[Rule, ...]) -> list[Rule]:
    """The declared rules and those that parameters imply: a required alias group, `needs`, `when`."""
    implied: list[Rule] = []
    for param in params:
        if param.required and param.aliases:
            implied.append(Rule("required", (param.name,), None, f"missing argument '{param.name}'"))
        if param.needs:
            sentence = f"'{param.name}' needs '{param.needs}'"
            implied.append(Rule("needs", (param.name, param.needs), None, sentence))
        if param.when:
            sentence = f"'{param.name}' is only allowed {when_text(param.when)}"
            implied.append(Rule("only_when", (param.name,), param.when, sentence))
    return [*implied, *rules]


def param_schema(writer: SchemaWriter, param: Param, spelling: str) -> Schema:
    """The schema of one parameter under one of its names."""
    schema = writer.word(param.word)
    expr = param.word.expr
    if not param.required and writer.mode == "wire" and not (isinstance(expr, Scalar) and expr.never_null):
        schema = admit_null(schema)
    text = param.doc if spelling == param.name else f"Same as {param.name}. {param.doc}"
    schema["description"] = " ".join([text, *_facts(param)])
    if param.has_default:
        schema["default"] = param.default
    return schema


def _facts(param: Param) -> Iterable[str]:
    """What the schema keywords do not say."""
    if isinstance(param.word.expr, EnumUse) and param.word.expr.enum.lenient:
        yield f"One of {', '.join(enum_words(param.word.expr))}."
    bounds = describe_bounds(param.word.bounds)
    if bounds:
        yield f"{bounds[0].upper()}{bounds[1:]}."
    if param.scope:
        yield f"Only for: {', '.join(param.scope)}."


def _rule_schema(known: Mapping[str, Param], rule: Rule) -> Schema:
    given = [_given(known[name]) for name in rule.params]
    condition = _condition(known, rule.when) if rule.when else {}
    body: Schema
    if rule.sort == "required":
        body = given[0]
    elif rule.sort == "exactly_one_of":
        body = {"oneOf": given}
    elif rule.sort == "at_least_one_of":
        body = {"anyOf": given}
    elif rule.sort == "mutually_exclusive":
        pairs = [{"allOf": [a, b]} for index, a in enumerate(given) for b in given[index + 1 :]]
        body = {"not": pairs[0] if len(pairs) == 1 else {"anyOf": pairs}}
    elif rule.sort == "together":
        body = {"if": {"anyOf": given}, "then": {"allOf": given}}
    elif rule.sort == "needs":
        body = {"if": given[0], "then": given[1]}
    elif rule.sort == "only_when":
        body = {"if": given[0], "then": condition}
    else:
        body = {"if": condition, "then": given[0]}
    return {"description": rule.sentence, **body}


def _given(param: Param) -> Schema:
    """The argument is there under one of its names, and null only where null is a value."""
    names = (param.name, *param.aliases)
    options = [
        {"required": [name]}
        if param.word.nullable or param.required
        else {"required": [name], "properties": {name: {"not": {"type": "null"}}}}
        for name in names
    ]
    return options[0] if len(options) == 1 else {"anyOf": options}


def _condition(known: Mapping[str, Param], when: tuple[str, tuple[Any, ...]]) -> Schema:
    """The named argument has one of the values; its default counts when it is not given."""
    param = known[when[0]]
    values = list(when[1])
    expr = param.word.expr
    if isinstance(expr, EnumUse):
        values = [word for word, value in expr.enum.spellings.items() if value in values]
    options: list[Schema] = [
        {"required": [name], "properties": {name: {"enum": values}}} for name in (param.name, *param.aliases)
    ]
    if param.has_default and param.default in when[1]:
        options.append({"not": _given(param)})
    return options[0] if len(options) == 1 else {"anyOf": options}
