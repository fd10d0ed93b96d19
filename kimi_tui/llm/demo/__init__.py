"""Demo model."""
