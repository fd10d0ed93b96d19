"""How long tests wait for what must come: so long that only what never comes is given up."""

PATIENCE_S = 100.0
"""Long enough for a machine that is ten times slower, and less than a test may take (pyproject)."""
