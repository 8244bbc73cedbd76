"""The bridge from the curated memory to the memories that verbs see: one memory for one revision of an entry.

Invariant: an entry is copied by an operation of the request language like any other, so policy, scanner and audit have
their say; the key of the operation makes the same revision one memory however often it is copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hivekeep import compact_json
from hivekeep_contract.gateway_errors import Conflict, SecurityRejection, ValidationError
from hivekeep_contract.limits import COPIED_KEY, COPIED_ORIGIN, COPIED_REVISION, COPIED_TAG

_VERB: Final = "memory.remember"
_SEMANTIC: Final = "semantic"


def operation(entry: Mapping[str, Any]) -> str:
    """The call that copies the current revision of an `entry_view`, as a fact tagged with where it comes from."""
    names = {"entry": entry["entryId"], "revision": entry["revision"]}
    origin = (COPIED_TAG, COPIED_ORIGIN.format(**names), COPIED_REVISION.format(**names))
    args = {
        "content": "\n\n".join(filter(None, (entry["title"], entry["summary"], entry["body"]))),
        "memory_type": _SEMANTIC,
        "tags": [*entry["tags"], *origin],
        "idempotency_key": COPIED_KEY.format(**names),
    }
    return compact_json.dump([{"tool": _VERB, "args": args}])


def outcome(entry: Mapping[str, Any], envelope: Mapping[str, Any]) -> dict[str, Any]:
    """What the call made. Raises Conflict, SecurityRejection or ValidationError when it was refused."""
    (done,) = envelope["results"]
    if not done["ok"]:
        kind = done["error"]["kind"]
        if kind == "conflict":
            raise Conflict("record_differs")
        if kind in ("permission_denied", "secret_detected"):
            raise SecurityRejection("denied")
        raise ValidationError("wrong_value")
    return {
        "entryId": entry["entryId"],
        "revision": entry["revision"],
        "memoryId": done["result"]["full_id"],
        "replayed": done["result"].get("replayed", False),
    }
