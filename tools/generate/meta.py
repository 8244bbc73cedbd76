"""Each file has the shape that `registry/_meta/contract.schema.json` gives its sort."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from tools.generate.problems import ContractError, Problem, did_you_mean
from tools.generate.read import Source, read_file

META_SCHEMA = "registry/_meta/contract.schema.json"
GLOBAL_SORTS = (
    "types",
    "errors",
    "settings",
    "limits",
    "kinds",
    "relations",
    "events",
    "secrets",
    "presentation",
    "request",
    "http",
)


def read_registry(root: Path, schema: Path) -> dict[str, Source]:
    """Every YAML file under `root/registry`, by its path there, checked by `schema`. Raises ContractError."""
    registry = root / "registry"
    check = _Shapes(json.loads(schema.read_text(encoding="utf-8")))
    problems: list[Problem] = []
    found: dict[str, Source] = {}
    for path in sorted(registry.rglob("*.yaml")):
        name = path.relative_to(registry).as_posix()
        where = f"registry/{name}"
        sort = sort_of(name)
        if sort is None:
            problems.append(Problem(where, 1, "no such sort of contract file"))
            continue
        try:
            source = read_file(path, where)
        except ContractError as error:
            problems.extend(error.problems)
            continue
        problems.extend(check.problems(source, sort))
        found[name] = source
    for sort in GLOBAL_SORTS:
        if not (registry / f"{sort}.yaml").exists():
            problems.append(Problem(f"registry/{sort}.yaml", 1, "the file is missing"))
    if any(name.startswith("gateway/") for name in found) and "gateway/_surface.yaml" not in found:
        problems.append(Problem("registry/gateway/_surface.yaml", 1, "the file is missing"))
    if problems:
        raise ContractError(problems)
    return found


def sort_of(name: str) -> str | None:
    """The definition a registry path is checked by.

    `kinds.yaml` -> kinds, `packs/kg/_pack.yaml` -> pack, `packs/kg/link.yaml` -> verb, `gateway/_surface.yaml` ->
    gateway_surface, `gateway/_ledger.yaml` -> gateway_words, `gateway/open.yaml` -> gateway_operation.
    """
    parts = name.removesuffix(".yaml").split("/")
    if len(parts) == 1:
        return parts[0] if parts[0] in GLOBAL_SORTS else None
    if len(parts) == 3 and parts[0] == "packs":
        return "pack" if parts[2] == "_pack" else "verb"
    if len(parts) == 2 and parts[0] == "gateway":
        if parts[1] == "_surface":
            return "gateway_surface"
        return "gateway_words" if parts[1].startswith("_") else "gateway_operation"
    return None


class _Shapes:
    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._validators: dict[str, Draft202012Validator] = {}

    def problems(self, source: Source, sort: str) -> list[Problem]:
        if sort not in self._validators:
            own = self._schema["gateway"] if sort.startswith("gateway_") else {}
            definitions = self._schema["$defs"] | own
            self._validators[sort] = Draft202012Validator({"$ref": f"#/$defs/{sort}", "$defs": definitions})
        errors = self._validators[sort].iter_errors(source.data)
        return [problem for error in errors for problem in _describe(source, error)]


def _describe(source: Source, error: ValidationError) -> list[Problem]:
    place = tuple(error.absolute_path)
    schema: Any = error.schema
    value: Any = error.instance
    if error.validator == "additionalProperties" and error.validator_value is False:
        known = schema.get("properties", {})
        return [
            source.problem((*place, word), f"unknown word '{word}'{did_you_mean(word, known)}")
            for word in value
            if word not in known
        ]
    if error.validator == "required":
        return [source.problem(place, f"the word '{word}' is missing") for word in _missing(error)]
    if error.validator == "enum":
        choices = [str(choice) for choice in schema["enum"]]
        text = f"must be one of {', '.join(choices)}, not {value!r}"
        text += did_you_mean(value, choices) if isinstance(value, str) else ""
        return [source.problem(place, text)]
    if error.validator == "pattern":
        return [source.problem(place, f"{value!r} is not spelt as {schema['pattern']}")]
    if error.validator == "type":
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return [source.problem(place, f"must be {' or '.join(kinds)}, not {json.dumps(value)[:60]}")]
    if error.validator in ("minLength", "minItems", "minProperties") and not value:
        return [source.problem(place, "is empty; fill it in")]
    return [source.problem(place, error.message)]


def _missing(error: ValidationError) -> list[str]:
    # one error is raised for each missing word; its message opens with the word in quotes
    value: Any = error.instance
    words: Any = error.validator_value
    return [word for word in words if word not in value and error.message.startswith(repr(word))]
