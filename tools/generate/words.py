"""What a value may be: the words of params, fields and results, resolved to scalars, enums and shapes.

Shapes are resolved when they are first used, whatever the order of the files; a name that leads nowhere is refused
and stands for a type that accepts anything, so that the run goes on and finds the other faults too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tools.generate.model import (
    GATEWAY,
    AnyOf,
    Bounds,
    Enum,
    EnumUse,
    Expr,
    Field,
    ListOf,
    MapOf,
    Scalar,
    Shape,
    ShapeUse,
    Word,
)
from tools.generate.problems import did_you_mean
from tools.generate.read import Place, Source

Refuse = Callable[[Source, Place, str], None]

FORMS = ("type", "list", "map", "any_of", "shape", "fields")
_BOUNDS = {
    "integer": ("min", "max"),
    "number": ("min", "max"),
    "string": ("min_length", "max_length", "max_bytes"),
    "array": ("min_items", "max_items"),
}
_ANYTHING = Scalar("unknown", {}, {}, None, "", "")


class Words:
    """The names that words can use, and those of each pack.

    The gateway counts as a pack. `constants` are the numbers of each, `lists` the tables that list words; `refuse`
    takes a fault with its place.
    """

    def __init__(
        self,
        data: Mapping[str, Any],
        types: Source,
        packs: Mapping[str, Source],
        constants: Mapping[str, Mapping[str, Any]],
        lists: Mapping[str, list[str]],
        refuse: Refuse,
    ) -> None:
        self._data = data
        self._types = types
        self._packs = packs
        self._constants = constants
        self._lists = lists
        self._refuse = refuse
        self.scalars = {name: self._scalar(name, entry) for name, entry in data["types"]["types"].items()}
        self.enums = {enum.name: enum for enum in (*self._global_enums(), *self._pack_enums())}
        self.shapes: dict[str, Shape] = {}
        self._open_shapes: list[str] = []
        self._resolve_shapes()

    def _scalar(self, name: str, entry: Mapping[str, Any]) -> Scalar:
        schema = entry["schema"]
        if "utf16_max" in entry:
            # characters are never more than their UTF-16 units, so this refuses early; the format counts the units
            place: Place = ("types", name, "utf16_max")
            schema = {**schema, "maxLength": self.constant(self._types, place, entry["utf16_max"], GATEWAY)}
        return Scalar(
            name,
            schema,
            entry.get("canonical", schema),
            entry.get("normalise"),
            entry["accepts"],
            entry["doc"],
            entry.get("never_null", False),
        )

    def _global_enums(self) -> list[Enum]:
        kinds, relations = self._data["kinds"], self._data["relations"]
        events, request = self._data["events"], self._data["request"]
        entity_kinds, note_kinds = dict(kinds["entity_kinds"]), dict(kinds["note_kinds"])
        for source in self._packs.values():
            entity_kinds |= source.data.get("entity_kinds", {})
            note_kinds |= source.data.get("note_kinds", {})
        aliases = {alias: kind for kind, entry in entity_kinds.items() for alias in entry.get("aliases", [])}
        modes = self._data["presentation"]["presentation"]["modes"]
        return [
            Enum("entity_kind", _docs(entity_kinds), aliases, True, "entity_kind", "What an entity is."),
            Enum("note_kind", _docs(note_kinds), {}, True, "note_kind", "What a note is."),
            Enum("relation", _docs(relations["relations"]), {}, True, "relation", "What an edge says."),
            Enum("event_kind", _docs(events["kinds"]), {}, True, "event_kind", "What happened."),
            _plain("outcome", events["outcomes"], "How an operation ended."),
            _plain("substrate", dict.fromkeys(events["substrates"], ""), "The four sorts of record."),
            _plain("event_role", events["roles"], "The part a record played in an event."),
            _plain("dependency_kind", relations["dependency_kinds"]["values"], "What a dependency is needed for."),
            _plain(
                "presentation",
                {name: modes.get(name, "") for name in request["presentations"]},
                "Presentation.",
            ),
            _plain("format", request["formats"], "How a result is rendered."),
            Enum(
                "category",
                request["categories"]["values"],
                request["categories"].get("aliases", {}),
                False,
                None,
                "The kind of act a verb performs.",
            ),
        ]

    def _pack_enums(self) -> Iterable[Enum]:
        for pack, source in self._packs.items():
            for name, entry in source.data.get("enums", {}).items():
                values = entry["values"]
                docs = values if isinstance(values, dict) else dict.fromkeys(values, "")
                aliases = entry.get("aliases", {})
                for alias, value in aliases.items():
                    if value not in docs:
                        text = f"'{value}' is not a value of the enum{did_you_mean(value, docs)}"
                        self._refuse(source, ("enums", name, "aliases", alias), text)
                full = f"{pack}.{name}"
                lenient = entry.get("lenient", False)
                yield Enum(full, docs, aliases, lenient, entry.get("normalise"), entry.get("doc", ""))

    def _resolve_shapes(self) -> None:
        for pack, source in self._packs.items():
            for name in source.data.get("shapes", {}):
                self._shape(f"{pack}.{name}")

    def word(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str, anonymous: str) -> Word:
        """The value that an entry describes; fields written in place become the shape `pack.anonymous`."""
        expr = self._expr(source, place, entry, pack, anonymous)
        self._check_bounds(source, place, entry, expr)
        return Word(expr, entry.get("nullable", False), self._bounds(source, place, entry, pack))

    def _expr(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str, anonymous: str) -> Expr:
        forms = [form for form in FORMS if form in entry]
        if forms == ["type", "fields"] and entry["type"] == "object":
            forms = ["fields"]
        if len(forms) != 1:
            said = " and ".join(forms) or "none of them"
            self._refuse(source, place, f"say exactly one of {', '.join(FORMS)}; here stand {said}")
            return _ANYTHING
        form = forms[0]
        if form == "type":
            return self._named(source, (*place, "type"), entry, pack)
        if form == "shape":
            return ShapeUse(self._shape_name(source, (*place, "shape"), entry["shape"], pack))
        if form == "fields":
            return self._anonymous(source, (*place, "fields"), entry, pack, anonymous)
        if form == "any_of":
            options = [
                self._inner(source, (*place, form, index), option, pack, f"{anonymous}_{index + 1}")
                for index, option in enumerate(entry[form])
            ]
            return AnyOf(tuple(options))
        inner = self._inner(source, (*place, form), entry[form], pack, f"{anonymous}_item")
        return ListOf(inner) if form == "list" else MapOf(inner)

    def _inner(self, source: Source, place: Place, entry: Any, pack: str, anonymous: str) -> Word:
        if isinstance(entry, str):
            return Word(self.named_type(source, place, entry, pack))
        return self.word(source, place, entry, pack, anonymous)

    def _named(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str) -> Expr:
        found = self.named_type(source, place, entry["type"], pack)
        if "only" not in entry:
            return found
        where = (*place[:-1], "only")
        if not isinstance(found, EnumUse):
            self._refuse(source, where, f"'only' narrows an enum, and '{entry['type']}' is none")
            return found
        only = self._only(source, where, entry["only"])
        for value in only:
            if value not in found.values:
                text = f"'{value}' is not a value of {found.enum.name}{did_you_mean(value, found.values)}"
                self._refuse(source, where, text)
        return EnumUse(found.enum, tuple(only))

    def _only(self, source: Source, place: Place, given: list[str] | str) -> list[str]:
        """The values as they are written, or those of the table that is named."""
        if isinstance(given, list):
            return given
        if given not in self._lists:
            self._refuse(source, place, f"no table lists '{given}'{did_you_mean(given, self._lists)}")
        return self._lists.get(given, [])

    def named_type(self, source: Source, place: Place, name: str, pack: str) -> Expr:
        """A scalar or enum by its name as the pack sees it."""
        if name in self.scalars:
            return self.scalars[name]
        for candidate in (f"{pack}.{name}", name):
            if candidate in self.enums:
                enum = self.enums[candidate]
                return EnumUse(enum, tuple(enum.values))
        own = [full.removeprefix(f"{pack}.") for full in self.enums]
        self._refuse(source, place, f"unknown type '{name}'{did_you_mean(name, [*self.scalars, *own])}")
        return _ANYTHING

    def _check_bounds(self, source: Source, place: Place, entry: Mapping[str, Any], expr: Expr) -> None:
        """A bound that does not apply to the value would be kept by nobody."""
        kind = expr.schema.get("type") if isinstance(expr, Scalar) else "array" if isinstance(expr, ListOf) else None
        for name in entry.get("limits", {}):
            if expr is not _ANYTHING and name not in _BOUNDS.get(str(kind), ()):
                self._refuse(source, (*place, "limits", name), f"'{name}' does not limit this value")

    def _bounds(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str) -> Bounds:
        values: dict[str, float] = {}
        for name, value in entry.get("limits", {}).items():
            if isinstance(value, str):
                value = self.constant(source, (*place, "limits", name), value, pack)
            values[name] = value
        constant = entry.get("constant")
        if constant is not None:
            self.constant(source, (*place, "constant"), constant, pack)
        return Bounds(values, entry.get("clamp", False), constant)

    def constant(self, source: Source, place: Place, name: str, pack: str) -> Any:
        """The value of a global limit or of a constant of the pack."""
        known = self._data["limits"]["limits"] | self._constants.get(pack, {})
        if name not in known:
            self._refuse(source, place, f"unknown constant '{name}'{did_you_mean(name, known)}")
            return 0
        return known[name]["value"]

    def _shape_name(self, source: Source, place: Place, name: str, pack: str) -> str:
        full = name if "." in name else f"{pack}.{name}"
        owner, _, stem = full.partition(".")
        known = self._packs[owner].data.get("shapes", {}) if owner in self._packs else {}
        if stem not in known:
            self._refuse(source, place, f"unknown shape '{name}'{did_you_mean(stem, known)}")
        else:
            self._shape(full)
        return full

    def _shape(self, full: str) -> Shape | None:
        """Resolve a shape once; None while it is being resolved: shapes may refer to each other."""
        if full in self.shapes or full in self._open_shapes:
            return self.shapes.get(full)
        self._open_shapes.append(full)
        pack, _, stem = full.partition(".")
        source = self._packs[pack]
        entry = source.data["shapes"][stem]
        place: Place = ("shapes", stem)
        inherited: tuple[Field, ...] = ()
        is_open = entry.get("open", False)
        if "extends" in entry:
            base_name = self._shape_name(source, (*place, "extends"), entry["extends"], pack)
            base = self.shapes.get(base_name)
            if base is None and base_name in self._open_shapes:
                self._refuse(source, (*place, "extends"), f"'{entry['extends']}' leads back to '{stem}'")
            if base is not None:
                inherited, is_open = base.fields, is_open or base.open
        own = self.fields(source, (*place, "fields"), entry.get("fields", {}), pack, stem)
        names = {field.name for field in own}
        fields = tuple(field for field in inherited if field.name not in names) + own
        self._open_shapes.remove(full)
        self.shapes[full] = Shape(full, entry["doc"], fields, is_open)
        return self.shapes[full]

    def fields(
        self, source: Source, place: Place, entries: Mapping[str, Any], pack: str, owner: str
    ) -> tuple[Field, ...]:
        """The fields of an object; `owner` names the shapes that are written in place."""
        for name, entry in entries.items():
            if pack == GATEWAY and "required" in entry:
                text = "a field of the gateway is always there unless it is optional"
                self._refuse(source, (*place, name, "required"), text)
        return tuple(
            Field(
                name,
                self.word(source, (*place, name), entry, pack, f"{owner}_{name}"),
                entry.get("optional", False),
                entry["doc"],
            )
            for name, entry in entries.items()
        )

    def _anonymous(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str, name: str) -> ShapeUse:
        """Fields written in place become a shape named after where they stand."""
        full = f"{pack or 'request'}.{name}"
        fields = self.fields(source, place, entry["fields"], pack, name)
        if any("required" in field for field in entry["fields"].values()):
            fields = tuple(_as_input(field, entry["fields"][field.name]) for field in fields)
        if full in self.shapes or (pack and name in self._packs[pack].data.get("shapes", {})):
            self._refuse(source, place, f"the name '{name}' made for these fields is taken by a shape")
        self.shapes[full] = Shape(full, entry.get("doc", ""), fields, False)
        return ShapeUse(full, inline=True)


def _docs(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {name: entry["doc"] for name, entry in entries.items()}


def _plain(name: str, values: Mapping[str, str], doc: str) -> Enum:
    return Enum(name, values, {}, False, None, doc)


def _as_input(field: Field, entry: Mapping[str, Any]) -> Field:
    """A field of an argument object: what is not required may be missing or null."""
    if entry.get("required", False):
        return field
    return Field(field.name, Word(field.word.expr, True, field.word.bounds), True, field.doc)
