"""Table of tokens and cost by model."""

from kimi_tui.base.token_usage import TokenUsage
from kimi_tui.frontend.text.cell_width import cell_len
from kimi_tui.frontend.text.usage import usage_table, usage_text
from kimi_tui.wire.usage import ModelUsage, UsageReport

REPORT = UsageReport(
    (
        ModelUsage("kimi-k2", TokenUsage(40_000, 3_000, 9_000), 0.25),
        ModelUsage("通义千问-a-model-with-a-long-name", TokenUsage(5_000, 200)),
    ),
    TokenUsage(45_000, 3_200, 9_000),
    0.25,
)


def test_columns_are_aligned_and_fit_the_width() -> None:
    for width in (80, 66, 40, 34):
        table = usage_table(REPORT, width)
        lines = [table.header, *table.models, table.total]
        assert len({cell_len(line) for line in lines}) == 1
        assert cell_len(table.header) <= width


def test_a_narrow_table_omits_the_columns_of_the_cache() -> None:
    assert usage_table(REPORT, 40).header.split() == ["model", "input", "output", "cost"]
    assert usage_table(REPORT, 40).models[0].split() == ["kimi-k2", "49k", "3k", "$0.25"]


def test_one_model_has_no_total() -> None:
    report = UsageReport(REPORT.models[:1], REPORT.models[0].usage, 0.25)
    assert usage_table(report, 80).total == ""


def test_the_text_has_a_line_for_each_model_and_the_total() -> None:
    title, body = usage_text(REPORT)
    assert title == "Cost"
    assert [line.split()[0] for line in body.split("\n")] == [
        "model",
        "kimi-k2",
        "通义千问-a-model-with-a-long-name",
        "total",
    ]
