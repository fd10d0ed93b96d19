"""Completion scripts for shells, with options, their values and subcommands."""

from collections.abc import Iterable, Sequence
from typing import Literal, assert_never

from kimi_tui.cli.option_catalog import CliOption, Subcommand

Shell = Literal["bash", "zsh", "fish"]


def completion_script(shell: Shell, options: Sequence[CliOption], subcommands: Sequence[Subcommand]) -> str:
    """Return the script for a shell's startup file."""
    match shell:
        case "bash":
            return _bash(options, subcommands)
        case "zsh":
            return _zsh(options, subcommands)
        case "fish":
            return _fish(options, subcommands)
        case _:
            assert_never(shell)


def _bash(options: Sequence[CliOption], subcommands: Sequence[Subcommand]) -> str:
    below = [
        f"    {one.name}) [[ $COMP_CWORD -eq 2 ]] && _kimi_tui_words '{_names(one)}'; return ;;"
        for one in subcommands
        if one.subcommands
    ]
    values = [
        f"    {'|'.join(one.flags)}) _kimi_tui_words '{' '.join(one.choices)}'; return ;;"
        for one in options
        if one.choices
    ]
    for takes, action in (("file", "-f"), ("folder", "-d")):
        spellings = [name for one in options if one.value_kind == takes for name in one.flags]
        values.append(f'    {"|".join(spellings)}) COMPREPLY=($(compgen {action} -- "$current")); return ;;')
    spellings = [
        name for one in options if one.value_kind == "text" and not one.choices for name in one.flags
    ]
    values.append(f"    {'|'.join(spellings)}) return ;;")
    return "\n".join(
        [
            "_kimi_tui_words() {",
            '  COMPREPLY=($(compgen -W "$1" -- "$current"))',
            "}",
            "_kimi_tui() {",
            "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}",
            "  COMPREPLY=()",
            "  case ${COMP_WORDS[1]} in",
            *below,
            "  esac",
            "  case $before in",
            *values,
            "  esac",
            "  if [[ $current == -* ]]; then",
            f"    _kimi_tui_words '{' '.join(name for one in options for name in one.flags)}'",
            "  elif [[ $COMP_CWORD -eq 1 ]]; then",
            f"    _kimi_tui_words '{' '.join(one.name for one in subcommands)}'",
            "  fi",
            "}",
            "complete -o default -F _kimi_tui kimi-tui",
            "",
        ]
    )


def _zsh(options: Sequence[CliOption], subcommands: Sequence[Subcommand]) -> str:
    actions = {"nothing": "", "text": ":value: ", "file": ":file:_files", "folder": ":folder:_files -/"}
    specs = []
    for one in options:
        action = f":value:({' '.join(one.choices)})" if one.choices else actions[one.value_kind]
        specs += [f"    {_quote(f'*{name}[{_zsh_text(one.help)}]{action}')} \\" for name in one.flags]
    below = [
        f"    {one.name}) _values '{one.name}' {' '.join(_zsh_descriptions(one.subcommands))}; return ;;"
        for one in subcommands
        if one.subcommands
    ]
    words = " ".join(_zsh_descriptions((one.name, one.help) for one in subcommands))
    return "\n".join(
        [
            "#compdef kimi-tui",
            "_kimi_tui() {",
            "  if (( CURRENT == 3 )); then",
            "    case $words[2] in",
            *below,
            "    esac",
            "  fi",
            "  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then",
            f"    _values 'subcommand' {words}",
            "  fi",
            "  _arguments \\",
            *specs,
            "    '*:file:_files'",
            "}",
            "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }",
            "compdef _kimi_tui kimi-tui",
            "",
        ]
    )


def _fish(options: Sequence[CliOption], subcommands: Sequence[Subcommand]) -> str:
    lines = []
    for one in options:
        words = ["complete -c kimi-tui"]
        words += [f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in one.flags]
        if one.choices:
            words.append(f"-x -a {_quote(' '.join(one.choices))}")
        elif one.value_kind != "nothing":
            words.append("-x" if one.value_kind == "text" else "-r -F")
        lines.append(f"{' '.join(words)} -d {_quote(one.help)}")
    for sub in subcommands:
        lines.append(f"complete -c kimi-tui -n __fish_use_subcommand -a {sub.name} -d {_quote(sub.help)}")
        here = f"complete -c kimi-tui -n '__fish_seen_subcommand_from {sub.name}' -f"
        lines += [f"{here} -a {word} -d {_quote(help_)}" for word, help_ in sub.subcommands]
    return "\n".join([*lines, ""])


def _names(sub: Subcommand) -> str:
    return " ".join(word for word, _ in sub.subcommands)


def _zsh_descriptions(choices: Iterable[tuple[str, str]]) -> list[str]:
    return [_quote(f"{word}[{_zsh_text(help_)}]") for word, help_ in choices]


def _zsh_text(text: str) -> str:
    return "".join(f"\\{character}" if character in "[]:\\" else character for character in text)


def _quote(text: str) -> str:
    """Return `text` as a single-quoted shell word."""
    return "'" + text.replace("'", "’") + "'"
