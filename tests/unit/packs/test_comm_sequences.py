"""Mail in random order: whatever actors do one after the other, every list and count is that of a simple model.

200 sequences of 30 verbs with fixed seeds, on a store in memory; about 15 s on an idle machine.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from support.client import Hive, open_hive

ACTORS = ("ada", "bob", None)
LABELS = {"ada": "ada", "bob": "bob", None: "local"}
SEQUENCES, VERBS_EACH = 200, 30
SUBJECTS = (None, "Lunch", "Übung", "re: Lunch")
TEXTS = ("At noon?", "ÜBER the hills", "fine by me")


@dataclass
class Letter:
    """One copy of a message as the model keeps it."""

    id: str
    twin: str
    inbound: bool
    sender: str
    recipient: str
    thread: str
    subject: str | None
    content: str
    at: int
    number: int
    read: bool = False
    deleted: bool = False


@dataclass
class Model:
    """All copies by id, and how many messages arrived."""

    letters: dict[str, Letter] = field(default_factory=dict)
    arrivals: int = 0

    def live(self, keep: Callable[[Letter], bool]) -> list[Letter]:
        return [letter for letter in self.letters.values() if not letter.deleted and keep(letter)]

    def inbox(self, actor: str) -> list[Letter]:
        found = self.live(lambda letter: letter.inbound and letter.recipient == actor)
        return sorted(found, key=lambda letter: (-letter.at, letter.id))

    def sent(self, actor: str) -> list[Letter]:
        found = self.live(lambda letter: not letter.inbound and letter.sender == actor)
        return sorted(found, key=lambda letter: (-letter.at, letter.id))

    def unread(self, actor: str) -> int:
        return sum(not letter.read for letter in self.inbox(actor))

    def thread(self, root: str, actor: str) -> list[Letter]:
        shown = []
        for letter in self.live(lambda letter: letter.thread == root):
            twin = self.letters[letter.twin]
            if twin.deleted or letter.inbound == (letter.recipient == actor):
                shown.append(letter)
        return sorted(shown, key=lambda letter: (letter.at, letter.id))

    def was_read(self, letter: Letter) -> bool:
        twin = self.letters[letter.twin]
        return letter.read if letter.inbound or twin.deleted else twin.read


class Play:
    """One sequence: each step does the same on the server and on the model, and compares."""

    def __init__(self, hive: Hive, seed: int) -> None:
        self.rng = random.Random(seed)
        self.hives = {actor: hive.as_actor(actor, f"n{seed}") for actor in ACTORS}
        self.engine = hive.server.engine
        self.namespace = f"n{seed}"
        self.model = Model()
        self.cursors: dict[str, int] = {}
        self.first: int | None = None

    def run(self) -> None:
        steps = (self.send, self.send, self.reply, self.inbox, self.mark, self.thread, self.probe, self.sent)
        for _ in range(VERBS_EACH):
            self.rng.choice((*steps, self.delivered, self.delete))()
            actor = self.rng.choice(ACTORS)
            told = self.hives[actor].call("comm.unread")
            assert (told["count"], told["count_saturated"]) == (self.model.unread(LABELS[actor]), False)

    def letter(self, inbound: bool | None = None) -> Letter | None:
        found = self.model.live(lambda letter: inbound in (None, letter.inbound))
        return self.rng.choice(found) if found else None

    def remember(self, told: dict[str, Any], content: str) -> None:
        statement = (
            "SELECT id, created_at FROM notes WHERE id = ?1 OR json_extract(properties, '$.outbound_ref') = ?1"
            " ORDER BY seq"
        )
        with self.engine.read() as tx:
            (outbound, at), (inbound, _) = tx.all(statement, (told["id"],))
        self.model.arrivals += 1
        for one, twin, is_inbound in ((outbound, inbound, False), (inbound, outbound, True)):
            self.model.letters[one] = Letter(
                one,
                twin,
                is_inbound,
                told["from_actor"],
                told["to_actor"],
                told["thread_id"],
                told["subject"],
                content,
                at,
                self.model.arrivals,
            )

    def send(self) -> None:
        actor = self.rng.choice(ACTORS)
        to, content = LABELS[self.rng.choice(ACTORS)], self.rng.choice(TEXTS)
        args: dict[str, Any] = {"to": to, "content": content, "subject": self.rng.choice(SUBJECTS)}
        known = self.letter()
        if known is not None and self.rng.random() < 0.4:
            args["thread_id"] = known.thread
        if to == actor:
            assert self.hives[actor].refuses("comm.send", **args)["code"] == "invalid_input"
            args["self_send"] = True
        told = self.hives[actor].call("comm.send", **args)
        assert told["thread_id"] == args.get("thread_id", told["id"])
        self.remember(told, content)

    def reply(self) -> None:
        actor, original = self.rng.choice(ACTORS), self.letter()
        if original is None:
            return
        me = LABELS[actor]
        told = self.hives[actor].call("comm.reply", id=original.id, content="Aye")
        other = original.recipient if original.sender == me else original.sender
        subject = original.subject
        if subject is not None and not subject.lower().startswith("re:"):
            subject = "Re: " + subject
        copy = original if original.inbound else self.model.letters[original.twin]
        marks = copy.recipient == me and not copy.deleted
        assert (told["to"], told["subject"], told["thread_id"]) == (other, subject, original.thread)
        assert (told["in_reply_to"], told["marked_read"]) == (original.id, marks)
        copy.read = copy.read or marks
        self.remember(told, "Aye")

    def inbox(self) -> None:
        actor = self.rng.choice(ACTORS)
        status, part = self.rng.choice(("unread", "read", "all")), self.rng.choice((None, "über", "NOON"))
        offset, limit = self.rng.choice((0, 1, 3)), self.rng.choice((1, 3, 200))
        sender = self.rng.choice((None, "ada", "local"))
        asked = {"content_contains": part, "from_actor": sender}
        told = self.hives[actor].call(
            "comm.inbox", status=status, offset=offset, limit=limit, **{name: v for name, v in asked.items() if v}
        )
        found = [
            letter
            for letter in self.model.inbox(LABELS[actor])
            if status in ("all", "read" if letter.read else "unread")
            and (part is None or part.lower() in letter.content.lower())
            and sender in (None, letter.sender)
        ]
        page = found[offset : offset + limit]
        assert [one["id"] for one in told["messages"]] == [letter.id for letter in page]
        assert [one["read"] for one in told["messages"]] == [letter.read for letter in page]
        assert told["unread_count"] == self.model.unread(LABELS[actor])
        more = len(found) > offset + limit
        assert (told["count"], told["has_more"]) == (len(page), more)
        assert told["next_offset"] == (offset + limit if more else None)

    def sent(self) -> None:
        actor, to = self.rng.choice(ACTORS), self.rng.choice(("ada", "bob"))
        told = self.hives[actor].call("comm.inbox", box="sent", to_actor=to, limit=200)
        expected = [letter.id for letter in self.model.sent(LABELS[actor]) if letter.recipient == to]
        assert [one["id"] for one in told["messages"]] == expected
        assert told["unread_count"] == 0

    def mark(self) -> None:
        actor, letters = self.rng.choice(ACTORS), [self.letter(), self.letter(inbound=True)]
        chosen = list({letter.id: letter for letter in letters if letter is not None}.values())
        if not chosen:
            return
        hive, ids = self.hives[actor], [letter.id for letter in chosen]
        verb, args = self.rng.choice(
            [("comm.read", {}), ("comm.mark_read", {"atomic": True}), ("comm.mark_read", {"atomic": False})]
        )
        if not all(letter.inbound and letter.recipient == LABELS[actor] for letter in chosen):
            assert hive.refuses(verb, ids=ids, **args)["code"] == "invalid_input"
            return
        told = hive.call(verb, ids=[*ids, ids[0]], **args)
        counts = (told["requested_count"], told["unique_count"], told["marked_count"])
        assert (told["status"], counts) == ("success", (len(ids) + 1, len(ids), len(ids)))
        for letter in chosen:
            letter.read = True

    def thread(self) -> None:
        actor, entry = self.rng.choice(ACTORS), self.letter()
        if entry is None:
            return
        order, limit = self.rng.choice(("asc", "desc")), self.rng.choice((1, 2, 500))
        expected = self.model.thread(entry.thread, LABELS[actor])
        if order == "desc":
            expected.reverse()
        shown = list(self.pages(self.hives[actor], entry.id, order, limit))
        assert [one["id"] for one in shown] == [letter.id for letter in expected]
        assert [one["read"] for one in shown] == [self.model.was_read(letter) for letter in expected]

    def pages(self, hive: Hive, entry: str, order: str, limit: int) -> Iterator[dict[str, Any]]:
        more: dict[str, Any] = {}
        while True:
            page = hive.call("comm.thread", id=entry, order=order, limit=limit, **more)
            yield from page["messages"]
            if page["next_after"] is None:
                return
            more = {"after": page["next_after"]}

    def probe(self) -> None:
        actor, target = self.rng.choice(ACTORS), LABELS[self.rng.choice(ACTORS)]
        arrived = [letter for letter in self.model.letters.values() if letter.inbound and letter.recipient == target]
        since = self.cursors.get(target) if self.rng.random() < 0.7 else None
        args = {} if since is None else {"since_us": since}
        told = self.hives[actor].call("comm.probe", actor=target, stale_minutes=0, **args)
        seen = {letter.id for letter in arrived if self.numbered(letter) > since} if since is not None else set()
        assert {one["id"] for one in told["new_messages"]} == {
            one for one in seen if not self.model.letters[one].deleted
        }
        last = max((self.numbered(letter) for letter in arrived), default=0)
        assert told["cursor_us"] == max(last, since or 0)
        assert told["stale_unread_count"] == self.model.unread(target)
        self.cursors[target] = told["cursor_us"]

    def numbered(self, letter: Letter) -> int:
        """The number of an arrival: those of this sequence follow each other, wherever the first one stands."""
        if self.first is None:
            with self.engine.read() as tx:
                row = tx.one("SELECT min(seq) FROM message_arrivals WHERE namespace = ?", (self.namespace,))
            assert row is not None
            self.first = row[0]
        return self.first + letter.number - 1

    def delivered(self) -> None:
        actor, letter = self.rng.choice(ACTORS), self.letter()
        if letter is None:
            return
        told = self.hives[actor].call("comm.delivered", id=letter.id)
        arrived = not letter.inbound and letter.sender == LABELS[actor] and not self.model.letters[letter.twin].deleted
        assert (told["delivered"], told["inbound_count"]) == (arrived, int(arrived))

    def delete(self) -> None:
        letter = self.letter()
        if letter is not None and self.rng.random() < 0.5:
            self.hives["ada"].call("delete", id=letter.id)
            letter.deleted = True


@pytest.mark.slow
def test_every_sequence_answers_as_the_model_does() -> None:
    """Lists, threads, counts, marks, cursors and refusals agree after each verb."""
    with open_hive() as hive:
        for seed in range(SEQUENCES):
            Play(hive, seed).run()


def test_a_few_sequences_answer_as_the_model_does() -> None:
    """The same with other seeds, short enough for every run of the tests."""
    with open_hive() as hive:
        for seed in range(SEQUENCES, SEQUENCES + 8):
            Play(hive, seed).run()
