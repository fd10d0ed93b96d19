"""What the demo model says, in English and Chinese."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """The demo's sentences in one language. Braces take text that `demo_markdown` made fit for Markdown."""

    hello: str
    guide: str
    unknown: str
    connect: str
    pictures: str

    reading: str
    editing: str
    writing: str
    running: str
    searching: str
    listing: str
    planning: str
    thinking: str
    asking: str
    lacking: str
    asking_here: str
    thought: str
    """What it thinks before a part."""
    thought_of_end: str

    was_read: str
    was_edited: str
    was_written: str
    was_run: str
    was_found: str
    was_listed: str
    was_planned: str
    was_thought: str
    was_asked: str
    was_done: str
    """Of a tool that it doesn't know."""
    empty: str
    failed: str
    refused: str
    left_undone: str
    finished: str
    signature: str
    summary: str
    """What stands above the user's requests when the conversation is summarised."""

    tour_begin: str
    tour_write: str
    tour_edit: str
    tour_run: str
    tour_end: str
    tour_back: str
    """What the visitor does at the end: takes the change back, and that back."""
    tour_stopped: str
    tour_clean: str
    tour_impossible: str
    tour_thought: str
    tour_todos: tuple[str, str, str]
    and_between: str


def words_for(request: str) -> Words:
    """The sentences in the language that `request` is written in."""
    return CHINESE if _CHINESE.search(request) and not _KANA.search(request) else ENGLISH


_CHINESE = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile("[\u3040-\u30ff]")

_KEYS = """```sh
export KIMI_API_KEY=sk-...        # {kimi}
export OPENAI_API_KEY=sk-...      # {openai}
export ANTHROPIC_API_KEY=sk-...   # {anthropic}
kimi-tui
```"""

ENGLISH = Words(
    hello=(
        "Hello! I'm the **demo** of kimi-tui. There is no language model behind me, but the tools are real: "
        "I read, edit and run what you tell me to, and you are asked first.\n\n"
        "Type `tour` and I'll show you around in two minutes, or `help` for the words I know."
    ),
    guide=(
        "I'm the **demo** of kimi-tui: there is no language model behind me{unknown}. "
        "What I do understand, I really do: tools run, files change, and you are asked first.\n\n"
        "Try one of these:\n\n"
        "- `tour`: in two minutes I write, edit and run a small file\n"
        "- `read README.md then search TODO`\n"
        "- `todo find it; fix it; test it then run ls -la`\n"
        "- `write notes.txt: hello then edit notes.txt: hello -> goodbye`\n\n"
        "I also know `list FOLDER`, `think ...` and `ask QUESTION? this; that`. Join them with `then`."
    ),
    unknown=", so that is more than I can answer",
    connect=(
        "**To work with a real model**, type `/login`, or set one of these keys and start again:\n\n"
        + _KEYS.format(
            kimi="Kimi", openai="OpenAI, or a server like it: OPENAI_BASE_URL", anthropic="Anthropic"
        )
        + "\n\nOr configure models in `~/.kimi-tui/config.toml`; `kimi-tui --help-all` lists all options."
    ),
    pictures="I can't see pictures: I'm a demo. A real model that takes images would look at yours.",
    reading="I'll read {what}.",
    editing="I'll edit {what}.",
    writing="I'll write {what}.",
    running="I'll run {what}.",
    searching="I'll search for {what}.",
    listing="I'll list {what}.",
    planning="I'll set the todo list.",
    thinking="Let me think.",
    asking="I have a question.",
    lacking="This agent has no {tool} tool, so I leave this out: {part}",
    asking_here="This agent has no tool for questions, so I ask you here: **{question}**",
    thought="The request is of words that I know. Part {number} of {count} is {part}, so I need {tool}.",
    thought_of_end="I'm a demo and have no thoughts of my own; a real model would weigh its answer here.",
    was_read="{what} begins like this:",
    was_edited="{what} is edited.",
    was_written="{what} is written.",
    was_run="{what} ran and printed:",
    was_found="For {what} I found:",
    was_listed="{what} holds:",
    was_planned="The todo list is set.",
    was_thought="I thought about it.",
    was_asked="You answered:",
    was_done="{tool} is done:",
    empty="(nothing)",
    failed="{tool} failed: {note}",
    refused="{tool} was not allowed: {note}",
    left_undone="So I stop here. Not done:",
    finished="That's all you asked for.",
    signature="*(I'm the demo: no model, real tools. Type `tour` or `help` for more.)*",
    summary="I'm a demo and can't summarise. This is what the user asked for until now:",
    tour_begin=(
        "Welcome to the **demo tour** of kimi-tui. I'll write a small program, edit it and run it; the tools "
        "are real, only I am not a model.\n\nFirst a todo list, and a look at which file names are free."
    ),
    tour_write=(
        "Now I write {file}. Unless you allowed it beforehand, you are asked first, and see exactly what "
        "would change."
    ),
    tour_edit="{file} is on the disk. Next an edit: look at the diff, with the old line and the new one.",
    tour_run="Edited. Now I run it: for a command, too, your consent covers exactly what you see.",
    tour_end=(
        "It printed:\n\n{output}\n\nThat was a plan, a new file, an edit and a command, each with "
        "your consent. A real model works in the same way, only it decides by itself what to do."
    ),
    tour_back=(
        "**Now it's your turn: take it back.** Everything so far is on the timeline.\n\n"
        "1. Press `f3`. Go down to your word `tour` and press `f`: you see that {file} would go.\n"
        "2. Press `enter`: {file} is not on the disk any more.\n"
        "3. Type `/undo`, and press `enter` until it is done: {file} is back, as it was.\n\n"
        "`enter` in place of `f` takes the conversation back as well. Nothing is ever lost by it."
    ),
    tour_stopped="{tool} came to nothing: {note}\n\nSo the demo tour ends here.",
    tour_clean="To clean up, type `run rm {name}`.",
    tour_impossible="The demo tour writes, edits and runs a file, but this agent has no tool {tools}.",
    tour_thought="The user wants the tour. I'm a demo, so I follow its script: {stage}.",
    tour_todos=("Write a small program", "Edit it", "Run it"),
    and_between=" and ",
)

CHINESE = Words(
    hello=(
        "你好！我是 kimi-tui 的**演示**模型。我背后没有语言模型，但工具是真的：你让我读、改、运行什么，"
        "我就照做，而且会先征求你的同意。\n\n"
        "输入 `tour`，我用两分钟带你转一圈；输入 `help`，看看我听得懂哪些话。"
    ),
    guide=(
        "我是 kimi-tui 的**演示**模型（demo）：背后没有语言模型{unknown}。"
        "但我听得懂的，我会真的去做：运行工具、修改文件，并且事先征求你的同意。\n\n"
        "可以试试：\n\n"
        "- `tour`：两分钟导览，我会写、改并运行一个小文件\n"
        "- `读 README.md 然后 搜索 TODO`\n"
        "- `待办 找到它；修好它；测试它 然后 运行 ls -la`\n"
        "- `写 notes.txt: hello 然后 改 notes.txt: hello -> goodbye`\n\n"
        "我还懂 `列出 目录`、`想 ……` 和 `问 问题？这个；那个`，用 `然后` 连接。"
        "英文的 `read`、`edit`、`run` 也行。"
    ),
    unknown="，所以这句话我答不上来",
    connect=(
        "**要使用真正的模型**，输入 `/login`；或者设置下面任意一个密钥，再重新启动：\n\n"
        + _KEYS.format(kimi="Kimi", openai="OpenAI 或兼容的服务（OPENAI_BASE_URL）", anthropic="Anthropic")
        + "\n\n也可以在 `~/.kimi-tui/config.toml` 里配置自己的模型；`kimi-tui --help-all` 会列出全部选项。"
    ),
    pictures="我看不了图片：我只是演示。支持图片的真实模型可以看。",
    reading="我来读 {what}。",
    editing="我来改 {what}。",
    writing="我来写 {what}。",
    running="我来运行 {what}。",
    searching="我来搜索 {what}。",
    listing="我来列出 {what}。",
    planning="我来设置待办列表。",
    thinking="让我想一想。",
    asking="我有一个问题。",
    lacking="这个 agent 没有 {tool} 工具，所以这一部分跳过：{part}",
    asking_here="这个 agent 没有提问的工具，所以我在这里问你：**{question}**",
    thought="这些话我听得懂。第 {number} 部分（共 {count} 部分）是 {part}，需要 {tool}。",
    thought_of_end="我只是演示，没有自己的想法；真实的模型会在这里斟酌回答。",
    was_read="{what} 的开头是：",
    was_edited="{what} 已修改。",
    was_written="{what} 已写好。",
    was_run="{what} 已运行，输出：",
    was_found="{what} 的搜索结果：",
    was_listed="{what} 里有：",
    was_planned="待办列表已设置。",
    was_thought="我想过了。",
    was_asked="你的回答：",
    was_done="{tool} 已完成：",
    empty="（没有内容）",
    failed="{tool} 失败了：{note}",
    refused="{tool} 没有获准：{note}",
    left_undone="所以我停在这里。没有做的：",
    finished="你要的都做完了。",
    signature="*（我是演示模型：没有大模型，工具是真的。输入 `tour` 或 `help` 了解更多。）*",
    summary="我是演示模型，不会写总结。到目前为止用户提过这些要求：",
    tour_begin=(
        "欢迎参加 kimi-tui 的**演示导览**。我会写一个小程序，修改它，再运行它；工具是真的，"
        "只有我不是模型。\n\n先列一个待办列表，再看看哪个文件名还没被占用。"
    ),
    tour_write="现在我写 {file}。除非你事先允许，否则会先问你，并准确显示要改动的内容。",
    tour_edit="{file} 已经写到磁盘上了。接下来修改它：请看差异里的旧行和新行。",
    tour_run="改好了。现在运行它：对命令也一样，你同意的就是你看到的那一条。",
    tour_end=(
        "它输出了：\n\n{output}\n\n这就是：一个计划、一个新文件、一次修改、一条命令，每一步都经过你的同意。"
        "真实的模型也这样工作，只是由它自己决定做什么。"
    ),
    tour_back=(
        "**现在轮到你了：把它退回去。** 刚才的每一步都在时间线上。\n\n"
        "1. 按 `f3`，向下走到你输入的那一行，按 `f`：会看到 {file} 将被删除。\n"
        "2. 按 `enter`：{file} 已经不在磁盘上了。\n"
        "3. 输入 `/undo`，按 `enter` 直到完成：{file} 又回来了，和原来一样。\n\n"
        "不按 `f` 而按 `enter`，对话也一起退回。什么都不会丢。"
    ),
    tour_stopped="{tool} 没有做成：{note}\n\n所以演示导览到此为止。",
    tour_clean="要清理，请输入 `run rm {name}`。",
    tour_impossible="演示导览需要写、改、运行文件的工具，而这个 agent 缺少 {tools}。",
    tour_thought="用户想看导览。我是演示，照着脚本走：{stage}。",
    tour_todos=("写一个小程序", "修改它", "运行它"),
    and_between=" 和 ",
)
