"""Examples promise only what their verb can do: they call it, and their refusal is one of its errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tools.generate.model import Verb

_CALL = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*)\s*\(")
_REFERENCE = re.compile(r"\$\{([^}]*)\}")
_STEP = re.compile(r"(\d+)((\.[A-Za-z_][A-Za-z0-9_]*|\[\d+\])*)")


def check_example(verb: Verb, example: Mapping[str, Any], errors: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Everything that is wrong with one example, as sentences."""
    called = _CALL.match(example["call"].lstrip("[ "))
    if called is None or called[1] != verb.name:
        yield f"the call does not begin with {verb.name}("
    if ("result" in example) == ("error" in example):
        yield "say exactly one of result, error"
    setup = example.get("setup", [])
    for index, text in enumerate([*setup, example["call"]]):
        for reference in _REFERENCE.findall(text):
            step = _STEP.fullmatch(reference)
            if step is None or not 1 <= int(step[1]) <= index:
                yield f"'${{{reference}}}' does not name the result of an earlier setup operation"
    if "error" in example:
        yield from _check_error(verb, example["error"], errors)


def placeholders(texts: Iterable[str]) -> dict[str, str]:
    """What a reader sees for each reference in the texts: `${1.id}` -> `<id>`, or `<id 1>` beside a `${2.id}`."""
    found = sorted({reference for text in texts for reference in _REFERENCE.findall(text)}, key=_step_of)
    names = [_field(reference) for reference in found]
    shown: dict[str, str] = {}
    for reference, name in zip(found, names, strict=True):
        number = names[: len(shown)].count(name) + 1
        shown[reference] = f"<{name} {number}>" if names.count(name) > 1 else f"<{name}>"
    return shown


def readable(text: str, shown: Mapping[str, str]) -> str:
    """The text with its references replaced as `placeholders` says."""
    return _REFERENCE.sub(lambda match: shown[match[1]], text)


def told_by(index: int, shown: Mapping[str, str]) -> dict[str, str]:
    """The fields of setup operation `index` (from 1) that later operations refer to."""
    told = {reference: name for reference, name in shown.items() if _step_of(reference)[0] == index}
    return {reference.removeprefix(str(index)).lstrip(".") or "result": name for reference, name in told.items()}


def _step_of(reference: str) -> tuple[int, str]:
    number = re.split(r"\D", reference, maxsplit=1)[0]
    return int(number), reference[len(number) :]


def _field(reference: str) -> str:
    """The last field of a reference, or the result as a whole."""
    names = re.findall(r"[A-Za-z_][A-Za-z0-9_]*", reference)
    return names[-1] if names else "result"


def possible_errors(verb: Verb, errors: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Names of the errors that the verb declares or that every verb can have, in the order of errors.yaml."""
    return [name for name, entry in errors.items() if name in verb.errors or entry.get("always", False)]


def error_code(name: str, entry: Mapping[str, Any]) -> str:
    """The code of an error: what the file says, else its name."""
    return str(entry.get("code", name))


def _check_error(verb: Verb, expected: Mapping[str, Any], errors: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    possible = [(errors[name]["kind"], error_code(name, errors[name])) for name in possible_errors(verb, errors)]
    if expected["kind"] not in {kind for kind, _ in possible}:
        yield f"the verb declares no error of kind '{expected['kind']}'"
    elif "code" in expected and (expected["kind"], expected["code"]) not in possible:
        yield f"the verb declares no error of kind '{expected['kind']}' and code '{expected['code']}'"
