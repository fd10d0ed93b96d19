"""Scripted model."""
