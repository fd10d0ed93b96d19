"""The workloads: each measures the real program and its baseline, and returns figures."""
