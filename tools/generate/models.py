"""Argument classes and result types, printed by datamodel-code-generator in one run per output kind.

Arguments become frozen, slotted, keyword-only dataclasses; results and shapes become `typing.TypedDict`,
because handlers answer plain dicts. Both halves of a pack are joined into one module. An object inside an
argument stays the dict it came as: the dataclass run's own idea of a shape is dropped, the TypedDict of that
name is used. Enums become aliases of `Literal`, those of no pack in `models/common.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from datamodel_code_generator import InputFileType, LiteralType, PythonVersion, generate
from datamodel_code_generator.enums import DataModelType
from datamodel_code_generator.format import Formatter

from tools.generate.model import GATEWAY, Contract, Param, ShapeUse, Verb, camel
from tools.generate.problems import ContractError, Problem
from tools.generate.schemas import Schema, SchemaWriter, admit_null

_REF = "#/components/schemas/"
_COMMON = "common"


def emit_models(contract: Contract) -> dict[str, str]:
    """`models/<pack>.py` for every pack and `models/common.py`, by path."""
    _check_names(contract)
    arguments = _run(_argument_schemas(contract), DataModelType.DataclassesDataclass)
    results = _run(_result_schemas(contract), DataModelType.TypingTypedDict)
    found = {"models/__init__.py": _header("Types of every pack", "registry/")}
    modules = {_COMMON: ("Words that all packs share", "registry/")}
    for pack in contract.packs:
        modules[pack.name] = (f"Arguments and results of the pack `{pack.name}`", _home(pack.name))
    if contract.gateway:
        modules[GATEWAY] = ("Bodies, queries and answers of the agent event gateway", _home(GATEWAY))
    for module, (what, where) in modules.items():
        body = _join(results.get(module, ""), arguments.get(module, ""))
        found[f"models/{module}.py"] = f"{_header(what, where)}\n{body}" if body else _header(what, where)
    return found


def class_of(name: str) -> str:
    """The dotted class of a shape or enum: `kg.note_page` -> `kg.NotePage`, `format` -> `common.Format`."""
    module, _, stem = name.rpartition(".")
    return f"{module or _COMMON}.{camel(stem)}"


def _home(room: str) -> str:
    return f"registry/{GATEWAY}/" if room == GATEWAY else f"registry/packs/{room}/"


def _header(what: str, where: str) -> str:
    return f'"""{what}.\n\nPrinted from {where} by `make generate`; do not edit.\n"""\n'


def _ref(name: str) -> str:
    return _REF + class_of(name)


def _check_names(contract: Contract) -> None:
    """No two things of a pack get one class name."""
    taken: dict[str, str] = {class_of(name): name for name in contract.enums}
    problems: list[Problem] = []
    for name in contract.shapes:
        other = taken.setdefault(class_of(name), name)
        if other != name or name in contract.enums:
            text = f"the class {class_of(name)} is made for an enum and for a shape"
            room = name.partition(".")[0]
            file = "_surface.yaml" if room == GATEWAY else "_pack.yaml"
            problems.append(Problem(_home(room) + file, 1, text))
    for verb in contract.verbs:
        for suffix in ("Args", "Result", "Beside"):
            name = f"{verb.pack}.{verb.class_name}{suffix}"
            owner = f"{verb.pack}.{verb.stem}_{suffix.lower()}"
            if taken.get(name, owner) != owner:
                text = f"the class {name} is also made for the shape '{taken[name]}'"
                problems.append(Problem(verb.where, 1, text))
    for operation in contract.gateway.operations if contract.gateway else ():
        name = f"{GATEWAY}.{operation.input_class}"
        if name in taken:
            problems.append(Problem(operation.where, 1, f"the class {name} is also made for the shape '{taken[name]}'"))
    if problems:
        raise ContractError(problems)


def _argument_schemas(contract: Contract) -> Schema:
    writer = SchemaWriter(contract, "arguments", _ref)
    found = {f"{verb.pack}.{verb.class_name}Args": _arguments(writer, verb) for verb in contract.verbs}
    return found | _definitions(contract, writer)


def _definitions(contract: Contract, writer: SchemaWriter) -> Schema:
    shapes = {class_of(name): schema for name, schema in writer.definitions().items()}
    return shapes | {
        class_of(name): {"type": "string", "enum": list(contract.enums[name].values)} for name in sorted(writer.enums)
    }


def _arguments(writer: SchemaWriter, verb: Verb) -> Schema:
    """Required first; an optional argument has its default, or None when it has none."""
    return {
        "type": "object",
        "description": f"Arguments of {verb.name}.",
        "properties": {param.name: _argument(writer, param) for param in verb.params},
        "required": [param.name for param in verb.params if param.required],
    }


def _described(writer: SchemaWriter, param: Param) -> Schema:
    return {**writer.word(param.word), "description": param.doc}


def _argument(writer: SchemaWriter, param: Param) -> Schema:
    schema = writer.word(param.word)
    if param.required:
        return schema
    if not param.has_default:
        return {**admit_null(schema), "default": None}
    return {**schema, "default": param.default}


def _result_schemas(contract: Contract) -> Schema:
    writer = SchemaWriter(contract, "records", _ref)
    found: Schema = {}
    for verb in contract.verbs:
        expr = verb.returns.expr
        if isinstance(expr, ShapeUse) and not expr.plus:
            writer.used.add(expr.shape)
        else:
            found[f"{verb.pack}.{verb.class_name}Result"] = writer.word(verb.returns)
        if verb.beside:
            beside = writer.fields(verb.beside)
            found[f"{verb.pack}.{verb.class_name}Beside"] = {
                **beside,
                "description": f"What {verb.name} tells beside its result.",
            }
    for operation in contract.gateway.operations if contract.gateway else ():
        what = "Body" if operation.writes else "Query"
        found[f"{GATEWAY}.{operation.input_class}"] = {
            "type": "object",
            "description": f"{what} of {operation.name}.",
            "properties": {param.name: _described(writer, param) for param in operation.params},
            "required": [param.name for param in operation.params if param.required],
        }
    writer.used |= {name for name in contract.shapes if not name.startswith("request.")}
    return found | _definitions(contract, writer)


def _run(schemas: Mapping[str, Any], kind: DataModelType) -> dict[str, str]:
    """The printed modules by pack name."""
    document = {
        "openapi": "3.1.0",
        "info": {"title": "contract", "version": "1"},
        "paths": {},
        "components": {"schemas": dict(schemas)},
    }
    printed = generate(
        document,
        input_file_type=InputFileType.OpenAPI,
        output_model_type=kind,
        target_python_version=PythonVersion.PY_311,
        formatters=[Formatter.BUILTIN],
        disable_timestamp=True,
        custom_file_header="#",
        dataclass_arguments={"frozen": True, "slots": True, "kw_only": True},
        enum_field_as_literal=LiteralType.All,
        use_schema_description=True,
        use_double_quotes=True,
        use_union_operator=True,
        use_standard_collections=True,
        strict_nullable=True,
    )
    if not isinstance(printed, dict):
        raise TypeError(f"datamodel-code-generator printed no modules but {type(printed).__name__}")
    return {path[0].removesuffix(".py"): str(text) for path, text in printed.items() if path[0] != "__init__.py"}


def _join(results: str, arguments: str) -> str:
    """One module of both: merged imports, the result types, then the argument classes."""
    imports: dict[str, set[str]] = {}
    blocks: dict[str, str] = {}
    for text in (results, arguments):
        lines = text.splitlines()
        for node in ast.parse(text).body:
            if isinstance(node, ast.ImportFrom):
                module = "." * node.level + (node.module or "")
                names = {ast.unparse(alias) for alias in node.names}
                imports.setdefault(module, set()).update(names)
            else:
                first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
                blocks.setdefault(_defined(node), "\n".join(lines[first - 1 : node.end_lineno]))
    own = {module: names for module, names in imports.items() if module.startswith(".")}
    groups = [
        _import_lines({"__future__": imports.pop("__future__", set())}),
        _import_lines({module: names for module, names in imports.items() if module not in own}),
        _import_lines({f"hivekeep_contract.models{module[1:]}": names for module, names in own.items()}),
    ]
    head = "\n\n".join(group for group in groups if group)
    return f"{head}\n\n\n" + "\n\n\n".join(blocks.values()) + "\n" if blocks else ""


def _import_lines(imports: Mapping[str, set[str]]) -> str:
    found = sorted((module, sorted(names)) for module, names in imports.items() if names)
    return "\n".join(f"from {module} import {', '.join(names)}" for module, names in found)


def _defined(node: ast.stmt) -> str:
    if isinstance(node, ast.ClassDef):
        return node.name
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    raise TypeError(f"datamodel-code-generator printed an unknown statement: {ast.unparse(node)[:80]}")
