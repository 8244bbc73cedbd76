"""An evaluation from a folder to a report: read, store, embed, ask, count.

What it keeps true: every run of a report is asked the same questions about the same items with the same settings, and
all of them stand in the report.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from hivekeep.evaluation import VERBS, Shape, metrics
from hivekeep.evaluation.datasets import Dataset, Question, as_sessions, read_dataset
from hivekeep.evaluation.floor import Floor
from hivekeep.evaluation.store import RECALL, SEARCH, Answer, Refused, Shown, Store
from hivekeep_contract.errors import InvalidInput
from hivekeep_contract.settings import Settings
from hivekeep_contract.vocabulary import ENUMS

FLOOR = "fts5"
DEFAULT = "default"
K_MAX = 100
NDCG_AT = 10

STRATEGIES = ENUMS["memory.fusion_strategy"]
PACKS = ("kg", "memory")
"""Nothing else takes part: no profile of an earlier user tunes the answers."""

Ask = Callable[[Question, int], Answer]


class Wanted(NamedTuple):
    """What is measured. `strategies` empty leaves the choice to recall; `stores` None keeps nothing."""

    folder: Path
    questions: Path | None = None
    verbs: Sequence[str] = VERBS["both"]
    strategies: Sequence[str] = ()
    k: int = 10
    limit: int | None = None
    shape: Shape = "turns"
    stores: Path | None = None


class Outcome(NamedTuple):
    """One question of a run: what it found, the ranks of what was relevant (None: not found), and its figures."""

    question: Question
    answer: Answer
    ranks: dict[str, int | None]
    figures: dict[str, float]


class Run(NamedTuple):
    """All questions asked one way. `figures` are means over the outcomes that have the figure; times in ms."""

    verb: str
    strategy: str
    outcomes: list[Outcome]
    figures: dict[str, float]
    p50_ms: float
    p95_ms: float


class Report(NamedTuple):
    """The runs of one evaluation, the data they were about and the settings that held."""

    dataset: Dataset
    wanted: Wanted
    settings: Settings
    refused: dict[str, list[Refused]]
    runs: list[Run]


def evaluate(wanted: Wanted, settings: Settings, shown: Shown) -> Report:
    """Measure. Raises InvalidInput for a data set, a strategy or a number that cannot be used."""
    _check(wanted)
    dataset = read_dataset(wanted.folder, wanted.questions)
    if wanted.shape != "turns" and dataset.form != "conversations":
        raise InvalidInput(f"the shape {wanted.shape!r} is for conversations, and {dataset.name} holds documents")
    dataset = as_sessions(dataset) if wanted.shape == "sessions" else dataset
    dataset = dataset._replace(questions=dataset.questions[: wanted.limit])
    if not dataset.questions:
        raise InvalidInput(f"{dataset.name} has no question with an answer")
    floor = Floor(dataset.spaces)
    runs = [_run(FLOOR, "plain", dataset, wanted.k, shown, floor.answer)]
    refused: dict[str, list[Refused]] = {}
    for name, verbs in _stores(dataset, wanted.verbs).items():
        with _store(name, wanted, settings) as store:
            _fill(store, name, dataset, wanted, shown)
            refused[name] = store.refused
            runs += [
                _run(verb, strategy or DEFAULT, dataset, wanted.k, shown, _asking(store, verb, strategy))
                for verb in verbs
                for strategy in _strategies(verb, wanted)
            ]
    return Report(dataset, wanted, settings, refused, runs)


def _check(wanted: Wanted) -> None:
    if not 1 <= wanted.k <= K_MAX:
        raise InvalidInput(f"k must be from 1 to {K_MAX}, not {wanted.k}")
    for strategy in wanted.strategies:
        if strategy not in STRATEGIES:
            raise InvalidInput(f"there is no strategy {strategy!r}; accepted: {', '.join(STRATEGIES)}")


def _strategies(verb: str, wanted: Wanted) -> Sequence[str | None]:
    """What a verb is asked with: search has one way to rank, recall is asked with each strategy."""
    return wanted.strategies if verb == RECALL and wanted.strategies else (None,)


def _stores(dataset: Dataset, verbs: Sequence[str]) -> dict[str, list[str]]:
    """The stores that are needed, and the verbs that ask each.

    Both verbs find memories. Documents have titles, which only notes keep apart, so search gets notes of its own: two
    kinds of records in one store would change each other's word statistics.
    """
    if dataset.form == "conversations":
        return {"memories": list(verbs)}
    return {{SEARCH: "notes", RECALL: "memories"}[verb]: [verb] for verb in verbs}


@contextmanager
def _store(name: str, wanted: Wanted, settings: Settings) -> Iterator[Store]:
    """The store of that name, closed at the end, and gone where no folder keeps it."""
    with tempfile.TemporaryDirectory(prefix="hivekeep-eval-") as temporary:
        folder = wanted.stores or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        database = folder / f"{name}.db"
        filled = database.exists()
        own = replace(settings, db=str(database), runtime_packs=PACKS, read_only=False, storage_synchronous="normal")
        store = Store(own, filled=filled)
        try:
            yield store
        finally:
            store.close()


def _fill(store: Store, name: str, dataset: Dataset, wanted: Wanted, shown: Shown) -> None:
    if name == "notes":
        store.add_notes(dataset, shown)
    else:
        store.add_memories(dataset, shown, sources=wanted.shape == "turns")
    store.embed(shown)


def _asking(store: Store, verb: str, strategy: str | None) -> Ask:
    return lambda question, limit: store.ask(verb, question.space, question.text, limit, strategy)


def _run(verb: str, strategy: str, dataset: Dataset, k: int, shown: Shown, ask: Ask) -> Run:
    groups = {(space, item.id): item.group for space, items in dataset.spaces.items() for item in items}
    outcomes = [
        _outcome(question, ask, k, groups) for question in shown.each(f"asking {verb} ({strategy})", dataset.questions)
    ]
    times = [outcome.answer.ms for outcome in outcomes]
    return Run(
        verb,
        strategy,
        outcomes,
        summarise([outcome.figures for outcome in outcomes]),
        metrics.percentile(times, 0.5),
        metrics.percentile(times, 0.95),
    )


def _outcome(question: Question, ask: Ask, k: int, groups: Mapping[tuple[str, str], str | None]) -> Outcome:
    answer = ask(question, max(k, NDCG_AT))
    ranked = [item for item, _ in answer.hits]
    figures: dict[str, float] = {}
    if question.grades:
        figures["recall"] = metrics.recall(ranked, question.grades, k)
        figures["hit"] = float(figures["recall"] > 0)
        figures["ndcg_10"] = metrics.ndcg(ranked, question.grades, NDCG_AT)
        figures["mrr"] = metrics.reciprocal_rank(ranked, question.grades)
    if question.groups:
        # Ten turns may be of one session, so that more turns are asked for until k sessions can be among them.
        found = ask(question, K_MAX).hits
        sessions = list(dict.fromkeys(group for item, _ in found if (group := groups[question.space, item])))
        figures["session_recall"] = metrics.recall(sessions, question.groups, k)
        figures["session_hit"] = float(figures["session_recall"] > 0)
    ranks = {item: rank for rank, item in enumerate(ranked, start=1)}
    return Outcome(question, answer, {item: ranks.get(item) for item in question.grades}, figures)


def summarise(figures: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each figure over those that have it, in the order in which they first appear."""
    names = dict.fromkeys(name for one in figures for name in one)
    return {name: metrics.mean([one[name] for one in figures if name in one]) for name in names}
