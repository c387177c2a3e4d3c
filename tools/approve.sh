#!/usr/bin/env bash
# Writes tests/golden, scenarios/timings.csv, tools/measured/README.md, tools/plot/*.svg and tools/schema/*.json anew from what
# the release build prints: look at the difference, then commit it.
#   tools/approve.sh [SCENARIO…]     names below scenarios/, without .yaml; all that are there if none
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

if [[ $# -eq 0 ]]; then
  for golden in tests/golden/*.txt; do
    set -- "$@" "$(basename "$golden" .txt)"
  done
fi
tools/build.sh release tidemark
for name in "$@"; do
  build/release/tools/tidemark run "scenarios/$name.yaml" \
    --json "tests/golden/$name.json" --csv "tests/golden/$name.csv" >"tests/golden/$name.txt"
done
timings=$(build/release/tools/tidemark calibrate scenarios/timings.csv --hardware scenarios/timings-machine.yml \
  --simulate --noise 0.02 --seed 1)
echo "$timings" >scenarios/timings.csv
build/release/tools/tidemark validate-model --markdown >tools/measured/README.md
build/release/tools/tidemark plot scenarios/7b-on-80gb.yaml --kind strategies --out tools/plot/7b-on-80gb.svg
for schema in scenario result; do
  build/release/tools/tidemark schema "$schema" >"tools/schema/$schema.schema.json"
done
git --no-pager diff --stat -- tests/golden scenarios/timings.csv tools/measured/README.md tools/plot tools/schema
