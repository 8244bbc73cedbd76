"""Who is asking: labels, equality, namespaces and the visible set."""

import pytest

from hivekeep.identity.caller import Caller, filter_labels, make_caller, own_labels, shown_as, stored_label
from hivekeep.identity.namespaces import is_namespace, visible_set
from hivekeep_contract.errors import InvalidParams

SESSION = "0a1b2c3d-0000-4000-8000-00000000000f"


def test_nobody_named_is_the_anonymous_caller() -> None:
    """Without an actor the caller is anonymous:local, writes to local and sees local."""
    caller = make_caller(None, None, ())
    assert caller == Caller("anonymous", "local", "local", ("local",), None)
    assert (caller.label, caller.caller_label, caller.unattributed) == ("anonymous:local", "anonymous:local", True)


@pytest.mark.parametrize(
    ("actor", "label"),
    [
        ("caller-a", "actor:caller-a"),
        ("actor:caller-a", "actor:actor:caller-a"),
        ("agent:x", "actor:agent:x"),
        ("anonymous:local", "actor:anonymous:local"),
        (" padded ", "actor: padded "),
        ("日本", "actor:日本"),
    ],
)
def test_a_principal_keeps_its_text_and_gets_the_prefix_once(actor: str, label: str) -> None:
    """The id is the configured text unmodified; the stored label has one prefix more, the shown one is the id."""
    caller = make_caller(actor, None, ())
    assert (caller.kind, caller.id, caller.label, caller.caller_label) == ("actor", actor, label, actor)
    assert caller.unattributed is False


def test_actors_are_equal_by_kind_and_id_only() -> None:
    """A principal called anonymous:local shows the same label as the anonymous caller and is another actor."""
    nobody, impostor = make_caller(None, None, ()), make_caller("anonymous:local", None, ())
    assert nobody.caller_label == impostor.caller_label
    assert nobody.is_same_actor(impostor) is False
    assert make_caller("a", "one", (), SESSION).is_same_actor(make_caller("a", "two", ("x",))) is True


def test_old_rows_match_a_bare_id_unless_it_reads_like_a_label() -> None:
    """The historical alias is the id alone; ids that begin with a reserved kind have none, other kinds neither."""
    assert own_labels("actor", "caller-a") == ("actor:caller-a", "caller-a")
    assert own_labels("actor", "team:x") == ("actor:team:x", "team:x")
    assert own_labels("actor", "actor:caller-a") == ("actor:actor:caller-a",)
    assert own_labels("actor", "agent:x") == ("actor:agent:x",)
    assert own_labels("anonymous", "local") == ("anonymous:local",)
    assert stored_label("robot", "r2") == "robot:r2"


def test_an_actor_filter_is_a_full_label_or_an_id() -> None:
    """A text with a reserved prefix selects that label only, any other text the principal in both spellings."""
    assert filter_labels("actor:caller-a") == ("actor:caller-a",)
    assert filter_labels("anonymous:local") == ("anonymous:local",)
    assert filter_labels("caller-a") == ("actor:caller-a", "caller-a")


def test_a_shown_label_selects_who_is_shown_so() -> None:
    """An id beginning with agent: is shown bare and found by that; a full label selects one caller only."""
    assert shown_as("caller-a") == ("actor:caller-a", "caller-a")
    assert shown_as("agent:x") == ("actor:agent:x", "agent:x")
    assert shown_as("actor:agent:x") == ("actor:agent:x",)
    assert shown_as("anonymous:local") == ("anonymous:local",)


def test_the_program_in_the_place_of_a_caller_is_somebody_else() -> None:
    """It writes and sees what the caller does, under its own label."""
    caller = make_caller("ada", "team", ("shared",))
    program = caller.as_system("propose-apply")
    assert (program.label, program.caller_label) == ("system:propose-apply", "system:propose-apply")
    assert (program.namespace, program.visible) == (caller.namespace, caller.visible)
    assert not program.is_same_actor(caller)
    assert not program.is_same_actor(make_caller("system:propose-apply", None, ()))


def test_the_visible_set_begins_with_local_and_has_no_duplicates() -> None:
    """local, where the caller writes, what is configured, its own id: in this order, each once."""
    assert visible_set("local", ("b", "a", "b", "local"), "a") == ("local", "b", "a")
    assert visible_set("team", ("b",), "me") == ("local", "team", "b", "me")
    assert visible_set("local", (), "no namespace") == ("local",)
    assert make_caller("me", "team", ["b"], SESSION).visible == ("local", "team", "b", "me")


def test_attribution_never_moves_writes() -> None:
    """Naming an actor leaves the write namespace alone."""
    assert make_caller("me", None, ()).namespace == "local"


@pytest.mark.parametrize("text", ["a", "team/x:y", "é" * 127, "x" * 255, "设备"])
def test_namespaces_are_open_names(text: str) -> None:
    """Any text of 1 to 255 bytes without white space and control characters names a namespace."""
    assert is_namespace(text) is True


@pytest.mark.parametrize(
    "text", ["", " ", "a b", "a\tb", "a\n", "a\x00b", "a\x7f", "a\x85", "a\u2003b", "é" * 128, "x" * 256, "\ud800"]
)
def test_what_is_no_namespace(text: str) -> None:
    """Empty, overlong, unstorable, white space or control characters: refused, for the caller and its visible set."""
    assert is_namespace(text) is False
    with pytest.raises(InvalidParams, match="namespace must be 1 to 255 bytes without white space"):
        make_caller(None, text, ())
    with pytest.raises(InvalidParams, match="namespace must be"):
        make_caller(None, None, (text,))


@pytest.mark.parametrize("text", ["", "   ", "a\nb", "a\x1b[31m", "x" * 256, "\ud800", "\u200e" * 3])
def test_what_is_no_actor(text: str) -> None:
    """A blank, overlong or unprintable actor is refused; it would stand in every log and answer."""
    with pytest.raises(InvalidParams, match="actor must be 1 to 255 bytes"):
        make_caller(text, None, ())


@pytest.mark.parametrize("text", ["ghp_" + "a1B2" * 9, "the bot with AKIA" + "A1B2" * 4])
def test_a_credential_is_no_actor(text: str) -> None:
    """Every audit row and every record holds the name of its actor, so one that is a credential went into each."""
    with pytest.raises(InvalidParams, match="and no credential") as refused:
        make_caller(text, None, ())
    assert text not in str(refused.value)


@pytest.mark.parametrize("text", [SESSION, SESSION.upper(), SESSION.replace("-", "")])
def test_a_session_is_one_text_however_it_is_spelt(text: str) -> None:
    """Events are found by it."""
    assert make_caller(None, None, (), text).session_id == SESSION


@pytest.mark.parametrize(
    "text", ["", " ", "s1", SESSION[:8], SESSION[:-1], f" {SESSION}", f"{SESSION}\n", f"{SESSION}0"]
)
def test_what_is_no_session(text: str) -> None:
    """Only a full UUID is stable enough to be found again."""
    with pytest.raises(InvalidParams, match="session must be a full UUID"):
        make_caller(None, None, (), text)
