"""Who may call which verb. Every operation passes one gate, once, before its handler; nothing else decides.

What stays true: what cannot be judged is refused. A gate that fails denies, an actor that no rule names is
denied once the gate is on, and a policy with an unknown key or a wrong type stops the start. Callers are
compared by (kind, id), never by a shown label: a principal whose id is `anonymous:local` is not the anonymous
caller.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hivekeep_contract.catalog import VERBS
from hivekeep_contract.errors import GateUnavailable, InvalidInput, PermissionDenied
from hivekeep_contract.settings import Settings

_ANONYMOUS = "anonymous"
_PRINCIPAL = "actor"
_SYSTEM = "system"
_WRITING_TX = "write"
_READING_CATEGORY = "Assertive"
_POLICY_KEYS = ("granted_actors", "grant_unattributed", "deny_writes_for", "obligations")
_SELECTOR_KEYS = ("verbs", "actors")
_OBLIGATION_KEYS: dict[str, dict[str, type]] = {
    "audit": {"tag": str},
    "rate_limit": {"window_secs": int, "max": int},
    "custom": {"value": object},
}


class PolicyError(InvalidInput):
    """The configured policy cannot be used; the message is one line and names the file or setting."""


class GateRequest(NamedTuple):
    """What a gate sees of one operation. `verb` may be an operation of the gateway, `source` is the door: stdio, http,
    cli."""

    actor_kind: str
    actor_id: str
    namespace: str
    verb: str
    args: Mapping[str, object]
    session_id: str | None
    source: str


class Decision(NamedTuple):
    """The answer of a gate. An obligation is a JSON object with a `kind`; all of them go to the audit row."""

    allowed: bool
    reason: str | None
    obligations: tuple[dict[str, object], ...]


class Gate(Protocol):
    """Judges operations; `name` stands in the audit row."""

    name: str

    def check(self, request: GateRequest) -> Decision:
        """Return the decision. Any exception counts as "cannot be judged"."""


class Rule(NamedTuple):
    """An obligation, and the verbs and actors (patterns, see `matches`) that it applies to."""

    obligation: dict[str, object]
    verbs: tuple[str, ...]
    actors: tuple[str, ...]


class Policy(NamedTuple):
    """What a PolicyGate enforces.

    `granted_actors`: ids of configured principals, compared exactly. `grant_unattributed`: whether the
    anonymous caller may call. `deny_writes_for`: patterns of actors that may only read.
    """

    granted_actors: frozenset[str]
    grant_unattributed: bool
    deny_writes_for: tuple[str, ...]
    rules: tuple[Rule, ...] = ()


_ALLOWED = Decision(allowed=True, reason=None, obligations=())


class AllowAll:
    """The gate when no policy is configured."""

    name = "allow_all"

    def check(self, request: GateRequest) -> Decision:
        """Allow `request`, without obligations."""
        return _ALLOWED


class PolicyGate:
    """Allows the enrolled, and of them the read-only ones to read."""

    name = "policy"

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def check(self, request: GateRequest) -> Decision:
        """Judge `request`: enrolment, then the right to write; an allowed one gets its obligations."""
        if not self._is_enrolled(request):
            return Decision(False, f"{_shown(request)} is not granted", ())
        if not _only_reads(request.verb) and _names(self._policy.deny_writes_for, request):
            return Decision(False, f"{_shown(request)} may only read", ())
        obligations = tuple(
            rule.obligation
            for rule in self._policy.rules
            if _names(rule.actors, request) and any(matches(pattern, request.verb) for pattern in rule.verbs)
        )
        return Decision(True, None, obligations)

    def _is_enrolled(self, request: GateRequest) -> bool:
        if request.actor_kind == _ANONYMOUS:
            return self._policy.grant_unattributed
        if request.actor_kind == _SYSTEM:
            # The program itself, within a call that was allowed; `deny_writes_for` can still stop it.
            return True
        return request.actor_kind == _PRINCIPAL and request.actor_id in self._policy.granted_actors


def check_gate(gate: Gate, request: GateRequest) -> Decision:
    """Return the decision of `gate` when it allows `request`.

    Raises PermissionDenied with verb and reason when it denies, GateUnavailable when it fails.
    """
    try:
        decision = gate.check(request)
    except Exception as failure:
        raise GateUnavailable(f"{request.verb}: the policy could not be asked, so it was refused") from failure
    if not decision.allowed:
        raise PermissionDenied(f"{request.verb}: {decision.reason or 'the policy denies it'}")
    return decision


def load_gate(settings: Settings) -> Gate:
    """Build the gate that `settings` ask for.

    No `gate` setting: all may call. Any of them: only the granted may, so a lone `deny_writes_for` grants
    nobody. `gate.policy_file` names a TOML file with `granted_actors`, `grant_unattributed`,
    `deny_writes_for` and tables `[[obligations]]`: `kind` is audit (`tag`), rate_limit (`window_secs`, `max`;
    recorded, not enforced) or custom (`value`); `verbs` and `actors` are lists of patterns, absent = all.
    Raises PolicyError.
    """
    inline = (settings.gate_granted_actors, settings.gate_grant_unattributed, settings.gate_deny_writes_for)
    is_inline = any(value is not None for value in inline)
    if settings.gate_policy_file is not None:
        if is_inline:
            raise PolicyError("gate.policy_file excludes the other gate settings: give the policy in one place")
        return PolicyGate(read_policy(Path(settings.gate_policy_file)))
    if not is_inline:
        return AllowAll()
    granted, unattributed, readers = inline
    return PolicyGate(Policy(frozenset(granted or ()), bool(unattributed), tuple(readers or ())))


def read_policy(path: Path) -> Policy:
    """Read the policy file `path` (see `load_gate`). Raises PolicyError for anything it does not know."""
    import tomllib  # start-up without a policy file does not pay for it

    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as failure:
        raise PolicyError(f"{path}: the policy cannot be read: {failure}") from failure
    table = _Table(document, f"{path}:", _POLICY_KEYS)
    rules = table.value("obligations", list, [])
    return Policy(
        frozenset(table.texts("granted_actors", ())),
        bool(table.value("grant_unattributed", bool, False)),
        table.texts("deny_writes_for", ()),
        tuple(_rule(rule, f"{path}: obligations[{index}]:") for index, rule in enumerate(rules)),
    )


def matches(pattern: str, text: str) -> bool:
    """Whether `text` fits `pattern`: `*` stands for any characters, case counts. Linear in `text`."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, last = rest
    end = len(text) - len(last)
    if not text.startswith(first) or not text.endswith(last) or end < len(first):
        return False
    position = len(first)
    for piece in middle:
        found = text.find(piece, position, end)
        if found < 0:
            return False
        position = found + len(piece)
    return True


def _names(patterns: tuple[str, ...], request: GateRequest) -> bool:
    """Whether a pattern fits the label `kind:id` of the caller, or the bare id of a configured principal."""
    spellings = [f"{request.actor_kind}:{request.actor_id}"]
    if request.actor_kind == _PRINCIPAL:
        spellings.append(request.actor_id)
    return any(matches(pattern, spelling) for pattern in patterns for spelling in spellings)


def _only_reads(verb: str) -> bool:
    """Whether the contract says that `verb`, or an operation of the gateway, only reports; what it does not know may
    write."""
    known = VERBS.get(verb)
    if known is not None:
        return known.tx != _WRITING_TX and known.category == _READING_CATEGORY
    from hivekeep_contract.gateway import OPERATIONS  # a server that is asked by verbs alone does without it

    operation = OPERATIONS.get(verb)
    return operation is not None and not operation.writes


def _shown(request: GateRequest) -> str:
    if request.actor_kind == _ANONYMOUS:
        return "the anonymous caller"
    return f"{request.actor_kind} {request.actor_id!r}"


def _rule(value: object, where: str) -> Rule:
    kind = value.get("kind") if isinstance(value, dict) else None
    fields = _OBLIGATION_KEYS.get(kind) if isinstance(kind, str) else None
    if not isinstance(value, dict) or fields is None:
        raise PolicyError(f"{where} must be a table whose kind is one of {', '.join(_OBLIGATION_KEYS)}")
    table = _Table(value, where, ("kind", *fields, *_SELECTOR_KEYS))
    obligation: dict[str, object] = {"kind": kind}
    for key, of_type in fields.items():
        obligation[key] = table.value(key, of_type)
    return Rule(obligation, table.texts("verbs", ("*",)), table.texts("actors", ("*",)))


class _Table:
    """A TOML table with known keys; every refusal begins with `where`."""

    def __init__(self, values: dict[str, Any], where: str, known: tuple[str, ...]) -> None:
        for key in values:
            if key not in known:
                raise PolicyError(f"{where} unknown key '{key}'; known are {', '.join(known)}")
        self._values = values
        self._where = where

    def value(self, key: str, of_type: type, default: Any = None) -> Any:
        """Return the value of `key`, `default` when it is absent; absent without a default is an error."""
        value = self._values.get(key, default)
        if not isinstance(value, of_type) or value is None or (of_type is int and isinstance(value, bool)):
            raise PolicyError(f"{self._where} {key} must be a value of type {_TYPE_WORDS.get(of_type, 'any')}")
        return value

    def texts(self, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """Return the list of texts at `key`, `default` when it is absent."""
        items = self._values.get(key, list(default))
        if not isinstance(items, list) or not all(isinstance(item, str) and item for item in items):
            raise PolicyError(f"{self._where} {key} must be a list of texts that are not empty")
        return tuple(items)


_TYPE_WORDS = {str: "text", int: "integer", bool: "boolean", list: "list"}
