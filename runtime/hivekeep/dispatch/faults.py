"""What is wrong inside an argument that may have one of several shapes.

Invariant: of the shapes only the one that was meant is talked about: the one whose tag (an enum such as `kind`) fits.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MESSAGE_CHARS = 200


class Inner(NamedTuple):
    """Where the fault lies and the end of the sentence that begins with the place."""

    path: list[str | int]
    says: str

    @property
    def place(self) -> str:
        """The path as a caller writes it."""
        return place(self.path)


def place(path: Sequence[str | int]) -> str:
    """`changeset.steps[0].id`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")


def within(schema: Mapping[str, Any], fault: Any) -> Inner | None:
    """The fault under the shape that was meant; None when the fault is not one of shapes."""
    shapes = _shapes(fault)
    if not shapes:
        return None
    while shapes:
        own = list(fault.instance_path)
        meant = [faults for faults in shapes if not any(_is_other_shape(inner, own) for inner in faults)]
        if not meant:
            return _untagged(own, shapes)
        missing = _missing_everywhere(own, meant)
        if len(meant) > 1 and missing:
            return Inner([*own], f"needs {missing!r}, which tells the shapes apart")
        fault = meant[0][0]
        shapes = _shapes(fault)
    return Inner(list(fault.instance_path), _says(schema, fault))


def _shapes(fault: Any) -> list[list[Any]]:
    """The faults under each of several shapes."""
    found: list[list[Any]] = fault.kind.context if fault.kind.name == "anyOf" else []
    return found


def _is_other_shape(fault: Any, own: list[str | int]) -> bool:
    path = list(fault.instance_path)
    return (fault.kind.name == "type" and path == own) or (fault.kind.name == "enum" and path[:-1] == own)


def _untagged(own: list[str | int], shapes: list[list[Any]]) -> Inner | None:
    """The tag has no value that any shape has; None when the value is not an object at all."""
    tags = [inner for faults in shapes for inner in faults if inner.kind.name == "enum"]
    if not tags:
        return None
    accepted = dict.fromkeys(option for tag in tags for option in tag.kind.options)
    return Inner(list(tags[0].instance_path), "must be one of " + ", ".join(map(str, accepted)))


def _missing_everywhere(own: list[str | int], shapes: list[list[Any]]) -> str | None:
    """The required field that the value lacks under every shape."""
    missing = [
        {inner.kind.property for inner in faults if inner.kind.name == "required" and list(inner.instance_path) == own}
        for faults in shapes
    ]
    return min(set.intersection(*missing), default=None)


def _says(schema: Mapping[str, Any], fault: Any) -> str:
    """What the contract says of the place, and what was wrong there."""
    stated: Any = schema
    for step in list(fault.schema_path)[:-1]:
        stated = stated[step]
    message = fault.message
    if len(message) > MESSAGE_CHARS:
        message = message[:MESSAGE_CHARS] + "..."
    if fault.kind.name == "additionalProperties":
        message += "; accepted: " + ", ".join(stated["properties"])
    taken = stated.get("description", "").rstrip(".")
    return f"takes: {taken} ({message})" if taken else f"is refused ({message})"
