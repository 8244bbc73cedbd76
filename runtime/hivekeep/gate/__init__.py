"""Who may call what (`policy`), and what may not be stored (`secrets`). Knows no storage and no verb."""
