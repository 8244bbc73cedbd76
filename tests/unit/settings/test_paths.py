"""Where files are: user directories, the database, exports and the runtime files of a server."""

import hashlib
import stat
import sys
from pathlib import Path

import platformdirs
import pytest

from hivekeep import paths
from hivekeep_contract.settings import Settings


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere platformdirs itself answers")
@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"XDG_DATA_HOME": "/data", "XDG_CONFIG_HOME": "/config"},
        {"XDG_DATA_HOME": "relative", "XDG_CONFIG_HOME": ""},
    ],
)
def test_the_short_rule_agrees_with_platformdirs(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On Linux the directories are computed without the library and are those of the library."""
    monkeypatch.setenv("HOME", "/home/someone")
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert paths.data_dir() == platformdirs.user_data_path("hivekeep")
    assert paths.config_dir() == platformdirs.user_config_path("hivekeep")


def test_other_platforms_ask_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the rule differs, platformdirs decides."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(platformdirs, "user_data_path", lambda app, appauthor: Path("/Library", app, str(appauthor)))
    monkeypatch.setattr(platformdirs, "user_config_path", lambda app, appauthor: Path("/Preferences", app))
    assert paths.data_dir() == Path("/Library/hivekeep/False")
    assert paths.config_dir() == Path("/Preferences/hivekeep")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """The environment of a user without any variable of ours."""
    return {"HOME": str(tmp_path)}


def test_database_and_exports_follow_settings_then_the_data_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    """A named place wins; without one both lie in the data directory."""
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    monkeypatch.setattr(sys, "platform", "linux")
    assert paths.database_path(Settings()) == "/data/hivekeep/hivekeep.db"
    assert paths.database_path(Settings(db=":memory:")) == ":memory:"
    assert paths.exports_dir(Settings()) == Path("/data/hivekeep/exports")
    assert paths.exports_dir(Settings(save_to_root="/out")) == Path("/out")


def test_the_default_database_has_the_plain_descriptor(environ: dict[str, str]) -> None:
    """server.json belongs to the default database, also when it is named; the lock has the whole fingerprint."""
    default = paths.default_database(environ)
    digest = hashlib.sha256(default.encode()).hexdigest()
    files = paths.runtime_files(Settings(), environ)
    assert files == paths.runtime_files(Settings(db=default), environ)
    assert (files.descriptor.name, files.lock.name) == ("server.json", f"{digest}.lock")
    assert files.fingerprint == f"sha256:{digest}"


def test_another_database_has_a_descriptor_of_its_own(environ: dict[str, str], tmp_path: Path) -> None:
    """The name carries the first 12 digits; a link to the file is the same database."""
    database = tmp_path / "other.db"
    database.touch()
    link = tmp_path / "link.db"
    link.symlink_to(database)
    files = paths.runtime_files(Settings(db=str(database)), environ)
    assert files.descriptor.name == f"server-{hashlib.sha256(str(database).encode()).hexdigest()[:12]}.json"
    assert paths.runtime_files(Settings(db=str(link)), environ) == files


def test_runtime_files_lie_where_the_setting_or_the_session_says(
    environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The setting wins, then the session's directory on Linux, then the data directory; nothing is created."""
    monkeypatch.setattr(sys, "platform", "linux")
    home = Path(environ["HOME"])
    assert paths.runtime_dir(Settings(), environ) == home / ".local/share/hivekeep"
    assert paths.runtime_dir(Settings(), environ | {"XDG_RUNTIME_DIR": "/run/user/7"}) == Path("/run/user/7/hivekeep")
    assert (
        paths.runtime_dir(Settings(), environ | {"XDG_RUNTIME_DIR": "not/absolute"}) == home / ".local/share/hivekeep"
    )
    assert paths.runtime_dir(Settings(runtime_dir="/r"), environ | {"XDG_RUNTIME_DIR": "/run/user/7"}) == Path("/r")
    assert stat.S_ISDIR(home.stat().st_mode)
    assert list(home.iterdir()) == []
