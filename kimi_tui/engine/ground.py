"""The ground a session stands on: what options, settings and earlier runs decide before anybody works."""

import os
from contextlib import AsyncExitStack

from kimi_tui.agentspec.spec import ResolvedAgentSpec
from kimi_tui.base.child_environment import Environment, without_values
from kimi_tui.base.secrets import keep_hidden, secrets_in
from kimi_tui.base.value import value
from kimi_tui.config.credentials import secrets_of
from kimi_tui.config.settings import Settings
from kimi_tui.engine.accounts import Accounts
from kimi_tui.engine.grants import SessionGrants
from kimi_tui.engine.models import Models
from kimi_tui.engine.modes import Modes
from kimi_tui.engine.opened import OpenedSession
from kimi_tui.engine.options import EngineOptions
from kimi_tui.engine.plan_file import PlanFile
from kimi_tui.engine.rules import starting_rules
from kimi_tui.engine.session_hooks import SessionHooks, session_hooks
from kimi_tui.engine.start import (
    limits_of,
    starting_agent,
    starting_behaviour,
    starting_dirs,
    starting_plan_mode,
    starting_spec,
)
from kimi_tui.history.context import Context
from kimi_tui.history.session import Session
from kimi_tui.soul.approval import WireApproval
from kimi_tui.soul.behaviour import Behaviour
from kimi_tui.soul.limits import Limits
from kimi_tui.tools.workspace import Workspace
from kimi_tui.wire.channel import Wire


@value(kw_only=True)
class Ground:
    """What every part of a session is built on."""

    wire: Wire
    options: EngineOptions
    settings: Settings
    session: Session
    context: Context
    workspace: Workspace
    agent_name: str
    """Empty for an agent from a file."""
    spec: ResolvedAgentSpec
    models: Models
    behaviour: Behaviour
    modes: Modes
    accounts: Accounts
    limits: Limits
    approval: WireApproval
    environment: Environment
    """What programs that the session starts see of ours."""
    hooks: SessionHooks


def lay_ground(
    wire: Wire, options: EngineOptions, opened: OpenedSession, resources: AsyncExitStack
) -> Ground:
    """The ground of a session that is opened. Raises ConfigError and ModelNotSet."""
    settings, session = options.settings, opened.session
    keep_hidden((*secrets_in(os.environ), *secrets_of(settings)))
    workspace = Workspace(session.work_dir, starting_dirs(options, session))
    spec = starting_spec(options, session)
    models = Models(settings, session_id=session.id)
    resources.push_async_callback(models.aclose)
    plan = PlanFile(options.share_dir, session.id)
    behaviour = starting_behaviour(models, options, session, spec)
    behaviour.plan_mode = starting_plan_mode(plan, options, session)
    environment = without_values(lambda: models.keys, but=settings.sandbox.env)
    return Ground(
        wire=wire,
        options=options,
        settings=settings,
        session=session,
        context=opened.context,
        workspace=workspace,
        agent_name=starting_agent(options, session),
        spec=spec,
        models=models,
        behaviour=behaviour,
        modes=Modes(session=session, behaviour=behaviour, plan=plan, send=wire.send),
        accounts=Accounts(session),
        limits=limits_of(options),
        approval=WireApproval(
            wire=wire,
            behaviour=behaviour,
            rules=starting_rules(settings.permissions, session.state.grants, workspace),
            keeper=SessionGrants(session, share_dir=options.share_dir),
        ),
        environment=environment,
        hooks=session_hooks(settings.hooks, session, wire, environment=environment),
    )
