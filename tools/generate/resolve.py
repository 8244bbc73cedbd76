"""Files in, one resolved contract out; every name that does not lead anywhere is refused with file and line.

The resolver goes on after a fault so that one run shows them all; a faulty part is replaced by a harmless one
and never printed, because ContractError is raised at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tools.generate.examples import check_example
from tools.generate.gateway import SURFACE, gateway_constants, gateway_lists, resolve_gateway
from tools.generate.meta import GLOBAL_SORTS
from tools.generate.model import (
    GATEWAY,
    AnyOf,
    Contract,
    Field,
    Gateway,
    Pack,
    Param,
    Route,
    ShapeUse,
    Verb,
    Word,
    WriteKey,
)
from tools.generate.params import Params
from tools.generate.problems import ContractError, Problem, did_you_mean
from tools.generate.read import Place, Source
from tools.generate.surface import resolve_routes
from tools.generate.words import Words


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
        self._gateway = {
            name.removeprefix("gateway/").removesuffix(".yaml"): source
            for name, source in files.items()
            if name.startswith("gateway/")
        }
        rooms = self._packs | ({GATEWAY: self._gateway[SURFACE]} if SURFACE in self._gateway else {})
        constants = {name: source.data.get("constants", {}) for name, source in self._packs.items()}
        constants[GATEWAY] = gateway_constants(self._gateway)
        lists = gateway_lists(self._gateway)
        self._words = Words(self._data, files["types.yaml"], rooms, constants, lists, self._refuse)
        self._params = Params(self._words, self._refuse)

    def contract(self) -> Contract:
        packs = [self._pack(name, source) for name, source in self._packs.items()]
        self._check_requirements()
        self._check_relations()
        self._check_constants()
        self._check_transitions()
        request = self._files["request.yaml"]
        tool = self._params.read(request, ("tool", "params"), request.data["tool"]["params"], "")
        help_fields = self._words.fields(request, ("help", "fields"), request.data["help"]["fields"], "", "help")
        routes = resolve_routes(self._files["http.yaml"], self._errors, tool, self._refuse)
        prefix = self._data["http"]["gateway"]["prefix"]
        gateway = resolve_gateway(self._gateway, prefix, self._words, self._params, self._refuse)
        self._check_names(packs, routes, gateway)
        if self._problems:
            raise ContractError(self._problems)
        ordered = sorted(packs, key=lambda pack: (pack.order, pack.name))
        shapes = dict(sorted(self._words.shapes.items()))
        return Contract(
            self._words.scalars,
            self._words.enums,
            shapes,
            tuple(ordered),
            tool,
            help_fields,
            routes,
            self._errors,
            gateway,
            self._data,
        )

    def _refuse(self, source: Source, place: Place, message: str) -> None:
        self._problems.append(source.problem(place, message))

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
            transitions={
                enum: {state: tuple(targets) for state, targets in table.items()}
                for enum, table in data.get("transitions", {}).items()
            },
            entity_kinds=data.get("entity_kinds", {}),
            note_kinds=data.get("note_kinds", {}),
            consumer_kinds=data.get("consumer_kinds", {}),
            edge_rules=rules,
            verbs=tuple(verbs),
        )

    def _verb(self, source: Source, stem: str, pack: str, bare: bool) -> Verb:
        data = source.data
        name = stem if bare else f"{pack}.{stem}"
        params = self._params.read(source, ("params",), data["params"], pack, stem)
        for index, error in enumerate(data.get("errors", [])):
            if error not in self._errors:
                text = f"unknown error '{error}'{did_you_mean(error, self._errors)}"
                self._refuse(source, ("errors", index), text)
        categories = self._words.enums["category"].values
        if data["category"] not in categories:
            text = f"unknown category '{data['category']}'{did_you_mean(data['category'], categories)}"
            self._refuse(source, ("category",), text)
        if data.get("wait") and (data["tx"] != "read" or data.get("cost") == "slow"):
            self._refuse(source, ("wait",), "only a quick verb with tx: read can wait")
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
            rules=tuple(self._params.rules(source, params)),
            returns=self._returns(source, ("returns",), data["returns"], pack, f"{stem}_result"),
            beside=self._words.fields(
                source, ("returns", "beside"), data["returns"].get("beside", {}), pack, f"{stem}_beside"
            ),
            errors=tuple(data.get("errors", [])),
            writes=tuple(self._writes(source, params)),
            internal=data.get("internal", False),
            wait=data.get("wait", False),
            schedulable=data.get("schedulable", False),
            bulk_atomic=data.get("bulk_atomic", False),
            audit_cost=data.get("audit_cost"),
            embeds=data.get("embeds"),
            examples=tuple(data["examples"]),
            notes=tuple(data.get("notes", [])),
            where=source.where,
        )
        self._check_examples(source, verb)
        return verb

    def _returns(self, source: Source, place: Place, entry: Mapping[str, Any], pack: str, anonymous: str) -> Word:
        """`plus` adds fields to every shape among the alternatives."""
        if "any_of" in entry:
            options = [
                self._inner_returned(source, (*place, "any_of", index), option, pack, f"{anonymous}_{index + 1}")
                for index, option in enumerate(entry["any_of"])
            ]
            word = Word(AnyOf(tuple(options)))
        else:
            word = self._words.word(source, place, entry, pack, anonymous)
        plus = self._words.fields(source, (*place, "plus"), entry.get("plus", {}), pack, anonymous)
        return _with_plus(word, plus) if plus else word

    def _inner_returned(self, source: Source, place: Place, entry: Any, pack: str, anonymous: str) -> Word:
        if isinstance(entry, str):
            return Word(self._words.named_type(source, place, entry, pack))
        return self._returns(source, place, entry, pack, anonymous)

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

    def _check_names(self, packs: list[Pack], routes: tuple[Route, ...], gateway: Gateway | None) -> None:
        """A name means one verb, whatever its pack, and no verb is named like a route or an operation."""
        owners = {route.name: "a route of registry/http.yaml" for route in routes}
        owners |= {operation.name: operation.where for operation in (gateway.operations if gateway else ())}
        if GATEWAY in self._packs:
            self._refuse(self._packs[GATEWAY], (), "the name of the agent event gateway is no name of a pack")
        for verb in (verb for pack in packs for verb in pack.verbs):
            owner = owners.setdefault(verb.name, verb.where)
            if owner != verb.where:
                source = self._files[verb.where.removeprefix("registry/")]
                self._refuse(source, (), f"the name '{verb.name}' is taken by {owner}")

    def _check_requirements(self) -> None:
        for source in self._packs.values():
            for index, other in enumerate(source.data.get("requires", [])):
                if other not in self._packs:
                    text = f"unknown pack '{other}'{did_you_mean(other, self._packs)}"
                    self._refuse(source, ("requires", index), text)

    def _check_constants(self) -> None:
        """Constants of all packs and of the gateway become names of one module."""
        owners = dict.fromkeys(self._data["limits"]["limits"], "limits.yaml")
        files = {f"pack '{pack}'": source for pack, source in self._packs.items()}
        files |= {source.where: source for source in self._gateway.values()}
        for file, source in files.items():
            for name in source.data.get("constants", {}):
                owner = owners.setdefault(name, file)
                if owner != file:
                    self._refuse(source, ("constants", name), f"the name '{name}' is taken by {owner}")

    def _check_transitions(self) -> None:
        """A table names every value of its enum once as a start, and nothing else as an end."""
        for pack, source in self._packs.items():
            enums = source.data.get("enums", {})
            for name, table in source.data.get("transitions", {}).items():
                place: Place = ("transitions", name)
                if name not in enums:
                    self._refuse(source, place, f"unknown enum '{name}'{did_you_mean(name, enums)}")
                    continue
                states = self._words.enums[f"{pack}.{name}"].values
                for state in states:
                    if state not in table:
                        text = f"'{state}' is missing; a value from which nothing leads on has an empty list"
                        self._refuse(source, place, text)
                for state, targets in table.items():
                    for word in (state, *targets):
                        if word not in states:
                            text = f"'{word}' is not a value of {pack}.{name}{did_you_mean(word, states)}"
                            self._refuse(source, (*place, state), text)
                    if state in targets:
                        self._refuse(source, (*place, state), f"'{state}' leads to itself; staying is no transition")

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
        kinds = {"*", *self._words.enums["entity_kind"].values, *self._words.enums["note_kind"].values}
        for index, endpoint in enumerate(endpoints):
            for kind in endpoint.split(" -> "):
                if kind not in kinds:
                    self._refuse(source, (*place, index), f"unknown kind '{kind}'{did_you_mean(kind, kinds)}")


def _with_plus(word: Word, plus: tuple[Field, ...]) -> Word:
    expr = word.expr
    if isinstance(expr, ShapeUse):
        return Word(ShapeUse(expr.shape, expr.plus + plus, expr.inline), word.nullable, word.bounds)
    if isinstance(expr, AnyOf):
        return Word(AnyOf(tuple(_with_plus(option, plus) for option in expr.options)), word.nullable)
    return word
