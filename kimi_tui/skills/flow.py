"""Flow skills: a SKILL.md with `type: flow` and a Mermaid or D2 flowchart from BEGIN to END.

Each node is a prompt. At a node with several edges, the model chooses one by its label.
"""

import re
from collections.abc import Iterator, Mapping

from kimi_tui.base.errors import ConfigError
from kimi_tui.base.frozen import frozen
from kimi_tui.base.message_text import MessageText, msg

BEGIN, END = "BEGIN", "END"
_FENCE = re.compile(r"^```(mermaid|d2)[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
_NODE = re.compile(r"\s*(?P<id>\w[\w-]{0,63})\s*(?P<text>[\[({]{1,2}[^\n]*?[\])}]{1,2}(?=\s*(?:$|[-=&;|]))|)")
_ARROW = re.compile(
    r"\s*(?:--\s*(?P<inner>[^->|\n]+?)\s*-->|[-.=]{1,5}>)\s*(?:\|(?P<outer>[^|\n]*)\|)?", re.ASCII
)
_IGNORED = re.compile(
    r"^(?:%%|flowchart\b|graph\b|classDef\b|class\b|style\b|linkStyle\b|click\b|direction\b)"
)
_D2_EDGE = re.compile(r"(?P<source>[^:#]+?)\s*->\s*(?P<target>[^:#]+?)\s*(?::\s*(?P<label>.+))?")
_D2_NODE = re.compile(r"(?P<id>[^:#>.{}]+?)\s*:\s*(?P<text>.+)")
_CHOICE_REQUEST = "End your answer with <choice>THE CHOICE</choice>."
_CHOICE = re.compile(r"<choice>([^<]*)</choice>")


@frozen
class FlowEdge:
    """Edge to the node `target`. A label identifies an edge among the edges of its node."""

    target: str
    label: str = ""


@frozen
class Flow:
    """A flowchart. `texts` has the text of each node by id; begin and end have no prompt."""

    begin: str
    end: str
    texts: Mapping[str, str]
    edges: Mapping[str, tuple[FlowEdge, ...]]

    def prompt(self, node: str) -> str:
        """Return the prompt of a node. If the node has several edges, the prompt asks for a choice."""
        edges = self.edges.get(node, ())
        if len(edges) < 2:
            return self.texts[node]
        labels = "\n".join(f"- {edge.label}" for edge in edges)
        return f"{self.texts[node]}\n\nChoose one:\n{labels}\n\n{_CHOICE_REQUEST}"

    def next_node(self, node: str, answer: str) -> str | None:
        """Return the node that the model's `answer` chooses after `node`. None without a valid choice."""
        edges = self.edges.get(node, ())
        if len(edges) == 1:
            return edges[0].target
        choices = _CHOICE.findall(answer)
        wanted = choices[-1].strip() if choices else None
        return next((edge.target for edge in edges if edge.label == wanted), None)


def parse_flow(body: str, *, name: str) -> Flow:
    """Return the flow in the first Mermaid or D2 block of a skill's text. Raises ConfigError."""
    block = _FENCE.search(body)
    if block is None:
        raise _error(name, msg("It has no mermaid or d2 block"))
    texts: dict[str, str] = {}
    edges: dict[str, list[FlowEdge]] = {}
    read = _read_mermaid if block[1] == "mermaid" else _read_d2
    for source, label, target in read(block[2], texts):
        edges.setdefault(source, []).append(FlowEdge(target, label))
    begin = _only(texts, BEGIN, name)
    end = _only(texts, END, name)
    flow = Flow(begin, end, texts, {node: tuple(each) for node, each in edges.items()})
    _check(flow, name)
    return flow


def _read_mermaid(text: str, texts: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    for line in filter(None, (raw.split("%%")[0].strip().rstrip(";") for raw in text.split("\n"))):
        if _IGNORED.match(line):
            continue
        position, source, label = 0, "", ""
        while (node := _NODE.match(line, position)) is not None:
            if shown := node["text"].strip("[](){}").strip().strip('"').strip():
                texts[node["id"]] = shown
            texts.setdefault(node["id"], node["id"])
            if source:
                yield source, label, node["id"]
            source, position = node["id"], node.end()
            arrow = _ARROW.match(line, position)
            if arrow is None:
                break
            label, position = (arrow["outer"] or arrow["inner"] or "").strip().strip('"'), arrow.end()


def _read_d2(text: str, texts: dict[str, str]) -> Iterator[tuple[str, str, str]]:
    for line in filter(None, (raw.split("#")[0].strip() for raw in text.split("\n"))):
        if (edge := _D2_EDGE.fullmatch(line)) is not None:
            for node in (edge["source"], edge["target"]):
                texts.setdefault(node, node)
            yield edge["source"], (edge["label"] or "").strip().strip('"'), edge["target"]
        elif (node := _D2_NODE.fullmatch(line)) is not None:
            texts[node["id"]] = node["text"].strip().strip('"')


def _only(texts: Mapping[str, str], label: str, name: str) -> str:
    found = [node for node, text in texts.items() if text.upper() == label]
    if len(found) != 1:
        raise _error(name, msg("It must have one {label} node", label=label))
    return found[0]


def _check(flow: Flow, name: str) -> None:
    """Check the nodes that can be reached. Raises ConfigError."""
    reached, waiting = set[str](), [flow.begin]
    while waiting:
        node = waiting.pop()
        if node in reached:
            continue
        reached.add(node)
        edges = flow.edges.get(node, ())
        labels = {edge.label for edge in edges}
        if len(edges) > 1 and ("" in labels or len(labels) < len(edges)):
            raise _error(name, msg("The edges of {node} need different labels", node=node))
        if not edges and node != flow.end:
            raise _error(name, msg("{node} leads nowhere", node=node))
        waiting += [edge.target for edge in edges]
    if flow.end not in reached:
        raise _error(name, msg("{node} can't be reached", node=END))


def _error(name: str, problem: MessageText) -> ConfigError:
    return ConfigError(
        msg("Can't run the flow of the skill {name}. {problem}.", name=name, problem=problem),
        hint="Draw a flowchart from BEGIN to END in a ```mermaid block.",
    )
