"""How a result is shown to an agent: shorter, with nothing a later call needs taken away.

Handlers answer the verbose shape; `verbose` and `human` leave it as it is. `agent` drops what is empty,
shortens ids, makes times relative and rounds scores, each by field name (lists:
`hivekeep_contract.presentation`). The input is never changed; untouched parts of it are shared with the
output.
"""

import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Context
from typing import Any

from hivekeep.request.opaque import around_content, is_sequenced_record
from hivekeep_contract.presentation import (
    ENVELOPE_ARRAYS,
    ENVELOPE_CURSOR,
    ENVELOPE_LIMIT_FIELDS,
    FULL_ID_KEYS,
    FULL_ID_LISTS,
    KEPT_LISTS,
    OPAQUE_UNDER,
    PRESERVE_NULL,
    RELATIVE_TIME_BELOW_SECS,
    SCORE_KEYS,
    SCORE_PARENTS,
    SCORE_SIGNIFICANT_FIGURES,
    SHORT_ID_KEYS,
    SHORT_ID_LENGTH,
    UNTOUCHED_TIME_KEYS,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RELATIVE = timedelta(seconds=RELATIVE_TIME_BELOW_SECS)
_NOW = timedelta(0)
_UUID_LENGTH = 36
_MINUTE_LENGTH = len("YYYY-MM-DDTHH:MM")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_RESULTS = "results"
_LIMIT_FIELD = min(ENVELOPE_LIMIT_FIELDS)
_EXACT_BELOW = 10**SCORE_SIGNIFICANT_FIGURES
_round = Context(prec=SCORE_SIGNIFICANT_FIGURES, rounding=ROUND_HALF_UP).create_decimal


def present(result: Any, mode: str, now_us: int, *, opaque_content: bool = False) -> Any:
    """Shape one canonical result for `mode` ("agent", "verbose" or "human").

    `now_us` (microseconds since the epoch) is sampled once per response by the caller. `opaque_content`
    marks a result whose note content was parsed as JSON: `content` of the record itself, or of each record
    under `items` and `notes`, is then passed through untouched.
    """
    if mode != "agent":
        return result
    agent = _Agent(_EPOCH + timedelta(microseconds=now_us))
    if not opaque_content:
        return agent.value(result, "", False, False)
    return around_content(result, lambda shell: agent.value(shell, "", False, False))


class _Agent:
    """One pass over one result. The flags say what lies above: an object `properties`, a score breakdown."""

    __slots__ = ("now",)

    def __init__(self, now: datetime) -> None:
        self.now = now

    def value(self, value: Any, key: str, in_properties: bool, in_scores: bool) -> Any:
        kind = type(value)
        if kind is str:
            return self.text(value, key, in_properties)
        if kind is dict:
            shown = self.record(value, in_properties, in_scores)
            if key in FULL_ID_LISTS and "id" in shown and not in_properties:
                shown["id"] = value["id"]
            return shown
        if kind is list:
            return [self.value(member, key, in_properties, in_scores) for member in value]
        if (kind is float or kind is int) and (in_scores or key in SCORE_KEYS):
            return round_score(value)
        return value

    def record(self, source: dict[str, Any], in_properties: bool, in_scores: bool) -> dict[str, Any]:
        out: dict[str, Any] = {}
        kept = _kept_empties(source) if _LIMIT_FIELD in source or ENVELOPE_CURSOR in source else ()
        for key, value in source.items():
            kind = type(value)
            if value is None:
                if key in PRESERVE_NULL or key in kept:
                    out[key] = None
            elif kind is str:
                if value:
                    out[key] = self.text(value, key, in_properties) if len(value) >= _MINUTE_LENGTH else value
                elif in_properties:
                    out[key] = value
            elif kind is bool:
                out[key] = value
            elif kind is dict or kind is list:
                shown = self.value(
                    value,
                    key,
                    in_properties or (kind is dict and key in OPAQUE_UNDER),
                    in_scores or key in SCORE_PARENTS,
                )
                if shown or key in kept or (key in KEPT_LISTS and kind is list and not in_properties):
                    out[key] = shown
            elif in_scores or key in SCORE_KEYS:
                out[key] = round_score(value)
            else:
                out[key] = value
        if "record" in source and is_sequenced_record(source):
            out["record"] = source["record"]
        if "short_id" in source and "id" in out:
            # A record that offers its own short form (a message) keeps the id that later calls need.
            out["id"] = source["id"]
        return out

    def text(self, value: str, key: str, in_properties: bool) -> str:
        """An id shortened, a time made relative, any other text as it is."""
        length = len(value)
        if length == _UUID_LENGTH and _is_shortened(key) and _UUID.fullmatch(value):
            return value[:SHORT_ID_LENGTH]
        if in_properties or length < _MINUTE_LENGTH or value[10] != "T" or key in UNTOUCHED_TIME_KEYS:
            return value
        return self.time(value)

    def time(self, value: str) -> str:
        """`12s ago`, `5m ago`, `3h ago` under a day; otherwise, and for the future, the minute in UTC.

        A text that only looks like a time is returned as it is.
        """
        if value[4] != "-" or value[7] != "-" or value[13] != ":":
            return value
        try:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is not UTC:
                moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            return value
        age = self.now - moment
        if not _NOW <= age < _RELATIVE:
            return moment.isoformat()[:_MINUTE_LENGTH]
        seconds = age.seconds
        if seconds < 60:
            return f"{seconds}s ago"
        return f"{seconds // 60}m ago" if seconds < 3600 else f"{seconds // 3600}h ago"


def round_score(value: float) -> float:
    """Three significant figures, halves away from zero, of the number as it is written; 0 stays 0."""
    if type(value) is int:
        return value if -_EXACT_BELOW < value < _EXACT_BELOW else int(_round(value))
    return float(_round(repr(value)))


def _is_shortened(key: str) -> bool:
    return (key == "id" or key.endswith("_id") or key in SHORT_ID_KEYS) and key not in FULL_ID_KEYS


def _kept_empties(source: dict[str, Any]) -> set[str]:
    """The fields of a page envelope that are shown even when empty; none when the object is no envelope."""
    kept: set[str] = set()
    if all(field in source for field in ENVELOPE_LIMIT_FIELDS):
        arrays = [name for name in ENVELOPE_ARRAYS if name in source]
        if arrays:
            kept.update(arrays, ENVELOPE_LIMIT_FIELDS, (ENVELOPE_CURSOR,))
    if ENVELOPE_CURSOR in source and isinstance(source.get(_RESULTS), list):
        kept.update((_RESULTS, ENVELOPE_CURSOR))
    return kept
