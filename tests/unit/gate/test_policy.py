"""The gate: who is let through, what read-only actors may do, and that doubt is a refusal."""

from pathlib import Path

import pytest

from hivekeep.gate.policy import (
    AllowAll,
    Decision,
    GateRequest,
    Policy,
    PolicyError,
    PolicyGate,
    check_gate,
    load_gate,
    matches,
    read_policy,
)
from hivekeep_contract.catalog import VERBS
from hivekeep_contract.errors import GateUnavailable, PermissionDenied
from hivekeep_contract.settings import Settings


def ask(kind: str = "actor", actor: str = "alice", verb: str = "get") -> GateRequest:
    """An operation of one caller."""
    return GateRequest(kind, actor, "local", verb, {"id": "x"}, None, "stdio")


def test_without_a_policy_everyone_may_do_everything() -> None:
    """No gate setting means the gate that allows all, without obligations."""
    gate = load_gate(Settings())
    assert gate.name == "allow_all"
    for request in (ask(), ask("anonymous", "local", "delete"), ask("agent", "x", "no such verb")):
        assert check_gate(gate, request) == Decision(allowed=True, reason=None, obligations=())


@pytest.mark.parametrize(
    "settings",
    [
        Settings(gate_granted_actors=()),
        Settings(gate_grant_unattributed=False),
        Settings(gate_deny_writes_for=("bot-*",)),
    ],
)
def test_any_gate_setting_turns_enrolment_on(settings: Settings) -> None:
    """Once one setting is present, also an empty one, only the granted may call: here nobody."""
    gate = load_gate(settings)
    for request in (ask(), ask("anonymous", "local"), ask("agent", "alice")):
        assert gate.check(request).allowed is False


def test_grants_compare_kind_and_id() -> None:
    """A granted id is a principal's, letter by letter; neither the anonymous caller nor another kind can borrow it."""
    gate = load_gate(Settings(gate_granted_actors=("alice", "anonymous:local")))
    allowed = {
        (kind, actor): gate.check(ask(kind, actor)).allowed
        for kind, actor in [
            ("actor", "alice"),
            ("actor", "Alice"),
            ("actor", "actor:alice"),
            ("agent", "alice"),
            ("actor", "anonymous:local"),
            ("anonymous", "local"),
        ]
    }
    assert [who for who, may in allowed.items() if may] == [("actor", "alice"), ("actor", "anonymous:local")]


def test_the_anonymous_caller_is_granted_by_its_own_setting() -> None:
    """grant_unattributed admits the caller that nobody named, and nobody else."""
    gate = load_gate(Settings(gate_grant_unattributed=True))
    assert gate.check(ask("anonymous", "local")).allowed is True
    assert gate.check(ask("actor", "local")) == Decision(False, "actor 'local' is not granted", ())


def test_the_program_itself_needs_no_grant_but_can_be_kept_from_writing() -> None:
    """Applying an approved change is the program's own call: no grant names it, a pattern can stop it."""
    granted = Policy(frozenset({"alice"}), False, ())
    program = ask("system", "propose-apply", "create")
    assert PolicyGate(granted).check(program).allowed is True
    assert PolicyGate(granted).check(ask("actor", "system:propose-apply", "create")).allowed is False
    for pattern in ("system:*", "system:propose-apply", "*"):
        decision = PolicyGate(granted._replace(deny_writes_for=(pattern,))).check(program)
        assert decision == Decision(False, "system 'propose-apply' may only read", ())


def test_read_only_actors_may_call_exactly_the_reading_verbs() -> None:
    """A read-only actor may call what the contract declares as reporting; an unknown verb counts as a write."""
    gate = PolicyGate(Policy(frozenset({"bot-1"}), False, ("bot-*",)))
    reading = {verb.name for verb in VERBS.values() if verb.tx != "write" and verb.category == "Assertive"}
    allowed = {name for name in [*VERBS, "no.such"] if gate.check(ask(actor="bot-1", verb=name)).allowed}
    assert allowed == reading
    assert {"get", "list", "search", "whoami", "context", "memory.recall", "db_diagnostics"} <= allowed
    assert not {"create", "update", "delete", "link", "memory.vacuum", "memory.remember"} & allowed
    assert gate.check(ask(actor="bot-1", verb="create")).reason == "actor 'bot-1' may only read"


@pytest.mark.parametrize(
    ("pattern", "kind", "actor", "denied"),
    [
        ("bot-*", "actor", "bot-7", True),
        ("bot-*", "actor", "Bot-7", False),
        ("actor:bot-7", "actor", "bot-7", True),
        ("bot-7", "actor", "xbot-7", False),
        ("*", "anonymous", "local", True),
        ("anonymous:*", "anonymous", "local", True),
        ("local", "anonymous", "local", False),
        ("b?t-7", "actor", "bot-7", False),
        ("[b]ot-7", "actor", "bot-7", False),
    ],
)
def test_patterns_of_read_only_actors(pattern: str, kind: str, actor: str, denied: bool) -> None:
    """A pattern fits a principal's id or any caller's label; only the star is special and case counts."""
    gate = PolicyGate(Policy(frozenset({actor}), True, (pattern,)))
    assert gate.check(ask(kind, actor, "create")).allowed is not denied
    assert gate.check(ask(kind, actor, "get")).allowed is True


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("a*b*c", "abc", True),
        ("a*b*c", "a--b--c", True),
        ("a*b*c", "acb", False),
        ("*", "", True),
        ("**", "x", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("", "", True),
        ("", "x", False),
        ("ab", "ab", True),
        ("*a" * 200, "a" * 199, False),
    ],
)
def test_the_star_stands_for_any_characters(pattern: str, text: str, fits: bool) -> None:
    """Pieces between stars must follow one another without overlap; many stars cost no more than few."""
    assert matches(pattern, text) is fits


class Broken:
    """A gate that cannot decide."""

    name = "broken"

    def check(self, request: GateRequest) -> Decision:
        """Fail, with a text that must not reach the caller."""
        raise RuntimeError(f"connection string of {request.verb}")


def test_a_gate_that_fails_refuses() -> None:
    """An exception of the gate is gate_unavailable, its own text stays inside."""
    with pytest.raises(GateUnavailable) as caught:
        check_gate(Broken(), ask(verb="create"))
    assert str(caught.value) == "create: the policy could not be asked, so it was refused"


def test_a_denial_names_verb_and_reason() -> None:
    """permission_denied tells what was refused and why."""
    with pytest.raises(PermissionDenied) as caught:
        check_gate(PolicyGate(Policy(frozenset(), False, ())), ask("anonymous", "local", "create"))
    assert str(caught.value) == "create: the anonymous caller is not granted"


def write(folder: Path, text: str) -> Path:
    """A policy file with `text`."""
    file = folder / "policy.toml"
    file.write_text(text, "utf-8")
    return file


def test_a_policy_file_says_all_that_settings_can_and_obligations(tmp_path: Path) -> None:
    """The file carries grants, read-only patterns and obligations, and the decision carries the fitting obligations."""
    file = write(
        tmp_path,
        """
        granted_actors = ["alice", "bot-1"]
        grant_unattributed = true
        deny_writes_for = ["bot-*"]
        [[obligations]]
        kind = "audit"
        tag = "destructive"
        verbs = ["delete", "merge"]
        [[obligations]]
        kind = "rate_limit"
        window_secs = 60
        max = 100
        actors = ["bot-*", "anonymous:local"]
        [[obligations]]
        kind = "custom"
        value = {ticket = "A-1"}
        """,
    )
    gate = load_gate(Settings(gate_policy_file=str(file)))
    custom = {"kind": "custom", "value": {"ticket": "A-1"}}
    limit = {"kind": "rate_limit", "window_secs": 60, "max": 100}
    assert gate.check(ask(verb="delete")).obligations == ({"kind": "audit", "tag": "destructive"}, custom)
    assert gate.check(ask(actor="bot-1")).obligations == (limit, custom)
    assert gate.check(ask("anonymous", "local")).obligations == (limit, custom)
    assert gate.check(ask(actor="bot-1", verb="delete")) == Decision(False, "actor 'bot-1' may only read", ())
    assert gate.check(ask(actor="carol")).allowed is False


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("granted_actor = []", "unknown key 'granted_actor'; known are granted_actors, grant_unattributed"),
        ('granted_actors = "alice"', "granted_actors must be a list of texts that are not empty"),
        ("granted_actors = [1]", "granted_actors must be a list of texts that are not empty"),
        ('grant_unattributed = "yes"', "grant_unattributed must be a value of type boolean"),
        ("obligations = 1", "obligations must be a value of type list"),
        (
            '[[obligations]]\nkind = "fine"',
            "obligations[0]: must be a table whose kind is one of audit, rate_limit, custom",
        ),
        ('[[obligations]]\nkind = "audit"', "obligations[0]: tag must be a value of type text"),
        ('[[obligations]]\nkind = "audit"\ntag = "x"\nmax = 1', "obligations[0]: unknown key 'max'"),
        (
            '[[obligations]]\nkind = "rate_limit"\nwindow_secs = true\nmax = 1',
            "window_secs must be a value of type integer",
        ),
        ("granted_actors = [", "the policy cannot be read"),
    ],
)
def test_a_policy_with_a_fault_stops_the_start(tmp_path: Path, text: str, says: str) -> None:
    """Nothing in a policy is ignored: the message is one line and begins with the file."""
    file = write(tmp_path, text)
    with pytest.raises(PolicyError) as caught:
        read_policy(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_policy_stands_in_one_place(tmp_path: Path) -> None:
    """A file beside gate settings, or one that is missing, stops the start."""
    with pytest.raises(PolicyError, match=r"gate\.policy_file excludes the other gate settings"):
        load_gate(Settings(gate_policy_file="x", gate_grant_unattributed=True))
    with pytest.raises(PolicyError, match="the policy cannot be read"):
        load_gate(Settings(gate_policy_file=str(tmp_path / "missing.toml")))
    assert AllowAll().check(ask()).allowed is True
