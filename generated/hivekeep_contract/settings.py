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
        env_aliases=("KHIVE_DB",),
        flag="--db",
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="The database file, or `:memory:` for one that ends with the process. Absent: `hivekeep.db` in the user's data directory.",
    ),
    Setting(
        key="config",
        attr="config",
        type="path",
        default=None,
        env=("HIVEKEEP_CONFIG",),
        env_aliases=("KHIVE_CONFIG",),
        flag="--config",
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="The user's configuration file; it must exist. Absent: `hivekeep.toml` in the user's configuration directory, when there is one. Cannot be set inside a file.",
    ),
    Setting(
        key="namespace",
        attr="namespace",
        type="string",
        default="local",
        env=("HIVEKEEP_NAMESPACE",),
        env_aliases=("KHIVE_NAMESPACE",),
        flag="--namespace",
        choices=(),
        minimum=None,
        maximum=None,
        project_file=True,
        secret=False,
        doc="The namespace that writes go to when a call names none.",
    ),
    Setting(
        key="read_only",
        attr="read_only",
        type="boolean",
        default=False,
        env=("HIVEKEEP_READ_ONLY",),
        env_aliases=(),
        flag="--read-only",
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="Open the database for reading only: every write is refused.",
    ),
    Setting(
        key="actor.id",
        attr="actor_id",
        type="string",
        default=None,
        env=("HIVEKEEP_ACTOR_ID", "HIVEKEEP_ACTOR"),
        env_aliases=("KHIVE_ACTOR",),
        flag="--actor",
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="Who is asking when the request does not say. Kept as written. Absent: the anonymous caller. It attributes; it never changes where a write goes.",
    ),
    Setting(
        key="actor.visible_namespaces",
        attr="actor_visible_namespaces",
        type="list",
        default=(),
        env=("HIVEKEEP_ACTOR_VISIBLE_NAMESPACES", "HIVEKEEP_VISIBLE_NAMESPACES"),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="Namespaces that reads of several records look into besides `local` and the actor's own.",
    ),
    Setting(
        key="runtime.packs",
        attr="runtime_packs",
        type="list",
        default=(),
        env=("HIVEKEEP_RUNTIME_PACKS", "HIVEKEEP_PACKS"),
        env_aliases=("KHIVE_PACKS",),
        flag="--pack",
        choices=(),
        minimum=None,
        maximum=None,
        project_file=True,
        secret=False,
        doc="The packs to load, separated by commas or blanks; a pack that another one of the set needs must be named too. Empty: all packs.",
    ),
    Setting(
        key="runtime.default_output_format",
        attr="runtime_default_output_format",
        type="string",
        default="json",
        env=("HIVEKEEP_RUNTIME_DEFAULT_OUTPUT_FORMAT", "HIVEKEEP_OUTPUT_FORMAT"),
        env_aliases=("KHIVE_OUTPUT_FORMAT",),
        flag="--output-format",
        choices=("json", "auto", "table"),
        minimum=None,
        maximum=None,
        project_file=True,
        secret=False,
        doc="How `hivekeep exec` prints results when the call names no format.",
    ),
    Setting(
        key="runtime.dir",
        attr="runtime_dir",
        type="path",
        default=None,
        env=("HIVEKEEP_RUNTIME_DIR",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="Where a running server leaves its descriptor and lock. Absent: `$XDG_RUNTIME_DIR/hivekeep` on Linux when that variable is set, otherwise the data directory.",
    ),
    Setting(
        key="storage.synchronous",
        attr="storage_synchronous",
        type="string",
        default="full",
        env=("HIVEKEEP_STORAGE_SYNCHRONOUS",),
        env_aliases=(),
        flag=None,
        choices=("full", "normal"),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="`full`: an acknowledged write survives a loss of power. `normal`: it survives a crash of the process; a loss of power may take the last writes. Faster.",
    ),
    Setting(
        key="storage.busy_timeout_ms",
        attr="storage_busy_timeout_ms",
        type="integer",
        default=30000,
        env=("HIVEKEEP_STORAGE_BUSY_TIMEOUT_MS",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=0,
        maximum=600000,
        project_file=False,
        secret=False,
        doc="Milliseconds that a connection waits for a lock that another process holds.",
    ),
    Setting(
        key="storage.max_readers",
        attr="storage_max_readers",
        type="integer",
        default=8,
        env=("HIVEKEEP_STORAGE_MAX_READERS",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=1,
        maximum=64,
        project_file=False,
        secret=False,
        doc="How many reads may run at the same time.",
    ),
    Setting(
        key="storage.checkout_timeout_secs",
        attr="storage_checkout_timeout_secs",
        type="number",
        default=5.0,
        env=("HIVEKEEP_STORAGE_CHECKOUT_TIMEOUT_SECS", "HIVEKEEP_CHECKOUT_TIMEOUT_SECS"),
        env_aliases=("KHIVE_CHECKOUT_TIMEOUT_SECS",),
        flag=None,
        choices=(),
        minimum=0.001,
        maximum=600,
        project_file=False,
        secret=False,
        doc="Seconds that a read waits for its turn before it answers that the store is unavailable.",
    ),
    Setting(
        key="storage.writer_admission_ms",
        attr="storage_writer_admission_ms",
        type="integer",
        default=None,
        env=("HIVEKEEP_STORAGE_WRITER_ADMISSION_MS",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=100,
        maximum=10000,
        project_file=False,
        secret=False,
        doc="Milliseconds that a write waits for a place in the writer's queue before it answers that the store is unavailable. Absent: the limit `writer_admission_wait_ms`.",
    ),
    Setting(
        key="storage.disk_reserve_bytes",
        attr="storage_disk_reserve_bytes",
        type="integer",
        default=1073741824,
        env=("HIVEKEEP_STORAGE_DISK_RESERVE_BYTES",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=0,
        maximum=1125899906842624,
        project_file=False,
        secret=False,
        doc="Free bytes that must remain on the database's disk; below it writes are refused. 0 switches the check off.",
    ),
    Setting(
        key="save_to.root",
        attr="save_to_root",
        type="path",
        default=None,
        env=("HIVEKEEP_SAVE_TO_ROOT",),
        env_aliases=("KHIVE_SAVE_TO_ROOT",),
        flag=None,
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="The directory that `save_to` may write into. Absent: `exports` in the data directory.",
    ),
    Setting(
        key="serve.host",
        attr="serve_host",
        type="string",
        default="127.0.0.1",
        env=("HIVEKEEP_SERVE_HOST",),
        env_aliases=(),
        flag="--host",
        choices=("127.0.0.1", "::1", "localhost"),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="The loopback address that `hivekeep serve` listens on.",
    ),
    Setting(
        key="serve.port",
        attr="serve_port",
        type="integer",
        default=0,
        env=("HIVEKEEP_SERVE_PORT",),
        env_aliases=(),
        flag="--port",
        choices=(),
        minimum=0,
        maximum=65535,
        project_file=False,
        secret=False,
        doc="The port that `hivekeep serve` listens on; 0 takes a free one. The descriptor names the real one.",
    ),
    Setting(
        key="serve.allowed_origins",
        attr="serve_allowed_origins",
        type="list",
        default=(),
        env=("HIVEKEEP_SERVE_ALLOWED_ORIGINS",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="Web origins (`https://app.example`) that may call besides the loopback ones.",
    ),
    Setting(
        key="serve.body_limit_bytes",
        attr="serve_body_limit_bytes",
        type="integer",
        default=None,
        env=("HIVEKEEP_SERVE_BODY_LIMIT_BYTES",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=1024,
        maximum=1073741824,
        project_file=False,
        secret=False,
        doc="The largest request body in bytes. Absent: the limit `http_body_max_bytes`.",
    ),
    Setting(
        key="gate.policy_file",
        attr="gate_policy_file",
        type="path",
        default=None,
        env=("HIVEKEEP_GATE_POLICY_FILE",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="A TOML file with the gate's policy. Excludes the other `gate` settings.",
    ),
    Setting(
        key="gate.granted_actors",
        attr="gate_granted_actors",
        type="list",
        default=None,
        env=("HIVEKEEP_GATE_GRANTED_ACTORS",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="Actors that may call, exactly as their ids are written. Any `gate` setting switches from `all may call` to `only the granted`.",
    ),
    Setting(
        key="gate.grant_unattributed",
        attr="gate_grant_unattributed",
        type="boolean",
        default=None,
        env=("HIVEKEEP_GATE_GRANT_UNATTRIBUTED",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="Whether the anonymous caller may call once the gate is on. Absent means no.",
    ),
    Setting(
        key="gate.deny_writes_for",
        attr="gate_deny_writes_for",
        type="list",
        default=None,
        env=("HIVEKEEP_GATE_DENY_WRITES_FOR",),
        env_aliases=(),
        flag=None,
        choices=(),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="Patterns of actors that may only read; `*` stands for any characters, case counts.",
    ),
    Setting(
        key="log.level",
        attr="log_level",
        type="string",
        default="warning",
        env=("HIVEKEEP_LOG_LEVEL", "HIVEKEEP_LOG"),
        env_aliases=(),
        flag="--log-level",
        choices=("debug", "info", "warning", "error"),
        minimum=None,
        maximum=None,
        project_file=False,
        secret=False,
        doc="The least severe message that goes to standard error. Standard output carries results only.",
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The values of all settings; each default is that of the contract."""

    db: str | None = None
    config: str | None = None
    namespace: str = "local"
    read_only: bool = False
    actor_id: str | None = None
    actor_visible_namespaces: tuple[str, ...] = ()
    runtime_packs: tuple[str, ...] = ()
    runtime_default_output_format: str = "json"
    runtime_dir: str | None = None
    storage_synchronous: str = "full"
    storage_busy_timeout_ms: int = 30000
    storage_max_readers: int = 8
    storage_checkout_timeout_secs: float = 5.0
    storage_writer_admission_ms: int | None = None
    storage_disk_reserve_bytes: int = 1073741824
    save_to_root: str | None = None
    serve_host: str = "127.0.0.1"
    serve_port: int = 0
    serve_allowed_origins: tuple[str, ...] = ()
    serve_body_limit_bytes: int | None = None
    gate_policy_file: str | None = None
    gate_granted_actors: tuple[str, ...] | None = None
    gate_grant_unattributed: bool | None = None
    gate_deny_writes_for: tuple[str, ...] | None = None
    log_level: str = "warning"
