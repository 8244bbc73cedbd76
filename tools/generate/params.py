"""What an operation is given: parameters and the relations between them, resolved."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from jsonschema import Draft202012Validator

from tools.generate.model import EnumUse, Param, Rule, Scalar
from tools.generate.problems import did_you_mean
from tools.generate.read import Place, Source
from tools.generate.sentences import rule_sentence
from tools.generate.words import Refuse, Words


class Params:
    """Reads parameters with the names that `words` knows. `refuse` takes a fault with its place."""

    def __init__(self, words: Words, refuse: Refuse) -> None:
        self._words = words
        self._refuse = refuse

    def read(
        self, source: Source, place: Place, entries: Mapping[str, Any], pack: str, stem: str = ""
    ) -> tuple[Param, ...]:
        """The parameters of one operation of a pack (empty: the request tool); `stem` names it."""
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
        word = self._words.word(source, place, entry, pack, f"{stem}_{name}")
        default = entry.get("default")
        if isinstance(default, str) and isinstance(word.expr, Scalar) and word.expr.schema.get("type") == "integer":
            default = self._words.constant(source, (*place, "default"), default, pack)
        param = Param(
            name=name,
            word=word,
            required=entry.get("required", False),
            default=default,
            has_default="default" in entry,
            aliases=tuple(entry.get("aliases", [])),
            scope=tuple(entry.get("scope", [])),
            needs=entry.get("needs"),
            when=_when(entry["when"]) if "when" in entry else None,
            doc=entry["doc"],
        )
        self._check_default(source, place, param)
        return param

    def _check_default(self, source: Source, place: Place, param: Param) -> None:
        if not param.has_default:
            return
        expr = param.word.expr
        if param.required:
            self._refuse(source, place, "a required parameter has no default")
        elif isinstance(expr, EnumUse) and param.default not in expr.values:
            text = f"the default {param.default!r} is not a value of {expr.enum.name}"
            self._refuse(source, (*place, "default"), text + did_you_mean(str(param.default), expr.values))
        elif isinstance(expr, Scalar) and not Draft202012Validator(dict(expr.schema)).is_valid(param.default):
            text = f"the default {json.dumps(param.default)} is not {expr.accepts}"
            self._refuse(source, (*place, "default"), text)

    def rules(self, source: Source, params: tuple[Param, ...]) -> Iterable[Rule]:
        """The rules that the file states, each with the sentence that it says or that is made for it."""
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
            yield Rule(sort, named, when, entry.get("says") or rule_sentence(sort, named, when))


def _when(entry: Mapping[str, Any]) -> tuple[str, tuple[Any, ...]]:
    ((param, values),) = entry.items()
    return param, tuple(values)
