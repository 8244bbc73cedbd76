"""Who is asking (`caller`), where records live (`namespaces`), which record a reference means (`resolve`)."""
