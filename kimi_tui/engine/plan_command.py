"""The slash command /plan."""

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.modes import Modes
from kimi_tui.engine.slash_book import SlashCommand


def plan_command(modes: Modes) -> SlashCommand:
    """Turns plan mode on and off, shows the plan, and forgets it."""

    async def run(argument: str) -> None:
        match argument.lower():
            case "":
                await modes.set_plan_mode(not modes.is_on)
            case "on":
                await modes.set_plan_mode(True)
            case "off":
                await modes.set_plan_mode(False)
            case "view":
                if not (await modes.read()).strip():
                    raise UsageError("There is no plan yet.", hint="/plan on has the model write one first.")
                await modes.show()
            case "clear":
                await modes.clear_plan()
            case _:
                raise UsageError(
                    "/plan takes on, off, view or clear.",
                    hint="Turn plan mode on with /plan, then say what is to be planned.",
                )

    return SlashCommand("plan", "Only read until a plan is approved: /plan [on|off|view|clear]", run)
