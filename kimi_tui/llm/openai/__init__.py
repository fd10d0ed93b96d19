"""OpenAI's Chat Completions API and its dialects."""
