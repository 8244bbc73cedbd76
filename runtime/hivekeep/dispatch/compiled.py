"""What dispatch needs of a verb, made once and kept: schema validator, argument class, normalisers, bound handler.

Invariant: no call parses a schema, looks a type up, or imports a model; the first call of a verb does it for all.
"""

import importlib
import json
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any, NamedTuple, Protocol

import hivekeep_contract
from hivekeep.values import NORMALISERS, Normaliser
from hivekeep_contract import vocabulary
from hivekeep_contract.catalog import Param, Verb

_ENUM = "enum:"
_PARSE_CONTENT = "parse_content"


class Validator(Protocol):
    """A compiled JSON Schema."""

    def is_valid(self, instance: object) -> bool:
        """Whether the instance fits."""
        ...

    def iter_errors(self, instance: object) -> Any:
        """The faults of an instance, each with `instance_path` and `kind`."""
        ...


class CompiledVerb(NamedTuple):
    """One verb, ready to be called."""

    verb: Verb
    schema: Mapping[str, Any]
    validator: Validator
    handler: Callable[[Any, Any], Any]
    args_class: Callable[..., Any]
    aliases: Mapping[str, str]
    normalisers: tuple[tuple[str, Normaliser, bool], ...]
    renamed: Mapping[str, str]
    not_nullable: frozenset[str]
    containers: frozenset[str]
    scoped: bool
    parses_content: bool

    def namespace_of(self, args: Any, default: str) -> str:
        """Where an operation works: the namespace that its arguments name, else the default one."""
        return (args.namespace if self.scoped else None) or default


class Schemas:
    """The generated schemas, read on first use."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] | None = None

    def __getitem__(self, section: str) -> Any:
        if self._loaded is None:
            text = resources.files(hivekeep_contract).joinpath("schemas.json").read_text(encoding="utf-8")
            self._loaded = json.loads(text)
        return self._loaded[section]


def compile_verb(verb: Verb, pack: object, schemas: Schemas) -> CompiledVerb:
    """Make a verb callable on a pack; the pack must have the method its Protocol promises."""
    import jsonschema_rs

    schema = schemas["args"][verb.name]
    models = importlib.import_module(f"hivekeep_contract.models.{verb.pack}")
    args_class = getattr(models, args_class_name(verb))
    plan = tuple(
        (param.name, normaliser, param.many) for param in verb.params if (normaliser := _normaliser(param)) is not None
    )
    return CompiledVerb(
        verb=verb,
        schema=schema,
        validator=jsonschema_rs.Draft202012Validator(schema),
        handler=getattr(pack, verb.method),
        args_class=args_class,
        aliases={alias: param.name for param in verb.params for alias in param.aliases},
        normalisers=plan,
        renamed={param.name: param.attr for param in verb.params if param.attr != param.name},
        not_nullable=frozenset(param.name for param in verb.params if not param.nullable),
        containers=frozenset(name for name, spec in schema["properties"].items() if _takes_container(spec)),
        # a parameter of this name and another type is a value like any other, such as a part of a binding
        scoped=any(param.name == param.normaliser == "namespace" for param in verb.params),
        parses_content=hasattr(args_class, _PARSE_CONTENT),
    )


def args_class_name(verb: Verb) -> str:
    """`create` -> `CreateArgs`, `gtd.assign` -> `AssignArgs`."""
    words = verb.name.rpartition(".")[2].split("_")
    return "".join(word.capitalize() for word in words) + "Args"


def _normaliser(param: Param) -> Normaliser | None:
    if param.normaliser is None:
        return None
    if not param.normaliser.startswith(_ENUM):
        return NORMALISERS[param.normaliser]
    aliases = vocabulary.ENUM_ALIASES[param.normaliser.removeprefix(_ENUM)]
    return lambda value: aliases.get(value, value)


def _takes_container(schema: Mapping[str, Any]) -> bool:
    kinds = schema.get("type")
    if kinds is None and "anyOf" in schema:
        return any(_takes_container(option) for option in schema["anyOf"])
    return kinds is None or bool({"object", "array"} & ({kinds} if isinstance(kinds, str) else set(kinds)))
