"""Config file with comments, created when it is edited for the first time."""

from pathlib import Path

from kimi_tui.base.atomic_file import write_private_atomic
from kimi_tui.base.errors import ConfigError
from kimi_tui.base.message_text import msg

TEMPLATE = """\
# Settings of kimi-tui. Run `kimi-tui config check` to find problems.

# default_model = "kimi"
# default_thinking = false
# theme = "auto"                  # auto, dark, light, high-contrast, nord, gruvbox, ...

# [providers.moonshot]
# type = "kimi"                   # kimi, openai, anthropic
# base_url = "https://api.moonshot.cn/v1"
# api_key = "env:KIMI_API_KEY"    # or the API key itself

# [models.kimi]
# provider = "moonshot"
# model = "kimi-k2.5"
# max_context_size = 262144
# capabilities = ["thinking", "image_in"]
# price = { input = 0.6, output = 2.5, cached = 0.15 }   # US dollars per million tokens

# A local server needs no API key:
# [providers.ollama]
# type = "openai"
# base_url = "http://localhost:11434/v1"

# [loop_control]
# max_steps_per_turn = 1000
# max_retries_per_step = 3
# compaction_trigger_ratio = 0.85 # compact when the context window is this full

# [compaction]                    # how long conversations are compacted
# strategy = "HidingThenSummaryCompaction"

# [checkpoints]
# files = false                   # save no file snapshots: /revert then affects only the conversation
# exclude = ["data/", "*.iso"]    # files not to cover, in .gitignore syntax
# max_file_mb = 64                # larger files are not covered
# max_total_mb = 2048             # disk space for a project's file snapshots; the oldest are removed first
# max_age_days = 60

# Web search service. Without an API key, public search engines are used.
# [services.moonshot_search]
# base_url = "https://api.kimi.com/coding/v1/search"
# api_key = "env:KIMI_API_KEY"

# [web]
# allow_private_addresses = false   # whether to fetch pages from this machine and its local network

# [permissions]
# allow = []
# ask = []
# deny = []

# [[hooks]]                       # commands that run on events and can block them
# event = "PreToolUse"
# matcher = "Bash"
# command = "grep -q 'git push' && { echo 'Ask the user to push.' >&2; exit 2; }; exit 0"

# [ui]
# mouse = true
# reduced_motion = false

# [keymap]
# "app.quit" = "ctrl+q"
"""


def write_template(file: Path) -> None:
    """Write a config file with comments to `file`. Raises ConfigError."""
    try:
        write_private_atomic(file, TEMPLATE)
    except OSError as error:
        raise ConfigError(
            msg("Can't write {path}: {reason}.", path=file, reason=error.strerror or error),
            hint="Check the directory's permissions.",
        ) from error
