"""`hivekeep reindex`, and what `hivekeep doctor` says of embedders and their queue."""

import json
import re
from pathlib import Path
from typing import Any

from support.processes import run

MODELS = {"HIVEKEEP_EMBEDDING_MODELS": "hashed"}
ITEMS = json.dumps([{"kind": "concept", "name": f"thing {number}"} for number in range(3)])


def reported(home: Path, *options: str, **more: str) -> dict[str, Any]:
    """The report of a run that succeeded; nothing but it is on standard output, nothing at all on standard error."""
    done = run(home, "reindex", "--json", *options, **{**MODELS, **more})
    assert (done.returncode, done.stderr) == (0, b"")
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def checked(home: Path, **more: str) -> tuple[str, str]:
    """Verdict and words of doctor's check of the embedders."""
    done = run(home, "doctor", "--json", **{**MODELS, **more})
    (check,) = [check for check in json.loads(done.stdout)["checks"] if check["name"] == "embedding"]
    return check["verdict"], check["detail"]


def test_bulk_created_and_waiting_records_get_their_vectors(tmp_path: Path) -> None:
    """Three created in bulk and one that waits; a second run finds all of them done."""
    run(tmp_path, "exec", f'[create(items={ITEMS}), create(kind="concept", name="waits")]', **MODELS)
    first = reported(tmp_path)
    (model,) = first["models"]
    assert model == {
        "model": "hashed",
        "revision": "1",
        "embedded": 4,
        "valid": 0,
        "refused": 0,
        "truncated": 0,
        "discarded_bytes": 0,
        "removed": 0,
    }
    assert (first["records"], first["text_indexes"], first["elapsed_ms"] >= 0) == (4, [], True)
    assert [reported(tmp_path)["models"][0][key] for key in ("embedded", "valid")] == [0, 4]


def test_people_get_a_few_lines(tmp_path: Path) -> None:
    """One for each model, one for the text indexes, one in the end."""
    run(tmp_path, "exec", f"create(items={ITEMS})")
    done = run(tmp_path, "reindex", "--rebuild-fts", **MODELS)
    *lines, last = done.stdout.decode().splitlines()
    assert lines == [
        "hashed: 3 records embedded, 0 had their vector",
        "text indexes built anew and found whole: entity_words, entity_trigrams, note_words, note_trigrams,"
        " agent_entries_words, agent_entries_trigrams",
    ]
    assert last.startswith("3 live records, ")


def test_the_text_indexes_can_be_built_without_an_embedder(tmp_path: Path) -> None:
    """Then there is no model in the report, and the records are found as before."""
    run(tmp_path, "exec", f"create(items={ITEMS})")
    report = reported(tmp_path, "--rebuild-fts", HIVEKEEP_EMBEDDING_MODELS="none")
    assert (report["models"], len(report["text_indexes"])) == ([], 6)
    found = run(tmp_path, "exec", 'search(kind="entity", query="thing")')
    assert len(json.loads(found.stdout)["results"][0]["result"]) == 3


def test_what_cannot_be_done_is_said_in_one_line(tmp_path: Path) -> None:
    """A model that is not registered is a mistake in the call; no embedder at all, or a reader, is a failure."""
    wrong = run(tmp_path, "reindex", "--model", "ada", **MODELS)
    assert (wrong.returncode, wrong.stdout) == (2, b"")
    assert wrong.stderr == b"hivekeep: embedding model 'ada' is not registered; registered: hashed\n"
    nothing = run(tmp_path, "reindex")
    assert (nothing.returncode, nothing.stderr) == (
        1,
        b"hivekeep: no embedder is configured (embedding.models); nothing was done\n",
    )
    unknown = run(tmp_path, "reindex", HIVEKEEP_EMBEDDING_MODELS="ada")
    assert unknown.returncode == 2
    assert b"'embedding.models' must be some of minilm, openai, hashed, none, not" in unknown.stderr
    reader = run(tmp_path, "reindex", "--read-only", **MODELS)
    assert (reader.returncode, b"reading only" in reader.stderr) == (1, True)


def test_doctor_tells_what_waits(tmp_path: Path) -> None:
    """What waits for an embedder that works is well; what waits for one that is not registered is worth a warning."""
    assert checked(tmp_path) == ("ok", "registered: hashed")
    run(tmp_path, "exec", 'create(kind="concept", name="waits")', **MODELS)
    verdict, told = checked(tmp_path)
    waiting = re.fullmatch(
        r"registered: hashed; (1 texts wait for hashed, the oldest since 20\d\d-\d\d-\d\dT[\d:.]+Z)", told
    )
    assert waiting is not None
    assert verdict == "ok"
    assert checked(tmp_path, HIVEKEEP_EMBEDDING_MODELS="none") == (
        "warning",
        f"no embedder is registered; search goes by words; {waiting[1]}; hashed is not registered",
    )
    reported(tmp_path)
    assert checked(tmp_path, HIVEKEEP_EMBEDDING_MODELS="none") == (
        "ok",
        "no embedder is registered; search goes by words",
    )


def test_doctor_refuses_settings_that_contradict_each_other(tmp_path: Path) -> None:
    """They would stop every start."""
    verdict, detail = checked(tmp_path, HIVEKEEP_EMBEDDING_MODELS="none,hashed")
    assert (verdict, detail) == ("failed", "embedding.models: 'none' stands alone, not beside hashed")
