# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts: sourced, not run. Changes the current directory to the repository.
set -euo pipefail
unset CDPATH
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s\n' "$*" >&2; }
die() { say "$(basename "$0"): $*"; exit 1; }

# commit_name: the commit that `cordon version --verbose` prints; with "-dirty" if files differ from it.
commit_name() { git describe --always --dirty --abbrev=12 --exclude='*' 2>/dev/null || echo unknown; }

# build_dir DIR [MESON OPTION…]: configures DIR if it is new, then builds it: all, or the targets in $targets.
build_dir() {
  local dir=$1 words
  read -ra words <<<"${targets:-}"
  shift
  if [ ! -f "$dir/build.ninja" ]; then
    meson setup "$dir" "$@" >"$dir.log" 2>&1 || { cat "$dir.log" >&2; die "cannot configure $dir"; }
    rm -f "$dir.log"
  fi
  ninja -C "$dir" --quiet "${words[@]}" >&2
}
