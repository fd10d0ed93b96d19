"""Commands: one registry behind the slash, the palette and the help."""
