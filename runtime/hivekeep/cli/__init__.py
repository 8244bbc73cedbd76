"""The command line. `main` decides by the first word and imports nothing it does not need.

What it keeps true: `hivekeep mcp` reaches its message loop without click, the store or the HTTP door; every
other command is a click command, and so is `hivekeep mcp` when its options are not plainly right.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line of this process; the status is 0 for success, 2 for a usage error."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["mcp"]:
        given = _plain_options(arguments[1:])
        if given is not None:
            from hivekeep.doors import stdio
            from hivekeep.doors.local import Local

            return stdio.serve(Local(given))
    from hivekeep.cli.commands import hivekeep

    return hivekeep(arguments)


def _plain_options(arguments: list[str]) -> dict[str, str] | None:
    """The options of `hivekeep mcp`, None when click has to look at them; the usual call has none to look up."""
    if not arguments:
        return {}
    from hivekeep.cli.flags import COMMON, parse

    return parse(arguments, COMMON)
