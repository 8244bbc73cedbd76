"""The answer to `verb(help=true)`: the contract of one verb, for a reader who has never seen it.

Invariant: it reaches neither the policy nor the pack, so it works for a caller who may not run the verb.
"""

from typing import Any

from hivekeep_contract.catalog import Verb
from hivekeep_contract.limits import HELP_EXAMPLES_MAX


def help_answer(verb: Verb) -> dict[str, Any]:
    """The help of a verb in the shape that request.yaml declares."""
    from hivekeep_contract.reference import IDENTIFIER_RESOLUTION, VERBS

    text = VERBS[verb.name]
    answer: dict[str, Any] = {
        "verb": verb.name,
        "pack": verb.pack,
        "description": "\n\n".join(part for part in (text.summary, text.description, *text.notes) if part),
        "category": verb.category,
        "params": [
            {"name": name, "type": param.type, "required": param.required, "description": param.doc}
            for name, param in text.params.items()
        ],
        "identifier_resolution": dict(IDENTIFIER_RESOLUTION),
        "examples": list(text.examples[:HELP_EXAMPLES_MAX]),
    }
    if verb.internal:
        answer |= {"visibility": "internal", "callable_via_mcp": False}
    return answer
