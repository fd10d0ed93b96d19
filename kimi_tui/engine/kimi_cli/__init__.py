"""Copies of sessions of Kimi CLI."""
