"""Parts of a result that belong to its owner: shown exactly as stored, whatever mode and format say."""

from collections.abc import Callable
from typing import Any

_CONTENT = "content"
_CONTENT_LISTS = ("items", "notes")


def is_sequenced_record(value: dict[str, Any]) -> bool:
    """Whether an object is a stored record in its wrapper `{seq, id, created_at, record}`; `record` is
    opaque."""
    seq = value.get("seq")
    is_number = isinstance(seq, (int, float)) and not isinstance(seq, bool)
    return is_number and "record" in value and "id" in value and "created_at" in value


def content_records(result: Any) -> list[dict[str, Any]]:
    """The records whose `content` may be a parsed value: the result itself, and those under `items` and
    `notes`."""
    if not isinstance(result, dict):
        return []
    records = [result] if _CONTENT in result else []
    for name in _CONTENT_LISTS:
        rows = result.get(name)
        if isinstance(rows, list):
            records += [row for row in rows if isinstance(row, dict) and _CONTENT in row]
    return records


def around_content(result: Any, transform: Callable[[Any], Any]) -> Any:
    """Apply `transform` to everything but parsed content, which is put back as it was.

    A number stands in for each content meanwhile: no transform drops or changes a plain number of that name.
    """
    shown = transform(map_content(result, lambda content: 0))
    for original, record in zip(content_records(result), content_records(shown), strict=True):
        record[_CONTENT] = original[_CONTENT]
    return shown


def map_content(result: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of `result`, down to the records, with each parsed content replaced by `change(content)`."""
    if not isinstance(result, dict):
        return result
    copied = {**result}
    for name in _CONTENT_LISTS:
        if isinstance(result.get(name), list):
            copied[name] = [{**row} if isinstance(row, dict) else row for row in result[name]]
    for record in content_records(copied):
        record[_CONTENT] = change(record[_CONTENT])
    return copied
