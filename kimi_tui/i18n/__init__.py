"""Translation of messages into the user's language. English is in the code, other languages in catalogs."""
