"""Words that all packs share.

Printed from registry/ by `make generate`; do not edit.
"""

from __future__ import annotations

from typing import Literal, TypeAlias


EntityKind: TypeAlias = Literal["thing", "place", "goal"]


Relation: TypeAlias = Literal["in", "beside", "about"]
