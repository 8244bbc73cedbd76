"""The templates folder. A template that names a value it was not given is an error, not an empty string."""

from __future__ import annotations

from pathlib import Path

import jinja2


class Templates:
    """Renders the files of one folder, byte-identical everywhere."""

    def __init__(self, folder: Path) -> None:
        self._environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folder),
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            newline_sequence="\n",
            autoescape=False,  # source and Markdown; the one HTML page escapes what it prints
        )

    def render(self, template: str, /, **values: object) -> str:
        """One file; ends with exactly one newline."""
        return self._environment.get_template(template).render(**values).rstrip("\n") + "\n"
