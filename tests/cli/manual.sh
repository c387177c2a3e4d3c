#!/bin/sh
# manual.sh TIDEMARK: every command and option that --help shows, at every depth, is in the manual
# page and in each shell's completions; and the page says nothing of a command that there is not.
set -eu
tidemark=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$tidemark" man | sed 's/\\-/-/g; s/\\f[BIR]//g' >"$work/man"
for shell in bash zsh fish; do "$tidemark" completion $shell >"$work/$shell"; done

missing=0
# wanted FILE TEXT…: a line of it, as fixed text
wanted() {
  file=$1
  shift
  if ! grep -qF -e "$*" "$work/$file"; then
    echo "$file lacks: $*"
    missing=$((missing + 1))
  fi
}

# Lines of the section of a help text that begins with "TITLE:", up to the next empty line.
section() { sed -n "/^$1:/,/^\$/p" "$work/help" | sed 1d; }

look_at() {
  "$tidemark" "$@" --help >"$work/help"
  [ $# -eq 0 ] || echo "$*" >>"$work/commands"
  for option in $(section Options | grep -oE '^ +(-[a-z],)?--[a-z-]+' | grep -oE -e '--[a-z-]+'); do
    echo "$* $option" >>"$work/options"
    wanted man "$option"
    wanted bash "$option"
    wanted zsh "'$option:"
    wanted fish "__tidemark_at '$*'\" -l ${option#--}"
  done
  for command in $(section Subcommands | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
    wanted man ".SS ${*:+$* }$command"
    wanted bash "\"$* $command\""
    wanted zsh "'$command:"
    wanted fish "__tidemark_at '$*'\" -a $command "
    (look_at "$@" "$command"; echo $missing >"$work/missing")
    missing=$(cat "$work/missing")
    "$tidemark" "$@" --help >"$work/help"
  done
}
# Short forms are looked at too: fish writes them before the long ones.
sed -i 's/ -s [a-z] -l / -l /' "$work/fish"
touch "$work/commands" "$work/options"
look_at

told=$(grep -c '^\.SS ' "$work/man")
known=$(wc -l <"$work/commands")
if [ "$told" -ne "$known" ]; then
  echo "the manual page tells of $told commands, help of $known"
  missing=$((missing + 1))
fi
echo "$known commands, $(wc -l <"$work/options") options"
[ "$known" -gt 15 ] && [ "$missing" -eq 0 ]
