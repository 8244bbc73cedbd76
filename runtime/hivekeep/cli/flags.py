"""The settings that a command takes as options, and the quick way to read them.

What it keeps true: an option is a setting of the contract that has a flag; no option is named here. The
quick parser understands exactly what click understands of well-formed options and leaves the rest, help and
mistakes, to click.
"""

from __future__ import annotations

from collections.abc import Sequence

from hivekeep_contract.settings import SETTINGS, Setting

Given = dict[str, str]

_FLAGGED = tuple(setting for setting in SETTINGS if setting.flag is not None)
_ONLY_SERVE = tuple(setting for setting in _FLAGGED if setting.key.startswith("serve."))
_ONLY_WEB = tuple(setting for setting in _FLAGGED if setting.key.startswith("web."))
_ONLY_EXEC = tuple(setting for setting in _FLAGGED if setting.key == "runtime.default_output_format")

COMMON = tuple(setting for setting in _FLAGGED if setting not in _ONLY_SERVE + _ONLY_WEB + _ONLY_EXEC)
"""Options of every command that opens a store."""
SERVE = COMMON + _ONLY_SERVE
WEB = COMMON + tuple(setting for setting in _ONLY_SERVE if setting.key != "serve.port") + _ONLY_WEB
EVAL = tuple(setting for setting in COMMON if setting.key in ("config", "log.level"))
"""Options of a command that brings stores of its own."""
EXEC = COMMON + _ONLY_EXEC
_OF_CLIENTS = ("db", "config", "actor.id", "actor.session", "log.level")
AGENT = tuple(setting for setting in COMMON if setting.key in _OF_CLIENTS)
"""Options of a command that asks the server of a store."""


def parse(arguments: Sequence[str], accepted: Sequence[Setting]) -> Given | None:
    """Texts by setting key, or None when `arguments` hold anything that only click can judge.

    Understood are `--flag value`, `--flag=value` and switches. A list setting may be given several times; its
    texts are joined by commas.
    """
    by_flag = {setting.flag: setting for setting in accepted}
    given: Given = {}
    rest = iter(arguments)
    for word in rest:
        flag, has_value, value = word.partition("=")
        setting = by_flag.get(flag)
        if setting is None:
            return None
        if setting.type == "boolean":
            if has_value:
                return None
            value = "true"
        elif not has_value:
            value = next(rest, "")
        if not value or (value.startswith("-") and not has_value):
            return None
        add(given, setting, value)
    return given


def add(given: Given, setting: Setting, value: str) -> None:
    """Note one option; a further one of a list is appended, any other replaces the one before."""
    before = given.get(setting.key) if setting.type == "list" else None
    given[setting.key] = value if before is None else f"{before},{value}"
