"""Bare programs that do as much as a workload asks, and nothing else."""
