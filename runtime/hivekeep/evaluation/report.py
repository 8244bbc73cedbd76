"""A report as a table for people and as JSON for programs.

What it keeps true: two runs over the same data with the same settings differ in nothing but the times, and in the order
of records of equal score.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from hivekeep import __version__
from hivekeep.evaluation.run import Outcome, Report, Run
from hivekeep_contract.settings import SETTINGS, Settings

_TOLD = ("embedding", "search", "memory", "brain")
"""Tables of settings that change what is found."""

_DIGITS = 6
"""Digits of scores and figures behind the point: the age of a memory moves what stands behind them."""


def to_json(report: Report) -> dict[str, Any]:
    """The whole report, every question of every run included."""
    dataset, wanted = report.dataset, report.wanted
    return {
        "program": {"name": "hivekeep", "version": __version__},
        "dataset": {
            "name": dataset.name,
            "form": dataset.form,
            "shape": wanted.shape,
            "spaces": len(dataset.spaces),
            "items": dataset.size,
            "questions": len(dataset.questions),
            "questions_without_answer": dataset.unanswered,
        },
        "k": wanted.k,
        "settings": told_settings(report.settings),
        "refused_items": {name: [row._asdict() for row in rows] for name, rows in report.refused.items()},
        "runs": [_run(run) for run in report.runs],
    }


def told_settings(settings: Settings) -> dict[str, Any]:
    """The settings that change what is found; secrets are not among them."""
    values = dataclasses.asdict(settings)
    keys = [setting.key for setting in SETTINGS if setting.key.partition(".")[0] in _TOLD and not setting.secret]
    return {key: values[key.replace(".", "_")] for key in sorted(keys)}


def to_table(report: Report) -> str:
    """A line for each run."""
    k = report.wanted.k
    names = list(dict.fromkeys(name for run in report.runs for name in run.figures))
    heads = {
        "recall": f"R@{k}",
        "hit": f"hit@{k}",
        "ndcg_10": "NDCG@10",
        "mrr": "MRR",
        "session_recall": f"session R@{k}",
        "session_hit": f"session hit@{k}",
    }
    rows = [["verb", "strategy", *(heads[name] for name in names), "p50 ms", "p95 ms"]]
    rows += [
        [
            run.verb,
            run.strategy,
            *(f"{run.figures[name]:.4f}" for name in names),
            f"{run.p50_ms:.1f}",
            f"{run.p95_ms:.1f}",
        ]
        for run in report.runs
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join([_head(report), *(_line(row, widths) for row in rows), *_remarks(report)])


def _head(report: Report) -> str:
    dataset = report.dataset
    shape = f" as {report.wanted.shape}" if dataset.form == "conversations" else ""
    return f"{dataset.name}: {dataset.size} {dataset.form}{shape}, {len(dataset.questions)} questions"


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        cell.ljust(width) if column < 2 else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(row, widths, strict=True))
    ]
    return "  ".join(cells).rstrip()


def _remarks(report: Report) -> list[str]:
    remarks = [f"{name}: {len(rows)} items were refused" for name, rows in report.refused.items() if rows]
    for run in report.runs:
        refused = sum(outcome.answer.refused is not None for outcome in run.outcomes)
        if refused:
            remarks.append(f"{run.verb} ({run.strategy}): {refused} questions were refused and count as not answered")
    return remarks


def _run(run: Run) -> dict[str, Any]:
    return {
        "verb": run.verb,
        "strategy": run.strategy,
        "figures": {name: round(value, _DIGITS) for name, value in run.figures.items()},
        "latency_ms": {"p50": round(run.p50_ms, 3), "p95": round(run.p95_ms, 3)},
        "questions": [_question(outcome) for outcome in run.outcomes],
    }


def _question(outcome: Outcome) -> dict[str, Any]:
    question, answer = outcome.question, outcome.answer
    told: dict[str, Any] = {"id": question.id, "space": question.space}
    if question.category is not None:
        told["category"] = question.category
    if answer.refused is not None:
        told["refused"] = {"code": answer.refused.code, "message": answer.refused.message}
    told["figures"] = {name: round(value, _DIGITS) for name, value in outcome.figures.items()}
    told["ranks"] = outcome.ranks
    told["hits"] = [
        {"rank": rank, "id": item, "score": round(score, _DIGITS)}
        for rank, (item, score) in enumerate(answer.hits, start=1)
    ]
    return told
