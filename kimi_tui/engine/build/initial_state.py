"""Initial state of a session: its saved state, overridden by its options."""

from collections.abc import Collection
from pathlib import Path

from kimi_tui.agentspec.loader import load_agent_spec
from kimi_tui.agentspec.project_agents import load_agent_by_name
from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.errors import KimiTuiError
from kimi_tui.base.message_text import msg
from kimi_tui.compaction.trigger import CompactionTrigger
from kimi_tui.engine.build.compaction_strategy import load_strategy
from kimi_tui.engine.build.injection import Dependencies
from kimi_tui.engine.build.tool_factory import BUILTIN_TOOLS
from kimi_tui.engine.models.model_pool import ModelPool, ModelSelection
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.session.plan_file import PlanFile
from kimi_tui.history.session import Session
from kimi_tui.soul.compactor import CompactionConfig
from kimi_tui.soul.limits import Limits, LoopLimits
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.tools.plan.plan_mode import PlanMode


def initial_dirs(options: EngineOptions, session: Session) -> tuple[Path, ...]:
    """Return the additional directories of this run and, if they still exist, of earlier runs."""
    earlier = (Path(path) for path in session.state.additional_dirs)
    return tuple(dict.fromkeys((*options.additional_dirs, *filter(Path.is_dir, earlier))))


DEFAULT_AGENT = "default"


def initial_agent(options: EngineOptions, session: Session) -> str:
    """Return the name of the requested agent or of the session's previous agent; empty for an agent file."""
    if options.agent_file is not None:
        return ""
    return options.agent or session.state.agent or DEFAULT_AGENT


def initial_spec(options: EngineOptions, session: Session, untrusted: Collection[Path]) -> ResolvedAgentSpec:
    """Return the spec of the initial agent. Raises ConfigError, also for a project's `untrusted` agent."""
    if options.agent_file is not None:
        return load_agent_spec(options.agent_file, known_tools=BUILTIN_TOOLS)
    return load_agent_by_name(
        initial_agent(options, session),
        work_dir=session.work_dir,
        data_dir=options.data_dir,
        known_tools=BUILTIN_TOOLS,
        untrusted=untrusted,
    )


def initial_runtime_settings(
    models: ModelPool, options: EngineOptions, session: Session, spec: ResolvedAgentSpec
) -> RuntimeSettings:
    """Return the model and modes: those requested, or the session's previous ones. Raises ModelNotSet."""
    selection = ModelSelection(
        requested=options.model,
        last_used=session.state.model,
        agent_default=spec.model,
        demo=options.demo,
        demo_if_unconfigured=options.interactive,
    )
    return RuntimeSettings(
        models.resolve_initial_if_any(selection)
        if options.allow_no_model
        else models.resolve_initial(selection),
        requested_effort=options.thinking or options.settings.default_thinking,
        afk=options.afk,
        yolo=options.yolo
        or (options.settings.default_yolo if is_new(session) else options.interactive and session.state.yolo),
    )


def thinking_problems(settings: RuntimeSettings, options: EngineOptions) -> tuple[KimiTuiError, ...]:
    """Return a problem if the model doesn't have the thinking level that the options request."""
    if settings.llm is None or options.thinking is None or settings.effort == options.thinking:
        return ()
    name = settings.llm.name
    if not settings.thinking_levels:
        return (
            KimiTuiError(
                msg("The model {name} doesn't support thinking.", name=name),
                hint=msg("The thinking level “{level}” has no effect.", level=options.thinking),
            ),
        )
    return (
        KimiTuiError(
            msg(
                "The model {name} doesn't have the thinking level “{level}”.",
                name=name,
                level=options.thinking,
            ),
            hint=msg("The model uses “{level}” instead.", level=settings.effort),
        ),
    )


def is_new(session: Session) -> bool:
    """Return whether nothing of the session has been stored yet."""
    return not session.state.updated and not session.context_file.exists()


def initial_plan_mode(plan: PlanFile, options: EngineOptions, session: Session) -> PlanMode:
    """Return the requested plan mode, or the session's previous one."""
    earlier = options.settings.default_plan_mode if is_new(session) else session.state.plan_mode
    is_on = earlier if options.plan is None else options.plan
    return PlanMode(plan.path, is_on=is_on)


def build_limits(options: EngineOptions) -> Limits:
    """Return the limits of each turn."""
    loop = options.settings.loop_control
    return Limits(
        max_steps=loop.max_steps_per_turn,
        max_attempts=loop.max_retries_per_step,
        max_cost_usd=options.max_cost_usd,
        loop_limits=LoopLimits(warn_after=loop.repetition_note_after, stop_after=loop.repetition_stop_after),
    )


def build_compaction_config(options: EngineOptions, dependencies: Dependencies) -> CompactionConfig:
    """Return the compaction strategy and its trigger. Raises ConfigError for an invalid strategy."""
    loop = options.settings.loop_control
    return CompactionConfig(
        strategy=options.compaction or load_strategy(options.settings.compaction.strategy, dependencies),
        trigger=CompactionTrigger(
            reserved_context_size=loop.reserved_context_size, ratio=loop.compaction_trigger_ratio
        ),
    )
