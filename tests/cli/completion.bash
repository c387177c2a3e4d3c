#!/bin/bash
# completion.bash TIDEMARK: what bash offers, as a user would meet it.
set -u
source <("$1" completion bash) || exit 1
failed=0

# offers WORDS… = WANTED…: with the cursor at the end of the last word, each of WANTED is offered;
# lacks: none of them is.
ask() {
  COMP_WORDS=()
  while [[ $1 != = ]]; do
    COMP_WORDS+=("$1")
    shift
  done
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _tidemark
}
check() {
  local expect=$1 word each found
  shift
  ask "$@"
  while [[ $1 != = ]]; do shift; done
  shift
  for word in "$@"; do
    found=no
    for each in "${COMPREPLY[@]}"; do [[ $each != "$word" ]] || found=yes; done
    if [[ $found != "$expect" ]]; then
      echo "${COMP_WORDS[*]}: '$word' offered: $found, among: ${COMPREPLY[*]}"
      failed=1
    fi
  done
}
offers() { check yes "$@"; }
lacks() { check no "$@"; }

offers tidemark "" = run compare plot show init list completion --help --version
lacks tidemark "" = man
offers tidemark ru = run
lacks tidemark ru = compare
offers tidemark run = run
offers tidemark run -- = --strategy --set --json --csv --top
lacks tidemark run -- = --policies
offers tidemark list "" = models hardware
offers tidemark show model lla = llama-3-8b
lacks tidemark show model lla = gpt-7b rtx-4090
offers tidemark show hardware rtx = rtx-4090
offers tidemark show hardware READ = README.md
offers tidemark init --gpu "" = rtx-4090 h200
lacks tidemark init --gpu "" = desktop-ddr5
offers tidemark init --gpu rtx-4090 --model "gpt-7" = gpt-7b
offers tidemark init --precision "" = bf16-mixed fp32
offers tidemark init --precision bf = bf16 bf16-mixed
lacks tidemark init --precision bf = fp32 adamw
offers tidemark init --optimizer s = sgd sgd-momentum
offers tidemark run --out-files "" = report.html trace.json
offers tidemark run --out-files report.html,tim = report.html,timeline.csv
lacks tidemark run --out-files report.html,tim = timeline.csv report.html,trace.json
offers tidemark compare --out-files r = report.html
offers tidemark compare --policies full,dt = full,dtr
offers tidemark plot --kind "" = timeline strategies pareto
offers tidemark plot scenarios/7b-on-80gb.yaml --style s = slide
offers tidemark run --color a = auto always
offers tidemark run scenarios/7b-on = scenarios/7b-on-80gb.yaml
offers tidemark run --json READ = README.md
exit $failed
