"""The contract in memory, resolved: every name that a file mentions is here the thing itself."""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GATEWAY = "gateway"
"""The room of the words of the gateway, beside those of the packs."""

RUN_ID = "runId"
RUN_FIELD = f"{{{RUN_ID}}}"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A type of types.yaml: `schema` for the wire, `canonical` for the value a handler receives.

    `never_null`: null does not stand for an argument that is left out, it is refused.
    """

    name: str
    schema: Mapping[str, Any]
    canonical: Mapping[str, Any]
    normalise: str | None
    accepts: str
    doc: str
    never_null: bool = False


@dataclass(frozen=True, slots=True)
class Enum:
    """A closed list of words; `spellings` maps every accepted one to its value."""

    name: str
    values: Mapping[str, str]
    aliases: Mapping[str, str]
    lenient: bool
    normalise: str | None
    doc: str

    @property
    def spellings(self) -> dict[str, str]:
        return {value: value for value in self.values} | dict(self.aliases)


@dataclass(frozen=True, slots=True)
class EnumUse:
    """An enum where it is used, perhaps narrowed to some of its values."""

    enum: Enum
    values: tuple[str, ...]

    @property
    def accepted(self) -> list[str]:
        """Values and aliases that lead to a value of this use."""
        return [word for word, value in self.enum.spellings.items() if value in self.values]


@dataclass(frozen=True, slots=True)
class ListOf:
    item: Word


@dataclass(frozen=True, slots=True)
class MapOf:
    value: Word


@dataclass(frozen=True, slots=True)
class AnyOf:
    options: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class ShapeUse:
    """A shape, `plus` further fields; `inline` when its fields were written where it is used."""

    shape: str
    plus: tuple[Field, ...] = ()
    inline: bool = False


Expr = Scalar | EnumUse | ListOf | MapOf | AnyOf | ShapeUse


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a value; `clamp` means that the verb moves a value inside them instead of refusing it."""

    values: Mapping[str, float] = field(default_factory=dict)
    clamp: bool = False
    constant: str | None = None


@dataclass(frozen=True, slots=True)
class Word:
    """What a value may be."""

    expr: Expr
    nullable: bool = False
    bounds: Bounds = Bounds()


@dataclass(frozen=True, slots=True)
class Field:
    """One key of a shape."""

    name: str
    word: Word
    optional: bool
    doc: str


@dataclass(frozen=True, slots=True)
class Shape:
    """A named object; its own and its inherited fields in order."""

    name: str
    doc: str
    fields: tuple[Field, ...]
    open: bool

    @property
    def class_name(self) -> str:
        return camel(self.name.partition(".")[2])


@dataclass(frozen=True, slots=True)
class Param:
    """One argument of a verb or of the request tool."""

    name: str
    word: Word
    required: bool
    default: Any
    has_default: bool
    aliases: tuple[str, ...]
    scope: tuple[str, ...]
    needs: str | None
    when: tuple[str, tuple[Any, ...]] | None
    doc: str

    @property
    def attr(self) -> str:
        """Its attribute on the arguments class."""
        return f"{self.name}_" if keyword.iskeyword(self.name) else self.name


@dataclass(frozen=True, slots=True)
class Rule:
    """A relation between parameters, and the sentence that states it."""

    sort: str
    params: tuple[str, ...]
    when: tuple[str, tuple[Any, ...]] | None
    sentence: str


@dataclass(frozen=True, slots=True)
class WriteKey:
    """Which record or edge an operation writes, read from its arguments."""

    kind: str
    params: tuple[tuple[str, ...], ...]
    each: str | None
    unless: str | None


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb, as promised."""

    name: str
    stem: str
    pack: str
    summary: str
    description: str
    category: str
    resource: str
    action: str
    tx: str
    cost: str
    presentation: str
    params: tuple[Param, ...]
    rules: tuple[Rule, ...]
    returns: Word
    beside: tuple[Field, ...]
    errors: tuple[str, ...]
    writes: tuple[WriteKey, ...]
    internal: bool
    wait: bool
    schedulable: bool
    bulk_atomic: bool
    audit_cost: str | None
    embeds: str | None
    examples: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...]
    where: str

    @property
    def method(self) -> str:
        return method_name(self.stem)

    @property
    def class_name(self) -> str:
        return camel(self.stem)


@dataclass(frozen=True, slots=True)
class Pack:
    """A room of verbs."""

    name: str
    title: str
    order: int
    summary: str
    description: str
    bare: bool
    requires: tuple[str, ...]
    constants: Mapping[str, Mapping[str, Any]]
    transitions: Mapping[str, Mapping[str, tuple[str, ...]]]
    entity_kinds: Mapping[str, Mapping[str, Any]]
    note_kinds: Mapping[str, Mapping[str, Any]]
    consumer_kinds: Mapping[str, str]
    edge_rules: Mapping[str, tuple[str, ...]]
    verbs: tuple[Verb, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """One path of the server. `errors` holds those of its access too; `query` maps fields to their defaults.

    `to` is the path that a redirect leads to.
    """

    name: str
    path: str
    method: str
    access: str
    serves: str
    summary: str
    doc: str
    headers: tuple[str, ...]
    query: Mapping[str, str]
    errors: tuple[str, ...]
    answers: Mapping[str, str]
    file: str
    media_type: str
    to: str


@dataclass(frozen=True, slots=True)
class Table:
    """A value of the gateway that programs look things up in; `value` is plain JSON."""

    name: str
    value: Any
    doc: str


@dataclass(frozen=True, slots=True)
class Failure:
    """A way in which an operation of the gateway fails.

    `status` is None for one that only the command line knows. `of` says which operations can fail so without naming it:
    every one, those on a run, those that write, or (empty) none. `retry`: the answer says when to ask again.
    """

    name: str
    code: str
    status: int | None
    message: str
    exit_status: int
    of: str
    retry: bool
    doc: str

    @property
    def class_name(self) -> str:
        return camel(self.name)


@dataclass(frozen=True, slots=True)
class Link:
    """Another operation that the answer leads to, by its stem."""

    to: str
    doc: str


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the gateway. `path` is the whole path; `failures` are all that it can have, by name.

    `example_lines` are where its examples stand in its file `where`.
    """

    name: str
    stem: str
    summary: str
    description: str
    method: str
    path: str
    scope: str
    state_first: bool
    params: tuple[Param, ...]
    rules: tuple[Rule, ...]
    returns: Word
    failures: tuple[str, ...]
    links: tuple[Link, ...]
    examples: tuple[Mapping[str, Any], ...]
    example_lines: tuple[int, ...]
    where: str

    @property
    def writes(self) -> bool:
        return self.method == "POST"

    @property
    def has_run(self) -> bool:
        return RUN_FIELD in self.path

    @property
    def input_class(self) -> str:
        """The type of its body, or of its query."""
        return camel(self.stem) + ("Body" if self.writes else "Query")

    @property
    def returns_shape(self) -> str:
        """The shape of its data, without the name of the gateway."""
        assert isinstance(self.returns.expr, ShapeUse)
        return self.returns.expr.shape.partition(".")[2]

    @property
    def result_class(self) -> str:
        return camel(self.returns_shape)


@dataclass(frozen=True, slots=True)
class Gateway:
    """The agent event gateway. `constants` are those of the surface, then those of each area.

    `run_id` stands in the paths of operations on a run, `key_header` in every write, `retry_header` in a refusal.
    """

    title: str
    summary: str
    description: str
    base_path: str
    api_version: str
    run_id: Param
    key_header: Param
    retry_header: Param
    failures: Mapping[str, Failure]
    operations: tuple[Operation, ...]
    constants: Mapping[str, Mapping[str, Any]]
    tables: tuple[Table, ...]


@dataclass(frozen=True, slots=True)
class Contract:
    """Everything that is promised. Plain global tables stay the data of their files."""

    scalars: Mapping[str, Scalar]
    enums: Mapping[str, Enum]
    shapes: Mapping[str, Shape]
    packs: tuple[Pack, ...]
    tool_params: tuple[Param, ...]
    help_fields: tuple[Field, ...]
    routes: tuple[Route, ...]
    errors: Mapping[str, Mapping[str, Any]]
    gateway: Gateway | None
    data: Mapping[str, Mapping[str, Any]]

    @property
    def verbs(self) -> list[Verb]:
        return [verb for pack in self.packs for verb in pack.verbs]


def camel(name: str) -> str:
    """`db_diagnostics` -> `DbDiagnostics`."""
    return "".join(part.capitalize() for part in name.split("_"))


def method_name(stem: str) -> str:
    """The handler's method for a verb; a keyword or builtin gets an underscore so that it hides nothing."""
    taken = keyword.iskeyword(stem) or hasattr(builtins, stem)
    return f"{stem}_" if taken else stem
