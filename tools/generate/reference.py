"""The prose of the contract as data: sentences for help answers and refusals."""

from __future__ import annotations

from typing import Any

from tools.generate.describe import accepts, default_text, type_text
from tools.generate.examples import placeholders, readable
from tools.generate.literal import Call, literal
from tools.generate.model import Contract, Param, Verb
from tools.generate.schemas import rule_list


def reference_values(contract: Contract) -> dict[str, Any]:
    """Each table of the module as source."""
    verbs = {
        verb.name: Call(
            "VerbText",
            (
                verb.summary,
                verb.description,
                {param.name: _param_text(param) for param in verb.params},
                _working_calls(verb),
                verb.notes,
            ),
        )
        for verb in contract.verbs
    }
    rules = {
        verb.name: tuple(
            Call("Rule", (rule.sort, rule.params, rule.when, rule.sentence))
            for rule in rule_list(verb.params, verb.rules)
        )
        for verb in contract.verbs
    }
    errors = {name: Call("ErrorText", (entry["doc"], entry["repair"])) for name, entry in contract.errors.items()}
    packs = {pack.name: pack.summary for pack in contract.packs}
    return {
        "verbs": literal(verbs, 30),
        "rules": literal({name: found for name, found in rules.items() if found}, 40),
        "errors": literal(errors, 40),
        "packs": literal(packs, 30),
        "identifier_resolution": literal(contract.data["request"]["identifier_resolution"], 40),
    }


def _working_calls(verb: Verb) -> tuple[str, ...]:
    """Each call that works once, with placeholders for the ids that a reader has to fill in."""
    calls = [example["call"] for example in verb.examples if "result" in example]
    return tuple(dict.fromkeys(readable(call, placeholders([call])) for call in calls))


def _param_text(param: Param) -> Call:
    return Call(
        "ParamText",
        (
            type_text(param.word),
            param.required,
            default_text(param).strip("`"),
            accepts(param.word),
            param.doc,
        ),
    )
