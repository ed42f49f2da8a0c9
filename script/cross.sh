# SPDX-License-Identifier: Apache-2.0
# Building for another processor: sourced, not run. Debian's cross compiler, and Debian's libraries for that processor
# in build-TARGET/sysroot, which needs neither root nor a foreign architecture of dpkg.

cross_libraries=libc6-dev,libjansson-dev,libyaml-dev,libpcre2-dev,zlib1g-dev,libcurl4-openssl-dev,libmd4c-dev,libnghttp2-dev,libssl-dev

# cross_debian TARGET: Debian's name of it.
cross_debian() {
  case $1 in
  aarch64) echo arm64 ;;
  riscv64) echo riscv64 ;;
  *) die "unknown target '$1': expected aarch64 or riscv64" ;;
  esac
}

# cross_suite TARGET: the oldest suite of Debian that supports it, from 12 on.
cross_suite() {
  if [ "$1" = riscv64 ]; then echo trixie; else echo bookworm; fi
}

# cross_sysroot TARGET: fills build-TARGET/sysroot, once for each list of packages. Symlinks of -dev packages point to /lib of the
# host, unless they are made relative.
cross_sysroot() {
  local root=build-$1/sysroot mode=chrootless
  [ "$(id -u)" != 0 ] || mode=root
  [ "$(cat "$root.made" 2>/dev/null)" != "$cross_libraries" ] || return 0
  rm -rf "$root" "$root.made"
  mkdir -p "build-$1"
  say "unpacking Debian's libraries for $1"
  mmdebstrap --quiet --variant=extract --mode="$mode" --architectures="$(cross_debian "$1")" \
    --include="$cross_libraries" "$(cross_suite "$1")" "$root" 2>"$root.log" || { cat "$root.log" >&2; die "cannot make $root"; }
  [ -e "$root/lib" ] || ln -s usr/lib "$root/lib"
  find "$root/usr/lib" -type l -lname '/*' -printf '%p %l\n' | while read -r link target; do
    ln -sfnr "$root$target" "$link"
  done
  rm -f "$root.log"
  echo "$cross_libraries" >"$root.made"
}

# cross_file TARGET: prints the cross file for Meson.
cross_file() {
  local root=$PWD/build-$1/sysroot prefix=$1-linux-gnu
  cat <<END
[binaries]
c = ['$prefix-gcc', '--sysroot=$root']
ar = '$prefix-gcc-ar'
ld = '$prefix-ld'
objcopy = '$prefix-objcopy'
strip = '$prefix-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-$1-static', '-L', '$root']

[properties]
sys_root = '$root'
pkg_config_libdir = ['$root/usr/lib/$prefix/pkgconfig', '$root/usr/share/pkgconfig']

[host_machine]
system = 'linux'
cpu_family = '$1'
cpu = '$1'
endian = 'little'
END
}

# cross_build TARGET [MESON OPTION…]: builds build-TARGET.
cross_build() {
  local dir=build-$1
  cross_sysroot "$1"
  [ -f "$dir/cross.ini" ] || cross_file "$1" >"$dir/cross.ini"
  build_dir "$dir" --cross-file "$dir/cross.ini" "${@:2}"
}
