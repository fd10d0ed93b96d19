"""Builder of a session's core: the objects that depend only on options, settings and saved state."""

import os
from contextlib import AsyncExitStack
from pathlib import Path

from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.assets import asset_path
from kimi_tui.base.child_environment import ChildEnvironment, FilteredEnvironment
from kimi_tui.base.frozen import frozen
from kimi_tui.base.redaction import register_secrets, secret_values
from kimi_tui.config.credentials import secrets_of
from kimi_tui.config.settings import Settings
from kimi_tui.engine.build.initial_rules import initial_rules
from kimi_tui.engine.build.initial_state import (
    build_limits,
    initial_agent,
    initial_dirs,
    initial_plan_mode,
    initial_runtime_settings,
    initial_spec,
)
from kimi_tui.engine.build.project_review import ProjectReview, review_project
from kimi_tui.engine.models.model_pool import ModelPool
from kimi_tui.engine.models.spending_gate import build_spending_gate
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.session.grant_store import SessionGrantStore
from kimi_tui.engine.session.hooks import SessionHooks, build_session_hooks
from kimi_tui.engine.session.modes import Modes
from kimi_tui.engine.session.open import OpenedSession
from kimi_tui.engine.session.plan_file import PlanFile
from kimi_tui.engine.session.usage import SessionUsage
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.permission.sensitive_reads import SensitiveReads
from kimi_tui.skills.skills import skill_folders
from kimi_tui.soul.limits import Limits
from kimi_tui.soul.runtime_settings import RuntimeSettings
from kimi_tui.soul.wire_approval import WireApproval
from kimi_tui.tools.path_scope import PathScope
from kimi_tui.wire.channel import Wire


@frozen(kw_only=True)
class SessionCore:
    """Objects that all other parts of a session use."""

    wire: Wire
    options: EngineOptions
    settings: Settings
    session: Session
    context: Context
    workspace: PathScope
    project: ProjectReview
    agent_name: str
    """Empty for an agent from a file."""
    spec: ResolvedAgentSpec
    models: ModelPool
    runtime_settings: RuntimeSettings
    modes: Modes
    session_usage: SessionUsage
    limits: Limits
    approval: WireApproval
    environment: ChildEnvironment
    """Environment of the programs that the session starts."""
    hooks: SessionHooks


def build_core(
    wire: Wire, options: EngineOptions, opened: OpenedSession, resources: AsyncExitStack
) -> SessionCore:
    """Build the core of an open session. Raises ConfigError and ModelNotSet."""
    settings, session = options.settings, opened.session
    register_secrets((*secret_values(os.environ), *secrets_of(settings)))
    workspace = PathScope(session.work_dir, initial_dirs(options, session))
    project = review_project(options, session.work_dir)
    spec = initial_spec(options, session, project.untrusted)
    gate = build_spending_gate(settings.budget, options.data_dir)
    if gate is not None:
        resources.callback(gate.close)
    models = ModelPool(settings, session_id=session.id, gate=gate)
    resources.push_async_callback(models.aclose)
    plan = PlanFile(options.data_dir, session.id)
    runtime_settings = initial_runtime_settings(models, options, session, spec)
    runtime_settings.plan_mode = initial_plan_mode(plan, options, session)
    environment = FilteredEnvironment(models, keep=settings.sandbox.env)
    approval = WireApproval(
        wire=wire,
        runtime_settings=runtime_settings,
        rules=initial_rules(
            settings.permissions, workspace, readable_dirs=_readable_dirs(options, session, project)
        ),
        grant_store=SessionGrantStore(session, data_dir=options.data_dir),
        sensitive_reads=SensitiveReads(session.state.sensitive_reads),
        runs_first=settings.permissions.run_first,
    )
    return SessionCore(
        wire=wire,
        options=options,
        settings=settings,
        session=session,
        context=opened.context,
        workspace=workspace,
        project=project,
        agent_name=initial_agent(options, session),
        spec=spec,
        models=models,
        runtime_settings=runtime_settings,
        modes=Modes(
            session=session, runtime_settings=runtime_settings, plan=plan, approval=approval, sender=wire
        ),
        session_usage=SessionUsage(session),
        limits=build_limits(options),
        approval=approval,
        environment=environment,
        hooks=build_session_hooks(settings.hooks, session, wire, environment=environment),
    )


def _readable_dirs(options: EngineOptions, session: Session, project: ProjectReview) -> tuple[Path, ...]:
    """Return the directories outside of the working directory that the session may read.

    The session shows the model paths in these directories, or `[sandbox]` opens them to commands.
    """
    skills = options.skills_dirs or skill_folders(
        work_dir=session.work_dir,
        data_dir=options.data_dir,
        home=options.home_dir or Path.home(),
        extra=(session.work_dir / Path(each).expanduser() for each in options.settings.extra_skill_dirs),
    )
    trusted = (
        folder for folder in skills if not any(path.is_relative_to(folder) for path in project.untrusted)
    )
    names = ("agents", "commands", "plans", "skills")
    outputs = (session.dir / "output", session.dir / "tasks")
    opened = (session.work_dir / Path(each).expanduser() for each in options.settings.sandbox.write)
    return (asset_path("agents"), *outputs, *(options.data_dir / name for name in names), *trusted, *opened)
