"""What gives way when a response is too large, and what every failed entry keeps."""

import copy
from typing import Any

import pytest

from hivekeep.request.budget import depth_exceeds, envelope, fit
from hivekeep.request.json_values import size_of

ADVISORY = {"code": "audit_persistence_skipped_read_only", "severity": "warning"}


def done(size: int, **beside: Any) -> dict[str, Any]:
    """A successful entry with a result of about `size` bytes."""
    return {"ok": True, "tool": "list", "result": {"text": "x" * size}, **beside}


def failed(**error: Any) -> dict[str, Any]:
    """A failed entry."""
    body = {"kind": "obligation", "code": "store_failure", "message": "m", "domain_disposition": "committed", **error}
    return {"ok": False, "tool": "create", "domain_disposition": "committed", "error": body}


ABORTED = {"ok": False, "tool": "get", "aborted": True, "domain_disposition": "not_committed", "message": "aborted"}


def test_summary_and_status() -> None:
    """Counts come from the entries; aborted ones are not failures; the status is partial unless all
    succeeded.
    """
    response = envelope([done(1), failed(), ABORTED, done(1)])
    assert response["summary"] == {"total": 4, "succeeded": 2, "failed": 1, "aborted": 1}
    assert response["status"] == "partial"
    assert envelope([done(1)]) == {
        "results": [done(1)],
        "summary": {"total": 1, "succeeded": 1, "failed": 0, "aborted": 0},
        "status": "success",
    }


def test_a_response_that_fits_is_untouched() -> None:
    """At exactly the limit nothing changes; one byte less takes the result away."""
    response = envelope([done(2000)])
    size = size_of(response)
    assert fit(response, size) is response
    assert fit(response, size - 1)["results"][0]["ok"] is False


def test_the_largest_result_goes_first() -> None:
    """Only as many results go as needed, largest first, ties by lowest index; the summary follows."""
    response = envelope([done(3000), done(5000), done(3000), done(100)])
    before = copy.deepcopy(response)
    one = fit(response, 8000)
    assert [entry["ok"] for entry in one["results"]] == [True, False, True, True]
    assert one["summary"] == {"total": 4, "succeeded": 3, "failed": 1, "aborted": 0}
    assert one["status"] == "partial"
    two = fit(response, 5000)
    assert [entry["ok"] for entry in two["results"]] == [False, False, True, True]
    assert response == before


def test_what_a_dropped_result_leaves_behind() -> None:
    """The entry says it ran and committed, how to recover, and keeps its advisories."""
    entry = fit(envelope([done(5000, advisories=[ADVISORY])]), 2000)["results"][0]
    message = entry["error"].pop("message")
    assert entry == {
        "ok": False,
        "tool": "list",
        "executed": True,
        "domain_disposition": "committed",
        "error": {
            "kind": "response_frame_budget_exceeded",
            "code": "response_frame_budget_exceeded",
            "retryable": False,
            "recoverable": "read_outcome",
            "domain_disposition": "committed",
        },
        "advisories": [ADVISORY],
    }
    assert "2000" in message


def test_search_diagnostics_move_under_the_error() -> None:
    """How the search went stays readable when its hits had to go."""
    search = {
        "status": "partial",
        "partial": True,
        "missing_backends": ["b"],
        "backend_errors": {"b": "timeout"},
        "backend_errors_truncated": True,
        "arm_participation": {"text": {"status": "ran"}},
    }
    entry = fit(envelope([done(5000, **search)]), 2000)["results"][0]
    assert entry["error"]["search"] == search
    assert not set(search) & set(entry)


@pytest.mark.parametrize("count", [1, 7, 100])
def test_the_answer_really_fits(count: int) -> None:
    """Whatever is taken away, the compact response is within the limit, and a result that fits is kept."""
    response = envelope([done(1000 + 13 * index) for index in range(count)])
    for limit in (size_of(response) - 1, size_of(response) // 2 + 500 * count):
        smaller = fit(response, limit)
        assert size_of(smaller) <= limit
        assert smaller["summary"]["total"] == count


def test_small_results_are_not_blown_up() -> None:
    """A result smaller than the note that would replace it stays, even when the response cannot fit."""
    response = envelope([done(10), done(5000), done(10)])
    smaller = fit(response, 300)
    assert [entry["ok"] for entry in smaller["results"]] == [True, False, True]


def test_an_oversized_error_loses_its_payload_first() -> None:
    """An error too large by itself drops domain_result and cuts its message; results that then fit are
    kept.
    """
    error = failed(message="m" * 9000, domain_result={"text": "y" * 9000}, details={"d": "z" * 500})
    smaller = fit(envelope([done(1000), error, ABORTED]), 8000)
    assert smaller["results"][0] == done(1000)
    assert smaller["results"][1] == {
        "ok": False,
        "tool": "create",
        "domain_disposition": "committed",
        "error": {
            "kind": "obligation",
            "code": "store_failure",
            "message": "m" * 2000,
            "domain_disposition": "committed",
            "recoverable": "read_outcome",
        },
    }
    assert smaller["results"][2] == ABORTED


def test_other_errors_shrink_last() -> None:
    """An error that would fit alone keeps its payload until every result is gone."""
    error = failed(domain_result={"text": "y" * 3000})
    response = envelope([error, done(2000)])
    assert fit(response, 4500)["results"][0] == error
    last = fit(response, 1500)["results"]
    assert "domain_result" not in last[0]["error"]
    assert last[1]["executed"] is True


def test_sizes_count_bytes_not_characters() -> None:
    """A text of two-byte characters counts twice."""
    response = envelope([{"ok": True, "tool": "get", "result": "é" * 3000}])
    assert fit(response, 4000)["results"][0]["ok"] is False


@pytest.mark.parametrize(
    ("value", "depth"), [(1, 0), ("[[", 0), ([], 1), ({}, 1), ([1, {"a": []}], 3), ({"a": 1, "b": [[]]}, 3)]
)
def test_depth(value: object, depth: int) -> None:
    """Depth counts containers inside one another; scalars have none."""
    assert not depth_exceeds(value, depth)
    assert depth == 0 or depth_exceeds(value, depth - 1)


def test_depth_of_a_hostile_value() -> None:
    """A value deeper than any stack is measured, not crashed on."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert depth_exceeds(deep, 64)
