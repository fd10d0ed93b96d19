"""The language that the user is spoken to in: English as it stands in the code, or that of a catalogue."""
