"""What a credential looks like.

Printed from registry/secrets.yaml by `make generate`; do not edit.
"""

from typing import NamedTuple


class Detector(NamedTuple):
    """One shape of credential. `literal` is searched first, `pattern` must match right behind it."""

    name: str
    literal: str
    lead: str
    pattern: str
    doc: str


DETECTORS: tuple[Detector, ...] = (
    Detector("demo-token", "demo_", "", "[a-z]{8,}", "A token of the demo."),
    Detector("demo-url", "://", "abc", "[^@]{4,}@", "A URL with a password."),
)

ENTROPY_MIN_BITS = 4.5

TRIGGERS = ("secret", "key")
