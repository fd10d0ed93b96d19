"""Fleets as front ends show them."""
