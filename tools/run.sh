#!/usr/bin/env bash
# Sets up, builds a release, and runs the scenario "why does 7B not fit in 80 GB?".
#   tools/run.sh                     the table for scenarios/7b-on-80gb.yaml
#   tools/run.sh SCENARIO… OPTION…   passes its arguments to `tidemark run`
# Results go to stdout, everything else to stderr.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

"$root/tools/setup.sh"
"$root/tools/build.sh" release tidemark

if [[ $# -eq 0 ]]; then
  set -- "$root/scenarios/7b-on-80gb.yaml"
fi
exec "$root/build/release/tools/tidemark" run "$@"
