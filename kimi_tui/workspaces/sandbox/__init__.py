"""Sandbox for commands, enforced by the operating system."""
