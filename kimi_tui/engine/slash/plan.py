"""The slash command /plan."""

from kimi_tui.base.errors import UsageError
from kimi_tui.engine.session.modes import Modes
from kimi_tui.engine.slash.registry import SlashCommand


def plan_command(modes: Modes) -> SlashCommand:
    """Return the command that turns plan mode on and off, and shows or deletes the plan."""

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
                    raise UsageError("No plan yet.", hint="Type /plan on to have the model write one.")
                await modes.show()
            case "clear":
                await modes.clear_plan()
            case _:
                raise UsageError(
                    "/plan takes on, off, view or clear.",
                    hint="Turn plan mode on with /plan, then describe the task.",
                )

    return SlashCommand("plan", "Change nothing until a plan is approved: /plan [on|off|view|clear]", run)
