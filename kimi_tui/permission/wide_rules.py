"""Detection of rules that reach further than their author may expect, or that have no effect."""

from kimi_tui.base.message_text import msg
from kimi_tui.permission.bash.simple_command import literal_word
from kimi_tui.permission.rule import CommandPrefix, McpRule, PathRule, Rule, ToolRule, WebRule
from kimi_tui.permission.safe_options import find_safe_options
from kimi_tui.permission.special_arguments import has_special_arguments

_RULES_OF_TOOLS = {
    "Bash": "Bash(...)", "CMD": "Bash(...)", "EditFile": "Edit(...)", "Glob": "Read(...)",
    "Grep": "Read(...)", "LS": "Read(...)", "ReadFile": "Read(...)", "ReadMediaFile": "Read(...)",
    "Shell": "Bash(...)",
    "StrReplaceFile": "Edit(...)", "WriteFile": "Edit(...)",
}  # fmt: skip
"""Built-in tools, which `Tool(NAME)` doesn't match, and the kind of rule that does."""
_WIDE_PATTERNS = frozenset({"/", "/*", "/**", "~", "~/", "~/*", "~/**", "/home/**", "/Users/**"})


def find_wide_reach(rule: Rule) -> str | None:
    """Return what an allow rule covers beyond the working directory and known options; None if nothing."""
    match rule:
        case CommandPrefix(words) if _is_unknown_program(words):
            return msg("kimi-tui doesn't know {program}, so all its options are allowed", program=words[0])
        case PathRule(_, pattern) if pattern in _WIDE_PATTERNS:
            return msg("it covers files outside the working directory")
        case WebRule("*"):
            return msg("it covers every domain, also after secrets were read")
        case McpRule(server, "*"):
            return msg("it covers tools that {server} adds later, too", server=server)
        case _:
            return None


def find_better_rule(rule: Rule) -> str | None:
    """Return which kind of rule to write instead of one that has no effect; None if `rule` has an effect."""
    return _RULES_OF_TOOLS.get(rule.tool) if isinstance(rule, ToolRule) else None


def _is_unknown_program(words: tuple[str, ...]) -> bool:
    if not words or has_special_arguments(words[0]):
        return False
    return find_safe_options([literal_word(word) for word in words], n_known=len(words)) is None
