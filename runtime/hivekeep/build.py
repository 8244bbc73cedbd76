"""The source revision this program was built from.

Invariant: it is read from the installed package, never from a repository at run time.
"""

import json
from functools import cache
from importlib import resources

UNSTAMPED = "unstamped"
STAMP = "_build.json"


@cache
def revision() -> str:
    """The source revision, with `-dirty` when the tree had changes; `unstamped` when the build did not know it."""
    stamp = resources.files(__package__).joinpath(STAMP)
    if not stamp.is_file():
        return UNSTAMPED
    return str(json.loads(stamp.read_text(encoding="utf-8"))["revision"])
