# zsh_completion.zsh TIDEMARK: the script's own choices, with zsh's builtins of completion replaced by
# ones that print.
emulate -L zsh
tidemark=$1
failed=0
offered() {
  local -a words=("${(@)argv[2,-1]}")
  local CURRENT=$#words
  local wanted=$1
  compadd() { print -l -- "${(@)argv}" }
  _describe() {
    [[ $1 == -o ]] && shift
    print -l -- "${(@P)2}" | sed 's/:.*//'
  }
  _files() { print files }
  compset() { : }
  source <("$tidemark" completion zsh) | grep -qxF -e "$wanted"
}
check() {
  offered "$@" && return
  print -- "$argv[2,-1]: '$1' is not offered"
  failed=1
}
check run tidemark ""
check --json tidemark run --
check models tidemark list ""
check llama-3-8b tidemark show model lla
check timeline tidemark plot --kind ""
check bf16-mixed tidemark init --precision ""
check sgd-momentum tidemark init --optimizer s
check timeline.csv tidemark run --out-files report.html,t
check dtr tidemark compare --policies full,d
check files tidemark run ""
check files tidemark run --json ""
if offered --kind tidemark run --; then
  print -- "run has no --kind"
  failed=1
fi
exit $failed
