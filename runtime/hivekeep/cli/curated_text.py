"""Answers of `hivekeep curated` for a person at a terminal.

Invariant: what an entry says is shown as it is stored but for characters that a terminal would act on, and where it
stands is always shown with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hivekeep.cli.columns import plain, table

NOTHING: Final = "no entries"
_ID_CHARS: Final = 8
_MINUTE: Final = len("YYYY-MM-DDTHH:MM")
_HEADINGS: Final = ("ENTRY", "STATUS", "KIND", "REV", "CHANGED (UTC)", "TITLE", "TAGS")
_ELASTIC: Final = ("TITLE", "TAGS")
_SOURCE_WORDS: Final = ("added", "revised", "restored", "stale", "unchanged")

Data = Mapping[str, Any]


def recorded(told: Data) -> str:
    """What became of a new entry."""
    entry = told["entry"]
    how = "recorded" if told["created"] else "is there already, nothing was written"
    return f"{entry['entryId']} {how}: {standing(entry)} in {plain(entry['workspace'])}"


def changed(told: Data) -> str:
    """Where an entry stands now."""
    entry = told["entry"]
    how = "" if told["changed"] else "unchanged, "
    return f"{entry['entryId']} {how}{standing(entry)}"


def standing(entry: Data) -> str:
    """The status of an entry, its revision, and what keeps it from being delivered."""
    told = [f"{entry['status']} at revision {entry['revision']}"]
    if entry["supersededBy"] is not None:
        told.append(f"replaced by {entry['supersededBy']}")
    if entry["disabled"]:
        told.append("disabled")
    if entry["source"] is not None:
        told.append(f"{entry['source']['state']} in the source {plain(entry['source']['id'])}")
    return ", ".join(told)


def listed(told: Data) -> str:
    """One line an entry."""
    rows = [_row(entry) for entry in told["items"]]
    return table(_HEADINGS, rows, elastic=_ELASTIC) if rows else f"{NOTHING} in {plain(told['workspace'])}"


def _row(entry: Data) -> tuple[str, ...]:
    off = entry["disabled"] or (entry["source"] is not None and entry["source"]["state"] != "active")
    return (
        entry["entryId"][:_ID_CHARS],
        entry["status"] + (" (off)" if off else ""),
        entry["kind"],
        str(entry["revision"]),
        _moment(entry["updatedAt"]),
        entry["title"],
        ", ".join(entry["tags"]) or "-",
    )


def shown(told: Data) -> str:
    """Everything of one entry."""
    entry = told["entry"]
    lines = [
        f"{plain(entry['title'])}",
        f"  {entry['entryId']}",
        f"  {entry['kind']}, {standing(entry)}",
        f"  workspace {plain(entry['workspace'])}, trust {entry['trustLevel']}, confidence {entry['confidence']:g}",
        f"  by {plain(entry['createdBy'])}, {_moment(entry['createdAt'])}, changed {_moment(entry['updatedAt'])} (UTC)",
    ]
    lines += [f"  tags {', '.join(map(plain, entry['tags']))}"] if entry["tags"] else []
    lines += _use(told["use"])
    lines += ["", *_text(entry)]
    lines += _section("links", [_link(link, entry["entryId"]) for link in told["links"]])
    lines += _section("history", [_step(row) for row in told["audit"]])
    return "\n".join(lines)


def _use(use: Data) -> list[str]:
    """How often an entry was delivered and what was said of it; nothing of one that no run was given."""
    if not use["deliveries"]:
        return []
    said = "".join(f", {verdict} {times}" for verdict, times in use["verdicts"].items())
    return [f"  delivered {_many(use['deliveries'], 'time')}, to {_many(use['runs'], 'run')}{said}"]


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def revision(told: Data) -> str:
    """What an entry said at one revision."""
    said = told["revision"]
    head = f"{plain(said['title'])}\n  {told['entryId']}, revision {said['revision']} of {_moment(said['createdAt'])}"
    return "\n".join([head, "", *_text(said)])


def linked(told: Data) -> str:
    """A link in words."""
    link = told["link"]
    how = "" if told["created"] else " (was there already)"
    return f"{link['fromId']} {link['relation']} {link['toId']}{how}"


def purged(told: Data) -> str:
    """That nothing is left."""
    return f"{told['entryId']} was purged from {plain(told['workspace'])}"


def exported(told: Data) -> str:
    """What was written, and what was not."""
    counts = f"{told['entries']} entries, {told['revisions']} revisions, {told['links']} links"
    left = told["linksLeftOut"]
    return f"{plain(told['file'])}: {counts} of {plain(told['workspace'])}" + (
        f"; {left} links to other workspaces are not in it" if left else ""
    )


def imported(told: Data) -> str:
    """What was stored of a file."""
    counts = f"{told['entries']} entries, {told['links']} links, {told['sources']} sources"
    return f"{_dry(told)}{counts} stored in {plain(told['workspace'])}, {told['unchanged']} entries were there already"


def refreshed(told: Data) -> str:
    """What became of the entries of a managed source."""
    counts = ", ".join(f"{told[word]} {word}" for word in _SOURCE_WORDS)
    return f"{_dry(told)}{plain(told['source'])} in {plain(told['workspace'])}: {counts}"


def source_disabled(told: Data) -> str:
    """How many entries a source took along."""
    return f"{_dry(told)}{plain(told['source'])} in {plain(told['workspace'])}: {told['disabled']} disabled"


def workspace(told: Data) -> str:
    """The workspace of a folder and why."""
    lines = [
        f"{plain(told['workspace'])}",
        f"  repository {plain(told['repositoryId'])}: {told['explanation']}",
        f"  folder {plain(told['root'])}",
    ]
    lines += [f"  project file {plain(told['projectFile'])}"] if told["projectFile"] else []
    return "\n".join(lines)


def copied(told: Data) -> str:
    """Which memory holds an entry now."""
    how = "was made before" if told["replayed"] else "was made"
    return f"memory {told['memoryId']} {how} of {told['entryId']} at revision {told['revision']}"


def _dry(told: Data) -> str:
    return "would be: " if told["dryRun"] else ""


def _text(said: Data) -> list[str]:
    lines = [f"  {plain(said['summary'])}", ""] if said["summary"] else []
    return lines + ["  " + plain(line) for line in said["body"].splitlines()]


def _link(link: Data, entry_id: str) -> str:
    if link["fromId"] == entry_id:
        return f"{link['relation']} {link['toId']}"
    return f"{link['fromId']} {link['relation']} this"


def _step(row: Data) -> str:
    other = "" if row["otherId"] is None else f" {row['otherId']}"
    return (
        f"{_moment(row['createdAt'])} {row['operation']}{other} at revision {row['revision']} by {plain(row['actor'])}"
    )


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", title, *("  " + line for line in lines)] if lines else []


def _moment(text: str) -> str:
    return text[:_MINUTE].replace("T", " ")
