"""Leaf nouns that every layer stands on."""
