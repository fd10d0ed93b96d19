"""Minimal programs that do only what a workload requires."""
