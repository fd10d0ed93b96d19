#!/usr/bin/env bash
# Run the prompt of the GitHub Action (action.yml) and write its outputs. All inputs are in variables INPUT_….
set -euo pipefail

program=${KIMI_TUI:-$RUNNER_TEMP/kimi-tui/bin/kimi-tui}
response=$RUNNER_TEMP/kimi-tui-response.md
export KIMI_SHARE_DIR=${KIMI_SHARE_DIR:-$RUNNER_TEMP/kimi-tui-data}

options=(--quiet --max-time "$INPUT_MAX_TIME")
[ -z "$INPUT_MODEL" ] || options+=(--model "$INPUT_MODEL")
[ -z "$INPUT_MAX_COST" ] || options+=(--max-cost "$INPUT_MAX_COST")
[ "$INPUT_YOLO" != true ] || options+=(--yolo)
while IFS= read -r rule; do
  [ -z "$rule" ] || options+=(--allow "$rule")
done <<< "$INPUT_ALLOW"

code=0
printf '%s' "$INPUT_PROMPT" | "$program" "${options[@]}" > "$response" || code=$?

# The response may contain any line, so the delimiter is random.
delimiter=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
{
  echo "exit-code=$code"
  printf 'response<<%s\n%s\n%s\n' "$delimiter" "$(cat "$response")" "$delimiter"
} >> "$GITHUB_OUTPUT"
cat "$response" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$code"
