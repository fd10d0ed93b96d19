import pytest

from kimi_tui.llm.transport.context_limit import is_context_limit

TOO_LONG = {
    "openai": "This model's maximum context length is 128000 tokens. However, you sent 131072.",
    "openai code": "Your input is over the limit. context_length_exceeded",
    "openai new": "Your input exceeds the context window of this model. Please adjust your input.",
    "moonshot": "Invalid request: Your request exceeded model token limit: 262144 (requested: 270000)",
    "anthropic": "prompt is too long: 208310 tokens > 200000 maximum",
    "anthropic output": "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
    "vllm": "'max_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your "
    "request has 2104 input tokens",
    "vllm old": "Input prompt (5000 tokens) is too long and exceeds limit of 4096",
    "llama.cpp": "the request exceeds the available context size exceed_context_size_error",
    "ollama": "the input length exceeds the context length",
    "ollama cloud": "prompt too long; exceeded max context length by 12 tokens",
    "lm studio": "Trying to keep the first 4500 tokens when context the overflows. However, the model is "
    "loaded with context length of only 4096 tokens",
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "mistral": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
    "groq": "Please reduce the length of the messages or completion.",
    "sglang": "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "dashscope": "Range of input length should be [1, 98304]",
    "bedrock": "Input is too long for requested model.",
    "xai": "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    "zhipu": "Prompt exceeds max length",
    "tgi": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096",
}

OTHERS = [
    "context deadline exceeded",
    "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000",
    "You exceeded your current quota, please check your plan and billing details.",
    "Invalid value for 'max_tokens': must be at least 1",
    "Unrecognized request argument supplied: stream_options",
    "The image exceeds the maximum size of 5 MB.",
    "messages.1.content.0: Invalid `signature` in `thinking` block",
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
]


@pytest.mark.parametrize("server", TOO_LONG)
def test_context_limit_errors_of_many_servers_are_detected(server: str):
    assert is_context_limit(TOO_LONG[server])


@pytest.mark.parametrize("words", OTHERS)
def test_other_errors_are_not_context_limit_errors(words: str):
    assert not is_context_limit(words)
