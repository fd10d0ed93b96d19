"""Settings: models, sources and precedence (`docs/configuration.md`)."""
