# SPDX-License-Identifier: Apache-2.0
# Kernels from Debian's and Ubuntu's packages, with a separate apt configuration below $cache: /etc/apt is unchanged. Sourced after
# script/common.sh; needs $arch, $cache, $flavours.

# The suites that have kernels other than the machine's own.
debian_suites=(bullseye bookworm bookworm-backports trixie trixie-backports sid)
ubuntu_suites=(jammy jammy-updates noble noble-updates questing questing-updates)
ubuntu_keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg

# debian_site CODENAME: the mirror of that suite in the machine's own apt.
# shellcheck disable=SC2016 # apt's words
debian_site() { apt-get indextargets --format '$(REPO_URI)' "Codename: $1" 'Created-By: Packages' | head -n 1; }

# The mirror that debootstrap would use.
ubuntu_site() (
  # shellcheck disable=SC2034,SC2317 # for the script of debootstrap
  SUITE=noble ARCH=$arch
  # shellcheck disable=SC2317
  default_mirror() { echo "$1"; exit; }
  # shellcheck disable=SC1091
  [ ! -r /usr/share/debootstrap/scripts/gutsy ] || . /usr/share/debootstrap/scripts/gutsy
)

fetch_sources() {
  local suite site trust=
  site=$(debian_site bookworm)
  [ -n "$site" ] || die "apt names no place for Debian 12"
  for suite in "${debian_suites[@]}"; do echo "deb $site $suite main"; done
  site=$(debian_site bookworm-security)
  [ -z "$site" ] || echo "deb $site bookworm-security main"
  if [ -r "$ubuntu_keys" ]; then trust="[signed-by=$ubuntu_keys]"; elif [ -n "$unverified" ]; then trust='[trusted=yes]'; else return 0; fi
  site=$(ubuntu_site)
  [ -n "$site" ] || return 0
  for suite in "${ubuntu_suites[@]}"; do echo "deb $trust $site $suite main"; done
}

# fetch_apt COMMAND…: apt with those sources and none of the machine's state.
fetch_apt() {
  local dir=$cache/apt-$arch
  "$1" -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::Preferences=/dev/null \
    -o Dir::Etc::PreferencesParts=/dev/null -o Dir::State="$dir/state" -o Dir::State::status=/dev/null -o Dir::Cache="$dir/cache" \
    -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Acquire::Languages=none -o APT::Sandbox::User=root \
    -o APT::Update::Post-Invoke-Success=/bin/true "${@:2}"
}

fetch_lists() {
  local dir=$cache/apt-$arch
  mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial"
  fetch_sources >"$dir/sources.new"
  cmp -s "$dir/sources.new" "$dir/sources.list" && [ -n "$(find "$dir/sources.list" -mtime 0)" ] && return 0
  say "reading the lists of packages"
  mv "$dir/sources.new" "$dir/sources.list"
  fetch_apt apt-get update -qq >&2 || say "some suites cannot be had; the others are used"
}

# fetch_name VERSION: the newest package with a kernel of that version.
fetch_name() {
  local flavour found
  for flavour in "${flavours[@]}"; do
    found=$(fetch_apt apt-cache pkgnames "linux-image-$1" | grep -E "^linux-image-${1//./\\.}([.-][0-9.+~a-z-]*)?-$flavour\$" |
      grep -vE -- '-(dbg|unsigned|rt)\b|-image-[0-9.]+-[a-z]' | sort -V | tail -n 1 || :)
    [ -z "$found" ] || { echo "$found"; return; }
  done
  return 1
}

# fetch_kernel VERSION: the directory of that kernel, downloaded and unpacked once.
fetch_kernel() {
  local dir=$cache/kernel-$arch-$1 debs name
  [ ! -d "$dir" ] || { echo "$dir"; return; }
  fetch_lists
  name=$(fetch_name "$1") || die "no suite has a kernel $1 for $arch (Ubuntu's: install its keyring, or --unverified)"
  say "getting $name"
  debs=$(mktemp -d "$work/debs.XXXXXX")
  (
    cd "$debs"
    fetch_apt apt-get download -qq "$name" >&2
    # The modules may be in a separate package.
    ! fetch_apt apt-cache show "${name/image/modules}" >/dev/null 2>&1 || fetch_apt apt-get download -qq "${name/image/modules}" >&2
  )
  vm_kernel "$dir" "$debs"/*.deb
  rm -rf "$debs"
  echo "$dir"
}

# fetch_parser: a directory with an apparmor_parser that knows the rule "userns", which Debian 12's does not, and the libraries and
# files that it needs; got once. Nothing is printed if no suite has one.
fetch_parser() {
  local dir=$cache/parser-$arch package
  [ ! -d "$dir" ] || { echo "$dir"; return; }
  fetch_lists
  mkdir "$work/parser"
  (
    cd "$work/parser"
    for package in apparmor libapparmor1 libc6 libgcc-s1 libstdc++6; do
      fetch_apt apt-get download -qq "$package/trixie" >&2 || exit
      dpkg-deb -x "$package"_*.deb . && rm "$package"_*.deb
    done
    mkdir "$dir.new" "$dir.new/lib"
    cp "$(find . -name apparmor_parser -type f)" "$dir.new"
    find . \( -name 'ld-linux-*.so.*' -o -name 'libc.so.*' -o -name 'libm.so.*' -o -name 'libgcc_s.so.*' -o -name 'libstdc++.so.*' \
      -o -name 'libapparmor.so.*' \) -exec cp -L {} "$dir.new/lib" \;
    cp -a etc/apparmor.d "$dir.new"
    mv "$dir.new" "$dir"
  ) && echo "$dir"
}
