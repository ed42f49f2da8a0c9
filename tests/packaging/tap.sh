# SPDX-License-Identifier: Apache-2.0
# TAP for the tests of packages: sourced, not run. Changes the current directory to the repository.
# shellcheck shell=bash
set -uo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
n=0 failures=0
work=$(mktemp -d)
at_end() { rm -rf "$work"; }
trap at_end EXIT

check() { # check NAME COMMAND…
  local name=$1 output
  n=$((n + 1))
  shift
  if output=$("$@" 2>&1 </dev/null); then
    echo "ok $n - $name"
  else
    echo "not ok $n - $name"
    printf '%s\n' "$output" | tail -n 30 | sed 's/^/# /'
    failures=$((failures + 1))
  fi
}

same() { # same WANTED GOT
  [ "$1" = "$2" ] || { printf 'wanted: %s\ngot:    %s\n' "$1" "$2"; return 1; }
}

says() { # says TEXT COMMAND…: it fails, and its output has the text
  local text=$1 output
  shift
  if output=$("$@" 2>&1); then printf 'it succeeded: %s\n' "$output"; return 1; fi
  case $output in *"$text"*) ;; *) printf 'wanted: %s\ngot:    %s\n' "$text" "$output"; return 1 ;; esac
}

finish() {
  echo "1..$n"
  exit $((failures > 0))
}
