"""The agent event gateway, resolved: what leads nowhere in its files is refused by file and line.

`_surface.yaml` says what its operations share, `<operation>.yaml` each of them, `_<area>.yaml` the words of one area.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tools.generate.model import (
    GATEWAY,
    RUN_FIELD,
    RUN_ID,
    EnumUse,
    Failure,
    Gateway,
    Link,
    Operation,
    Param,
    Scalar,
    Table,
    Word,
)
from tools.generate.params import Params
from tools.generate.problems import did_you_mean
from tools.generate.read import Place, Source
from tools.generate.words import Refuse, Words

SURFACE = "_surface"
REASON = f"{GATEWAY}.reason"
VERSION_FIELD = "apiVersion"
_OWN = ("operations", "text_formats", "base_path", "api_version", "key_header", "retry_header")
_TAKEN = dict.fromkeys(_OWN, "the module itself")


def resolve_gateway(
    files: Mapping[str, Source], prefix: str, words: Words, params: Params, refuse: Refuse
) -> Gateway | None:
    """The gateway of the files of `registry/gateway/`, by their stem; None without any.

    `prefix` is where the server answers in the envelope of the gateway.
    """
    return _Resolver(files, prefix, words, params, refuse).gateway() if files else None


def gateway_constants(files: Mapping[str, Source]) -> dict[str, Any]:
    """The numbers of the surface, then those of each area in the order of their names."""
    found: dict[str, Any] = {}
    for stem in sorted(files, key=lambda stem: (stem != SURFACE, stem)):
        found |= files[stem].data.get("constants", {})
    return found


def gateway_lists(files: Mapping[str, Source]) -> dict[str, list[str]]:
    """The tables that list words, by name; a field can take only those of one."""
    tables = {
        name: entry["value"] for source in files.values() for name, entry in source.data.get("tables", {}).items()
    }
    return {name: value for name, value in tables.items() if _lists_words(value)}


def _lists_words(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(word, str) for word in value)


class _Resolver:
    def __init__(self, files: Mapping[str, Source], prefix: str, words: Words, params: Params, refuse: Refuse) -> None:
        self._files = files
        self._prefix = prefix
        self._words = words
        self._params = params
        self._refuse = refuse
        self._source = files[SURFACE]
        self._surface = files[SURFACE].data
        self._operations = {stem: source for stem, source in files.items() if not stem.startswith("_")}
        self._failures = {name: _failure(name, entry) for name, entry in self._surface["failures"].items()}

    def gateway(self) -> Gateway:
        self._check_surface()
        operations = [self._operation(stem, self._operations[stem]) for stem in self._listed()]
        self._check_unique(operations)
        self._check_links(operations)
        return Gateway(
            title=self._surface["title"],
            summary=self._surface["summary"],
            description=self._surface.get("description", "").strip(),
            base_path=self._surface["base_path"],
            api_version=self._surface["api_version"],
            run_id=self._outside(RUN_ID, ("run_id",), self._surface["run_id"]),
            key_header=self._header("key"),
            retry_header=self._header("retry"),
            failures=self._failures,
            operations=tuple(operations),
            constants=gateway_constants(self._files),
            tables=tuple(self._tables()),
        )

    def _header(self, name: str) -> Param:
        entry = self._surface["headers"][name]
        return self._outside(entry["name"], ("headers", name), {"type": entry["type"], "doc": entry["doc"]})

    def _outside(self, name: str, place: Place, entry: Mapping[str, Any]) -> Param:
        """Something that a request or an answer has beside its body."""
        word = self._words.word(self._source, place, entry, GATEWAY, name)
        return Param(name, word, True, None, False, (), (), None, None, entry["doc"])

    def _check_surface(self) -> None:
        if self._surface["base_path"] != self._prefix:
            text = f"must be '{self._prefix}', the prefix of the gateway in registry/http.yaml"
            self._refuse(self._source, ("base_path",), text)
        if REASON not in self._words.enums:
            self._refuse(self._source, ("enums",), "the enum 'reason' is missing; it says why a request failed")
        exits: dict[str, int] = {}
        for name, failure in self._failures.items():
            if exits.setdefault(failure.code, failure.exit_status) != failure.exit_status:
                text = f"{failure.code} has the exit status {exits[failure.code]} already; a client knows only the code"
                self._refuse(self._source, ("failures", name, "exit"), text)
            if failure.of and failure.status is None:
                self._refuse(self._source, ("failures", name), "a failure of operations needs a status")

    def _listed(self) -> list[str]:
        """The stems of the operations in the order of the surface."""
        listed = self._surface["operations"]
        for index, stem in enumerate(listed):
            if stem not in self._operations:
                text = f"there is no file of the operation '{stem}'{did_you_mean(stem, self._operations)}"
                self._refuse(self._source, ("operations", index), text)
        for stem in sorted(set(self._operations) - set(listed)):
            self._refuse(self._source, ("operations",), f"the operation '{stem}' is not listed")
        return [stem for stem in listed if stem in self._operations]

    def _operation(self, stem: str, source: Source) -> Operation:
        data = source.data
        params = self._params.read(source, _input(data), data.get(_input(data)[0], {}), GATEWAY, stem)
        self._check_form(source)
        self._check_query(source, params if data["method"] == "GET" else ())
        if data["method"] == "POST":
            params = (self._version(source), *params)
        return Operation(
            name=data["operation"],
            stem=stem,
            summary=data["summary"],
            description=data.get("description", "").strip(),
            method=data["method"],
            path=self._surface["base_path"] + data["path"],
            scope=data.get("scope", "none"),
            state_first=data.get("state_first", False),
            params=params,
            rules=tuple(self._params.rules(source, params)),
            returns=self._words.word(source, ("returns",), data["returns"], GATEWAY, f"{stem}_result"),
            failures=self._failures_of(source),
            links=tuple(Link(entry["to"], entry["doc"]) for entry in data.get("links", [])),
            examples=tuple(data["examples"]),
            example_lines=tuple(source.line(("examples", index)) for index in range(len(data["examples"]))),
            where=source.where,
        )

    def _version(self, source: Source) -> Param:
        """The field of every body that says which interface it is written for."""
        if VERSION_FIELD in source.data.get("params", {}):
            self._refuse(source, ("params", VERSION_FIELD), "every body has this field by itself")
        version = self._surface["api_version"]
        schema = {"type": "string", "enum": [version]}
        scalar = Scalar(f'"{version}"', schema, schema, None, f'the text "{version}"', "")
        doc = "The interface that the request is written for."
        return Param(VERSION_FIELD, Word(scalar), True, None, False, (), (), None, None, doc)

    def _check_form(self, source: Source) -> None:
        """A write has a body and a key of some scope, a read has a query; the scope fits the path."""
        data = source.data
        runs = data["path"].count(RUN_FIELD)
        if runs > 1:
            self._refuse(source, ("path",), f"{RUN_FIELD} stands in a path once")
        if data["method"] == "GET":
            for word in ("params", "rules", "state_first", "scope"):
                if word in data:
                    self._refuse(source, (word,), f"an operation that reads has no {word}")
            return
        if "query" in data:
            self._refuse(source, ("query",), "an operation that writes has no query")
        wanted = "run" if runs else "global"
        if data.get("scope") != wanted:
            reason = f"with {RUN_FIELD}" if runs else f"without {RUN_FIELD}"
            self._refuse(source, ("scope",), f"a write {reason} in its path has the scope {wanted}")
        if data.get("state_first") and not runs:
            self._refuse(source, ("state_first",), f"without {RUN_FIELD} in its path there is no state to look at")

    def _check_query(self, source: Source, params: tuple[Param, ...]) -> None:
        """A field of a query string is one word."""
        for param in params:
            if not isinstance(param.word.expr, (Scalar, EnumUse)) or param.word.nullable:
                self._refuse(source, ("query", param.name), "a field of the query is one text or number")

    def _failures_of(self, source: Source) -> tuple[str, ...]:
        """Those that the file names, and those that operations of its sort have; in the order of the surface."""
        data = source.data
        applies = {"every": True, "run": RUN_FIELD in data["path"], "write": data["method"] == "POST"}
        found = {name for name, failure in self._failures.items() if applies.get(failure.of)}
        for index, name in enumerate(data.get("failures", [])):
            place: Place = ("failures", index)
            if name not in self._failures:
                self._refuse(source, place, f"unknown failure '{name}'{did_you_mean(name, self._failures)}")
            elif self._failures[name].status is None:
                self._refuse(source, place, f"'{name}' has no status; only the command line fails so")
            elif name in found:
                self._refuse(source, place, f"'{name}' is a failure of this operation already")
            found.add(name)
        return tuple(name for name in self._failures if name in found)

    def _check_unique(self, operations: list[Operation]) -> None:
        names: dict[str, str] = {}
        paths: dict[tuple[str, str], str] = {}
        for operation in operations:
            source = self._files[operation.stem]
            other = names.setdefault(operation.name, operation.stem)
            if other != operation.stem:
                self._refuse(source, ("operation",), f"the name is that of the operation '{other}'")
            other = paths.setdefault((operation.method, operation.path), operation.stem)
            if other != operation.stem:
                self._refuse(source, ("path",), f"method and path are those of the operation '{other}'")

    def _check_links(self, operations: list[Operation]) -> None:
        """A link to an operation on a run needs the run in the answer."""
        known = {operation.stem: operation for operation in operations}
        for operation in operations:
            source = self._files[operation.stem]
            shape = self._words.shapes.get(f"{GATEWAY}.{operation.returns_shape}")
            for index, link in enumerate(operation.links):
                place: Place = ("links", index, "to")
                if link.to not in known:
                    self._refuse(source, place, f"unknown operation '{link.to}'{did_you_mean(link.to, known)}")
                elif known[link.to].has_run and shape and RUN_ID not in {field.name for field in shape.fields}:
                    text = f"'{link.to}' needs the field {RUN_ID}, which {operation.returns_shape} does not have"
                    self._refuse(source, place, text)

    def _tables(self) -> Iterable[Table]:
        owners: dict[str, str] = {}
        for _, source in sorted(self._files.items()):
            for name, entry in source.data.get("tables", {}).items():
                owner = owners.setdefault(name, source.where)
                if owner != source.where or name in _TAKEN:
                    self._refuse(source, ("tables", name), f"the name '{name}' is taken by {_TAKEN.get(name, owner)}")
                self._check_keys(source, ("tables", name), entry)
                yield Table(name, entry["value"], entry["doc"])

    def _check_keys(self, source: Source, place: Place, entry: Mapping[str, Any]) -> None:
        """`keys` names the enum that the keys of a map, or the members of a list, are words of."""
        if "keys" not in entry:
            return
        enum = self._words.enums.get(entry["keys"])
        if enum is None:
            text = f"unknown enum '{entry['keys']}'{did_you_mean(entry['keys'], self._words.enums)}"
            self._refuse(source, (*place, "keys"), text)
        elif not isinstance(entry["value"], (dict, list)):
            self._refuse(source, (*place, "keys"), "only a map or a list has keys")
        else:
            for word in entry["value"]:
                if not isinstance(word, str) or word not in enum.values:
                    text = f"'{word}' is not a value of {enum.name}{did_you_mean(str(word), enum.values)}"
                    self._refuse(source, (*place, "value"), text)


def _failure(name: str, entry: Mapping[str, Any]) -> Failure:
    return Failure(
        name=name,
        code=entry["code"],
        status=entry.get("status"),
        message=entry["message"],
        exit_status=entry["exit"],
        of=entry.get("of", ""),
        retry=entry.get("retry", False),
        doc=entry["doc"],
    )


def _input(data: Mapping[str, Any]) -> tuple[str]:
    """Where the fields stand that a request has: those of the body of a write, those of the query of a read."""
    return ("params",) if data["method"] == "POST" else ("query",)
