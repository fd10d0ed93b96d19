"""Permission rules, and the analysis of commands, paths and tools they apply to."""
