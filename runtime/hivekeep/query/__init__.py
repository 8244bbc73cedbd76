"""Read-only graph queries: two languages, one logical plan, one compiler to SQL.

Invariant: nothing of a query's text reaches SQL but as a bound argument, and no query reads what is deleted or outside
the namespaces it was compiled for.
"""
