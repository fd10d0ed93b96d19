"""Settings: what the user may set, where it is read from and what wins (`specs/cli.md`)."""
