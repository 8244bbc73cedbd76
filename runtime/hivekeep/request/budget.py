"""A response never exceeds its limits, and a result that had to go says that its work was done.

Sizes are UTF-8 bytes of compact JSON. Operations that ran keep their outcome: the entry turns into
`ok: false, executed: true, domain_disposition: "committed"`, so nobody repeats a write to see its answer.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from hivekeep import compact_json
from hivekeep.request.entries import Entry, envelope
from hivekeep.request.json_values import depth_exceeds, size_of
from hivekeep_contract.errors import HivekeepError, ResponseFrameBudgetExceeded
from hivekeep_contract.limits import ERROR_MESSAGE_MAX_CHARS

__all__ = ["READ_OUTCOME", "depth_exceeds", "envelope", "fit", "fit_one", "shallow_text", "without_result"]

_FRAME_BYTES = 1024
"""More than summary, status and the commas of MAX_OPS entries ever take: below it the exact sum need not be known."""

_COMMITTED = "committed"
READ_OUTCOME = "read_outcome"
_SEARCH_FIELDS = ("status", "partial", "missing_backends", "arm_participation")
_SEARCH_PREFIX = "backend_errors"
_KEPT_OF_ERROR = (
    "kind",
    "code",
    "message",
    "domain_disposition",
    "retryable",
    "retry_after_ms",
    "recoverable",
    "error_id",
)


def shallow_text(entry: Entry, depth_limit: int) -> bytes | None:
    """The JSON text of an entry whose result surely nests no deeper than the limit; None when only a walk can tell.

    Brackets inside strings count here too, so that a text that is given is a proof, and none is not.
    """
    try:
        text = orjson.dumps(entry)
    except TypeError:
        return None
    # One brace is the entry's own.
    return text if text.count(b"{") + text.count(b"[") <= depth_limit + 1 else None


def fit_one(entry: Entry, text: bytes | None, max_bytes: int) -> tuple[Entry, bytes]:
    """The entry as the only one of a response of at most `max_bytes` bytes, and its JSON text (`text`, once known)."""
    if text is None:
        text = compact_json.encode(entry)
    if len(text) + _FRAME_BYTES <= max_bytes:
        return entry, text
    (fitted,) = fit(envelope([entry]), max_bytes, [text])["results"]
    return fitted, text if fitted is entry else compact_json.encode(fitted)


def fit(response: dict[str, Any], max_bytes: int, texts: Sequence[bytes | None] = ()) -> dict[str, Any]:
    """Return the response, or a smaller one of at most `max_bytes` bytes (source: response size rules).

    `texts` are those of the entries where they are known. Errors that are too large even alone shrink first; then the
    largest result goes, ties by lowest index, until the rest fits; then the other errors shrink, largest first. The
    input is not changed. When the bare outcomes alone are larger than `max_bytes`, they are what comes back.
    """
    entries: list[Entry] = list(response["results"])
    known: Sequence[bytes | None] = texts or [None] * len(entries)
    sizes = [size_of(entry) if text is None else len(text) for entry, text in zip(entries, known, strict=True)]
    if sum(sizes) + _FRAME_BYTES <= max_bytes or _total(response, entries, sizes) <= max_bytes:
        return response
    for index in _order(entries, sizes, max_bytes):
        entry = entries[index]
        smaller = _over_budget(entry, sizes[index], max_bytes) if entry["ok"] else _shrink_error(entry)
        size = size_of(smaller)
        if size < sizes[index]:
            entries[index], sizes[index] = smaller, size
        if _total(response, entries, sizes) <= max_bytes:
            break
    return {**response, **envelope(entries)}


def _total(response: dict[str, Any], entries: list[Entry], sizes: list[int]) -> int:
    """The size of the whole response without writing its entries again."""
    frame = {**response, **envelope(entries), "results": []}
    return size_of(frame) + sum(sizes) + max(len(sizes) - 1, 0)


def _order(entries: list[Entry], sizes: list[int], max_bytes: int) -> list[int]:
    """The indexes in the order in which entries give way."""
    by_size = sorted(range(len(entries)), key=lambda index: -sizes[index])
    failed = [index for index in by_size if "error" in entries[index]]
    done = [index for index in range(len(entries)) if entries[index]["ok"]]
    done.sort(key=lambda index: -size_of(entries[index].get("result")))
    alone_too_large = [index for index in failed if sizes[index] > max_bytes]
    return alone_too_large + done + [index for index in failed if sizes[index] <= max_bytes]


def _over_budget(entry: Entry, size: int, max_bytes: int) -> Entry:
    message = (
        f"the operation succeeded, but its answer of {size} bytes does not fit (limit {max_bytes});"
        " read the outcome with a narrower request"
    )
    return without_result(entry, ResponseFrameBudgetExceeded(message, recoverable=READ_OUTCOME))


def without_result(entry: Entry, error: HivekeepError) -> Entry:
    """A successful entry as a failure after the fact; how a search went moves under its error."""
    body = {**error.body(), "retryable": False, "domain_disposition": _COMMITTED}
    search = {name: value for name, value in entry.items() if _is_search_field(name)}
    if search:
        body["search"] = search
    beside = {
        name: value for name, value in entry.items() if name not in search and name not in ("ok", "tool", "result")
    }
    return {
        "ok": False,
        "tool": entry["tool"],
        "executed": True,
        "domain_disposition": _COMMITTED,
        "error": body,
        **beside,
    }


def _is_search_field(name: str) -> bool:
    return name in _SEARCH_FIELDS or name.startswith(_SEARCH_PREFIX)


def _shrink_error(entry: Entry) -> Entry:
    """The same failure without its payload: kind, code and disposition stay, the message is cut."""
    error = entry["error"]
    small = {name: error[name] for name in _KEPT_OF_ERROR if name in error}
    small["message"] = str(error.get("message", ""))[:ERROR_MESSAGE_MAX_CHARS]
    if "domain_result" in error:
        small["recoverable"] = READ_OUTCOME
    return {**entry, "error": small}
