# SPDX-License-Identifier: Apache-2.0
# The static release binary: sourced, not run. Debian's own archives (*.a) of each library, and libcurl and md4c from
# Debian's sources, since its libcurl.a needs twenty more libraries and there is none of md4c. CONTRIBUTING.md: "Add a library".

# Packages whose sources we build, each with its parts: for curl also Debian's patches. The version is the one that apt would
# install; by default it takes the newest source of any suite that it knows.
declare -A static_sources=([libcurl4-openssl-dev]="--diff-only --dsc-only --tar-only" [libmd4c-dev]="--dsc-only --tar-only")

# Packages with static libraries; script/bootstrap installs them.
static_packages=(libc6-dev libjansson-dev libyaml-dev libpcre2-dev zlib1g-dev libssl-dev libnghttp2-dev)

# static_apt DIR: an apt configuration that also uses this machine's sources for source packages; writes nothing outside DIR. An
# index that cannot be fetched is an error: by default apt continues with an older one, and exits with 0.
static_apt() {
  local dir=$1 list
  mkdir -p "$dir"/{lists/partial,cache/archives/partial,parts}
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ -f "$list" ] || continue
    sed -E 's/^deb (.*)/&\ndeb-src \1/; s/^Types:.*/Types: deb deb-src/' "$list" >"$dir/parts/$(basename "$list")"
  done
  cat >"$dir/apt.conf" <<END
Dir::State::lists "$dir/lists";
Dir::Cache "$dir/cache";
Dir::Etc::sourcelist "-";
Dir::Etc::sourceparts "$dir/parts";
APT::Sandbox::User "";
APT::Get::AllowUnauthenticated "false";
APT::Update::Error-Mode "any";
END
}

# static_asked DIR: whether apt was queried less than a day ago; script/release queries it every time.
static_asked() { [ -n "$(find "$1.asked" -mmin -1440 2>/dev/null)" ]; }

# static_offered DIR PACKAGE…: each package with the version of its source that apt would install.
static_offered() {
  LC_ALL=C APT_CONFIG=$PWD/$1.apt/apt.conf apt-cache policy "${@:2}" |
    awk '/^[^ ].*:$/ { name = substr($1, 1, length($1) - 1) } $1 == "Candidate:" { sub(/\+b[0-9]+$/, "", $2); print name, $2 }'
}

# static_fetch DIR: the source packages that apt offers now, and no older ones. apt verifies them by the signature of the index.
static_fetch() {
  local dir=$PWD/$1 name part parts version
  static_apt "$dir.apt"
  ! static_asked "$dir" || return 0
  rm -rf "$dir.new"
  mkdir -p "$dir.new"
  APT_CONFIG=$dir.apt/apt.conf apt-get -qq update >&2 || die "cannot ask apt for source packages; to use those in $1: touch $1.asked"
  for name in "${!static_sources[@]}"; do
    read -ra parts <<<"${static_sources[$name]}"
    version=$(static_offered "$1" "$name" | cut -d ' ' -f 2)
    say "fetching the source of $name $version"
    for part in "${parts[@]}"; do
      (cd "$dir.new" && APT_CONFIG=$dir.apt/apt.conf apt-get -qq source --download-only "$part" "$name=$version" >/dev/null) ||
        die "cannot fetch the source package $name; it is looked for where this machine's apt looks for packages"
    done
  done
  rm -rf "$dir"
  mv "$dir.new" "$dir"
  touch "$dir.asked"
}

# static_for TARGET: the build directory and tools for a target ('': this machine). Libraries that we build are in
# static_prefix below static_root, which pkg-config prepends.
static_for() {
  static_target=$1 static_dir=build-release${1:+-$1}
  if [ -z "$1" ]; then
    static_cc=gcc static_tool='' static_root='' static_prefix=$PWD/$static_dir/prefix static_pkgs=
  else
    cross_sysroot "$1"
    static_root=$PWD/build-$1/sysroot static_prefix=/opt/cordon static_tool=$1-linux-gnu-
    static_cc="${static_tool}gcc --sysroot=$static_root"
    static_pkgs=$static_root/usr/lib/$1-linux-gnu/pkgconfig
  fi
  mkdir -p "$static_dir"
}

# static_flags: independent of the directory, so that two builds have the same bytes.
static_flags() {
  echo "-O2 -fPIE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$PWD/$static_dir=."
}

# static_curl: only HTTP and TLS.
static_curl() {
  local tree=$static_dir/curl host=()
  [ -z "$static_target" ] || host=(--host="$static_target-linux-gnu")
  rm -rf "$tree"
  dpkg-source --no-check --no-copy -x build-release/sources/curl_*.dsc "$tree" >/dev/null
  (
    export CC=$static_cc CFLAGS PKG_CONFIG="pkg-config --static" DESTDIR=$static_root
    [ -z "$static_target" ] || export PKG_CONFIG_LIBDIR=$static_pkgs PKG_CONFIG_SYSROOT_DIR=$static_root
    CFLAGS=$(static_flags) && cd "$tree" && ./configure --quiet --prefix="$static_prefix" --disable-shared --enable-static "${host[@]}" \
      --with-openssl --with-nghttp2 --without-ca-bundle --without-ca-path --without-zlib --without-brotli --without-zstd \
      --without-libidn2 --without-libpsl --without-librtmp --without-libssh2 --without-gssapi \
      --disable-{dict,file,ftp,gopher,imap,ldap,ldaps,mqtt,pop3,rtsp,smb,smtp,telnet,tftp,manual,ares} \
      --disable-{alt-svc,aws,cookies,doh,hsts,netrc,ntlm,ntlm-wb,tls-srp,unix-sockets,libcurl-option,verbose} \
      --disable-openssl-auto-load-config --enable-threaded-resolver --enable-http-auth --enable-proxy >configure.log 2>&1 &&
      make -s -j"$(nproc)" -C lib install >make.log 2>&1 &&
      make -s -C include install >>make.log 2>&1 &&
      make -s install-pkgconfigDATA >>make.log 2>&1
  ) || { tail -n 20 "$tree"/{configure,make}.log >&2; die "cannot build libcurl: $tree"; }
}

# static_md4c: one file.
static_md4c() {
  local tree=$static_dir/md4c to=$static_root$static_prefix version
  rm -rf "$tree" "$to/lib/libmd4c.a"
  mkdir -p "$tree" "$to"/{include,lib/pkgconfig}
  tar -xf build-release/sources/md4c_*.orig.tar.* -C "$tree" --strip-components=1
  version=$(static_version md4c | sed 's/-[^-]*$//')
  # shellcheck disable=SC2046,SC2086 # one word a flag
  $static_cc $(static_flags) -c -o "$tree/md4c.o" "$tree/src/md4c.c"
  "${static_tool}ar" rcsD "$to/lib/libmd4c.a" "$tree/md4c.o"
  cp "$tree/src/md4c.h" "$to/include"
  printf '%s\n' "prefix=$static_prefix" "Name: md4c" "Description: Markdown" "Version: $version" \
    "Cflags: -I$static_prefix/include" "Libs: -L$static_prefix/lib -lmd4c" >"$to/lib/pkgconfig/md4c.pc"
}

# static_key: changes with the sources of libraries, with the functions that build them, and with Debian's static libraries, which
# Meson does not track.
static_key() {
  local package
  declare -f static_flags static_curl static_md4c
  for package in "${static_packages[@]}"; do static_source "$package"; done
  (cd build-release/sources && sha256sum ./*)
}

# static_libraries: builds our libraries, and links the program again, once for each key.
static_libraries() {
  local key made=$static_root$static_prefix.made
  key=$(static_key | sha256sum)
  [ "$(cat "$made" 2>/dev/null)" != "$key" ] || return 0
  rm -rf "${static_root}${static_prefix:?}" "$made" "$static_dir/meson"
  say "building libcurl and md4c for $static_dir"
  static_curl
  static_md4c
  echo "$key" >"$made"
}

# static_version NAME: the version of a source package that we build.
static_version() { basename build-release/sources/"$1"_*.dsc .dsc | sed "s/^$1_//"; }

# static_row SOURCE VERSION COPYRIGHT: a line of libraries.tsv, and the copyright file in static_dir/copyright.
static_row() {
  [ -f "$3" ] || die "no copyright file for $1: $3"
  cp "$3" "$static_dir/copyright/$1"
  printf '%s\t%s\n' "$1" "$2"
}

# static_source PACKAGE: name and version of its source. dpkg does not know the packages in static_root.
static_source() {
  if [ -z "$static_target" ]; then
    dpkg-query -W -f '${source:Package} ${source:Version}\n' "$1"
  else
    zcat "$static_root/usr/share/doc/$1/changelog.Debian.gz" | sed -nE '1s/^(\S+) \((\S+)\).*/\1 \2/p'
  fi
}

# static_old: packages with static libraries of which apt offers a version other than the installed one.
static_old() {
  local package have
  for package in "${static_packages[@]}"; do
    have=$(static_source "$package" 2>/dev/null) || :
    echo "$package ${have#* }"
  done | sort | join -a 1 -e none -o 0,1.2,2.2 - <(static_offered build-release/sources "${static_packages[@]}" | sort) |
    awk '$2 != $3 { print $1 ": installed: " $2 ", apt offers " $3 }'
}

# static_newest: the static libraries have the versions that apt offers. This machine's packages are left to its user; others are
# unpacked again.
static_newest() {
  local old
  old=$(static_old)
  if [ -n "$old" ] && [ -n "$static_target" ]; then
    rm -f "build-$static_target/sysroot.made"
    cross_sysroot "$static_target"
    old=$(static_old)
  fi
  [ -z "$old" ] || die "libraries for $static_dir are not those that apt offers: $(paste -sd ';' <<<"$old"); upgrade this machine's packages"
}

# static_host_row PACKAGE: a row for a package of this machine.
static_host_row() {
  local row
  row=$(static_target='' static_source "$1")
  static_row "${row% *}" "${row#* }" "/usr/share/doc/${1%%:*}/copyright"
}

# static_target_row PACKAGE: a row for a package in static_root.
static_target_row() {
  local row
  row=$(static_source "$1")
  static_row "${row% *}" "${row#* }" "$static_root/usr/share/doc/$1/copyright"
}

# static_list: source package and version of all third-party parts of the program: libraries, the compiler's own
# functions, and Unicode's data, from which tables are generated.
static_list() {
  local package
  rm -rf "$static_dir/copyright"
  mkdir -p "$static_dir/copyright"
  for package in "${static_packages[@]}"; do
    if [ -z "$static_target" ]; then static_host_row "$package"; else static_target_row "$package"; fi
  done
  # shellcheck disable=SC2086 # a command with its flags
  static_host_row "$(dpkg-query -S "$(realpath "$($static_cc -print-libgcc-file-name)")" | sed 's/: .*//')"
  static_host_row unicode-data
  static_row curl "$(static_version curl)" "$static_dir/curl/debian/copyright"
  static_row md4c "$(static_version md4c)" "$static_dir/md4c/LICENSE.md"
}

# static_build [TARGET]: build-release/cordon or build-release-TARGET/cordon, with its contents in libraries.tsv and copyright/.
static_build() {
  local cross=() commit
  commit=$(commit_name)
  static_fetch build-release/sources
  static_for "${1:-}"
  static_newest
  static_libraries
  if [ -n "$static_target" ]; then
    cross_file "$static_target" >"$static_dir/cross.ini"
    cross=(--cross-file "$static_dir/cross.ini")
  fi
  # An older build must not report the commit that it was configured with.
  if [ -f "$static_dir/meson/build.ninja" ] && [ "$(cat "$static_dir/commit" 2>/dev/null)" != "$commit" ]; then
    meson configure "$static_dir/meson" -Dcommit="$commit" >/dev/null
  fi
  echo "$commit" >"$static_dir/commit"
  build_dir "$static_dir/meson" "${cross[@]}" -Dcommit="$commit" -Dstatic=true -Ddebug=false -Doptimization=2 \
    -Dpkg_config_path="$static_root$static_prefix/lib/pkgconfig"
  cp "$static_dir/meson/cordon" "$static_dir/cordon.new"
  python3 src/base/later.py "$static_dir/cordon.new" >&2
  "${static_tool}strip" "$static_dir/cordon.new"
  static_list >"$static_dir/libraries.tsv"
  mv "$static_dir/cordon.new" "$static_dir/cordon"
  say "built: $static_dir/cordon"
}
