"""Answers of the gateway for a person at a terminal: a run, its intake, its timeline, what a write was answered.

Invariant: wherever a run is shown, what its client cannot report is shown with it, so nobody takes the ledger for a
complete transcript. What comes out of the memory is told as unverified.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hivekeep import compact_json
from hivekeep.cli.columns import plain, table
from hivekeep.cli.envelopes import sentence
from hivekeep_contract.vocabulary import ENUMS

if TYPE_CHECKING:
    from hivekeep.doors.spool import Flushed

NO_RUNS: Final = "no runs"
NO_EVENTS: Final = "no events"
NOTHING_WAITS: Final = "nothing waits"

_COMPLETE, _UNAVAILABLE = ENUMS["gateway.coverage_level"][0], ENUMS["gateway.coverage_level"][-1]
_PARTIAL: Final = ENUMS["gateway.projected_coverage"][-1]
_MINUTE: Final = len("YYYY-MM-DDTHH:MM")
_SECOND: Final = len("YYYY-MM-DDTHH:MM:SS")
_RUN_HEADINGS: Final = ("RUN", "STATUS", "CLIENT", "STARTED (UTC)", "EVENTS", "COVERAGE", "TITLE")
_EVENT_HEADINGS: Final = ("NO", "TIME (UTC)", "TYPE", "ACTOR", "OUTCOME", "EVENT", "PAYLOAD")
_ENTRY_HEADINGS: Final = ("RANK", "ENTRY", "ORIGIN", "TITLE", "TEXT")


def runs_table(page: Mapping[str, Any]) -> str:
    """One line a run, newest first, and how to see more."""
    rows = [_run_row(run) for run in page["items"]]
    lines = [table(_RUN_HEADINGS, rows, elastic=("CLIENT", "COVERAGE", "TITLE")) if rows else NO_RUNS]
    return "\n".join([*lines, *_more(page, "--cursor")])


def _run_row(run: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        run["runId"],
        run["status"],
        run["client"]["kind"],
        _moment(run["startedAt"], _MINUTE),
        str(run["lastSequence"]),
        _coverage_word(run["coverage"]),
        run["title"],
    )


def run_text(run: Mapping[str, Any], intake: Mapping[str, Any]) -> str:
    """Everything of one run but its events."""
    client = " ".join(run["client"].get(name, "") for name in ("kind", "version", "sessionId")).strip()
    told = {
        "run": run["runId"],
        "title": run["title"],
        "workspace": run["workspace"],
        "status": run["status"],
        "client": client,
        "capture": run["captureProfile"],
        "coverage": coverage_line(run["coverage"]),
        "events": str(run["lastSequence"]),
        "started": _moment(run["startedAt"], _SECOND),
        "ended": _moment(run["endedAt"], _SECOND),
        "part of": run["parentRunId"] or "-",
        "intake": intake["intakeStatus"],
        "profile": _profile(intake["taskProfile"]),
        "tags": ", ".join(intake["recommendedTags"]) or "-",
    }
    return "\n".join([*_lines(told), *_question(intake["question"]), *_metadata(run["metadata"])])


def timeline_table(run: Mapping[str, Any], page: Mapping[str, Any]) -> str:
    """One line an event, oldest first, below what the client of the run can report."""
    rows = [_event_row(event) for event in page["items"]]
    head = f"{run['title']} ({run['status']}); coverage {coverage_line(run['coverage'])}"
    shown = table(_EVENT_HEADINGS, rows, elastic=("ACTOR", "OUTCOME", "PAYLOAD")) if rows else NO_EVENTS
    return "\n".join([plain(head), "", shown, *_more(page, "--after")])


def _event_row(event: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        str(event["sequence"]),
        _moment(event["occurredAt"], _SECOND),
        event["sourceType"] or event["eventType"],
        event["actor"],
        event["outcome"] or "-",
        event["eventId"],
        "" if event["payload"] is None else _json(event["payload"]),
    )


def opened_text(data: Mapping[str, Any], coverage: Mapping[str, str] | None = None) -> str:
    """What an opening or an answer was answered; `coverage` is what was declared with it."""
    told = {"run": data["runId"], "status": data["runStatus"], "profile": _profile(data["taskProfile"])}
    if coverage is not None:
        told["coverage"] = coverage_line(coverage)
    return "\n".join([*_lines(told), *_question(data["question"]), *_guidance(data)])


def acknowledged_text(data: Mapping[str, Any]) -> str:
    """What a batch of events was answered, and how a run ended."""
    first, last = data["localSequences"][0], data["localSequences"][-1]
    told = {"run": data["runId"], "status": data["runStatus"]}
    if first == last:
        return "\n".join(_lines({**told, "event": f"{first}, {data['eventIds'][0]}"}))
    return "\n".join(_lines({**told, "events": f"{first} to {last}"}))


def checkpointed_text(data: Mapping[str, Any]) -> str:
    """What a checkpoint was answered: where the run stands, advice, and context."""
    projection = data["projection"]
    told = {
        "run": data["runId"],
        "status": data["runStatus"],
        "events": f"up to {data['acceptedThrough']}",
        "profile": _profile(data["taskProfile"]),
        "evidence": projection["evidenceState"],
        "open": f"failures {len(projection['unresolvedFailureEventIds'])}, "
        f"unknown outcomes {len(projection['unknownOutcomeEventIds'])}",
        "coverage": coverage_line(projection["declaredCoverage"]),
    }
    nudge = data["nudge"]
    if nudge is not None:
        told["note"] = nudge["message"]
    return "\n".join([*_lines(told), *_guidance(data, told_already=None if nudge is None else nudge["code"])])


def feedback_text(data: Mapping[str, Any]) -> str:
    """What feedback was answered."""
    record = data["record"]
    return "\n".join(_lines({"feedback": record["feedbackId"], "about": data["category"], "run": record["runId"]}))


def promoted_text(data: Mapping[str, Any]) -> str:
    """The entry that a proposal became."""
    entry = data["entry"]
    told = {"entry": entry["entryId"], "status": f"{entry['status']}, {entry['trustLevel']}", "title": entry["title"]}
    return "\n".join(_lines(told))


def flushed_text(done: Flushed, folder: Path) -> str:
    """What became of writes that waited: how many were sent, which were put aside and why, how many still wait."""
    sent = len(done.answers) - len(done.refused)
    told = [f"{sent} sent"] if sent else []
    told += [
        f"{write.operation} of {write.run_id} was refused ({answer.envelope['error']['code']}) and is kept in {folder}"
        for write, answer in done.refused
    ]
    if done.left:
        told.append(f"{done.left} waiting{f' ({sentence(done.why)})' if done.why is not None else ''}")
    return "; ".join(told) or NOTHING_WAITS


def coverage_line(coverage: Mapping[str, str]) -> str:
    """`complete`, or `partial` with the categories that are not complete, by how far they go."""
    gaps = _gaps(coverage)
    told = "; ".join(f"{level} {', '.join(names)}" for level, names in gaps.items())
    return f"{_PARTIAL} ({told})" if gaps else _COMPLETE


def _coverage_word(coverage: Mapping[str, str]) -> str:
    """The same in short: of the gaps only what is not reported at all."""
    gaps = _gaps(coverage)
    missing = gaps.get(_UNAVAILABLE)
    word = _PARTIAL if gaps else _COMPLETE
    return f"{word}, no {' or '.join(missing)}" if missing else word


def _gaps(coverage: Mapping[str, str]) -> dict[str, list[str]]:
    """The categories that are not complete, by their level, the best level first."""
    gaps: dict[str, list[str]] = {}
    for level in ENUMS["gateway.coverage_level"]:
        names = [name for name in ENUMS["gateway.coverage_category"] if coverage[name] == level]
        if names and level != _COMPLETE:
            gaps[level] = names
    return gaps


def _guidance(data: Mapping[str, Any], told_already: str | None = None) -> list[str]:
    """Warnings, the next action, advice and context of an answer that went through the gate.

    `told_already` is the code of the advice that stands above them.
    """
    lines = [f"{'warning':10}{plain(warning['message'])}" for warning in data["warnings"]]
    advice = [one for one in data["recommendations"] if one["code"] != told_already]
    lines += [f"{'advice':10}{plain(one['message'])}" for one in advice]
    policy = data["memoryPolicy"]
    if policy["contextWithheld"]:
        lines.append(f"{'withheld':10}{policy['withheldReason']}")
    lines.append(f"{'next':10}{data['nextAction']}")
    return [*lines, *_context(data["context"])]


def _context(context: Mapping[str, Any] | None) -> list[str]:
    if context is None or not context["items"]:
        return []
    rows = [
        (
            str(item["rank"]),
            item["entryId"],
            item["origin"],
            item["content"]["title"],
            item["content"]["summary"] or item["content"]["bodyPreview"],
        )
        for item in context["items"]
    ]
    head = f"from the memory, unverified, check it before use (delivery {context['deliveryId']}):"
    return ["", head, table(_ENTRY_HEADINGS, rows, elastic=("TITLE", "TEXT"))]


def _question(question: Mapping[str, Any] | None) -> list[str]:
    if question is None:
        return []
    options = question["options"]
    among = f" ({', '.join(options)})" if options else ""
    return [f"{'question':10}{question['id']}: {plain(question['prompt'])}{among}"]


def _metadata(metadata: Mapping[str, Any]) -> list[str]:
    return [f"{'metadata':10}{_json(metadata)}"] if metadata else []


def _profile(profile: Mapping[str, Any]) -> str:
    known = [f"{name} {profile[name]}" for name in ENUMS["gateway.profile_field"] if profile[name] is not None]
    return "; ".join(known) or "-"


def _lines(told: Mapping[str, str]) -> Iterable[str]:
    return [f"{name:10}{plain(text)}" for name, text in told.items()]


def _more(page: Mapping[str, Any], option: str) -> Sequence[str]:
    return [] if page["nextCursor"] is None else ["", f"more: {option} {page['nextCursor']}"]


def _moment(text: str | None, length: int) -> str:
    return "-" if text is None else text[:length].replace("T", " ")


def _json(value: object) -> str:
    return plain(compact_json.dump(value))
