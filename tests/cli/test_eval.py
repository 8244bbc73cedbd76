"""`hivekeep eval retrieval` as its users run it."""

import json
from pathlib import Path

from support.pages import ROOT
from support.processes import run

DATA = ROOT / "tests/data/retrieval"
NONE = {"HIVEKEEP_EMBEDDING_MODELS": "none"}


def test_a_table_is_printed_and_nothing_is_left_behind(tmp_path: Path) -> None:
    """One line for each way to ask below the head; the default store of the user is not touched."""
    done = run(tmp_path, "eval", "retrieval", "--dataset", str(DATA / "conversations"), "--limit", "3", **NONE)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.stdout.decode().splitlines()
    assert lines[0] == "conversations: 32 conversations as turns, 3 questions"
    assert [line.split()[0] for line in lines[1:]] == ["verb", "fts5", "search", "memory.recall"]
    assert not (tmp_path / ".local").exists()


def test_json_goes_to_a_file_beside_the_table_or_alone_to_standard_output(tmp_path: Path) -> None:
    """The file holds the whole report; with `-` the report is all that is printed."""
    options = ("--dataset", str(DATA / "documents"), "--verb", "recall", "--strategy", "keyword_only", "--limit", "1")
    done = run(tmp_path, "eval", "retrieval", *options, "--json", "report.json", **NONE)
    assert done.returncode == 0, done.stderr
    assert b"keyword_only" in done.stdout
    written = json.loads((tmp_path / "report.json").read_text())
    printed = json.loads(run(tmp_path, "eval", "retrieval", *options, "--json", "-", **NONE).stdout)
    for report in (written, printed):
        assert [run["strategy"] for run in report["runs"]] == ["plain", "keyword_only"]
        assert [question["id"] for question in report["runs"][1]["questions"]] == ["q01"]


def test_a_bad_data_set_is_status_2(tmp_path: Path) -> None:
    """The place and what is accepted, in one line."""
    (tmp_path / "corpus.jsonl").write_text("nonsense\n")
    (tmp_path / "queries.jsonl").write_text("")
    done = run(tmp_path, "eval", "retrieval", "--dataset", str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)
    assert b"corpus.jsonl:1: is not JSON" in done.stderr
