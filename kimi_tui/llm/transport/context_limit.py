"""Detection of error messages about requests that exceed the model's context window."""

import re

_SIGNS = re.compile(
    r"context_length_exceeded|exceed_context_size|model_context_window_exceeded"  # codes and types
    r"|maximum (?:context|prompt|model|input) length"  # OpenAI, vLLM, DeepSeek, OpenRouter, xAI, Ollama
    r"|context[ -](?:length|window|size|limit)[^.]{0,60}(?:exceed|overflow|reached|full|too small|too long)"
    r"|(?:exceed|(?:long|larg|great)er than|reached|overflow|too (?:long|large) for)[^.]{0,80}"
    r"\bcontext[ -](?:length|window|size|limit|overflow)"  # Anthropic, llama.cpp, Ollama, SGLang, LM Studio
    r"|context the overflows"  # LM Studio
    r"|exceeded model token limit"  # Moonshot
    r"|prompt (?:is )?too long|prompt exceeds max length"  # Anthropic, Ollama, Zhipu
    r"|input (?:prompt )?(?:\([^)]*\) )?(?:is )?too long"  # Bedrock, vLLM
    r"|input token count[^.]{0,40}exceeds"  # Gemini
    r"|range of input length"  # DashScope
    r"|tokens?`? ?\+ ?`?max_new_tokens`? must be"  # TGI
    r"|reduce the length of (?:the|your) (?:messages|prompt|input)"  # OpenAI, Groq
    r"|(?:上下文|输入|请求|提示词?)[^。]{0,20}(?:超出|超过|超长|过长)",
    re.IGNORECASE,
)


def is_context_limit(error_text: str) -> bool:
    """Return whether `error_text` reports that the context is too long.

    `error_text` contains a server's error message, code and type.
    """
    return _SIGNS.search(error_text) is not None
