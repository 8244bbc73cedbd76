"""export: one session written down as an object or as Markdown.

Invariant: the content is verbatim; what stands above it is one line each, whatever the names hold.
"""

from hivekeep.packs.context import Context
from hivekeep.packs.session import answers
from hivekeep.packs.session.resume import found
from hivekeep_contract.models import session as models


def export(ctx: Context, args: models.ExportArgs) -> models.ExportResult:
    """The session; raises InvalidInput, NotFound, Ambiguous."""
    session = answers.record(found(ctx, args.id))
    if args.format == "json":
        return {"ok": True, "format": "json", "session": session}
    return {"ok": True, "format": "markdown", "content": markdown(session)}


def markdown(session: models.Session) -> str:
    """Title, what is known of the session as a list, a blank line, its content."""
    known = {
        "Provider": session["provider"],
        "Provider session id": session["provider_session_id"],
        "Tags": ", ".join(session["tags"]),
        "Created": session["created_at"],
    }
    title = session["title"] or f"Session {session['id']}"
    listed = [f"- {label}: {_line(value)}" for label, value in known.items() if value]
    return "\n".join([f"# {_line(title)}", "", *listed, "", session["content"]])


def _line(text: str) -> str:
    return " ".join(text.split())
