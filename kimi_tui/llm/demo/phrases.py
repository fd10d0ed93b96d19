"""Texts of the demo model, in English and Chinese."""

import re

from kimi_tui.base.frozen import frozen


@frozen(kw_only=True)
class Phrases:
    """The demo model's texts in one language. Values for placeholders must be formatted as Markdown."""

    greeting: str
    guide: str
    not_understood: str
    connect: str
    no_image_support: str

    reading: str
    editing: str
    writing: str
    running: str
    searching: str
    listing: str
    setting_todos: str
    thinking: str
    asking: str
    missing_tool: str
    question_without_tool: str
    thought: str
    """Thought before a part of the request."""
    final_thought: str

    read_done: str
    edit_done: str
    write_done: str
    run_done: str
    search_done: str
    list_done: str
    todo_done: str
    think_done: str
    question_done: str
    other_done: str
    """Text for tools that the demo doesn't know."""
    no_output: str
    failed: str
    rejected: str
    skipped: str
    finished: str
    signature: str
    summary: str
    """Line above the user's requests in a compaction summary."""

    tour_begin: str
    tour_write: str
    tour_edit: str
    tour_run: str
    tour_end: str
    tour_revert: str
    """Steps for the user at the end of the tour: revert the changes and undo the revert."""
    tour_more: str
    """Commands for the user at the end of the tour: bisect, and attempts."""
    tour_stopped: str
    tour_cleanup: str
    tour_missing_tools: str
    tour_thought: str
    tour_todos: tuple[str, str, str]
    conjunction: str


def phrases_for(request: str) -> Phrases:
    """Return the texts in the language of `request`."""
    return CHINESE if _CHINESE.search(request) and not _KANA.search(request) else ENGLISH


_CHINESE = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile("[\u3040-\u30ff]")

_KEYS = """```sh
export KIMI_API_KEY=sk-...        # {kimi}
export OPENAI_API_KEY=sk-...      # {openai}
export ANTHROPIC_API_KEY=sk-...   # {anthropic}
kimi-tui
```"""

ENGLISH = Phrases(
    greeting=(
        "Hello! I'm the **demo** of kimi-tui, not a language model. The tools are real, though: I read "
        "files, run commands, and change files with your approval.\n\n"
        "Type `tour` for a two-minute tour, or `help` for the commands I understand."
    ),
    guide=(
        "I'm the **demo** of kimi-tui, not a language model{unknown}. "
        "The tools are real, though: commands run, and files change with your approval.\n\n"
        "Try one of these:\n\n"
        "- `tour`: a two-minute tour in which I write, edit and run a small file\n"
        "- `read README.md then search TODO`\n"
        "- `todo find it; fix it; test it then run ls -la`\n"
        "- `write notes.txt: hello then edit notes.txt: hello -> goodbye`\n\n"
        "I also understand `list FOLDER`, `think ...` and `ask QUESTION? this; that`. "
        "Join several with `then`."
    ),
    not_understood=", so I can't answer that",
    connect=(
        "**To use a real model**, type `/login`, or set one of these API keys and restart:\n\n"
        + _KEYS.format(
            kimi="Kimi", openai="OpenAI, or a compatible server: OPENAI_BASE_URL", anthropic="Anthropic"
        )
        + "\n\nYou can also configure models in `~/.kimi-tui/config.toml`. "
        "`kimi-tui --help-all` lists all options."
    ),
    no_image_support="I'm a demo and can't see images. A real model with image support can.",
    reading="I'll read {what}.",
    editing="I'll edit {what}.",
    writing="I'll write {what}.",
    running="I'll run {what}.",
    searching="I'll search for {what}.",
    listing="I'll list {what}.",
    setting_todos="I'll update the todo list.",
    thinking="Let me think.",
    asking="I have a question.",
    missing_tool="This agent has no {tool} tool, so I'm skipping this: {part}",
    question_without_tool="This agent has no tool for questions, so I'm asking here: **{question}**",
    thought="I understand this request. Part {number} of {count} is {part}, so I need {tool}.",
    final_thought="I'm a demo, so I don't really think. A real model would plan its response here.",
    read_done="{what} starts with:",
    edit_done="I edited {what}.",
    write_done="I wrote {what}.",
    run_done="Output of {what}:",
    search_done="Results for {what}:",
    list_done="{what} contains:",
    todo_done="I updated the todo list.",
    think_done="I thought about it.",
    question_done="You answered:",
    other_done="{tool} finished:",
    no_output="(no output)",
    failed="{tool} failed: {note}",
    rejected="{tool} was rejected: {note}",
    skipped="I'm stopping here. Not done:",
    finished="All done.",
    signature="*(I'm the demo: no model, real tools. Type `tour` or `help` for more.)*",
    summary="I'm a demo and can't write summaries. These are the user's requests so far:",
    tour_begin=(
        "Welcome to the **demo tour** of kimi-tui. I'll write a small program, edit it and run it. I'm not a "
        "real model, but the tools are real.\n\n"
        "First, I'll create a todo list and check which file names are free."
    ),
    tour_write=(
        "Next, I'll write {file}. Unless you've already allowed it, you're asked for approval and see "
        "exactly what will change."
    ),
    tour_edit="I wrote {file}. Next, I'll edit it. The diff shows the old line and the new one.",
    tour_run=(
        "I edited the file. Now I'll run it. A command runs in a private copy of your files first, so you're "
        "asked only if it changes something. Where that isn't possible, you're asked before it runs."
    ),
    tour_end=(
        "Output:\n\n{output}\n\nThat was a todo list, a new file, an edit and a command. No file changed "
        "without your approval. A real model works the same way, but decides for itself what to do."
    ),
    tour_revert=(
        "**Now it's your turn: revert it.** Everything so far is on the timeline.\n\n"
        "1. Press `f3`, select your message `tour` and press `f`. "
        "The preview shows that {file} will be deleted.\n"
        "2. Press `enter` to delete {file}.\n"
        "3. Press `u` and confirm with `enter`. {file} is restored.\n\n"
        "With `enter` instead of `f`, you also revert the conversation. You can undo every revert."
    ),
    tour_more=(
        "**Then use the timeline for more:**\n\n"
        "- Type `/bisect ! grep -q again {name}` to find the step that added “again”.\n"
        '- Type `/attempts --prompt "write a.txt: one" --prompt "write a.txt: two"` to try two prompts side '
        "by side, in workspaces. Then compare them with `/attempts`, and adopt one with `enter`."
    ),
    tour_stopped="{tool} didn't succeed: {note}\n\nThe demo tour ends here.",
    tour_cleanup="To clean up, type `run rm {name}`.",
    tour_missing_tools="The demo tour writes, edits and runs a file, but this agent has no {tools}.",
    tour_thought="The user wants the tour. I'm a demo, so I follow a script: {stage}.",
    tour_todos=("Write a small program", "Edit it", "Run it"),
    conjunction=" and ",
)

CHINESE = Phrases(
    greeting=(
        "你好！我是 kimi-tui 的**演示**，不是真正的语言模型。但工具是真的：我会读取文件、运行命令，"
        "修改文件前会征得你的同意。\n\n"
        "输入 `tour` 开始两分钟导览，输入 `help` 查看我支持的命令。"
    ),
    guide=(
        "我是 kimi-tui 的**演示**（demo），不是真正的语言模型{unknown}。"
        "但工具是真的：我会运行命令，修改文件前会征得你的同意。\n\n"
        "可以试试：\n\n"
        "- `tour`：两分钟导览，编写、修改并运行一个小文件\n"
        "- `读 README.md 然后 搜索 TODO`\n"
        "- `待办 找到它；修好它；测试它 然后 运行 ls -la`\n"
        "- `写 notes.txt: hello 然后 改 notes.txt: hello -> goodbye`\n\n"
        "还支持 `列出 目录`、`想 ……` 和 `问 问题？这个；那个`，多个命令用 `然后` 连接。"
        "英文的 `read`、`edit`、`run` 也可以。"
    ),
    not_understood="，所以无法回答这个问题",
    connect=(
        "**要使用真正的模型**，请输入 `/login`，或设置下面任意一个 API 密钥后重新启动：\n\n"
        + _KEYS.format(kimi="Kimi", openai="OpenAI 或兼容的服务（OPENAI_BASE_URL）", anthropic="Anthropic")
        + "\n\n也可以在 `~/.kimi-tui/config.toml` 中配置模型。`kimi-tui --help-all` 会列出全部选项。"
    ),
    no_image_support="我只是演示，看不了图片。支持图片的真实模型可以。",
    reading="我来读取 {what}。",
    editing="我来修改 {what}。",
    writing="我来写入 {what}。",
    running="我来运行 {what}。",
    searching="我来搜索 {what}。",
    listing="我来列出 {what}。",
    setting_todos="我来更新待办列表。",
    thinking="让我想一想。",
    asking="我有一个问题。",
    missing_tool="这个代理没有 {tool} 工具，因此跳过：{part}",
    question_without_tool="这个代理没有提问工具，所以我直接问你：**{question}**",
    thought="我能理解这个请求。第 {number} 部分（共 {count} 部分）是 {part}，需要 {tool}。",
    final_thought="我只是演示，不会真正思考。真实的模型会在这里构思回复。",
    read_done="{what} 的开头是：",
    edit_done="已修改 {what}。",
    write_done="已写入 {what}。",
    run_done="{what} 的输出：",
    search_done="{what} 的搜索结果：",
    list_done="{what} 的内容：",
    todo_done="待办列表已更新。",
    think_done="我想好了。",
    question_done="你的回答：",
    other_done="{tool} 已完成：",
    no_output="（没有输出）",
    failed="{tool} 失败：{note}",
    rejected="{tool} 被拒绝：{note}",
    skipped="我就停在这里。未完成：",
    finished="全部完成。",
    signature="*（我是演示：没有模型，但工具是真的。输入 `tour` 或 `help` 了解更多。）*",
    summary="我是演示，不会写摘要。用户到目前为止的请求如下：",
    tour_begin=(
        "欢迎参加 kimi-tui 的**演示导览**。我会编写一个小程序，修改它，再运行它。我不是真正的模型，"
        "但工具是真的。\n\n首先，我来创建待办列表，并看看哪些文件名还没有被占用。"
    ),
    tour_write="接下来写入 {file}。除非你已经允许，否则会先征求你的同意，并显示具体改动。",
    tour_edit="已写入 {file}。接下来修改它。差异里会显示旧行和新行。",
    tour_run=(
        "已修改文件。现在运行它。命令会先在文件的私有副本中运行，只有改动了内容才会询问你；"
        "无法这样运行时，会在运行之前询问你。"
    ),
    tour_end=(
        "输出：\n\n{output}\n\n以上是一个待办列表、一个新文件、一次修改和一条命令。没有文件在未经你同意时改动。"
        "真实的模型也这样工作，只是由它自己决定做什么。"
    ),
    tour_revert=(
        "**现在轮到你了：回退这些改动。** 刚才的每一步都在时间线上。\n\n"
        "1. 按 `f3`，选中你的消息，按 `f`。预览会显示 {file} 将被删除。\n"
        "2. 按 `enter` 删除 {file}。\n"
        "3. 按 `u`，再按 `enter` 确认。{file} 就恢复了。\n\n"
        "如果不按 `f` 而按 `enter`，对话也会一起回退。每次回退都可以撤销。"
    ),
    tour_more=(
        "**时间线还有更多用处：**\n\n"
        "- 输入 `/bisect ! grep -q again {name}`，找出加入 “again” 的那一步。\n"
        '- 输入 `/attempts --prompt "write a.txt: one" --prompt "write a.txt: two"`，'
        "在私有工作区中并行尝试两条提示词。然后用 `/attempts` 比较，按 `enter` 采用其中一个。"
    ),
    tour_stopped="{tool} 未成功：{note}\n\n演示导览到此结束。",
    tour_cleanup="要清理，请输入 `run rm {name}`。",
    tour_missing_tools="演示导览要编写、修改并运行文件，但这个代理没有 {tools}。",
    tour_thought="用户想看导览。我是演示，按脚本进行：{stage}。",
    tour_todos=("编写一个小程序", "修改它", "运行它"),
    conjunction=" 和 ",
)
