"""Workloads. Each measures the real program and its baseline, and returns figures."""
