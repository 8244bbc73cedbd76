"""The contract of hivekeep as Python: catalog, errors, models, settings, vocabulary.

Printed from registry/ by `make generate`; do not edit. It imports nothing of the server; importing this package
loads nothing, each module stands alone.
"""
