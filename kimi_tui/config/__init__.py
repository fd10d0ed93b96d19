"""Settings: what the user may set, where it is read from and what wins (`docs/configuration.md`)."""
