"""The small Python modules: tables as source, computed here and printed by templates/python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from tools.generate.describe import accepts, default_text, type_text
from tools.generate.examples import error_code, possible_errors
from tools.generate.literal import Call, comment, literal
from tools.generate.model import (
    AnyOf,
    Contract,
    EnumUse,
    ListOf,
    MapOf,
    Param,
    Scalar,
    ShapeUse,
    Verb,
    Word,
    camel,
)
from tools.generate.schemas import rule_list
from tools.generate.templates import Templates

_PYTHON_TYPES = {
    "string": "str",
    "text": "str",
    "path": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "bool": "bool",
    "list": "tuple[str, ...]",
}
_DETECTOR_FIELDS = ("name", "literal", "lead", "pattern", "doc")


def emit_python(contract: Contract, templates: Templates) -> dict[str, str]:
    """Every hand-sized module of the package, by path."""
    pages: dict[str, Mapping[str, Any]] = {
        "__init__.py": {},
        "catalog.py": _catalog(contract),
        "errors.py": {
            "errors": _errors(contract),
            "details_max": contract.data["limits"]["limits"]["error_details_max"]["value"],
        },
        "limits.py": {"constants": _constants(contract)},
        "presentation.py": {"constants": _presentation(contract.data["presentation"]["presentation"])},
        "reference.py": _reference(contract),
        "request.py": _request(contract),
        "routes.py": {"routes": literal(_routes(contract), 37)},
        "secrets.py": _secrets(contract.data["secrets"]),
        "settings.py": _settings(contract.data["settings"]["settings"]),
        "vocabulary.py": _vocabulary(contract),
    }
    found = {path: templates.render(f"python/{path}.j2", **values) for path, values in pages.items()}
    found["handlers/__init__.py"] = templates.render("python/handlers_init.py.j2")
    for pack in contract.packs:
        verbs = list(pack.verbs)
        imports = sorted({f"{verb.class_name}Args" for verb in verbs} | {result_class(verb) for verb in verbs})
        found[f"handlers/{pack.name}.py"] = templates.render(
            "python/handlers.py.j2",
            pack=pack,
            class_name=camel(pack.name),
            verbs=verbs,
            imports=imports,
            result_class=result_class,
        )
    return found


def result_class(verb: Verb) -> str:
    """The result type of a handler: the shape it returns, or the alias made for the verb."""
    expr = verb.returns.expr
    if isinstance(expr, ShapeUse) and not expr.plus:
        return camel(expr.shape.partition(".")[2])
    return f"{verb.class_name}Result"


def normaliser(word: Word) -> str | None:
    """What makes the canonical value: a name of types.yaml, or `enum:<name>`; for a list, of its items."""
    expr = word.expr
    if isinstance(expr, Scalar):
        return expr.normalise
    if isinstance(expr, EnumUse):
        if expr.enum.normalise:
            return expr.enum.normalise
        return f"enum:{expr.enum.name}" if expr.enum.aliases else None
    if isinstance(expr, (ListOf, MapOf)):
        return normaliser(expr.item if isinstance(expr, ListOf) else expr.value)
    if isinstance(expr, AnyOf):
        names = {name for option in expr.options if (name := normaliser(option))}
        return names.pop() if len(names) == 1 else None
    return None


def _catalog(contract: Contract) -> dict[str, Any]:
    verbs = {verb.name: _verb_row(contract, verb) for verb in contract.verbs}
    packs = {
        pack.name: Call("Pack", (pack.name, pack.title, pack.order, pack.requires, pack.bare))
        for pack in contract.packs
    }
    return {"verbs": literal(verbs, 24), "packs": literal(packs, 24)}


def _verb_row(contract: Contract, verb: Verb) -> Call:
    keys = tuple(Call("WriteKey", (key.kind, key.params, key.each, key.unless)) for key in verb.writes)
    return Call(
        "Verb",
        (),
        (
            ("name", verb.name),
            ("pack", verb.pack),
            ("method", verb.method),
            ("category", verb.category),
            ("tx", verb.tx),
            ("cost", verb.cost),
            ("resource", verb.resource),
            ("action", verb.action),
            ("presentation", verb.presentation),
            ("params", tuple(_param_row(param) for param in verb.params)),
            ("write_keys", keys),
            ("internal", verb.internal),
            ("schedulable", verb.schedulable),
            ("bulk_atomic", verb.bulk_atomic),
            ("audit_cost", verb.audit_cost),
            ("errors", tuple(possible_errors(verb, contract.errors))),
        ),
    )


def _param_row(param: Param) -> Call:
    return Call(
        "Param",
        (
            param.name,
            param.required,
            param.word.nullable,
            param.default,
            param.has_default,
            param.aliases,
            normaliser(param.word),
            isinstance(param.word.expr, ListOf),
            param.scope,
            param.attr,
        ),
    )


def _errors(contract: Contract) -> list[dict[str, Any]]:
    return [
        {
            "key": name,
            "class_name": camel(name),
            "doc": entry["doc"],
            "repair": entry["repair"],
            "code": json.dumps(error_code(name, entry)),
            "kind": json.dumps(entry["kind"]),
            "http_status": entry["http_status"],
            "no_write": entry.get("no_write", False),
            "retryable": entry.get("retryable", False),
            "fields": list(entry.get("fields", {})),
        }
        for name, entry in contract.errors.items()
    ]


def _constants(contract: Contract) -> list[dict[str, str]]:
    """Global limits, then the constants of packs in pack order."""
    entries = dict(contract.data["limits"]["limits"])
    for pack in contract.packs:
        entries |= pack.constants
    return [_constant(name, entry["value"], entry["doc"]) for name, entry in entries.items()]


def _constant(name: str, value: Any, doc: str = "") -> dict[str, str]:
    constant = name.upper()
    text = literal(value, len(constant) + 3)
    annotation = f": {_annotation(value)}" if isinstance(value, (dict, list)) else ""
    return {"name": constant, "annotation": annotation, "value": text, "doc": comment(doc) if doc else ""}


def _annotation(value: Any) -> str:
    if isinstance(value, dict):
        members = {type(member).__name__ for member in value.values()}
        return f"dict[str, {' | '.join(sorted(members))}]"
    return type(value).__name__


def _presentation(data: Mapping[str, Any]) -> list[dict[str, str]]:
    constants: list[dict[str, str]] = []
    for name, value in data.items():
        if name == "modes":
            continue
        if name == "table":
            constants += [_constant(f"table_{key}", _keys(key, item)) for key, item in value.items()]
        elif isinstance(value, dict):
            constants.append(_constant(name, frozenset(value["keys"]), value["doc"]))
        else:
            constants.append(_constant(name, _keys(name, value)))
    return constants


def _keys(name: str, value: Any) -> Any:
    """A list is a set of field names, unless its order or `str.endswith` needs a tuple."""
    if not isinstance(value, list):
        return value
    ordered = name.endswith(("_suffixes", "_prefixes", "_properties"))
    return tuple(value) if ordered else frozenset(value)


def _reference(contract: Contract) -> dict[str, Any]:
    verbs = {
        verb.name: Call(
            "VerbText",
            (
                verb.summary,
                verb.description,
                {param.name: _param_text(param) for param in verb.params},
                tuple(example["call"] for example in verb.examples if "result" in example),
                verb.notes,
            ),
        )
        for verb in contract.verbs
    }
    rules = {
        verb.name: tuple(
            Call("Rule", (rule.sort, rule.params, rule.when, rule.sentence))
            for rule in rule_list(verb.params, verb.rules)
        )
        for verb in contract.verbs
    }
    errors = {name: Call("ErrorText", (entry["doc"], entry["repair"])) for name, entry in contract.errors.items()}
    packs = {pack.name: pack.summary for pack in contract.packs}
    return {
        "verbs": literal(verbs, 30),
        "rules": literal({name: found for name, found in rules.items() if found}, 40),
        "errors": literal(errors, 40),
        "packs": literal(packs, 30),
        "identifier_resolution": literal(contract.data["request"]["identifier_resolution"], 40),
    }


def _param_text(param: Param) -> Call:
    return Call(
        "ParamText",
        (
            type_text(param.word),
            param.required,
            default_text(param).strip("`"),
            accepts(param.word),
            param.doc,
        ),
    )


def _request(contract: Contract) -> dict[str, Any]:
    data = contract.data["request"]
    params = contract.tool_params
    advisories = {code: {"code": code, **entry} for code, entry in data["advisories"].items()}
    return {
        "tool": data["tool"],
        "tool_name": literal(data["tool"]["name"]),
        "tool_summary": literal(data["tool"]["summary"]),
        "tool_description": literal(data["tool"]["description"]),
        "presentations": literal(tuple(data["presentations"]), 40),
        "formats": literal(tuple(data["formats"]), 40),
        "modes": literal(tuple(data["modes"]), 40),
        "presentation_type": _literal_type(data["presentations"]),
        "format_type": _literal_type(data["formats"]),
        "mode_type": _literal_type(data["modes"]),
        "envelope_fields": literal(tuple(param.name for param in params), 40),
        "envelope_defaults": literal({param.name: param.default for param in params if param.has_default}, 40),
        "reserved": literal(frozenset(data["reserved_args"]), 40),
        "help_arg": literal(data["help_arg"]),
        "dsl_errors": literal(dict(data["dsl_errors"]), 40),
        "advisories": literal(advisories, 50),
        "dispositions": literal(tuple(contract.data["errors"]["dispositions"]), 40),
    }


def _literal_type(words: Iterable[str]) -> str:
    return f"Literal[{', '.join(json.dumps(word) for word in words)}]"


def _routes(contract: Contract) -> tuple[tuple[str, str], ...]:
    return tuple((f"/api/v1/verbs/{verb.name}", verb.name) for verb in contract.verbs if not verb.internal)


def _secrets(data: Mapping[str, Any]) -> dict[str, Any]:
    detectors = tuple(Call("Detector", tuple(row[name] for name in _DETECTOR_FIELDS)) for row in data["detectors"])
    constants = [
        _constant(name, tuple(value) if isinstance(value, list) else value)
        for name, value in data.items()
        if name != "detectors"
    ]
    return {"detectors": literal(detectors, 40), "constants": constants}


def _settings(settings: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    rows, attributes = [], []
    for key, entry in settings.items():
        attr = key.replace(".", "_")
        default = tuple(entry["default"]) if isinstance(entry["default"], list) else entry["default"]
        kind = _PYTHON_TYPES[entry["type"]]
        annotation = f"{kind} | None" if default is None else kind
        attributes.append(f"{attr}: {annotation} = {literal(default, len(attr) + len(annotation) + 9)}")
        env = (f"HIVEKEEP_{attr.upper()}", *entry.get("env", []))
        rows.append(
            Call(
                "Setting",
                (),
                (
                    ("key", key),
                    ("attr", attr),
                    ("type", entry["type"]),
                    ("default", default),
                    ("env", env),
                    ("env_aliases", tuple(entry.get("aliases", []))),
                    ("flag", entry.get("flag")),
                    ("choices", tuple(entry.get("choices", []))),
                    ("minimum", entry.get("minimum")),
                    ("maximum", entry.get("maximum")),
                    ("project_file", entry["project_file"]),
                    ("secret", entry.get("secret", False)),
                    ("doc", entry["doc"]),
                ),
            )
        )
    return {"rows": literal(tuple(rows), 40), "attributes": attributes}


def _vocabulary(contract: Contract) -> dict[str, Any]:
    kinds, relations, events = contract.data["kinds"], contract.data["relations"], contract.data["events"]
    entity_kinds = _merged(contract, kinds["entity_kinds"], "entity_kinds")
    note_kinds = _merged(contract, kinds["note_kinds"], "note_kinds")
    default_note = [name for name, entry in kinds["note_kinds"].items() if entry.get("default")]
    rows = {
        name: Call("Relation", (entry["category"], entry.get("symmetric", False), entry.get("note_to")))
        for name, entry in relations["relations"].items()
    }
    endpoints = frozenset(
        (name, *endpoint.split(" -> "))
        for name, entry in relations["relations"].items()
        for endpoint in entry["endpoints"]
    )
    pack_endpoints = {
        pack.name: frozenset(
            (name, *endpoint.split(" -> ")) for name, found in pack.edge_rules.items() for endpoint in found
        )
        for pack in contract.packs
        if pack.edge_rules
    }
    defaults = {tuple(pair.split(" -> ")): kind for pair, kind in relations["dependency_kinds"]["defaults"].items()}
    enums = contract.enums
    aliases = {name: dict(enum.aliases) for name, enum in sorted(enums.items()) if enum.aliases}
    owners = {name: pack.name for pack in contract.packs for name in (*pack.entity_kinds, *pack.note_kinds)}
    values = {
        "ENTITY_KINDS": ("tuple[str, ...]", tuple(entity_kinds)),
        "ENTITY_KIND_ALIASES": ("dict[str, str]", dict(enums["entity_kind"].aliases)),
        "ENTITY_SUBTYPES": (
            "dict[str, dict[str, tuple[str, ...]]]",
            {
                name: {subtype: tuple(found) for subtype, found in entry.get("subtypes", {}).items()}
                for name, entry in entity_kinds.items()
            },
        ),
        "NOTE_KINDS": ("tuple[str, ...]", tuple(note_kinds)),
        "DEFAULT_NOTE_KIND": ("str", default_note[0] if default_note else ""),
        "KIND_OWNERS": ("dict[str, str]", owners),
        "RELATIONS": ("dict[str, Relation]", rows),
        "ENDPOINTS": ("frozenset[tuple[str, str, str]]", endpoints),
        "PACK_ENDPOINTS": ("dict[str, frozenset[tuple[str, str, str]]]", pack_endpoints),
        "DEPENDENCY_KINDS": ("tuple[str, ...]", tuple(relations["dependency_kinds"]["values"])),
        "DEPENDENCY_DEFAULTS": ("dict[tuple[str, str], str]", defaults),
        "EVENT_KINDS": ("tuple[str, ...]", tuple(events["kinds"])),
        "OUTCOMES": ("tuple[str, ...]", tuple(events["outcomes"])),
        "SUBSTRATES": ("tuple[str, ...]", tuple(events["substrates"])),
        "EVENT_ROLES": ("tuple[str, ...]", tuple(events["roles"])),
        "CATEGORIES": ("tuple[str, ...]", tuple(enums["category"].values)),
        "ENUMS": (
            "dict[str, tuple[str, ...]]",
            {name: tuple(enum.values) for name, enum in sorted(enums.items())},
        ),
        "ENUM_ALIASES": ("dict[str, dict[str, str]]", aliases),
    }
    return {
        "tables": [
            {"name": name, "type": annotation, "value": literal(value, len(name) + len(annotation) + 5)}
            for name, (annotation, value) in values.items()
        ]
    }


def _merged(contract: Contract, base: Mapping[str, Any], attribute: str) -> dict[str, Any]:
    found = dict(base)
    for pack in contract.packs:
        found |= getattr(pack, attribute)
    return found
