"""Which program this is: the package version and the source revision it was built from.

Invariant: both are read from the installed package, never from a repository at run time.
"""

import json
from functools import cache
from importlib import metadata, resources

UNSTAMPED = "unstamped"
STAMP = "_build.json"
DISTRIBUTION = "hivekeep"


@cache
def version() -> str:
    """The package version."""
    return metadata.version(DISTRIBUTION)


@cache
def revision() -> str:
    """The source revision, with `-dirty` when the tree had changes; `unstamped` when the build did not know it."""
    stamp = resources.files(__package__).joinpath(STAMP)
    if not stamp.is_file():
        return UNSTAMPED
    return str(json.loads(stamp.read_text(encoding="utf-8"))["revision"])
