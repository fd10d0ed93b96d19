"""Captures: changes of the files since the last state, recorded with their author."""
