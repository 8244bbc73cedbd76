"""Where the log goes: standard error, from the level that the settings name."""

from __future__ import annotations

import logging
import sys


def configure(level: str) -> None:
    """Send log records of `level` (a choice of the setting `log.level`) and above to standard error, one line each."""
    logging.basicConfig(
        stream=sys.stderr, level=level.upper(), format="hivekeep: %(levelname)s: %(message)s", force=True
    )
