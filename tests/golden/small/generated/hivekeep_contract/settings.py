"""Every setting: its name, type, default, and where it may come from.

Printed from registry/settings.yaml by `make generate`; do not edit.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """One setting. `env`: own variables, the first is the canonical one; `env_aliases`: older names that they beat.

    `project_file`: a project's own configuration file may set it. `secret`: its value is never printed.
    """

    key: str
    attr: str
    type: str
    default: Any
    env: tuple[str, ...]
    env_aliases: tuple[str, ...]
    flag: str | None
    choices: tuple[str, ...]
    minimum: float | None
    maximum: float | None
    project_file: bool
    secret: bool
    doc: str


SETTINGS: tuple[Setting, ...] = (
    Setting(
        key="db",
        attr="db",
        type="path",
        default=None,
        env=("HIVEKEEP_DB",),
        env_aliases=("OLD_DB",),
        flag="--db",
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="The database file.",
    ),
    Setting(
        key="log.level",
        attr="log_level",
        type="string",
        default="warning",
        env=("HIVEKEEP_LOG_LEVEL", "HIVEKEEP_LOG"),
        env_aliases=(),
        flag=None,
        choices=("info", "warning"),
        minimum=None,
        maximum=None,
        project_file=True,
        secret=False,
        doc="What is logged.",
    ),
    Setting(
        key="serve.port",
        attr="serve_port",
        type="integer",
        default=0,
        env=("HIVEKEEP_SERVE_PORT",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=0,
        maximum=65535,
        project_file=False,
        secret=False,
        doc="Where to listen.",
    ),
    Setting(
        key="packs",
        attr="packs",
        type="list",
        default=("base", "todo"),
        env=("HIVEKEEP_PACKS",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=None,
        maximum=None,
        project_file=True,
        secret=False,
        doc="What is loaded.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values of all settings; each default is that of the contract."""

    db: str | None = None
    log_level: str = "warning"
    serve_port: int = 0
    packs: tuple[str, ...] = ("base", "todo")
