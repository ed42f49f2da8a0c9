# The static release binary: sourced, not run. Debian's own archives (*.a) of each library, and libcurl and md4c from
# Debian's sources, since its libcurl.a needs twenty libraries more and of md4c there is none. CONTRIBUTING.md: "Add a library".

# Source packages: with Debian's patches, or the plain one of upstream.
static_sources=(curl:patched md4c:plain)

# Packages with archives of libraries; script/bootstrap installs them.
static_packages=(libc6-dev libjansson-dev libyaml-dev libpcre2-dev zlib1g-dev libssl-dev libnghttp2-dev)

# static_apt DIR: an apt that knows this machine's sources as sources of source packages; nothing outside of DIR is written.
static_apt() {
  local dir=$1 list
  mkdir -p "$dir"/{lists/partial,cache/archives/partial,parts}
  for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ -f "$list" ] || continue
    sed -E 's/^deb(-src)? /deb-src /; s/^Types:.*/Types: deb-src/' "$list" >"$dir/parts/$(basename "$list")"
  done
  cat >"$dir/apt.conf" <<END
Dir::State::lists "$dir/lists";
Dir::Cache "$dir/cache";
Dir::Etc::sourcelist "-";
Dir::Etc::sourceparts "$dir/parts";
APT::Sandbox::User "";
APT::Get::AllowUnauthenticated "false";
END
}

# static_fetch DIR: the source packages, once. apt checks them by the signature of the index.
static_fetch() {
  local dir=$PWD/$1 row name only
  mkdir -p "$dir"
  for row in "${static_sources[@]}"; do
    name=${row%:*} only=()
    ! compgen -G "$dir/${name}_*.orig.tar.*" >/dev/null || continue
    if [ ! -f "$dir/apt/apt.conf" ]; then
      static_apt "$dir/apt"
      APT_CONFIG=$dir/apt/apt.conf apt-get -qq update >&2
    fi
    [ "${row#*:}" = patched ] || only=(--tar-only)
    say "fetching the source of $name"
    (cd "$dir" && APT_CONFIG=$dir/apt/apt.conf apt-get -qq source --download-only "${only[@]}" "$name" >/dev/null) ||
      die "cannot fetch the source package $name; it is looked for where this machine's apt looks for packages"
  done
  rm -rf "$dir/apt"
}

# static_flags DIR: nothing of the place, so that two builds have the same bytes.
static_flags() {
  echo "-O2 -fPIE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$PWD/$1=."
}

# static_curl DIR [CONFIGURE OPTION…]: HTTP and TLS alone.
static_curl() {
  local dir=$1 prefix=$PWD/$1/prefix
  shift
  rm -rf "$dir/curl"
  dpkg-source --no-check --no-copy -x "$dir"/sources/curl_*.dsc "$dir/curl" >/dev/null
  (
    export CFLAGS PKG_CONFIG="pkg-config --static"
    CFLAGS=$(static_flags "$dir") && cd "$dir/curl" && ./configure --quiet --prefix="$prefix" --disable-shared --enable-static "$@" \
      --with-openssl --with-nghttp2 --without-ca-bundle --without-ca-path --without-zlib --without-brotli --without-zstd \
      --without-libidn2 --without-libpsl --without-librtmp --without-libssh2 --without-gssapi \
      --disable-{dict,file,ftp,gopher,imap,ldap,ldaps,mqtt,pop3,rtsp,smb,smtp,telnet,tftp,manual,ares} \
      --disable-{alt-svc,aws,cookies,doh,hsts,netrc,ntlm,ntlm-wb,tls-srp,unix-sockets,libcurl-option,verbose} \
      --disable-openssl-auto-load-config --enable-threaded-resolver --enable-http-auth --enable-proxy >configure.log 2>&1 &&
      make -s -j"$(nproc)" -C lib install >make.log 2>&1 &&
      make -s -C include install >>make.log 2>&1 &&
      make -s install-pkgconfigDATA >>make.log 2>&1
  ) || { tail -n 20 "$dir"/curl/{configure,make}.log >&2; die "cannot build libcurl: $dir/curl"; }
}

# static_md4c DIR [COMPILER]: one file.
static_md4c() {
  local dir=$1 cc=${2:-gcc} prefix=$PWD/$1/prefix version
  rm -rf "$dir/md4c"
  mkdir -p "$dir/md4c" "$prefix"/{include,lib/pkgconfig}
  tar -xf "$dir"/sources/md4c_*.orig.tar.* -C "$dir/md4c" --strip-components=1
  version=$(basename "$dir"/sources/md4c_*.orig.tar.* | sed 's/md4c_//; s/\.orig.*//')
  # shellcheck disable=SC2046,SC2086 # one word a flag
  $cc $(static_flags "$dir") -DMD4C_USE_UTF8 -c -o "$dir/md4c/md4c.o" "$dir/md4c/src/md4c.c"
  rm -f "$prefix/lib/libmd4c.a"
  ar rcsD "$prefix/lib/libmd4c.a" "$dir/md4c/md4c.o"
  cp "$dir/md4c/src/md4c.h" "$prefix/include"
  printf '%s\n' "prefix=$prefix" "Name: md4c" "Description: Markdown" "Version: $version" \
    "Cflags: -I$prefix/include" "Libs: -L$prefix/lib -lmd4c" >"$prefix/lib/pkgconfig/md4c.pc"
}

# static_libraries DIR: DIR/prefix, once for each version of the sources and of the functions here.
static_libraries() {
  local dir=$1 key
  static_fetch "$dir/sources"
  key=$({ declare -f static_flags static_curl static_md4c; cd "$dir/sources" && sha256sum ./*; } | sha256sum)
  [ "$(cat "$dir/prefix.made" 2>/dev/null)" != "$key" ] || return 0
  rm -rf "$dir/prefix" "$dir/prefix.made" "$dir/meson"
  say "building libcurl and md4c in $dir"
  static_curl "$dir"
  static_md4c "$dir"
  echo "$key" >"$dir/prefix.made"
}

# static_list DIR: source package and version of each library in the program.
static_list() {
  local dir=$1 package
  for package in "${static_packages[@]}"; do
    dpkg-query -W -f '${source:Package}\t${Version}\t${Package}\n' "$package"
  done
  printf 'curl\t%s\t\n' "$(basename "$dir"/sources/curl_*.dsc .dsc | sed 's/curl_//')"
  printf 'md4c\t%s\t\n' "$(basename "$dir"/sources/md4c_*.orig.tar.* | sed 's/md4c_//; s/\.orig.*//')"
}

# static_build: build-release/cordon, and a list of what is in it.
static_build() {
  local dir=build-release
  mkdir -p "$dir"
  static_libraries "$dir"
  build_dir "$dir/meson" -Dstatic=true -Ddebug=false -Doptimization=2 -Dpkg_config_path="$PWD/$dir/prefix/lib/pkgconfig"
  cp "$dir/meson/cordon" "$dir/cordon.new"
  python3 src/base/later.py "$dir/cordon.new" >&2
  strip "$dir/cordon.new"
  static_list "$dir" >"$dir/libraries.tsv"
  mv "$dir/cordon.new" "$dir/cordon"
}
