"""What a data set is, whichever files it came from, and which reader a folder needs.

What it keeps true: every id that a question names as relevant is an item of the question's own space.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from hivekeep_contract.errors import InvalidInput

Form = Literal["documents", "conversations"]


class Item(NamedTuple):
    """Something to find. `group` is the session of a turn; `time` is shown at the head of a whole session."""

    id: str
    text: str
    title: str | None = None
    group: str | None = None
    time: str | None = None


class Question(NamedTuple):
    """Something to ask in one space. `grades` are the relevant items with grades above 0, `groups` the sessions."""

    id: str
    text: str
    space: str
    grades: Mapping[str, float]
    groups: frozenset[str] = frozenset()
    category: str | None = None


class Dataset(NamedTuple):
    """Items by space, in their order, and the questions that have an answer; `unanswered` counts the others.

    A space is searched alone: the documents are one, each conversation is one.
    """

    name: str
    form: Form
    spaces: Mapping[str, tuple[Item, ...]]
    questions: tuple[Question, ...]
    unanswered: int

    @property
    def size(self) -> int:
        """How many items there are."""
        return sum(map(len, self.spaces.values()))


def read_dataset(folder: Path, questions: Path | None = None) -> Dataset:
    """The data set of a folder; `questions` is read instead of the folder's own questions. Raises InvalidInput."""
    from hivekeep.evaluation import beir, conversations

    if not folder.is_dir():
        raise InvalidInput(f"{folder} is not a folder")
    if found := files(folder, conversations.TURNS):
        return conversations.read(folder, found[0], questions)
    if found := files(folder, beir.CORPUS):
        return beir.read(folder, found[0], questions)
    inside = [one.name for one in sorted(folder.iterdir()) if one.is_dir() and _holds_any(one)]
    raise InvalidInput(
        f"{folder} holds no data set; accepted: {beir.CORPUS} with {beir.QUERIES} (and {beir.QRELS}/*.tsv), or "
        f"{conversations.TURNS} with {conversations.QUESTIONS}; names may have a beginning, as in my_{beir.CORPUS}"
        + (f"; one is in each of its folders {', '.join(inside)}" if inside else "")
    )


def _holds_any(folder: Path) -> bool:
    from hivekeep.evaluation import beir, conversations

    return any(any(folder.glob(f"*{name}")) for name in (conversations.TURNS, beir.CORPUS))


def as_sessions(dataset: Dataset) -> Dataset:
    """The conversations with one item a session: when it began, and its turns, one a line."""
    spaces = {space: tuple(_sessions(items)) for space, items in dataset.spaces.items()}
    questions = (
        question._replace(grades=dict.fromkeys(sorted(question.groups), 1.0), groups=frozenset())
        for question in dataset.questions
    )
    return dataset._replace(spaces=spaces, questions=tuple(questions))


def _sessions(turns: Sequence[Item]) -> Iterator[Item]:
    by_session: dict[str, list[Item]] = {}
    for turn in turns:
        by_session.setdefault(turn.group or "", []).append(turn)
    for session, said in by_session.items():
        began = next((turn.time for turn in said if turn.time), None)
        lines = [turn.text for turn in said]
        yield Item(session, "\n".join([began, *lines] if began else lines))


def files(folder: Path, name: str) -> list[Path]:
    """The files of that name, which may have a beginning of their own; at most one. Raises InvalidInput for more."""
    exact = folder / name
    found = [exact] if exact.is_file() else sorted(folder.glob(f"*_{name}"))
    if len(found) > 1:
        raise InvalidInput(f"{folder} holds several files *{name}: {', '.join(path.name for path in found)}; keep one")
    return found


def file(folder: Path, name: str, given: Path | None) -> Path:
    """`given`, or the file of that name in the folder. Raises InvalidInput when there is none."""
    if given is not None:
        return given
    found = files(folder, name)
    if not found:
        raise InvalidInput(f"{folder} holds no {name}")
    return found[0]
