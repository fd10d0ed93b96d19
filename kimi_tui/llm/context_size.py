"""Context windows of models whose servers don't report them, by model name."""

import re

_SIZES = (
    (re.compile(r"^gemini-(?:2\.5|[3-9])"), 1_048_576),
    (re.compile(r"^deepseek-"), 131_072),
    (re.compile(r"^kimi-k2"), 262_144),
    (re.compile(r"^(?:qwen-?3|glm-4\.[5-9]|grok-(?:[4-9]|code))"), 131_072),
    (re.compile(r"^glm-[5-9]"), 200_000),
    (re.compile(r"^gpt-oss"), 131_072),
)


def known_context_size(model: str) -> int | None:
    """Return the documented context window of `model` in tokens; None if unknown.

    A prefix such as `zai-org/` is ignored.
    """
    name = model.lower().rpartition("/")[2]
    return next((size for pattern, size in _SIZES if pattern.search(name)), None)
