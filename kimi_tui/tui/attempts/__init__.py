"""Dialogs that start attempts, and compare and adopt them."""
