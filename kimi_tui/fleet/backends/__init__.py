"""Backends: where the attempts of a fleet run."""
