#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs cordon from the directory that contains this file, or removes it again. Needs a POSIX shell and sha256sum.
set -eu
umask 022
LC_ALL=C
export LC_ALL
unset CDPATH

usage() {
  cat <<'END'
usage: install.sh [--prefix DIR] [--uninstall] [--help]

Copies the program, its manual pages and completions to DIR: by default /usr/local for root, and ~/.local for
others, for which no rights are needed. Only files that SHA256SUMS lists are copied, after a check; files of
others are not replaced. --uninstall removes the files and directories that were made there, and nothing else.
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
# Files (bin/cordon) and directories (share/cordon/) that this script has made, relative to the prefix; './' is the prefix.
list=share/cordon/installed-files
old=$prefix/$list

# allowed NAME: bin, share or below them, and a plain path.
allowed() {
  case /$1/ in
  */../* | */./* | *//*) return 1 ;;
  /bin/* | /share/*) return 0 ;;
  *) return 1 ;;
  esac
}

# physical DIR: its path without symlinks.
physical() { (cd "$1" 2>/dev/null && pwd -P); }

# owned FILE: by root, or by the current user. Sets its mode.
owned() {
  facts=$(ls -ldn "$1") || return 1
  read -r mode _ uid _ <<END
$facts
END
  [ "$uid" = 0 ] || [ "$uid" = "$(id -u)" ]
}

# safe PATH: a physical path; neither it nor a parent directory, up to the prefix, can be changed by others. Prints the one that can.
safe() {
  way=$1
  while [ -n "$way" ]; do
    if ! owned "$way"; then printf '%s\n' "'$way' belongs to another user"; return 1; fi
    case $mode in ?????w* | ????????w*) printf '%s\n' "others can change '$way' ($mode; chmod go-w)"; return 1 ;; esac
    [ "$way" != "$top" ] || return 0
    way=${way%/*}
  done
}

# followed LINK: whether a linked directory is used: no other user can change it, the links that it leads through, or its target.
# Prints the reason if not. To be called in a subshell.
followed() {
  at=$(physical "$(dirname "$1")") && top=$(physical "$prefix") || return 1
  at=${at%/} rest=${1##*/} links=0
  while [ -n "$rest" ]; do
    name=${rest%%/*}
    case $rest in */*) rest=${rest#*/} ;; *) rest='' ;; esac
    case $name in
    '' | .) continue ;;
    ..) at=${at%/*}; continue ;;
    esac
    if [ ! -L "$at/$name" ]; then at=$at/$name; continue; fi
    links=$((links + 1))
    if [ "$links" -gt 40 ]; then echo "it leads through too many links"; return 1; fi
    if ! owned "$at/$name"; then printf '%s\n' "'$at/$name' belongs to another user"; return 1; fi
    safe "$at" && to=$(readlink "$at/$name") || return 1
    rest=$to/$rest
    case $to in /*) at='' ;; esac
  done
  if [ ! -d "$at/" ]; then echo "it does not lead to a directory"; return 1; fi
  safe "$at"
}

# link_above NAME: prints the first parent directory of it that is a symlink and is not used, with the reason.
link_above() {
  at='' rest=$1
  while [ "$rest" != "${rest#*/}" ]; do
    at=$at${rest%%/*} rest=${rest#*/}
    if [ -L "$prefix/$at" ] && ! why=$(followed "$prefix/$at"); then printf '%s\n' "'$prefix/$at' is a link, and $why"; return 0; fi
    at=$at/
  done
  return 1
}

# remove FILE: a listed file, unless its name leads elsewhere.
remove() {
  allowed "$1" || return 0
  if link_above "$1" >/dev/null; then say "left in place, since a directory is a link: '$prefix/$1'"; return 0; fi
  if [ -d "$prefix/$1" ] && [ ! -L "$prefix/$1" ]; then say "left in place, since it is a directory: '$prefix/$1'"; return 0; fi
  rm -f "$prefix/$1" || die "cannot remove '$prefix/$1'"
}

# Listed directories that are now empty, innermost first.
remove_directories() {
  sort -r | while IFS= read -r dir; do
    case $dir in
    ./) rmdir "$prefix" 2>/dev/null || : ;;
    */) if allowed "${dir%/}" && ! link_above "$dir" >/dev/null; then rmdir "$prefix/$dir" 2>/dev/null || :; fi ;;
    esac
  done
}

if reason=$(link_above "$list"); then die "$reason: give another --prefix"; fi
if [ -L "$old" ] || { [ -e "$old" ] && [ ! -f "$old" ]; }; then die "'$old' is not a list that this script has made: remove it"; fi
if [ "$uninstall" = yes ]; then
  [ -f "$old" ] || die "nothing was installed by this script in '$prefix' (there is no '$list'); give --prefix"
  listed=$(cat "$old")
  printf '%s\n' "$listed" | while IFS= read -r file; do
    case $file in */) ;; *) remove "$file" ;; esac
  done
  rm -f "$old"
  printf '%s\n' "$listed" | remove_directories
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

work='' new='' begun=no
ended() {
  status=$?
  [ -z "$work" ] || rm -rf "$work"
  [ -z "$new" ] || rm -f "$new"
  if [ "$status" != 0 ] && [ "$begun" = yes ]; then say "not complete; to remove the files: sh install.sh --uninstall --prefix '$prefix'"; fi
}
trap ended EXIT
# Not every shell runs the EXIT trap on a signal.
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
work=$(mktemp -d)
sed -nE 's,^[0-9a-f]{64} [ *]((bin|share)/.*)$,\1,p' SHA256SUMS >"$work/names"
grep -qx bin/cordon "$work/names" || die "SHA256SUMS does not list bin/cordon; nothing was installed"
if [ -f "$old" ]; then cat "$old"; fi >"$work/old"

# check_target FILE: its path must be free or ours.
check_target() {
  allowed "$1" || die "'$1' in SHA256SUMS is not a name of a file below bin or share; nothing was installed"
  if reason=$(link_above "$1"); then die "$reason: give another --prefix; nothing was installed"; fi
  [ ! -d "$prefix/$1" ] || [ -L "$prefix/$1" ] || die "'$prefix/$1' is a directory; nothing was installed"
  if [ -e "$prefix/$1" ] || [ -L "$prefix/$1" ]; then
    grep -qxF "$1" "$work/old" ||
      die "'$prefix/$1' is there, and this script did not install it: remove it, or give another --prefix; nothing was installed"
  fi
}

# missing_directories FILE: its parent directories that have to be made.
missing_directories() {
  at='' rest=$1
  while [ "$rest" != "${rest#*/}" ]; do
    at=$at${rest%%/*}/ rest=${rest#*/}
    [ -d "$prefix/$at" ] || printf '%s\n' "$at"
  done
}

# put FILE TARGET MODE: under a temporary name first, since a running program cannot be written, and a half-written one must
# not be started. If TARGET were a symlink to a directory, mv would move the file into that directory.
put() {
  new=$(mktemp "$(dirname "$2")/.cordon-XXXXXX")
  cp "$1" "$new"
  chmod "$3" "$new"
  [ ! -L "$2" ] || rm -f "$2"
  [ ! -d "$2" ] || die "'$2' is a directory"
  mv -f "$new" "$2"
  if [ -L "$2" ] || [ ! -f "$2" ]; then die "'$2' is not the file that was written"; fi
  new=''
}

while IFS= read -r file; do check_target "$file"; done <"$work/names"
[ -d "$prefix" ] || echo ./ >"$work/dirs"
{ cat "$work/names"; echo "$list"; } | while IFS= read -r file; do missing_directories "$file"; done >>"$work/dirs"
grep '/$' "$work/old" >>"$work/dirs" || :
sort -u "$work/dirs" -o "$work/dirs"

mkdir -p "$prefix" 2>/dev/null || :
[ -w "$prefix" ] || die "cannot write to '$prefix': give --prefix DIR, or run it as root; nothing was installed"
# The list first, so that an interrupted installation can be removed.
mkdir -p "$prefix/$(dirname "$list")"
sort -u "$work/old" "$work/names" "$work/dirs" >"$work/both"
put "$work/both" "$old" 644
begun=yes
while IFS= read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  case $file in
  bin/*) put "$file" "$prefix/$file" 755 ;;
  *) put "$file" "$prefix/$file" 644 ;;
  esac
done <"$work/names"
# An older version may have had files that this one does not have.
while IFS= read -r file; do
  case $file in */) ;; *) grep -qxF "$file" "$work/names" || remove "$file" ;; esac
done <"$work/old"
sort -u "$work/names" "$work/dirs" >"$work/new"
put "$work/new" "$old" 644

version=$("$prefix/bin/cordon" --version) || die "'$prefix/bin/cordon' does not start"
begun=no
say "installed $version in $prefix"
case ":${PATH:-}:" in
*":$prefix/bin:"*) ;;
*) say "note: $prefix/bin is not in PATH" ;;
esac
say "try: $prefix/bin/cordon self-test"
