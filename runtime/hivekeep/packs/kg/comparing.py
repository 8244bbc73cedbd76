"""When two JSON values are the same."""

import json


def canonical(value: object) -> str:
    """Text that is equal for equal JSON values: the order of keys does not count, `true` and `1` differ."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
