#!/bin/sh
# Run 20 tasks and compare them with the last release. Exits with 0 only if every task passes.
#   ./gate.sh VERSION [options of `kimi-tui fleet run`, by default --demo]
# Results are in $GATE_DIR, by default ./results: VERSION.fleet.db and VERSION.html.
set -u
cd "$(dirname "$0")" || exit 2
version=${1:?usage: ./gate.sh VERSION [OPTIONS]}
shift
[ $# -gt 0 ] || set -- --demo
results=${GATE_DIR:-results}
mkdir -p "$results"
before=$(ls -t "$results"/*.fleet.db 2>/dev/null | grep -v "/$version.fleet.db" | head -n 1)
kimi-tui fleet run gate.jsonl --yolo --run "$results/$version.fleet.db" "$@"
code=$?
[ -f "$results/$version.fleet.db" ] || exit "$code"
kimi-tui fleet report "$results/$version.fleet.db" ${before:+--compare "$before"} -o "$results/$version.html"
exit "$code"
