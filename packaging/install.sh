#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs cordon from the directory that this file is in, or removes it again. Needs a POSIX shell and sha256sum.
set -eu

usage() {
  cat <<'END'
usage: install.sh [--prefix DIR] [--uninstall] [--help]

Copies the program, its manual pages and completions to DIR: by default /usr/local for root, and ~/.local for
others, for which no rights are needed. Every file is checked against SHA256SUMS first. --uninstall removes
what was installed there, and nothing else.
END
}
say() { printf '%s\n' "install.sh: $*" >&2; }
die() { say "$*"; exit 1; }

prefix='' uninstall=no
while [ $# -gt 0 ]; do
  case $1 in
  --prefix) [ $# -gt 1 ] || die "--prefix needs a directory"; prefix=$2; shift ;;
  --prefix=*) prefix=${1#--prefix=} ;;
  --uninstall) uninstall=yes ;;
  --help | -h) usage; exit 0 ;;
  *) usage >&2; die "unknown argument '$1'" ;;
  esac
  shift
done
if [ -z "$prefix" ]; then
  if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?set HOME, or give --prefix}/.local; fi
fi
case $prefix in
/*) ;;
*) prefix=$(pwd)/$prefix ;;
esac
# A list of the installed files, relative to the prefix.
list=share/cordon/installed-files

# Directories that removing files has left empty, from the inside out.
remove_empty_parents() {
  dir=$(dirname "$1")
  while [ "$dir" != . ]; do
    rmdir "$prefix/$dir" 2>/dev/null || return 0
    dir=$(dirname "$dir")
  done
}

# remove_listed [LIST]: the files of the list there; with LIST only those that it does not name.
remove_listed() {
  [ -f "$prefix/$list" ] || return 0
  while IFS= read -r file; do
    case $file in
    '' | /* | ../* | */../* | */..) continue ;;
    esac
    if [ $# -gt 0 ] && grep -qxF "$file" "$1"; then continue; fi
    rm -f "$prefix/$file" || die "cannot remove '$prefix/$file'"
    remove_empty_parents "$file"
  done <"$prefix/$list"
}

if [ "$uninstall" = yes ]; then
  [ -f "$prefix/$list" ] || die "nothing was installed by this script in '$prefix' (there is no '$list'); give --prefix"
  remove_listed
  rm -f "$prefix/$list"
  remove_empty_parents "$list"
  rmdir "$prefix" 2>/dev/null || :
  say "removed from $prefix; settings in ~/.config/cordon and state in ~/.cordon are left"
  exit 0
fi

cd "$(dirname "$0")"
if [ ! -f SHA256SUMS ] || [ ! -f bin/cordon ]; then die "run it from the unpacked directory: SHA256SUMS or bin/cordon is missing"; fi
command -v sha256sum >/dev/null || die "sha256sum is missing, so the files can't be checked"
sha256sum -c SHA256SUMS >/dev/null 2>&1 || {
  sha256sum -c SHA256SUMS 2>/dev/null | grep -v ': OK$' >&2 || :
  die "the files differ from SHA256SUMS: download the archive again; nothing was installed"
}
have=$(uname -m)
built=$(cat share/cordon/architecture)
[ "$have" = "$built" ] || die "this archive is for $built, and this machine is $have; nothing was installed"

names=$(mktemp)
trap 'rm -f "$names"' EXIT
find bin share -type f | sort >"$names"
mkdir -p "$prefix" 2>/dev/null || :
[ -w "$prefix" ] || die "cannot write to '$prefix': give --prefix DIR, or run it as root; nothing was installed"
# An older version may have had files that this one has not.
remove_listed "$names"
while IFS= read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  # Under another name first: a program that runs can't be written to, and a half-written one must not be started.
  cp "$file" "$prefix/$file.new"
  case $file in
  bin/*) chmod 755 "$prefix/$file.new" ;;
  *) chmod 644 "$prefix/$file.new" ;;
  esac
  mv -f "$prefix/$file.new" "$prefix/$file"
done <"$names"
mkdir -p "$prefix/share/cordon"
cp "$names" "$prefix/$list"
chmod 644 "$prefix/$list"

say "installed $("$prefix/bin/cordon" --version) in $prefix"
case ":${PATH:-}:" in
*":$prefix/bin:"*) ;;
*) say "note: $prefix/bin is not in PATH" ;;
esac
say "try: $prefix/bin/cordon self-test"
