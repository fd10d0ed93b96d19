"""Limits for the cost and the rate of model calls, shared by processes."""
