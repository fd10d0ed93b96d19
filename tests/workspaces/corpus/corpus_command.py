"""One command of the corpus, and the templates that commands are made from."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Values = Sequence[str] | Mapping[str, str]
"""Values of a parameter. A mapping's keys are used in names, for values that are long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusCommand:
    """A command line for bash, run at the root of a copy of the sample project."""

    name: str
    script: str
    setup: str = ""
    """A script that prepares the copy first. What it writes gets an old modification time."""
    root_setup: str = ""
    """A script that prepares the copy as root. Without root, the command is skipped."""
    is_awkward: bool = False
    """Whether it does what developers rarely do."""
    needs: tuple[str, ...] = ()
    """Programs that it needs. Without one of them, the command is skipped."""
    time_limit_s: float = 60.0
    """It is killed after this time."""
    awaits: str = ""
    """A file that a process writes after the command has ended."""


def expand(
    name: str,
    script: str,
    /,
    *,
    setup: str = "",
    root_setup: str = "",
    is_awkward: bool = False,
    needs: str = "",
    time_limit_s: float = 60.0,
    awaits: str = "",
    **parameters: Values,
) -> list[CorpusCommand]:
    """Return a command for each combination of the parameters.

    `@file@` in the script, the setup or the name stands for the value of the parameter `file`. A name that doesn't
    mention a parameter gets its label at the end.
    """
    commands: list[CorpusCommand] = []
    for choice in itertools.product(*(_labeled(values) for values in parameters.values())):
        labels = {key: label for key, (label, _) in zip(parameters, choice, strict=True)}
        values = {key: value for key, (_, value) in zip(parameters, choice, strict=True)}
        suffix = [label for key, label in labels.items() if f"@{key}@" not in name]
        commands.append(
            CorpusCommand(
                name=" ".join([_substitute(name, labels), *suffix]),
                script=_substitute(script, values),
                setup=_substitute(setup, values),
                root_setup=_substitute(root_setup, values),
                is_awkward=is_awkward,
                needs=tuple(_substitute(needs, values).split()),
                time_limit_s=time_limit_s,
                awaits=_substitute(awaits, values),
            )
        )
    return commands


def table(
    group: str,
    rows: Mapping[str, str | tuple[str, str]],
    *,
    is_awkward: bool = False,
    needs: str = "",
    time_limit_s: float = 60.0,
) -> list[CorpusCommand]:
    """Return a command for each row: a name with its script, or with its setup and its script."""
    commands: list[CorpusCommand] = []
    for name, row in rows.items():
        setup, script = ("", row) if isinstance(row, str) else row
        commands += expand(
            f"{group} {name}",
            script,
            setup=setup,
            is_awkward=is_awkward,
            needs=needs,
            time_limit_s=time_limit_s,
        )
    return commands


def _labeled(values: Values) -> list[tuple[str, str]]:
    if isinstance(values, Mapping):
        return list(values.items())
    return [(value, value) for value in values]


def _substitute(text: str, values: Mapping[str, str]) -> str:
    """Replace the parameters, also those within values."""
    replaced = re.sub(r"@([a-z_]+)@", lambda match: values.get(match[1], match[0]), text)
    return replaced if replaced == text else _substitute(replaced, values)
