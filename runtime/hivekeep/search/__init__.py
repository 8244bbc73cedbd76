"""Finding records by their text: query terms, rank fusion, excerpts and the pipeline that joins them.

The invariant: a search never raises because of what the query says, and never answers with a record that the
caller's namespaces, filters or the record's own deletion exclude. SQL lives in `storage.text_index`.
"""
