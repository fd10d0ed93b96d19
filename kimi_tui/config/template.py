"""The config file that a newcomer finds when they open it for the first time."""

TEMPLATE = """\
# kimi-tui's settings. `kimi-tui config check` says what is wrong with them.

# default_model = "kimi"
# default_thinking = false
# theme = "auto"                  # auto, dark, light, high-contrast

# [providers.moonshot]
# type = "kimi"                   # kimi, openai, anthropic
# base_url = "https://api.moonshot.cn/v1"
# api_key = "env:KIMI_API_KEY"    # or the key itself

# [models.kimi]
# provider = "moonshot"
# model = "kimi-k2.5"
# max_context_size = 262144
# capabilities = ["thinking", "image_in"]
# price = { input = 0.6, output = 2.5, cached = 0.15 }   # US dollars per million tokens

# A server on this machine needs no key:
# [providers.ollama]
# type = "openai"
# base_url = "http://localhost:11434/v1"

# [loop_control]
# max_steps_per_turn = 1000
# max_retries_per_step = 3
# compaction_trigger_ratio = 0.85 # how full the model's window may become

# [compaction]                    # how a conversation that fills the window is made shorter
# strategy = "HidingThenSummaryCompaction"

# [checkpoints]
# files = false                   # keep no file states: /revert then takes back the conversation only
# exclude = ["data/", "*.iso"]    # what is not covered, written as in a .gitignore
# max_file_mb = 64                # larger files are not covered
# max_total_mb = 2048             # what a project's file states may take on disk before the oldest go
# max_age_days = 60

# Who searches the web; without a key, public search engines do.
# [services.moonshot_search]
# base_url = "https://api.kimi.com/coding/v1/search"
# api_key = "env:KIMI_API_KEY"

# [web]
# allow_private_addresses = false   # true: pages of this machine and its network are fetched, too

# [permissions]
# allow = []
# ask = []
# deny = []

# [[hooks]]                       # commands that run at moments of a session and may say no
# event = "PreToolUse"
# matcher = "Bash"
# command = "grep -q 'git push' && { echo 'Pushing is done by people.' >&2; exit 2; }; exit 0"

# [ui]
# mouse = true
# reduced_motion = false

# [keymap]
# "app.quit" = "ctrl+q"
"""
