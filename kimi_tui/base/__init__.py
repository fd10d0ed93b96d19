"""Basic types and helpers without dependencies on other packages."""
