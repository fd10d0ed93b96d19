"""The slash command /goal."""

from kimi_tui.engine.goal.goal_options import parse_goal
from kimi_tui.engine.goal.goal_runner import GoalRunner
from kimi_tui.engine.slash.registry import SlashCommand


def goal_command(runner: GoalRunner) -> SlashCommand:
    """Return the command that has the agent work until a check passes."""

    async def run(argument: str) -> None:
        await runner.run(parse_goal(argument))

    return SlashCommand(
        "goal",
        "Work until a command passes with the original tests",
        run,
        takes_turn=True,
        argument="[--turns N] [--time MINUTES] [--cost USD] COMMAND",
    )
