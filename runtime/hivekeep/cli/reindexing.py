"""What `hivekeep reindex` does and says.

What it keeps true: the run is that of `hivekeep.jobs.reindex`; here it only gets a store, a bar, and words.
"""

from __future__ import annotations

from typing import Any

from hivekeep.cli.progress import counted
from hivekeep.jobs.reindex import ModelReport, Report, reindex
from hivekeep.search.embedders import Embedders
from hivekeep.wiring import open_server
from hivekeep_contract.errors import EmbedderUnavailable
from hivekeep_contract.settings import Settings


def run(settings: Settings, model: str | None, rebuild_text: bool) -> Report:
    """Reindex the store of the settings.

    Raises InvalidInput for a model that is not registered, EmbedderUnavailable when there is nothing to embed with and
    nothing else to do, and the errors of opening and writing the store.
    """
    server = open_server(settings, threaded=False)
    try:
        embedders = _chosen(server.around.embedders, model)
        if not embedders and not rebuild_text:
            raise EmbedderUnavailable(
                "; ".join(embedders.absent.values()) or "no embedder is configured (embedding.models); nothing was done"
            )
        with counted("reindex") as tell:
            return reindex(
                server.engine,
                embedders,
                batch_size=settings.embedding_batch_size,
                rebuild_text=rebuild_text,
                tell=tell,
            )
    finally:
        server.engine.close()


def _chosen(registered: Embedders, model: str | None) -> Embedders:
    if model is None:
        return registered
    if model in registered.absent:
        raise EmbedderUnavailable(registered.absent[model])
    return Embedders([registered.get(model)])


def to_json(report: Report) -> dict[str, Any]:
    """The report as one object."""
    return {**report._asdict(), "models": [model._asdict() for model in report.models]}


def to_text(report: Report) -> str:
    """The report in a few lines."""
    lines = [_model_line(model) for model in report.models]
    if report.text_indexes:
        lines.append(f"text indexes built anew and found whole: {', '.join(report.text_indexes)}")
    return "\n".join([*lines, f"{report.records} live records, {report.elapsed_ms / 1000:.1f} s"])


def _model_line(model: ModelReport) -> str:
    parts = [f"{model.model}: {model.embedded} records embedded, {model.valid} had their vector"]
    if model.truncated:
        parts.append(f"{model.truncated} were longer than it takes, by {model.discarded_bytes} bytes together")
    if model.refused:
        parts.append(f"it refuses {model.refused}")
    if model.removed:
        parts.append(f"{model.removed} without use removed")
    return "; ".join(parts)
