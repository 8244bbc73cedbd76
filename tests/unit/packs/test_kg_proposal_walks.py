"""Random lives of proposals against a table of what may follow what."""

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from support.client import Hive, open_hive

MISSING = "00000000-0000-4000-8000-000000000000"
GOOD = {"kind": "add_entity", "entity": {"kind": "concept", "name": "A"}}
BAD = {"kind": "compound", "steps": [GOOD, {"kind": "update_entity", "id": MISSING, "patch": {"name": "B"}}]}

# status -> what may be done there; everything else is refused
REVIEWS = {
    ("open", "reject"): "rejected",
    ("open", "comment"): "open",
    ("open", "request_changes"): "changes_requested",
    ("changes_requested", "reject"): "rejected",
    ("changes_requested", "comment"): "changes_requested",
    ("changes_requested", "request_changes"): "changes_requested",
}
APPROVABLE = {"open", "changes_requested"}
WITHDRAWABLE = {"open", "changes_requested", "approved"}

actors = st.sampled_from([None, "ada", "bob"])
decisions = st.sampled_from(["approve", "approve", "reject", "comment", "request_changes"])


def replayed(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Where a proposal stands, made from its events alone."""
    state: dict[str, Any] = {"last_decision": None, "review_count": 0, "approve_count": 0, "reject_count": 0}
    for event in events:
        payload = event["payload"]
        state["status"] = payload["status"]
        state["updated_at"] = event["created_at"]
        if event["kind"] == "proposal_created":
            state |= {name: payload[name] for name in ("title", "proposer", "expiry")}
            state |= {"id": payload["proposal_id"], "created_at": event["created_at"]}
        if event["kind"] == "proposal_reviewed":
            decision = payload["decision"]
            state["last_decision"] = decision
            state["review_count"] += 1
            state["approve_count"] += decision == "approve"
            state["reject_count"] += decision == "reject"
    return state


class Lives(RuleBasedStateMachine):
    """Anybody proposes, reviews and withdraws in any order; the table above is the judge."""

    made = Bundle("made")

    def __init__(self) -> None:
        super().__init__()
        self.opened = open_hive()
        self.hive: Hive = self.opened.__enter__()
        self.known: dict[str, dict[str, Any]] = {}
        self.entities = 0

    def teardown(self) -> None:
        """Close the store."""
        self.opened.__exit__(None, None, None)

    def events(self, proposal: str) -> list[dict[str, Any]]:
        """The events of a proposal, oldest first."""
        return [e for e in reversed(self.hive.events(target_id=proposal)) if e["aggregate_id"] == proposal]

    @rule(target=made, actor=actors, bad=st.booleans(), expired=st.booleans())
    def propose(self, actor: str | None, bad: bool, expired: bool) -> Any:
        """A new proposal is open."""
        if len(self.known) == 4:
            return multiple()
        fields = {"expiry": 1} if expired else {}
        answer = self.hive.as_actor(actor).call(
            "propose", title="T", description="D", changeset=BAD if bad else GOOD, **fields
        )
        proposal = answer["full_id"]
        self.known[proposal] = {"status": answer["status"], "by": actor, "bad": bad, "expired": expired}
        assert answer["status"] == "open"
        return proposal

    @rule(proposal=made, actor=actors, decision=decisions)
    def review(self, proposal: str, actor: str | None, decision: str) -> None:
        """A review moves the proposal as the table says, or is refused and remembered nowhere."""
        state = self.known[proposal]
        caller = self.hive.as_actor(actor)
        if decision == "approve":
            refusal = self.approval_refused(state, actor)
            following = "approved" if state["bad"] else "applied"
        else:
            following = REVIEWS.get((state["status"], decision), "")
            refusal = None if following else "proposal_closed"
        self.attempt(proposal, caller, "review", refusal, following, decision=decision)
        if refusal is None and following == "applied":
            self.entities += 1

    def approval_refused(self, state: dict[str, Any], actor: str | None) -> str | None:
        """The code with which an approval is refused, None when it is accepted."""
        if state["status"] not in APPROVABLE:
            return "proposal_closed"
        if actor is not None and actor == state["by"]:
            return "self_approval"
        return "proposal_expired" if state["expired"] else None

    @rule(proposal=made, actor=actors)
    def withdraw(self, proposal: str, actor: str | None) -> None:
        """Only the proposer withdraws, and only what is not decided for good."""
        state = self.known[proposal]
        refusal = None
        if actor != state["by"]:
            refusal = "not_proposer"
        elif state["status"] not in WITHDRAWABLE:
            refusal = "proposal_closed"
        self.attempt(proposal, self.hive.as_actor(actor), "withdraw", refusal, "withdrawn")

    def attempt(self, proposal: str, caller: Hive, verb: str, refusal: str | None, following: str, **args: Any) -> None:
        """Do it, and compare what became of it with what should."""
        before = self.events(proposal)
        if refusal is not None:
            assert caller.refuses(verb, id=proposal, **args)["code"] == refusal
            assert self.events(proposal) == before
            return
        assert caller.call(verb, id=proposal, **args)["status"] == following
        self.known[proposal]["status"] = following
        kinds = [event["kind"] for event in self.events(proposal)[len(before) :]]
        if verb == "withdraw":
            assert kinds == ["proposal_withdrawn"]
        elif args["decision"] == "approve":
            assert kinds == ["proposal_reviewed", "proposal_applied"]
        else:
            assert kinds == ["proposal_reviewed"]

    @invariant()
    def every_proposal_is_what_its_events_say(self) -> None:
        """The list, the table and the events agree; only applied changes wrote anything."""
        rows = {row["id"]: row for row in self.hive.call("list", kind="proposal")["items"]}
        assert {proposal: row["status"] for proposal, row in rows.items()} == {
            proposal: state["status"] for proposal, state in self.known.items()
        }
        for proposal, row in rows.items():
            assert replayed(self.events(proposal)) == row
        assert self.hive.ok("stats()")["entities"] == self.entities
        assert len(self.hive.events(event_kind="entity_created")) == self.entities


TestLives = Lives.TestCase
TestLives.settings = settings(
    max_examples=25,
    stateful_step_count=14,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
