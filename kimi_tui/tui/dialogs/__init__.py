"""Screens that ask for one thing and go away."""
