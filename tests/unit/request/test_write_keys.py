"""Which batches are refused because two of their operations would write the same record."""

import pytest

from hivekeep.request.dsl import parse
from hivekeep.request.write_keys import check_write_keys
from hivekeep_contract.catalog import VERBS, WriteKey
from hivekeep_contract.errors import ParseError
from hivekeep_contract.vocabulary import RELATIONS

U = "3F2A9C1E-1111-4222-8333-ABCDEFABCDEF"
SAME = "3f2a9c1e111142228333abcdefabcdef"
V = "aaaaaaaa-1111-4222-8333-abcdefabcdef"
W = "bbbbbbbb-1111-4222-8333-abcdefabcdef"


def canonical(word: str) -> str:
    """Lower case and `_` for `-`; an unknown word is itself."""
    spelled = word.lower().replace("-", "_")
    return spelled if spelled in RELATIONS else word


# A verb with two record keys and a guard, and one whose edges stand in a list: what any pack may declare.
MERGE = WriteKey("record", (("into_id", "winner_id"), ("from_id", "loser_id")), None, "dry_run")
LINKS = WriteKey("edge", (("source_id", "source"), ("target_id", "target"), ("relation", "kind")), "links", None)
DECLARED = {
    **VERBS,
    "merge": VERBS["delete"]._replace(name="merge", write_keys=(MERGE,)),
    "link_all": VERBS["link"]._replace(name="link_all", write_keys=(LINKS,)),
}


def check(text: str) -> None:
    """Run the check as dispatch does."""
    check_write_keys(parse(text), DECLARED.get, canonical)


@pytest.mark.parametrize(
    "ops",
    [
        f'update(id="{U}", name="a"), delete(id="{U}")',
        f'update(id="{U}", name="a"), update(id="{SAME}", name="b")',
        'delete(id="ABCD1234"), delete(id="abcd1234")',
        f'merge(into_id="{U}", from_id="{V}"), update(id="{V}", name="x")',
        f'merge(into_id="{U}", from_id="{V}"), merge(into_id="{V}", from_id="{W}")',
        f'merge(into_id="{U}", from_id="{V}", dry_run="true"), delete(id="{U}")',
        f'merge(into_id="{U}", from_id="{V}", dry_run=false), delete(id="{U}")',
        f'merge(winner_id="{U}", loser_id="{V}"), delete(id="{V}")',
        f'link(source_id="{U}", target_id="{V}", relation="extends"),'
        f' link(source_id="{SAME}", target_id="{V}", relation="Extends")',
        f'link(source="{U}", target="{V}", kind="extends"), link(source_id="{U}", target_id="{V}", relation="extends")',
        f'link(source_id="{U}", target_id="{V}", relation="competes_with"),'
        f' link(source_id="{V}", target_id="{U}", relation="competes-with")',
        f'link_all(links=[{{"source_id":"{U}","target_id":"{V}","relation":"extends"}}]),'
        f' link(source_id="{U}", target_id="{V}", relation="extends")',
        f'link_all(links=[{{"source_id":"{W}","target_id":"{V}","relation":"extends"}},'
        f' {{"source_id":"{U}","target_id":"{V}","relation":"extends"}}]), delete(id="{U}")',
        f'update(id="{U}", name="a"), stats(), link(source_id="{V}", target_id="{U}", relation="extends")',
        f'link(source_id="{U}", target_id="{V}", relation="extends"), delete(id="{U}")',
        f'link(source_id="{U}", target_id="{V}", relation="nonsense"), delete(id="{V}")',
        f'link(source_id="{U}", target_id="{V}", relation="nonsense"),'
        f' link(source_id="{U}", target_id="{V}", relation="nonsense")',
    ],
)
def test_conflicts(ops: str) -> None:
    """Equal records, equal edges, and a link to a record another operation writes refuse the whole batch."""
    with pytest.raises(ParseError) as caught:
        check(f"[{ops}]")
    assert caught.value.body()["dsl_error"] == "WriteKeyConflict"


@pytest.mark.parametrize(
    "text",
    [
        f'[update(id="{U}", name="a"), update(id="{V}", name="b"), delete(id="{W}")]',
        f'[create(kind="concept", name="A"), create(kind="concept", name="A"), get(id="{U}"), delete(id="{U}")]',
        f'update(id="{U}", name="a") | delete(id="{U}")',
        f'update(id="{U}")',
        f'[merge(into_id="{U}", from_id="{V}", dry_run=true), delete(id="{U}")]',
        f'[merge(into_id="{U}", from_id="{U}"), stats()]',
        f'[link(source_id="{U}", target_id="{V}", relation="extends"),'
        f' link(source_id="{U}", target_id="{W}", relation="extends")]',
        f'[link(source_id="{U}", target_id="{V}", relation="extends"),'
        f' link(source_id="{V}", target_id="{U}", relation="extends")]',
        f'[link(source_id="{U}", target_id="{V}", relation="extends"),'
        f' link(source_id="{U}", target_id="{V}", relation="variant_of")]',
        f'[link(source_id="{U}", target_id="{V}"), delete(id="{U}")]',
        "[update(id=5), delete(id=5)]",
        f'[update(name="x"), delete(id="{U}")]',
        f'[no_such_verb(id="{U}"), delete(id="{U}")]',
        f'[link_all(links="x"), link_all(links=[1, {{"source_id": "{U}"}}]), delete(id="{U}")]',
    ],
)
def test_no_conflict(text: str) -> None:
    """Other records, chains, reads, dry runs, incomplete or non-text keys and links sharing one end are
    fine.
    """
    check(text)


def test_the_refusal_names_the_id_and_both_verbs() -> None:
    """The message tells which two operations collide and on what, in the caller's own spelling."""
    with pytest.raises(ParseError) as caught:
        check(f'[stats(), update(id="{U}", name="a"), link(source_id="{V}", target_id="{U}", relation="extends")]')
    body = caught.value.body()
    assert body["verbs"] == ["update", "link"]
    assert body["id"] == U
    assert f"operations 2 (update) and 3 (link) of one batch both write '{U}'" in body["message"]
