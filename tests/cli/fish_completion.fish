# fish_completion.fish TIDEMARK: what fish offers.
set -x PATH (dirname $argv[1]) $PATH
tidemark completion fish | source
set -l failed 0
function offered
  complete -C "$argv[1]" | string replace -r '\t.*' '' | string match -q -- $argv[2]
end
for pair in "tidemark ru|run" "tidemark run --js|--json" "tidemark list mo|models" \
    "tidemark show model lla|llama-3-8b" "tidemark plot --kind=ti|--kind=timeline" \
    "tidemark init --gpu rtx-4|rtx-4090" "tidemark init --precision bf|bf16-mixed" \
    "tidemark init --optimizer sg|sgd-momentum" "tidemark run --out-files tim|timeline.csv" \
    "tidemark run --out-files report.html,tim|report.html,timeline.csv" \
    "tidemark run --out-files=report.html,tim|--out-files=report.html,timeline.csv" \
    "tidemark compare --policies full,dt|full,dtr"
  set -l parts (string split '|' $pair)
  if not offered $parts[1] $parts[2]
    echo "$parts[1]: '$parts[2]' is not among" (complete -C "$parts[1]")
    set failed 1
  end
end
if not complete -C "tidemark plot --ki" | string match -q -- "--kind"\t"what is drawn"
  echo "plot --kind is not told as what is drawn:" (complete -C "tidemark plot --ki")
  set failed 1
end
if offered "tidemark run --ki" "--kind"
  echo "run has no --kind"
  set failed 1
end
exit $failed
