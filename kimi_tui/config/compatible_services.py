"""Services with an OpenAI-compatible API that need only an API key and a model.

Unlike the providers in `environment`, they are used only after the user connects one: their keys often belong
to other programs. Base URLs and variables are those of each service's documentation on OpenAI compatibility.
"""

from kimi_tui.base.frozen import frozen


@frozen(kw_only=True)
class CompatibleService:
    """A service with an OpenAI-compatible API."""

    name: str
    """Name for commands and for its provider in the config."""
    title: str
    base_url: str
    key_variable: str
    """Environment variable that the service's documentation uses for the key."""


COMPATIBLE_SERVICES = (
    CompatibleService(
        name="openrouter",
        title="OpenRouter",
        base_url="https://openrouter.ai/api/v1",
        key_variable="OPENROUTER_API_KEY",
    ),
    CompatibleService(
        name="gemini",
        title="Google Gemini",
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_variable="GEMINI_API_KEY",
    ),
    CompatibleService(
        name="deepseek",
        title="DeepSeek",
        base_url="https://api.deepseek.com/v1",
        key_variable="DEEPSEEK_API_KEY",
    ),
    CompatibleService(
        name="mistral",
        title="Mistral AI",
        base_url="https://api.mistral.ai/v1",
        key_variable="MISTRAL_API_KEY",
    ),
    CompatibleService(name="xai", title="xAI", base_url="https://api.x.ai/v1", key_variable="XAI_API_KEY"),
    CompatibleService(
        name="groq", title="Groq", base_url="https://api.groq.com/openai/v1", key_variable="GROQ_API_KEY"
    ),
    CompatibleService(
        name="cerebras",
        title="Cerebras",
        base_url="https://api.cerebras.ai/v1",
        key_variable="CEREBRAS_API_KEY",
    ),
    CompatibleService(
        name="together",
        title="Together AI",
        base_url="https://api.together.xyz/v1",
        key_variable="TOGETHER_API_KEY",
    ),
    CompatibleService(
        name="fireworks",
        title="Fireworks AI",
        base_url="https://api.fireworks.ai/inference/v1",
        key_variable="FIREWORKS_API_KEY",
    ),
    CompatibleService(
        name="huggingface",
        title="Hugging Face",
        base_url="https://router.huggingface.co/v1",
        key_variable="HF_TOKEN",
    ),
    CompatibleService(
        name="zai", title="Z.ai (GLM)", base_url="https://api.z.ai/api/paas/v4", key_variable="ZAI_API_KEY"
    ),
    CompatibleService(
        name="dashscope",
        title="Alibaba Cloud (Qwen)",
        base_url="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        key_variable="DASHSCOPE_API_KEY",
    ),
    CompatibleService(
        name="siliconflow",
        title="SiliconFlow",
        base_url="https://api.siliconflow.cn/v1",
        key_variable="SILICONFLOW_API_KEY",
    ),
)


def compatible_service(name: str) -> CompatibleService | None:
    """Return the service with that name, or None."""
    return next((service for service in COMPATIBLE_SERVICES if service.name == name), None)
