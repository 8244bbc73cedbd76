"""Reads the settings: flag over environment over the project's file over the user's file over the default.

What stays true: every value has one known origin; an unknown key, a wrong type or two contradicting variables
stop the start with one line that names the source. A project's own `hivekeep.toml` is not trusted: it sets
only what the contract allows it to. The value of a secret setting is in no message.
"""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from hivekeep import paths
from hivekeep.gate.secrets import mask
from hivekeep.identity.caller import ACTOR_GRAMMAR, SESSION_GRAMMAR, is_actor_id
from hivekeep.identity.ids import classify
from hivekeep.identity.namespaces import GRAMMAR, is_namespace
from hivekeep_contract.catalog import Pack
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.settings import SETTINGS, Setting, Settings

DEFAULT = "default"
"""Origin of a value that nobody set."""

_OURS = "HIVEKEEP_"
_FILE_MAX_BYTES = 1 << 20
_SHOWN_CHARS = 80
_SETTINGS = {setting.key: setting for setting in SETTINGS}
_WORDS = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
}
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?")
_SEPARATORS = re.compile(r"[\s,]+")
_CONFIG = "config"
_DOTS_MAX = max(key.count(".") for key in _SETTINGS)
_NUMBER_LIMIT = 1e300
"""Greater ones, infinities and NaN are no numbers."""
_ACCEPTED = {
    "string": "text",
    "path": "a path",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "list": "a list of texts",
}


class SettingsError(InvalidInput):
    """The settings cannot be used; the message is one line and names the source."""


class Loaded(NamedTuple):
    """The settings, and for each key where its value came from: a flag, a variable, a file, or `default`."""

    settings: Settings
    origins: dict[str, str]


class _Found(NamedTuple):
    """A value as its source holds it. Relative paths are relative to `base`; a file's values are typed."""

    value: object
    origin: str
    base: Path
    is_text: bool = True


def load(flags: Mapping[str, object]) -> Settings:
    """Return the settings of this process; `flags` as in `load_settings`. Raises SettingsError.

    Variables of ours that are none of its settings are named in one line on standard error.
    """
    try:
        cwd = Path.cwd()
    except OSError:
        raise SettingsError("the working directory does not exist any more; change to one that does") from None
    settings = load_settings(flags, os.environ, cwd).settings
    stray = stray_variables(os.environ)
    if stray and sys.stderr is not None:
        sys.stderr.write(f"hivekeep: ignored variables, for no setting has these names: {', '.join(stray)}\n")
    return settings


def load_settings(flags: Mapping[str, object], environ: Mapping[str, str], cwd: Path) -> Loaded:
    """Merge every source, key by key.

    `flags` holds values by setting key, texts or already typed; None counts as not given. A variable of ours
    beats an alias of another product; a blank one counts as unset. Raises SettingsError.
    """
    given = dict(_from_flags(flags, cwd))
    for key, found in _from_environment(environ, cwd):
        given.setdefault(key, found)
    for source in _from_files(given.get(_CONFIG), environ, cwd):
        for key, found in source.items():
            given.setdefault(key, found)
    values = {_SETTINGS[key].attr: _checked(_SETTINGS[key], found, environ) for key, found in given.items()}
    origins = {key: given[key].origin if key in given else DEFAULT for key in _SETTINGS}
    return Loaded(Settings(**values), origins)


def stray_variables(environ: Mapping[str, str]) -> list[str]:
    """The names that begin as ours do and that no setting has, each with the one that may be meant; never a value."""
    known = {name for setting in SETTINGS for name in setting.env}
    stray = sorted(name for name in environ if name.startswith(_OURS) and name not in known)
    if not stray:
        return []
    from hivekeep.request.suggest import suggest  # only a mistake pays for it

    return [f"{name} (did you mean {meant}?)" if (meant := suggest(name, known)) else name for name in stray]


def select_packs(names: Sequence[str], packs: Mapping[str, Pack]) -> tuple[str, ...]:
    """Return the packs to load in their declared order; no names means all.

    Raises SettingsError for an unknown pack, and for a pack whose declared requirement is not in the set.
    """
    chosen = set(names) or set(packs)
    for name in names:
        if name not in packs:
            hint = _hint(name, packs) or "."
            raise SettingsError(f"unknown pack '{name}'{hint} Available: {', '.join(packs)}")
    ordered = sorted(chosen, key=lambda name: packs[name].order)
    for name in ordered:
        for needed in packs[name].requires:
            if needed not in chosen:
                raise SettingsError(f"pack '{name}' requires pack '{needed}', which is not selected")
    return tuple(ordered)


def _from_flags(flags: Mapping[str, object], cwd: Path) -> Iterator[tuple[str, _Found]]:
    for key, value in flags.items():
        if value is None:
            continue
        setting = _SETTINGS.get(key) or _unknown(key, "command line")
        yield key, _Found(value, setting.flag or "command line", cwd)


def _from_environment(environ: Mapping[str, str], cwd: Path) -> Iterator[tuple[str, _Found]]:
    for setting in SETTINGS:
        names = [name for name in (*setting.env, *setting.env_aliases) if environ.get(name, "").strip(" \t\r\n,")]
        if not names:
            continue
        first = names[0]
        for other in names[1:]:
            if environ[other].strip() != environ[first].strip():
                raise SettingsError(f"{first} and {other} are both set and differ; unset one of them")
        yield setting.key, _Found(environ[first].strip(), first, cwd)


def _from_files(config: _Found | None, environ: Mapping[str, str], cwd: Path) -> Iterator[dict[str, _Found]]:
    """Yield the project's file, then the user's; a file that the user named is never a project's."""
    if config is None:
        user = paths.config_dir(environ) / paths.CONFIG_NAME
    else:
        user = Path(str(_checked(_SETTINGS[_CONFIG], config, environ)))
        if not user.is_file():
            raise SettingsError(f"{config.origin}: there is no file {user}")
    project = _project_file(cwd, paths.home(environ))
    if project is not None and not (user.is_file() and user.samefile(project)):
        yield _read(project, user=user, trusted=False)
    if user.is_file():
        yield _read(user, user=user, trusted=True)


def _project_file(cwd: Path, home: Path) -> Path | None:
    """Return the nearest `hivekeep.toml` from `cwd` up to the repository's root or the home directory.

    A directory that is in neither is looked at alone: above it other users may write.
    """
    inside = [cwd, *cwd.parents]
    last = next((folder for folder in inside if folder == home or (folder / ".git").exists()), cwd)
    for folder in inside[: inside.index(last) + 1]:
        file = folder / paths.CONFIG_NAME
        if file.is_file():
            return file
    return None


def _read(file: Path, *, user: Path, trusted: bool) -> dict[str, _Found]:
    found = {}
    for key, value in _flatten(_document(file), ""):
        setting = _SETTINGS.get(key) or _unknown(key, str(file))
        if key == _CONFIG:
            raise SettingsError(f"{file}: 'config' cannot be set in a file")
        if not trusted and not setting.project_file:
            raise SettingsError(f"{file}: a project's file may not set '{key}'; set it in {user}")
        found[key] = _Found(value, str(file), file.parent, is_text=False)
    return found


def _document(file: Path) -> dict[str, Any]:
    import tomllib  # only a start with a file pays for it

    try:
        with file.open("rb") as stream:
            content = stream.read(_FILE_MAX_BYTES + 1)
        if len(content) > _FILE_MAX_BYTES:
            raise SettingsError(f"{file}: a configuration file has at most {_FILE_MAX_BYTES} bytes")
        return tomllib.loads(content.decode("utf-8"))
    except (OSError, ValueError, RecursionError) as failure:
        reason = failure.strerror if isinstance(failure, OSError) else failure
        raise SettingsError(f"{file}: cannot be read: {reason}") from failure


def _flatten(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, object]]:
    """Yield `(dotted key, value)` for every value of a TOML document, no deeper than settings lie."""
    for name, value in table.items():
        key = f"{prefix}{name}"
        if not isinstance(value, dict) or key.count(".") > _DOTS_MAX:
            yield key, value
        elif key == "gate" and not value:
            yield "gate.granted_actors", []  # an empty [gate] table turns the gate on and grants nobody
        else:
            yield from _flatten(value, f"{key}.")


def _checked(setting: Setting, found: _Found, environ: Mapping[str, str]) -> Any:
    """Return the value of `setting` in its own type. Raises SettingsError that names the origin."""
    value = _typed(setting, found)
    if value is None:
        _refuse(setting, found, _ACCEPTED[setting.type])
    if setting.choices and not set(value if setting.type == "list" else (value,)) <= set(setting.choices):
        _refuse(setting, found, f"{'some' if setting.type == 'list' else 'one'} of {', '.join(setting.choices)}")
    if setting.minimum is not None and value < setting.minimum:
        _refuse(setting, found, f"at least {setting.minimum}")
    if setting.maximum is not None and value > setting.maximum:
        _refuse(setting, found, f"at most {setting.maximum}")
    _check_names(setting, found, value)
    return _absolute(value, found.base, environ) if setting.type == "path" else value


def _check_names(setting: Setting, found: _Found, value: Any) -> None:
    """Refuse a namespace, actor or session that no request could carry."""
    match setting.key:
        case "namespace" if not is_namespace(value):
            _refuse(setting, found, GRAMMAR)
        case "actor.visible_namespaces" if not all(is_namespace(name) for name in value):
            _refuse(setting, found, f"a list of namespaces, each {GRAMMAR}")
        case "actor.id" if not is_actor_id(value):
            _refuse(setting, found, ACTOR_GRAMMAR)
        case "actor.session" if classify(value).form != "uuid":
            _refuse(setting, found, SESSION_GRAMMAR)


def _typed(setting: Setting, found: _Found) -> Any:
    """Return the value in the type of `setting`, None when it is of another type or an empty text."""
    value = found.value
    if found.is_text and isinstance(value, str):
        value = _from_text(setting.type, value)
    match setting.type, value:
        case (("string" | "path"), str()) if value.strip():
            return value
        case "boolean", bool():
            return value
        case (("integer" | "number"), bool()):
            return None
        case "integer", int(whole):
            return whole
        case "number", int(number) | float(number) if -_NUMBER_LIMIT < number < _NUMBER_LIMIT:
            return number
        case "list", list() | tuple() if all(isinstance(item, str) and item.strip() for item in value):
            return tuple(value)
    return None


def _from_text(type_name: str, text: str) -> object:
    """Return what a flag or variable writes; a text that is not of the type comes back as it is."""
    match type_name:
        case "list":
            return [item for item in _SEPARATORS.split(text) if item]
        case "boolean":
            return _WORDS.get(text.strip().lower(), text)
        case "integer" if _WHOLE.fullmatch(text.strip()):
            return int(text)
        case "number" if _DECIMAL.fullmatch(text.strip()):
            return float(text)
    return text


def _absolute(text: str, base: Path, environ: Mapping[str, str]) -> str:
    if text == paths.IN_MEMORY:
        return text
    if text == "~" or text.startswith("~/"):
        return f"{paths.home(environ)}{text[1:]}"
    return str(base / text)


def _unknown(key: str, origin: str) -> NoReturn:
    raise SettingsError(f"{origin}: unknown setting '{key}'{_hint(key, _SETTINGS)}")


def _hint(name: str, choices: Iterable[str]) -> str:
    from hivekeep.request.suggest import did_you_mean  # only a refusal pays for it

    return did_you_mean(name, choices)


def _refuse(setting: Setting, found: _Found, accepted: str) -> NoReturn:
    shown = "" if setting.secret else f", not {mask(str(found.value))[:_SHOWN_CHARS]!r}"
    raise SettingsError(f"{found.origin}: '{setting.key}' must be {accepted}{shown}")
