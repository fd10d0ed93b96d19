"""What is kept on disk: journal, context, sessions (`specs/session.md`)."""
