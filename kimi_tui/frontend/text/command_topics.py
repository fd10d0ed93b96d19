"""Topics that group the slash commands in menus and in the help, and the search terms of topics."""

from collections.abc import Mapping

from kimi_tui.base.frozen import frozen
from kimi_tui.i18n.translate import tr_lazy


@frozen
class CommandTopic:
    """A group of commands."""

    id: str
    title: str
    """The title as an English message."""
    commands: tuple[str, ...] = ()
    """Names of the topic's commands, most important first."""
    words: tuple[str, ...] = ()
    """Other words for the topic."""


CUSTOM_TOPIC = CommandTopic(
    "custom", tr_lazy("Skills and custom commands"), words=("skill", "skills", "prompts", "plugins")
)
"""Commands that aren't built in."""

COMMAND_TOPICS: tuple[CommandTopic, ...] = (
    CommandTopic(
        "conversation",
        tr_lazy("Conversation"),
        ("context", "cost", "compact", "clear", "btw", "copy", "find", "print", "transcript", "output"),
        ("chat", "search", "scroll", "copy"),
    ),
    CommandTopic(
        "prompt", tr_lazy("Prompt"), ("image", "editor", "init"), ("input", "editing", "shell", "history")
    ),
    CommandTopic(
        "sessions",
        tr_lazy("Sessions"),
        ("sessions", "ps", "search", "new", "title", "fork", "write", "export", "import"),
        ("session", "resume", "continue"),
    ),
    CommandTopic(
        "timeline",
        tr_lazy("Timeline"),
        (
            "timeline",
            "revert",
            "undo",
            "redo",
            "diff",
            "bisect",
            "attempts",
            "why",
            "review",
            "comment",
            "goal",
            "branches",
            "switch",
            "checkpoints",
            "name",
            "note",
            "patch",
        ),
        ("rewind", "checkpoint", "checkpoints", "revert", "undo", "history", "time-travel"),
    ),
    CommandTopic(
        "models",
        tr_lazy("Models"),
        ("model", "thinking", "login", "logout"),
        ("model", "provider", "thinking", "key"),
    ),
    CommandTopic(
        "permissions",
        tr_lazy("Permissions"),
        ("plan", "edits", "yolo", "afk", "add-dir", "permissions"),
        ("approval", "approvals", "allow", "mode", "modes", "security"),
    ),
    CommandTopic(
        "tools",
        tr_lazy("Tools and agents"),
        ("tools", "todo", "tasks", "background", "agents", "fleet", "mcp", "hooks"),
        ("tool", "agent", "background", "server"),
    ),
    CommandTopic(
        "app",
        tr_lazy("Settings and app"),
        (
            "help",
            "keys",
            "settings",
            "reload",
            "theme",
            "status",
            "suspend",
            "debug",
            "version",
            "changelog",
            "detach",
            "exit",
        ),
        ("settings", "app", "theme", "config", "dialogs"),
    ),
)
"""Topics in the order of menus. Engine commands without a topic are in CUSTOM_TOPIC."""

COMMAND_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "agents": ("subagent", "persona"),
    "why": ("blame", "annotate", "author", "reason"),
    "attempts": ("parallel", "models", "compare", "race", "retry", "worktree"),
    "bisect": ("regression", "test", "culprit", "broke"),
    "branches": ("history", "conversations"),
    "btw": ("aside",),
    "checkpoints": ("history", "snapshots"),
    "changelog": ("news", "release", "changes"),
    "clear": ("reset", "empty", "restart", "forget"),
    "comment": ("review", "annotate"),
    "compact": ("summarize", "compress", "shrink"),
    "context": ("tokens", "window", "usage"),
    "copy": ("clipboard", "yank"),
    "cost": ("price", "tokens", "money", "bill"),
    "debug": ("bug", "report", "doctor", "diagnostics", "log"),
    "diff": ("changes", "compare", "review"),
    "edits": ("auto-accept", "mode"),
    "editor": ("vim", "external", "compose"),
    "exit": ("close", "leave", "bye"),
    "export": ("save", "share", "download"),
    "find": ("search", "grep", "match"),
    "fleet": ("benchmark", "batch", "progress", "tasks", "ray"),
    "fork": ("branch", "duplicate", "clone"),
    "goal": ("test", "loop", "until", "target"),
    "help": ("manual", "commands", "docs"),
    "hooks": ("events", "automation"),
    "image": ("picture", "screenshot", "attach", "photo"),
    "import": ("load",),
    "init": ("agents.md", "memory", "onboard"),
    "keys": ("shortcuts", "shortcut", "bindings", "hotkeys", "keymap"),
    "logout": ("key", "forget"),
    "login": ("key", "provider", "auth", "account"),
    "mcp": ("servers", "plugins", "extensions"),
    "model": ("switch", "llm", "provider"),
    "name": ("label", "bookmark"),
    "new": ("start", "fresh", "clear"),
    "note": ("message", "d-mail"),
    "patch": ("diff", "apply"),
    "permissions": ("rules", "allow", "deny"),
    "plan": ("read-only", "mode"),
    "print": ("scrollback", "dump"),
    "redo": ("forward",),
    "review": ("pull-request", "diff", "changes", "hunks", "comments"),
    "revert": ("restore", "back", "checkpoint"),
    "search": ("find", "history", "grep", "recall", "messages"),
    "sessions": ("resume", "history", "continue", "recent", "conversations", "delete", "projects"),
    "settings": ("preferences", "options", "config", "configuration"),
    "suspend": ("background", "shell", "ctrl+z"),
    "switch": ("branch", "checkout"),
    "tasks": ("background", "jobs", "processes", "ps"),
    "theme": ("color", "colour", "dark", "light", "appearance"),
    "thinking": ("reasoning", "effort"),
    "timeline": ("rewind", "history", "checkpoints", "tree"),
    "title": ("rename", "label"),
    "todo": ("todos", "tasks"),
    "tools": ("calls", "log"),
    "undo": ("back", "unrevert"),
    "write": ("unlock", "read-only"),
    "yolo": ("auto-approve", "bypass", "dangerous", "mode"),
    "afk": ("away", "unattended", "auto-approve"),
    "add-dir": ("folder", "directory", "workspace"),
}
"""Search terms for commands in menus, by command. Unlike aliases, they can't be typed as a command."""


def topic_of(command: str) -> CommandTopic:
    """Return the topic of a command."""
    return next((topic for topic in COMMAND_TOPICS if command in topic.commands), CUSTOM_TOPIC)


def find_topic(text: str) -> CommandTopic | None:
    """Return the topic that `text` names: by its ID, one of its words, or one of its commands."""
    wanted = text.strip().lower().removeprefix("/")
    if not wanted:
        return None
    topics = (*COMMAND_TOPICS, CUSTOM_TOPIC)
    by_id = (topic for topic in topics if topic.id == wanted)
    by_word = (topic for topic in topics if wanted in topic.words)
    by_command = (topic for topic in topics if wanted in topic.commands)
    by_start = (topic for topic in topics if topic.id.startswith(wanted))
    return next((topic for found in (by_id, by_word, by_command, by_start) for topic in found), None)
