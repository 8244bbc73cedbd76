"""Files in, one resolved contract out; every name that does not lead anywhere is refused with file and line.

The resolver goes on after a fault so that one run shows them all; a faulty part is replaced by a harmless one
and never printed, because ContractError is raised at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from tools.generate.examples import check_example
from tools.generate.meta import GLOBAL_SORTS
from tools.generate.model import (
    AnyOf,
    Bounds,
    Contract,
    Enum,
    EnumUse,
    Expr,
    Field,
    ListOf,
    MapOf,
    Pack,
    Param,
    Rule,
    Scalar,
    Shape,
    ShapeUse,
    Verb,
    Word,
    WriteKey,
)
from tools.generate.problems import ContractError, Problem, did_you_mean
from tools.generate.read import Place, Source

FORMS = ("type", "list", "map", "any_of", "shape", "fields")
_NOWHERE = Scalar("unknown", {}, {}, None, "", "")


def resolve(files: Mapping[str, Source]) -> Contract:
    """The contract of all files (see `meta.read_registry`). Raises ContractError with all faults."""
    return _Resolver(files).contract()


class _Resolver:
    def __init__(self, files: Mapping[str, Source]) -> None:
        self._files = files
        self._problems: list[Problem] = []
        self._data = {sort: files[f"{sort}.yaml"].data for sort in GLOBAL_SORTS}
        self._errors: dict[str, Any] = self._data["errors"]["errors"]
        self._packs = {name.split("/")[1]: source for name, source in files.items() if name.endswith("/_pack.yaml")}
        self._scalars = {
            name: Scalar(
                name,
                entry["schema"],
                entry.get("canonical", entry["schema"]),
                entry.get("normalise"),
                entry["accepts"],
                entry["doc"],
            )
            for name, entry in self._data["types"]["types"].items()
        }
        self._enums = self._global_enums()
        self._shapes: dict[str, Shape] = {}
        self._open_shapes: list[str] = []

    def contract(self) -> Contract:
        self._pack_enums()
        for pack, source in self._packs.items():
            for name in source.data.get("shapes", {}):
                self._shape(f"{pack}.{name}")
        packs = [self._pack(name, source) for name, source in self._packs.items()]
        self._check_requirements()
        self._check_relations()
        self._check_constants()
        request = self._files["request.yaml"]
        tool = self._params(request, ("tool", "params"), request.data["tool"]["params"], "")
        help_fields = self._fields(request, ("help", "fields"), request.data["help"]["fields"], "", "help")
        if self._problems:
            raise ContractError(self._problems)
        ordered = sorted(packs, key=lambda pack: (pack.order, pack.name))
        shapes = dict(sorted(self._shapes.items()))
        return Contract(self._scalars, self._enums, shapes, tuple(ordered), tool, help_fields, self._errors, self._data)

    def _refuse(self, source: Source, place: Place, message: str) -> None:
        self._problems.append(source.problem(place, message))

    # --- enums ---

    def _global_enums(self) -> dict[str, Enum]:
        kinds, relations = self._data["kinds"], self._data["relations"]
        events, request = self._data["events"], self._data["request"]
        entity_kinds, note_kinds = dict(kinds["entity_kinds"]), dict(kinds["note_kinds"])
        for source in self._packs.values():
            entity_kinds |= source.data.get("entity_kinds", {})
            note_kinds |= source.data.get("note_kinds", {})
        aliases = {alias: kind for kind, entry in entity_kinds.items() for alias in entry.get("aliases", [])}
        modes = self._data["presentation"]["presentation"]["modes"]
        enums = [
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
        return {enum.name: enum for enum in enums}

    def _pack_enums(self) -> None:
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
                self._enums[full] = Enum(full, docs, aliases, lenient, entry.get("normalise"), entry.get("doc", ""))

    # --- words ---

    def _word(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str, anonymous: str) -> Word:
        expr = self._expr(source, place, entry, pack, anonymous)
        return Word(expr, entry.get("nullable", False), self._bounds(source, place, entry, pack))

    def _expr(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str, anonymous: str) -> Expr:
        forms = [form for form in FORMS if form in entry]
        if forms == ["type", "fields"] and entry["type"] == "object":
            forms = ["fields"]
        if len(forms) != 1:
            said = " and ".join(forms) or "none of them"
            self._refuse(source, place, f"say exactly one of {', '.join(FORMS)}; here stand {said}")
            return _NOWHERE
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
            return Word(self._type(source, place, entry, pack))
        return self._word(source, place, entry, pack, anonymous)

    def _named(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str) -> Expr:
        found = self._type(source, place, entry["type"], pack)
        if "only" not in entry:
            return found
        where = (*place[:-1], "only")
        if not isinstance(found, EnumUse):
            self._refuse(source, where, f"'only' narrows an enum, and '{entry['type']}' is none")
            return found
        for value in entry["only"]:
            if value not in found.values:
                text = f"'{value}' is not a value of {found.enum.name}{did_you_mean(value, found.values)}"
                self._refuse(source, where, text)
        return EnumUse(found.enum, tuple(entry["only"]))

    def _type(self, source: Source, place: Place, name: str, pack: str) -> Expr:
        if name in self._scalars:
            return self._scalars[name]
        for candidate in (f"{pack}.{name}", name):
            if candidate in self._enums:
                enum = self._enums[candidate]
                return EnumUse(enum, tuple(enum.values))
        own = [full.removeprefix(f"{pack}.") for full in self._enums]
        self._refuse(source, place, f"unknown type '{name}'{did_you_mean(name, [*self._scalars, *own])}")
        return _NOWHERE

    def _bounds(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str) -> Bounds:
        values: dict[str, float] = {}
        for name, value in entry.get("limits", {}).items():
            if isinstance(value, str):
                value = self._constant(source, (*place, "limits", name), value, pack)
            values[name] = value
        constant = entry.get("constant")
        if constant is not None:
            self._constant(source, (*place, "constant"), constant, pack)
        return Bounds(values, entry.get("clamp", False), constant)

    def _constant(self, source: Source, place: Place, name: str, pack: str) -> Any:
        known = dict(self._data["limits"]["limits"])
        if pack:
            known |= self._packs[pack].data.get("constants", {})
        if name not in known:
            self._refuse(source, place, f"unknown constant '{name}'{did_you_mean(name, known)}")
            return 0
        return known[name]["value"]

    # --- shapes ---

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
        if full in self._shapes or full in self._open_shapes:
            return self._shapes.get(full)
        self._open_shapes.append(full)
        pack, _, stem = full.partition(".")
        source = self._packs[pack]
        entry = source.data["shapes"][stem]
        place: Place = ("shapes", stem)
        inherited: tuple[Field, ...] = ()
        is_open = entry.get("open", False)
        if "extends" in entry:
            base_name = self._shape_name(source, (*place, "extends"), entry["extends"], pack)
            base = self._shapes.get(base_name)
            if base is None and base_name in self._open_shapes:
                self._refuse(source, (*place, "extends"), f"'{entry['extends']}' leads back to '{stem}'")
            if base is not None:
                inherited, is_open = base.fields, is_open or base.open
        own = self._fields(source, (*place, "fields"), entry.get("fields", {}), pack, stem)
        names = {field.name for field in own}
        fields = tuple(field for field in inherited if field.name not in names) + own
        self._open_shapes.remove(full)
        self._shapes[full] = Shape(full, entry["doc"], fields, is_open)
        return self._shapes[full]

    def _fields(
        self, source: Source, place: Place, entries: Mapping[str, Any], pack: str, owner: str
    ) -> tuple[Field, ...]:
        return tuple(
            Field(
                name,
                self._word(source, (*place, name), entry, pack, f"{owner}_{name}"),
                entry.get("optional", False),
                entry["doc"],
            )
            for name, entry in entries.items()
        )

    def _anonymous(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str, name: str) -> ShapeUse:
        """Fields written in place become a shape named after where they stand."""
        full = f"{pack or 'request'}.{name}"
        fields = self._fields(source, place, entry["fields"], pack, name)
        if any("required" in field for field in entry["fields"].values()):
            fields = tuple(_as_input(field, entry["fields"][field.name]) for field in fields)
        if full in self._shapes or (pack and name in self._packs[pack].data.get("shapes", {})):
            self._refuse(source, place, f"the name '{name}' made for these fields is taken by a shape")
        self._shapes[full] = Shape(full, entry.get("doc", ""), fields, False)
        return ShapeUse(full, inline=True)

    # --- verbs ---

    def _pack(self, name: str, source: Source) -> Pack:
        data = source.data
        prefix = f"packs/{name}/"
        verbs = [
            self._verb(file, path.removeprefix(prefix).removesuffix(".yaml"), name, data.get("bare", False))
            for path, file in sorted(self._files.items())
            if path.startswith(prefix) and not path.endswith("/_pack.yaml")
        ]
        rules: dict[str, tuple[str, ...]] = {}
        for rule in data.get("edge_rules", []):
            rules[rule["relation"]] = rules.get(rule["relation"], ()) + tuple(rule["endpoints"])
        return Pack(
            name=name,
            title=data["title"],
            order=data["order"],
            summary=data["summary"],
            description=data.get("description", ""),
            bare=data.get("bare", False),
            requires=tuple(data.get("requires", [])),
            constants=data.get("constants", {}),
            entity_kinds=data.get("entity_kinds", {}),
            note_kinds=data.get("note_kinds", {}),
            edge_rules=rules,
            verbs=tuple(verbs),
        )

    def _verb(self, source: Source, stem: str, pack: str, bare: bool) -> Verb:
        data = source.data
        name = stem if bare else f"{pack}.{stem}"
        params = self._params(source, ("params",), data["params"], pack, stem)
        for index, error in enumerate(data.get("errors", [])):
            if error not in self._errors:
                text = f"unknown error '{error}'{did_you_mean(error, self._errors)}"
                self._refuse(source, ("errors", index), text)
        categories = self._enums["category"].values
        if data["category"] not in categories:
            text = f"unknown category '{data['category']}'{did_you_mean(data['category'], categories)}"
            self._refuse(source, ("category",), text)
        verb = Verb(
            name=name,
            stem=stem,
            pack=pack,
            summary=data["summary"],
            description=data.get("description", "").strip(),
            category=data["category"],
            resource=data["gate"]["resource"],
            action=data["gate"]["action"],
            tx=data["tx"],
            cost=data.get("cost", "quick"),
            presentation=data.get("presentation", "agent"),
            params=params,
            rules=tuple(self._rules(source, params)),
            returns=self._returns(source, ("returns",), data["returns"], pack, f"{stem}_result"),
            beside=self._fields(
                source, ("returns", "beside"), data["returns"].get("beside", {}), pack, f"{stem}_beside"
            ),
            errors=tuple(data.get("errors", [])),
            writes=tuple(self._writes(source, params)),
            internal=data.get("internal", False),
            schedulable=data.get("schedulable", False),
            bulk_atomic=data.get("bulk_atomic", False),
            audit_cost=data.get("audit_cost"),
            examples=tuple(data["examples"]),
            notes=tuple(data.get("notes", [])),
            where=source.where,
        )
        self._check_examples(source, verb)
        return verb

    def _params(
        self, source: Source, place: Place, entries: Mapping[str, Any], pack: str, stem: str = ""
    ) -> tuple[Param, ...]:
        params: list[Param] = []
        taken: dict[str, str] = {}
        for name, entry in entries.items():
            here = (*place, name)
            param = self._param(source, here, name, entry, pack, stem)
            for spelling in (name, *param.aliases):
                if spelling in taken:
                    self._refuse(source, here, f"the argument name '{spelling}' also means '{taken[spelling]}'")
                taken[spelling] = name
            for sort, other in (("needs", param.needs), ("when", param.when and param.when[0])):
                if other is not None and other not in entries:
                    self._refuse(source, (*here, sort), f"unknown parameter '{other}'{did_you_mean(other, entries)}")
            params.append(param)
        return tuple(params)

    def _param(self, source: Source, place: Place, name: str, entry: Mapping[str, Any], pack: str, stem: str) -> Param:
        param = Param(
            name=name,
            word=self._word(source, place, entry, pack, f"{stem}_{name}"),
            required=entry.get("required", False),
            default=entry.get("default"),
            has_default="default" in entry,
            aliases=tuple(entry.get("aliases", [])),
            scope=tuple(entry.get("scope", [])),
            needs=entry.get("needs"),
            when=_when(entry["when"]) if "when" in entry else None,
            doc=entry["doc"],
        )
        if param.required and param.has_default:
            self._refuse(source, place, "a required parameter has no default")
        expr = param.word.expr
        if isinstance(expr, EnumUse) and param.has_default and param.default not in expr.values:
            text = f"the default {param.default!r} is not a value of {expr.enum.name}"
            self._refuse(source, (*place, "default"), text + did_you_mean(str(param.default), expr.values))
        return param

    def _returns(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str, anonymous: str) -> Word:
        """`plus` adds fields to every shape among the alternatives."""
        if "any_of" in entry:
            options = [
                self._inner_returned(source, (*place, "any_of", index), option, pack, f"{anonymous}_{index + 1}")
                for index, option in enumerate(entry["any_of"])
            ]
            word = Word(AnyOf(tuple(options)))
        else:
            word = self._word(source, place, entry, pack, anonymous)
        plus = self._fields(source, (*place, "plus"), entry.get("plus", {}), pack, anonymous)
        return _with_plus(word, plus) if plus else word

    def _inner_returned(self, source: Source, place: Place, entry: Any, pack: str, anonymous: str) -> Word:
        if isinstance(entry, str):
            return Word(self._type(source, place, entry, pack))
        return self._returns(source, place, entry, pack, anonymous)

    def _rules(self, source: Source, params: tuple[Param, ...]) -> Iterable[Rule]:
        known = {param.name: param for param in params}
        for index, entry in enumerate(source.data.get("rules", [])):
            place: Place = ("rules", index)
            sorts = [sort for sort in entry if sort != "says"]
            if len(sorts) != 1:
                self._refuse(source, place, "a rule says exactly one thing")
                continue
            sort = sorts[0]
            body = entry[sort]
            when = _when(body["when"]) if sort == "required_when" else None
            named = (body["param"],) if sort == "required_when" else tuple(body)
            for name in (*named, *((when[0],) if when else ())):
                if name not in known:
                    text = f"unknown parameter '{name}'{did_you_mean(name, known)}"
                    self._refuse(source, (*place, sort), text)
            yield Rule(sort, named, when, entry.get("says") or _sentence(sort, named, when))

    def _writes(self, source: Source, params: tuple[Param, ...]) -> Iterable[WriteKey]:
        known = {param.name: param for param in params}
        for index, entry in enumerate(source.data.get("writes", [])):
            place: Place = ("writes", index)
            if ("record" in entry) == ("edge" in entry):
                self._refuse(source, place, "say exactly one of record, edge")
                continue
            kind = "record" if "record" in entry else "edge"
            names = [entry["record"]] if kind == "record" else entry["edge"]
            each = entry.get("each")
            outer = [each] if each else names
            for name in [*outer, *([entry["unless"]] if "unless" in entry else [])]:
                if name not in known:
                    self._refuse(source, place, f"unknown parameter '{name}'{did_you_mean(name, known)}")
            spellings = [(name, *(known[name].aliases if name in known else ())) for name in names]
            yield WriteKey(kind, tuple(spellings), each, entry.get("unless"))

    # --- whole-contract checks ---

    def _check_examples(self, source: Source, verb: Verb) -> None:
        if not any("error" in example for example in verb.examples):
            self._refuse(source, ("examples",), "no example shows a refusal")
        if all("error" in example for example in verb.examples):
            self._refuse(source, ("examples",), "no example shows a success")
        seen: set[str] = set()
        for index, example in enumerate(verb.examples):
            place: Place = ("examples", index)
            for fault in check_example(verb, example, self._errors):
                self._refuse(source, place, fault)
            if example["name"] in seen:
                self._refuse(source, place, f"the name '{example['name']}' stands twice")
            seen.add(example["name"])

    def _check_requirements(self) -> None:
        for source in self._packs.values():
            for index, other in enumerate(source.data.get("requires", [])):
                if other not in self._packs:
                    text = f"unknown pack '{other}'{did_you_mean(other, self._packs)}"
                    self._refuse(source, ("requires", index), text)

    def _check_constants(self) -> None:
        """Constants of all packs become names of one module."""
        owners = dict.fromkeys(self._data["limits"]["limits"], "limits.yaml")
        for pack, source in self._packs.items():
            for name in source.data.get("constants", {}):
                owner = owners.setdefault(name, f"pack '{pack}'")
                if owner != f"pack '{pack}'":
                    self._refuse(source, ("constants", name), f"the name '{name}' is taken by {owner}")

    def _check_relations(self) -> None:
        source = self._files["relations.yaml"]
        for name, entry in source.data["relations"].items():
            if entry["category"] not in source.data["categories"]:
                text = f"unknown category '{entry['category']}'"
                place: Place = ("relations", name, "category")
                self._refuse(source, place, text + did_you_mean(entry["category"], source.data["categories"]))
            self._check_endpoints(source, ("relations", name, "endpoints"), entry["endpoints"])
        for pack in self._packs.values():
            for index, rule in enumerate(pack.data.get("edge_rules", [])):
                place = ("edge_rules", index)
                if rule["relation"] not in source.data["relations"]:
                    text = f"unknown relation '{rule['relation']}'"
                    self._refuse(pack, place, text + did_you_mean(rule["relation"], source.data["relations"]))
                self._check_endpoints(pack, (*place, "endpoints"), rule["endpoints"])

    def _check_endpoints(self, source: Source, place: Place, endpoints: list[str]) -> None:
        kinds = {"*", *self._enums["entity_kind"].values, *self._enums["note_kind"].values}
        for index, endpoint in enumerate(endpoints):
            for kind in endpoint.split(" -> "):
                if kind not in kinds:
                    self._refuse(source, (*place, index), f"unknown kind '{kind}'{did_you_mean(kind, kinds)}")


def _docs(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {name: entry["doc"] for name, entry in entries.items()}


def _plain(name: str, values: Mapping[str, str], doc: str) -> Enum:
    return Enum(name, values, {}, False, None, doc)


def _when(entry: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    ((param, values),) = entry.items()
    return param, tuple(values)


def _as_input(field: Field, entry: Mapping[str, Any]) -> Field:
    """A field of an argument object: what is not required may be missing or null."""
    if entry.get("required", False):
        return field
    return Field(field.name, Word(field.word.expr, True, field.word.bounds), True, field.doc)


def _with_plus(word: Word, plus: tuple[Field, ...]) -> Word:
    expr = word.expr
    if isinstance(expr, ShapeUse):
        return Word(ShapeUse(expr.shape, expr.plus + plus, expr.inline), word.nullable, word.bounds)
    if isinstance(expr, AnyOf):
        return Word(AnyOf(tuple(_with_plus(option, plus) for option in expr.options)), word.nullable)
    return word


def _sentence(sort: str, params: tuple[str, ...], when: tuple[str, tuple[Any, ...]] | None) -> str:
    names = join_words([f"'{name}'" for name in params])
    if when is not None:
        return f"'{params[0]}' is required {when_text(when)}"
    return {
        "exactly_one_of": f"give exactly one of {names.replace(' and ', ' or ')}",
        "at_least_one_of": f"give at least one of {names.replace(' and ', ' or ')}",
        "mutually_exclusive": f"give at most one of {names.replace(' and ', ' or ')}",
        "together": f"give {names} together or not at all",
    }[sort]


def when_text(when: tuple[str, tuple[Any, ...]]) -> str:
    """`when 'kind' is 'a' or 'b'`."""
    values = join_words([f"'{value}'" if isinstance(value, str) else str(value).lower() for value in when[1]])
    return f"when '{when[0]}' is {re.sub(r' and ', ' or ', values)}"


def join_words(words: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
