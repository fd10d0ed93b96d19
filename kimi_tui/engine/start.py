"""The start of a session: what its options ask for, over what it was left with."""

from pathlib import Path

from kimi_tui.agentspec.foreign import named_agent_spec
from kimi_tui.agentspec.loading import load_agent_spec
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.compaction.trigger import Trigger
from kimi_tui.engine.injection import Collaborators
from kimi_tui.engine.models import Models, ModelWish
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.plan_file import PlanFile
from kimi_tui.engine.strategy import named_strategy
from kimi_tui.engine.toolbox import BUILTIN_TOOLS
from kimi_tui.history.session import Session
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.compacting import Compaction
from kimi_tui.soul.limits import Limits, RepetitionLimits
from kimi_tui.tools.plan.mode import PlanMode


def starting_dirs(options: EngineOptions, session: Session) -> tuple[Path, ...]:
    """The folders added now and in earlier runs of the session, as far as they are still there."""
    earlier = (Path(path) for path in session.state.additional_dirs)
    return tuple(dict.fromkeys((*options.additional_dirs, *filter(Path.is_dir, earlier))))


DEFAULT_AGENT = "default"


def starting_agent(options: EngineOptions, session: Session) -> str:
    """The name of the agent that is asked for, else of the session's own; empty for one from a file."""
    if options.agent_file is not None:
        return ""
    return options.agent or session.state.agent or DEFAULT_AGENT


def starting_spec(options: EngineOptions, session: Session) -> ResolvedAgentSpec:
    """That agent. Raises ConfigError."""
    if options.agent_file is not None:
        return load_agent_spec(options.agent_file, known_tools=BUILTIN_TOOLS)
    return named_agent_spec(
        starting_agent(options, session),
        work_dir=session.work_dir,
        share_dir=options.share_dir,
        known_tools=BUILTIN_TOOLS,
    )


def starting_behaviour(
    models: Models, options: EngineOptions, session: Session, spec: ResolvedAgentSpec
) -> Behaviour:
    """The model and its modes: what is asked for, else what the session last had. Raises ModelNotSet."""
    wish = ModelWish(
        asked_for=options.model,
        last_used=session.state.model,
        of_agent=spec.model,
        demo=options.demo,
        demo_when_nothing_is_configured=options.interactive,
    )
    return Behaviour(
        models.starting_if_any(wish) if options.may_lack_model else models.starting(wish),
        thinking=options.settings.default_thinking if options.thinking is None else options.thinking,
        yolo=options.yolo or (options.interactive and session.state.yolo),
    )


def starting_plan_mode(plan: PlanFile, options: EngineOptions, session: Session) -> PlanMode:
    """Plan mode as asked for, else as the session was left."""
    is_on = session.state.plan_mode if options.plan is None else options.plan
    return PlanMode(plan.path, is_on=is_on)


def limits_of(options: EngineOptions) -> Limits:
    """What bounds each turn."""
    loop = options.settings.loop_control
    return Limits(
        max_steps=loop.max_steps_per_turn,
        max_attempts=loop.max_retries_per_step,
        max_cost_usd=options.max_cost_usd,
        repetition=RepetitionLimits(
            told_after=loop.repetition_note_after, stopped_after=loop.repetition_stop_after
        ),
    )


def compaction_of(options: EngineOptions, collaborators: Collaborators) -> Compaction:
    """How the conversation is made shorter, and when. Raises ConfigError for an unknown strategy."""
    loop = options.settings.loop_control
    return Compaction(
        strategy=options.compaction or named_strategy(options.settings.compaction.strategy, collaborators),
        trigger=Trigger(
            reserved_context_size=loop.reserved_context_size, ratio=loop.compaction_trigger_ratio
        ),
    )
