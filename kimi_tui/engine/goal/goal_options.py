"""Options of `/goal`."""

from kimi_tui.base.errors import UsageError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import msg

_USAGE = msg(
    "Type a command that passes or fails, such as /goal pytest -q. Limits come first, as in --turns 5."
)


@frozen(kw_only=True)
class GoalOptions:
    """A goal and its limits."""

    check: str
    """The command that has to pass."""
    task: str = ""
    """What the agent should do first; empty if only the check has to pass."""
    max_turns: int = 10
    max_time_s: float = 3_600.0
    max_cost_usd: float | None = None


def parse_goal(argument: str) -> GoalOptions:
    """Return the goal of `/goal ARGUMENT`. A task may follow after an empty line. Raises UsageError."""
    argument, _, task = argument.strip().partition("\n\n")
    rest, turns, time_s, cost = argument.strip(), 10, 3_600.0, None
    while rest.startswith("--"):
        name, _, rest = rest.partition(" ")
        value, _, rest = rest.strip().partition(" ")
        rest = rest.strip()
        try:
            number = float(value)
        except ValueError:
            raise UsageError("A limit of /goal needs a number.", hint=_USAGE) from None
        if not 0 < number < 1e9:
            raise UsageError("A limit of /goal must be greater than 0.", hint=_USAGE)
        match name:
            case "--turns":
                turns = max(1, int(number))
            case "--time":
                time_s = number * 60
            case "--cost":
                cost = number
            case _:
                raise UsageError(
                    "The limits of /goal are --turns, --time (minutes) and --cost (USD).", hint=_USAGE
                )
    if not rest:
        raise UsageError("/goal requires a command.", hint=_USAGE)
    return GoalOptions(check=rest, task=task.strip(), max_turns=turns, max_time_s=time_s, max_cost_usd=cost)
