"""A plan: what going back would do to each file, before anything is done."""

from dataclasses import dataclass, field
from typing import Literal

from kimi_tui.history.snapshots.entry import Entry
from kimi_tui.wire.timeline import WhoChanged

Action = Literal["restore", "delete", "recreate", "merge", "conflict", "keep", "not covered"]
"""`restore` an earlier content; `delete` what the agent made; `recreate` what it deleted; `merge`: you
edited it too and both fit together; `conflict`: they don't, or it stands in the way of what you made, so that
it is kept unless ticked; `keep`: only you changed it, so that it is kept unless ticked; `not covered`: what
it was is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """What the plan has for one path."""

    path: str
    action: Action
    now: Entry | None
    then: Entry | None
    """What it will be if the item is carried out."""
    added: int = 0
    """Lines that carrying it out adds to what is there now."""
    removed: int = 0
    note: str = ""
    """Why, where that isn't plain."""
    by: WhoChanged = ""
    """Who changed it since."""

    @property
    def is_ticked(self) -> bool:
        """Whether it is carried out unless the user says otherwise."""
        return self.action in {"restore", "delete", "recreate", "merge"}

    @property
    def can_be_ticked(self) -> bool:
        """Whether it can be carried out."""
        return self.action != "not covered"


@dataclass(frozen=True, slots=True)
class Plan:
    """What going from the state `head` to `target` would do."""

    target: str
    head: str
    items: tuple[PlanItem, ...] = ()
    commands: tuple[str, ...] = field(default=())
    """The shell commands that the agent ran since: what they did elsewhere can't be taken back."""
