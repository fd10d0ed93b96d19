"""Panels for permission requests and questions."""
