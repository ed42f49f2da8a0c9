# SPDX-License-Identifier: Apache-2.0
# Reads the list of suites (tests/suites): sourced, not run, in the root of the repository.
# shellcheck shell=bash

suite_rows() { grep -v -e '^#' -e '^$' tests/suites; }

# has_flag FLAGS FLAG
has_flag() { [[ ,$1, == *,$2,* ]]; }

# suite_limit FLAGS: seconds
suite_limit() {
  local limit=${1##*limit=}
  [ "$limit" != "$1" ] || limit=1800
  echo "${limit%%,*}"
}

is_sanitized() { grep -qE '__[at]san_init' "$1/cordon"; }

# suite_word WORD BUILD: the arguments that replace a word in braces, one a line. QUICK: the suites for every change;
# EVERYTHING: also the long ones, on each build. HALVES: the run covers both builds.
suite_word() {
  local word=$1 build=$2 lines=()
  case $word in
  '{cordon}') lines=(--cordon "$build/cordon") ;;
  '{child}') lines=(--cordon "$build/cordon" --child "$build/tests/sandbox_child") ;;
  '{probe}') lines=(--probe "$build/tests/sandbox_probe") ;;
  '{static}') lines=(--cordon build-release/cordon) ;;
  '{static-child}') lines=(--cordon build-release/cordon --child "$build/tests/sandbox_child") ;;
  '{user}') lines=(--user "${CORDON_TEST_USER:-12345}") ;;
  '{sanitized}') ! is_sanitized "$build" || lines=(--sanitized) ;;
  '{kill}') is_sanitized "$build" || lines=(--kill "$build/tests/record_kill.so") ;;
  '{repeat}') if is_sanitized "$build"; then lines=(1); else lines=(2); fi ;;
  '{turn}') if [ -n "${QUICK:-}" ] || { [ -z "${EVERYTHING:-}" ] && is_sanitized "$build"; }; then lines=(--in-turn=1); fi ;;
  '{one}') [ -n "${EVERYTHING:-}" ] || lines=(--in-turn=1) ;;
  '{half}') if [ -n "${HALVES:-}" ] && [ -z "${EVERYTHING:-}" ]; then lines=(--in-turn=1); ! is_sanitized "$build" || lines=(--in-turn=2); fi ;;
  '{packages}') [ -z "$(git status --porcelain)" ] || lines=(quick) ;; # twice only if the tree is clean
  *'{build}'*) lines=("${word//'{build}'/"$build"}") ;;
  *'*'*) mapfile -t lines < <(compgen -G "$word" | LC_ALL=C sort) ;;
  '{'*) echo "tests/suites: unknown word $word" >&2 && return 1 ;;
  *) lines=("$word") ;;
  esac
  [ ${#lines[@]} = 0 ] || printf '%s\n' "${lines[@]}"
}

# suite_command NAME BUILD: sets the array `command`; fails if there is no such suite.
suite_command() {
  local name words word
  command=()
  while read -r name _ words; do
    [ "$name" = "$1" ] || continue
    read -ra words <<<"$words"
    for word in "${words[@]}"; do
      mapfile -t -O "${#command[@]}" command < <(suite_word "$word" "$2")
    done
    return 0
  done < <(suite_rows)
  echo "tests/suites has no suite '$1'" >&2
  return 1
}
