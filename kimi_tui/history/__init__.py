"""What is kept on disk: journal, context, sessions (`docs/formats.md`)."""
