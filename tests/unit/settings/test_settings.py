"""Settings: which source wins, what a project's file may do, and how a mistake is told."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hivekeep.settings import SettingsError, load, load_settings, select_packs
from hivekeep_contract.catalog import PACKS, Pack
from hivekeep_contract.settings import SETTINGS, Settings

SESSION = "0a1b2c3d-0000-4000-8000-00000000000f"


class Machine:
    """A home directory with a repository in it, and the sources that a start reads."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.repository = self.home / "work" / "repo"
        self.cwd = self.repository / "src" / "deep"
        self.cwd.mkdir(parents=True)
        (self.repository / ".git").mkdir()
        self.user_file = self.home / ".config" / "hivekeep" / "hivekeep.toml"
        self.project_file = self.repository / "hivekeep.toml"
        self.environ = {"HOME": str(self.home)}

    def user(self, text: str) -> None:
        """Write the user's file."""
        self.user_file.parent.mkdir(parents=True, exist_ok=True)
        self.user_file.write_text(text, "utf-8")

    def project(self, text: str) -> None:
        """Write the file at the root of the repository."""
        self.project_file.write_text(text, "utf-8")

    def load(self, flags: Mapping[str, object] | None = None, /, **environ: str) -> Any:
        """Load the settings as a start in the deepest folder would."""
        return load_settings(flags or {}, self.environ | environ, self.cwd)

    def refusal(self, flags: Mapping[str, object] | None = None, /, **environ: str) -> str:
        """Return the message of a start that must fail."""
        with pytest.raises(SettingsError) as caught:
            self.load(flags, **environ)
        assert "\n" not in str(caught.value)
        return str(caught.value)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine without any configuration."""
    return Machine(tmp_path)


def test_without_any_source_every_setting_has_its_default(machine: Machine) -> None:
    """The defaults are those of the contract, and the origins say so."""
    loaded = machine.load()
    assert loaded.settings == Settings()
    assert set(loaded.origins.values()) == {"default"}
    assert loaded.origins.keys() == {setting.key for setting in SETTINGS}


def test_flag_beats_environment_beats_project_beats_user_beats_default(machine: Machine) -> None:
    """Each source in turn loses to the one above it, and the origin names it."""
    machine.user('namespace = "user"')
    assert machine.load().settings.namespace == "user"
    machine.project('namespace = "project"')
    assert machine.load().settings.namespace == "project"
    assert machine.load(HIVEKEEP_NAMESPACE="env").settings.namespace == "env"
    loaded = machine.load({"namespace": "flag"}, HIVEKEEP_NAMESPACE="env")
    assert loaded.settings.namespace == "flag"
    assert loaded.origins["namespace"] == "--namespace"
    assert machine.load().origins["namespace"] == str(machine.project_file)
    assert machine.load(HIVEKEEP_NAMESPACE="env").origins["namespace"] == "HIVEKEEP_NAMESPACE"


def test_files_merge_key_by_key(machine: Machine) -> None:
    """A key that the project's file does not set keeps the value of the user's file, also in the same table."""
    machine.user('[runtime]\npacks = ["a"]\ndefault_output_format = "table"\n[serve]\nport = 4000')
    machine.project('[runtime]\npacks = ["kg"]')
    settings = machine.load().settings
    assert (settings.runtime_packs, settings.runtime_default_output_format) == (("kg",), "table")
    assert settings.serve_port == 4000


def test_our_variable_beats_an_alias_only_when_they_agree(machine: Machine) -> None:
    """An alias alone counts, equal values are no conflict, different ones stop the start and both are named."""
    assert machine.load(KHIVE_PACKS="kg").settings.runtime_packs == ("kg",)
    agreed = machine.load(HIVEKEEP_PACKS="kg", KHIVE_PACKS="kg")
    assert agreed.origins["runtime.packs"] == "HIVEKEEP_PACKS"
    message = machine.refusal(HIVEKEEP_DB="/a.db", KHIVE_DB="/b.db")
    assert message == "HIVEKEEP_DB and KHIVE_DB are both set and differ; unset one of them"
    assert machine.load({"db": "/c.db"}, HIVEKEEP_DB="", KHIVE_DB="/b.db").settings.db == "/c.db"


@pytest.mark.parametrize("blank", ["", "  ", " , ,", "\t\n"])
def test_a_blank_variable_counts_as_unset(machine: Machine, blank: str) -> None:
    """An empty variable neither sets a value nor contradicts an alias."""
    loaded = machine.load(HIVEKEEP_PACKS=blank, KHIVE_PACKS="kg")
    assert (loaded.settings.runtime_packs, loaded.origins["runtime.packs"]) == (("kg",), "KHIVE_PACKS")


def test_every_setting_has_its_own_variable_and_its_aliases(machine: Machine) -> None:
    """HIVEKEEP_ and the key in upper case, the short names that the documents use, and the names of other products."""
    names = {setting.key: (setting.env, setting.env_aliases) for setting in SETTINGS}
    assert all(env[0] == f"HIVEKEEP_{key.upper().replace('.', '_')}" for key, (env, _) in names.items())
    every = [name for env, aliases in names.values() for name in (*env, *aliases)]
    assert len(every) == len(set(every))
    assert {
        "HIVEKEEP_DB", "KHIVE_DB", "HIVEKEEP_CONFIG", "HIVEKEEP_PACKS", "KHIVE_PACKS", "HIVEKEEP_ACTOR", "KHIVE_ACTOR",
        "HIVEKEEP_RUNTIME_DIR", "KHIVE_CHECKOUT_TIMEOUT_SECS", "HIVEKEEP_SAVE_TO_ROOT", "KHIVE_SAVE_TO_ROOT",
    } <= set(every)  # fmt: skip


@pytest.mark.parametrize(
    ("variable", "text", "attr", "value"),
    [
        ("HIVEKEEP_READ_ONLY", "YES", "read_only", True),
        ("HIVEKEEP_READ_ONLY", "0", "read_only", False),
        ("HIVEKEEP_SERVE_PORT", " 8080 ", "serve_port", 8080),
        ("KHIVE_CHECKOUT_TIMEOUT_SECS", "0.25", "storage_checkout_timeout_secs", 0.25),
        ("HIVEKEEP_PACKS", "kg, gtd\tcomm", "runtime_packs", ("kg", "gtd", "comm")),
        ("HIVEKEEP_ACTOR", "agent:x y", "actor_id", "agent:x y"),
        ("HIVEKEEP_SESSION", SESSION, "actor_session", SESSION),
        ("HIVEKEEP_DB", ":memory:", "db", ":memory:"),
        ("HIVEKEEP_STORAGE_SYNCHRONOUS", "normal", "storage_synchronous", "normal"),
    ],
)
def test_variables_are_read_in_the_type_of_their_setting(
    machine: Machine, variable: str, text: str, attr: str, value: object
) -> None:
    """Texts become numbers, truth values and lists exactly as documented."""
    read = getattr(machine.load(**{variable: text}).settings, attr)
    assert (read, type(read)) == (value, type(value))


def test_flags_may_be_texts_or_typed(machine: Machine) -> None:
    """A command line gives texts, a caller in Python the values themselves; None is not given."""
    settings = machine.load({"serve.port": 1, "read_only": True, "runtime.packs": ("kg",), "db": None}).settings
    assert (settings.serve_port, settings.read_only, settings.runtime_packs, settings.db) == (1, True, ("kg",), None)
    settings = machine.load({"serve.port": "1", "read_only": "true", "runtime.packs": "kg,gtd"}).settings
    assert (settings.serve_port, settings.read_only, settings.runtime_packs) == (1, True, ("kg", "gtd"))


def test_a_relative_path_is_relative_to_its_source(machine: Machine) -> None:
    """From a flag or variable it starts at the working directory, in a file at the file's folder; ~ is the home."""
    machine.user('[save_to]\nroot = "out"\n[runtime]\ndir = "~/run"')
    settings = machine.load({"db": "x.db"}).settings
    assert settings.db == str(machine.cwd / "x.db")
    assert settings.save_to_root == str(machine.user_file.parent / "out")
    assert settings.runtime_dir == str(machine.home / "run")


@pytest.mark.parametrize("setting", [setting for setting in SETTINGS if not setting.project_file], ids=lambda s: s.key)
def test_a_projects_file_may_not_set_what_is_not_its_own(machine: Machine, setting: Any) -> None:
    """Each protected key is refused with file and key, whatever its value."""
    machine.project(f"{setting.key} = 1")
    message = machine.refusal()
    if setting.key == "config":
        assert message == f"{machine.project_file}: 'config' cannot be set in a file"
    else:
        assert message.startswith(f"{machine.project_file}: a project's file may not set '{setting.key}'")


def test_a_project_may_choose_namespace_packs_and_format(machine: Machine) -> None:
    """These are all the keys of this version that an untrusted file may set."""
    assert {setting.key for setting in SETTINGS if setting.project_file} == {
        "namespace",
        "runtime.packs",
        "runtime.default_output_format",
        "embedding.wait_ms",
        "memory.weight_text",
        "memory.weight_neighbours",
        "memory.weight_vector",
    }
    machine.project('namespace = "p"\nruntime = {packs = ["kg"], default_output_format = "auto"}')
    settings = machine.load().settings
    assert (settings.namespace, settings.runtime_packs, settings.runtime_default_output_format) == (
        "p",
        ("kg",),
        "auto",
    )


def test_the_search_for_a_projects_file_ends_at_the_repository(machine: Machine) -> None:
    """The nearest file counts; one above the repository's root belongs to somebody else."""
    (machine.repository.parent / "hivekeep.toml").write_text('namespace = "above"')
    assert machine.load().settings.namespace == "local"
    machine.project('namespace = "root"')
    (machine.cwd.parent / "hivekeep.toml").write_text('namespace = "nearest"')
    assert machine.load().settings.namespace == "nearest"


def test_outside_repository_and_home_only_the_folder_itself_is_looked_at(machine: Machine, tmp_path: Path) -> None:
    """Above a folder like /tmp/x other users may write; inside the home directory the search goes up to it."""
    folder = tmp_path / "elsewhere" / "x"
    folder.mkdir(parents=True)
    (folder.parent / "hivekeep.toml").write_text('namespace = "foreign"')
    assert load_settings({}, machine.environ, folder).settings.namespace == "local"
    assert load_settings({}, machine.environ, folder.parent).settings.namespace == "foreign"
    (machine.home / "hivekeep.toml").write_text('namespace = "home"')
    assert load_settings({}, machine.environ, machine.home / "work").settings.namespace == "home"


def test_a_file_that_the_user_names_is_trusted(machine: Machine) -> None:
    """--config replaces the user's file, also when it lies where a project's file would."""
    machine.user("[serve]\nport = 1")
    machine.project("[serve]\nport = 2")
    assert "may not set 'serve.port'" in machine.refusal()
    loaded = machine.load({"config": str(machine.project_file)})
    assert (loaded.settings.serve_port, loaded.origins["serve.port"]) == (2, str(machine.project_file))
    assert machine.load(HIVEKEEP_CONFIG=str(machine.project_file)).settings.serve_port == 2
    missing = machine.cwd / "missing.toml"
    assert machine.refusal({"config": "missing.toml"}) == f"--config: there is no file {missing}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("namespce = 'x'", "unknown setting 'namespce'; did you mean 'namespace'?"),
        ("[storage]\nsynchronus = 'full'", "unknown setting 'storage.synchronus'; did you mean 'storage.synchronous'?"),
        ("[db]\npath = 'x'", "unknown setting 'db.path'"),
        ("[serve]\nport = '80'", "'serve.port' must be a whole number, not '80'"),
        ("[serve]\nport = true", "'serve.port' must be a whole number, not 'True'"),
        ("[serve]\nport = 70000", "'serve.port' must be at most 65535, not '70000'"),
        ("[serve]\nport = -1", "'serve.port' must be at least 0, not '-1'"),
        ("[serve]\nhost = '0.0.0.0'", "'serve.host' must be one of 127.0.0.1, ::1, localhost, not '0.0.0.0'"),
        ("read_only = 1", "'read_only' must be true or false, not '1'"),
        ("read_only = 'true'", "'read_only' must be true or false, not 'true'"),
        ("namespace = ' '", "'namespace' must be text, not ' '"),
        ("runtime.packs = 'kg'", "'runtime.packs' must be a list of texts, not 'kg'"),
        ("runtime.packs = [1]", "'runtime.packs' must be a list of texts, not '[1]'"),
        ("storage.checkout_timeout_secs = nan", "'storage.checkout_timeout_secs' must be a number, not 'nan'"),
        ("storage.checkout_timeout_secs = inf", "'storage.checkout_timeout_secs' must be a number, not 'inf'"),
        (
            f"storage.checkout_timeout_secs = 1{'0' * 400}",
            "'storage.checkout_timeout_secs' must be a number, not '1000",
        ),
        (
            "namespace = 'a b'",
            "'namespace' must be 1 to 255 bytes without white space or control characters, not 'a b'",
        ),
        ("actor.visible_namespaces = ['a', 'b c']", "must be a list of namespaces, each 1 to 255 bytes"),
        ("embedding.models = ['minilm', 'ada']", "must be some of minilm, openai, hashed, none"),
        ("actor.session = 'yesterday'", "'actor.session' must be a full UUID, not 'yesterday'"),
        ('actor.id = "a\\u0007"', "'actor.id' must be 1 to 255 bytes, not blank, without control characters"),
        ("namespace = [", "cannot be read: "),
        ("x = " + "[" * 5000, "cannot be read: "),
        (".".join(["a"] * 5_000) + " = 1", "unknown setting 'a.a"),
    ],
)
def test_a_mistake_in_a_file_is_told_with_file_key_and_what_is_accepted(machine: Machine, text: str, says: str) -> None:
    """Nothing in a file is ignored or guessed."""
    machine.user(text)
    message = machine.refusal()
    assert message.startswith(f"{machine.user_file}: ")
    assert says in message


def test_a_refused_value_is_told_without_its_credential(machine: Machine) -> None:
    """A refusal repeated the value it refused; of a credential only its beginning and its length are shown."""
    token = "ghp_" + "a1B2" * 9
    machine.user(f"actor.id = '{token}'")
    message = machine.refusal()
    assert token not in message
    assert message.endswith("and no credential, not 'ghp_a1...40'")


def test_a_file_must_be_text_of_reasonable_size(machine: Machine) -> None:
    """Bytes that are no UTF-8 and a file of more than 1 MiB are refused without reading on."""
    machine.user("")
    machine.user_file.write_bytes(b"namespace = '\xff'")
    assert "cannot be read" in machine.refusal()
    machine.user_file.write_bytes(b"#" * (1 << 20) + b"#")
    assert machine.refusal() == f"{machine.user_file}: a configuration file has at most 1048576 bytes"


def test_a_device_in_place_of_a_projects_file_is_not_read(machine: Machine) -> None:
    """A link to an endless device, as a hostile repository may hold, is no file."""
    machine.project_file.symlink_to("/dev/zero")
    assert machine.load().settings == Settings()


@pytest.mark.parametrize(
    ("environ", "says"),
    [
        ({"HIVEKEEP_SERVE_PORT": "http"}, "HIVEKEEP_SERVE_PORT: 'serve.port' must be a whole number, not 'http'"),
        ({"HIVEKEEP_READ_ONLY": "maybe"}, "HIVEKEEP_READ_ONLY: 'read_only' must be true or false, not 'maybe'"),
        (
            {"KHIVE_CHECKOUT_TIMEOUT_SECS": "1e9"},
            "KHIVE_CHECKOUT_TIMEOUT_SECS: 'storage.checkout_timeout_secs' must be",
        ),
    ],
)
def test_a_mistake_in_a_variable_names_the_variable(machine: Machine, environ: dict[str, str], says: str) -> None:
    """The name that was really set is told, alias or not."""
    assert machine.refusal(**environ).startswith(says)


def test_a_mistake_on_the_command_line_names_the_flag(machine: Machine) -> None:
    """Also a key that is no setting is refused, with a suggestion."""
    assert machine.refusal({"serve.port": "x"}) == "--port: 'serve.port' must be a whole number, not 'x'"
    assert (
        machine.refusal({"serve.prt": "1"}) == "command line: unknown setting 'serve.prt'; did you mean 'serve.port'?"
    )


def test_the_value_of_a_secret_setting_is_never_told(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal of a secret setting says what is accepted and leaves the value out."""
    port = next(setting for setting in SETTINGS if setting.key == "serve.port")
    monkeypatch.setitem(load_settings.__globals__["_SETTINGS"], "serve.port", port._replace(secret=True))
    assert machine.refusal({"serve.port": "hunter22"}) == "--port: 'serve.port' must be a whole number"


def test_an_empty_gate_table_is_a_gate_that_grants_nobody(machine: Machine) -> None:
    """`[gate]` without keys turns the gate on; taking it for absent would open what the user meant to close."""
    machine.user("[gate]")
    assert machine.load().settings.gate_granted_actors == ()
    machine.user("[gate]\ngrant_unattributed = true")
    assert machine.load().settings.gate_granted_actors is None
    machine.user("")
    machine.project("[gate]")
    assert "may not set 'gate.granted_actors'" in machine.refusal()


def test_load_reads_the_real_environment(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's own environment and working directory are the sources of a start."""
    for name in [name for name in os.environ if name.startswith(("HIVEKEEP_", "KHIVE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("HIVEKEEP_PACKS", "kg")
    monkeypatch.chdir(machine.cwd)
    machine.project('namespace = "here"')
    settings = load({"actor.id": "me"})
    assert (settings.namespace, settings.runtime_packs, settings.actor_id) == ("here", ("kg",), "me")


def test_variables_that_no_setting_has_are_named_once(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line on standard error with the one that may be meant, never with a value; those of others are their own."""
    for name in [name for name in os.environ if name.startswith("HIVEKEEP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(machine.home))
    monkeypatch.chdir(machine.cwd)
    monkeypatch.setenv("KHIVE_UNHEARD_OF", "a")
    load({})
    assert capsys.readouterr() == ("", "")
    monkeypatch.setenv("HIVEKEEP_ACTR", "hunter2")
    monkeypatch.setenv("HIVEKEEP_UNHEARD_OF", "")
    load({})
    told = "HIVEKEEP_ACTR (did you mean HIVEKEEP_ACTOR?), HIVEKEEP_UNHEARD_OF"
    assert capsys.readouterr() == ("", f"hivekeep: ignored variables, for no setting has these names: {told}\n")


def test_a_start_without_files_imports_no_toml_parser() -> None:
    """Reading settings from flags and variables alone must not cost the parser, platformdirs or the suggestions."""
    script = (
        "import sys; from pathlib import Path; from hivekeep.settings import load_settings\n"
        "load_settings({'namespace': 'x'}, {'HOME': '/nonexistent'}, Path('/'))\n"
        "print([name for name in ('tomllib', 'platformdirs', 'hivekeep.request.suggest') if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown == "[]\n"


CATALOG = {
    name: Pack(name=name, title=name, order=order, requires=requires, bare=False)
    for order, (name, requires) in enumerate(
        {"kg": (), "gtd": ("kg",), "session": ("kg",), "ws": ("kg", "gtd")}.items()
    )
}


def test_packs_are_all_or_the_named_ones_in_declared_order() -> None:
    """No names means all packs; the order is that of the contract, a repeated name counts once."""
    assert select_packs((), CATALOG) == ("kg", "gtd", "session", "ws")
    assert select_packs(("gtd", "kg", "gtd"), CATALOG) == ("kg", "gtd")
    assert select_packs((), PACKS) == tuple(sorted(PACKS, key=lambda name: PACKS[name].order))


def test_a_set_of_packs_must_be_known_and_complete() -> None:
    """An unknown pack is refused with a suggestion, a missing requirement with both names."""
    with pytest.raises(SettingsError, match=r"^unknown pack 'gdt'; did you mean 'gtd'\? Available: "):
        select_packs(("kg", "gdt"), CATALOG)
    with pytest.raises(SettingsError, match=r"^pack 'ws' requires pack 'gtd', which is not selected$"):
        select_packs(("kg", "ws"), CATALOG)
