"""Flowcharts of flow skills."""

import pytest

from kimi_tui.base.errors import ConfigError
from kimi_tui.skills.flow import FlowEdge, parse_flow

MERMAID = """
Text before.

```mermaid
flowchart TD
    A([BEGIN]) --> B[Write the "code"] %% comment
    B --> C{Do the tests pass?}
    C -->|no| B
    C -- yes --> D([END])
    style B fill:#f9f
```
"""
D2 = """
```d2
BEGIN -> write
write: Write the code
write -> check
check: Do the tests pass?
check -> write: no
check -> END: yes
```
"""


@pytest.mark.parametrize("body", [MERMAID, D2], ids=["mermaid", "d2"])
def test_a_flow_has_prompts_and_labeled_edges(body: str) -> None:
    flow = parse_flow(body, name="x")
    write = flow.edges[flow.begin][0].target
    check = flow.edges[write][0].target
    assert "Write the" in flow.prompt(write)
    assert flow.edges[check] == (FlowEdge(write, "no"), FlowEdge(flow.end, "yes"))


def test_the_model_chooses_between_several_edges() -> None:
    flow = parse_flow(MERMAID, name="x")
    assert "- no\n- yes" in flow.prompt("C")
    assert flow.next_node("C", "Well. <choice>no</choice> <choice> yes </choice>") == "D"
    assert flow.next_node("C", "I can't decide") is None
    assert flow.next_node("C", "<choice>maybe</choice>") is None
    assert flow.next_node("B", "any text") == "C"


def test_several_edges_on_a_line_are_a_path() -> None:
    flow = parse_flow("```mermaid\ngraph LR\nA([BEGIN]) --> B[one] --> C[two] --> D([END])\n```", name="x")
    assert [flow.texts[it] for it in "BC"] == ["one", "two"]
    assert flow.edges["C"] == (FlowEdge("D"),)


@pytest.mark.parametrize(
    ("chart", "problem"),
    [
        ("A[one] --> B([END])", "one BEGIN node"),
        ("A([BEGIN]) --> B[one]", "one END node"),
        ("A([BEGIN]) --> B[one]\nC[two] --> D([END])", "leads nowhere"),
        ("A([BEGIN]) --> B[one]\nB --> C([END])\nB --> A", "different labels"),
    ],
)
def test_a_flow_that_cannot_end_is_an_error(chart: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        parse_flow(f"```mermaid\nflowchart TD\n{chart}\n```", name="x")


def test_a_skill_without_a_chart_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no mermaid or d2 block"):
        parse_flow("Just text.", name="x")
