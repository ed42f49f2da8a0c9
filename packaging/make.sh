# SPDX-License-Identifier: Apache-2.0
# The kinds of packages, one function each: sourced by script/release, which sets out, work, version, commit, dirty, archs, builds
# and SOURCE_DATE_EPOCH.
# shellcheck shell=bash disable=SC2154 # set there

licence_text=/usr/share/common-licenses/Apache-2.0

# put MODE FILE TARGET: copies a file, and makes its directory.
put() { install -D -p -m "$1" "$2" "$3"; }

# pack_tar DIR NAME: prints DIR/NAME as an archive, the same bytes each time.
pack_tar() {
  tar -C "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX \
    --format=ustar -cf - "$2" | gzip -9n
}

# make_tree DIR: the files of the commit; with --dirty those of the work tree.
make_tree() {
  mkdir -p "$1"
  if [ "$dirty" = yes ]; then
    git ls-files -z | tar -c --null -T - | tar -x -C "$1"
  else
    git -c tar.umask=0022 archive HEAD | tar -x -C "$1"
  fi
}

# make_notices DIR…: notices for the programs of these builds.
make_notices() { CORDON_VERSION=$version python3 packaging/notices.py "$@"; }

# make_stage ARCH BUILD DIR: the files of a package below a prefix. Pages and completions are the same everywhere.
make_stage() {
  local arch=$1 build=$2 dir=$3 page doc share=$3/share
  [ -f "$licence_text" ] || die "there is no $licence_text: install base-files"
  put 755 "$build/cordon" "$dir/bin/cordon"
  git ls-files 'man/*.1.scd.in' | while read -r page; do
    page=$(basename "$page" .scd.in)
    put 644 "build/man/$page" "$share/man/man1/$page"
  done
  gzip -9n "$share"/man/man1/*
  mkdir -p "$share"/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
  build/cordon completions bash >"$share/bash-completion/completions/cordon"
  build/cordon completions zsh >"$share/zsh/site-functions/_cordon"
  build/cordon completions fish >"$share/fish/vendor_completions.d/cordon.fish"
  for doc in LICENSE README.md CHANGELOG.md SECURITY.md; do put 644 "$doc" "$share/doc/cordon/$doc"; done
  put 644 "$licence_text" "$share/doc/cordon/Apache-2.0"
  make_notices "$build" >"$share/doc/cordon/NOTICES"
  put 644 packaging/apparmor/cordon "$share/cordon/apparmor/cordon"
  echo "$arch" >"$share/cordon/architecture"
}

# make_signature KEY FILE: makes FILE.asc with a secret key of gpg.
make_signature() {
  gpg --batch --yes --local-user "$1" --armor --output "$2.asc" --detach-sign "$2" || die "gpg did not sign $2 with '$1'"
}

# cordon-VERSION-linux-ARCH.tar.gz
make_tar() {
  local arch name
  for arch in "${archs[@]}"; do
    name=cordon-$version-linux-$arch
    mkdir -p "$work/tar"
    cp -r "$work/stage-$arch" "$work/tar/$name"
    put 755 packaging/install.sh "$work/tar/$name/install.sh"
    (cd "$work/tar/$name" && find . -type f | sort | sed 's,^\./,,' | xargs sha256sum >"$work/sums" && mv "$work/sums" SHA256SUMS)
    pack_tar "$work/tar" "$name" >"$out/$name.tar.gz"
  done
}

# cordon-VERSION-source.tar.gz: for linking the programs with other libraries, as described in NOTICES.
make_source() {
  local name=cordon-$version
  make_tree "$work/source/$name"
  pack_tar "$work/source" "$name" >"$out/$name-source.tar.gz"
}

# cordon-VERSION.tgz: one package with the programs of all architectures. npm itself writes a fixed time for each file.
make_npm() {
  local arch dir=$work/npm
  make_tree "$work/npm-tree"
  cp -r "$work/npm-tree/packaging/npm" "$dir"
  sed "s/@VERSION@/$version/; s/@LICENCE@/$(python3 packaging/notices.py --expression "${builds[@]}")/" "$dir/package.json.in" >"$dir/package.json"
  rm "$dir/package.json.in"
  for arch in "${archs[@]}"; do
    case $arch in
    x86_64) put 755 "$work/stage-$arch/bin/cordon" "$dir/programs/linux-x64/cordon" ;;
    aarch64) put 755 "$work/stage-$arch/bin/cordon" "$dir/programs/linux-arm64/cordon" ;;
    esac
  done
  put 644 LICENSE "$dir/LICENSE"
  put 644 "$licence_text" "$dir/Apache-2.0"
  make_notices "${builds[@]}" >"$dir/NOTICES"
  (cd "$dir" && npm pack --silent --pack-destination "$out" >/dev/null)
}

# cordon-VERSION-1.ARCH.rpm. Contains nothing specific to this machine or the time.
make_rpm() {
  local arch top=$work/rpm
  for arch in "${archs[@]}"; do
    mkdir -p "$top"
    rpmbuild -bb --quiet --target "$arch-linux" --define "_topdir $top" --define "stage $work/stage-$arch" \
      --define "cordon_version $version" \
      --define "cordon_licence $(python3 packaging/notices.py --expression "${builds[$arch]}")" \
      --define "_buildhost localhost" --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" --define "_build_id_links none" packaging/rpm/cordon.spec >"$top/log" 2>&1 ||
      { cat "$top/log" >&2; die "rpmbuild failed for $arch"; }
    cp "$top"/RPMS/*/*."$arch".rpm "$out"
  done
}

# cordon, libcordon0 and libcordon-dev for this machine's architecture, by dpkg-buildpackage in a copy of the tree. They use the
# system's libraries, and so do not contain the release binary. Their maintainer is $DEBFULLNAME <$DEBEMAIL>, if set.
make_deb() {
  local dir=$work/deb/cordon-$version
  make_tree "$dir"
  cp -r "$dir/packaging/debian" "$dir/debian"
  if [ -n "${DEBFULLNAME:-}" ] && [ -n "${DEBEMAIL:-}" ]; then
    awk -v to="Maintainer: $DEBFULLNAME <$DEBEMAIL>" '/^Maintainer:/ { $0 = to } 1' "$dir/packaging/debian/control" >"$dir/debian/control"
  fi
  printf 'cordon (%s) unstable; urgency=medium\n\n  * Release %s; CHANGELOG.md has the changes.\n\n -- %s  %s\n' "$version" "$version" \
    "$(sed -n 's/^Maintainer: //p' "$dir/debian/control")" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" >"$dir/debian/changelog"
  CORDON_COMMIT=$commit \
    DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" \
    bash -c 'cd "$1" && exec dpkg-buildpackage -b -us -uc -ui' bash "$dir" >"$work/deb/log" 2>&1 ||
    { tail -n 50 "$work/deb/log" >&2; die "dpkg-buildpackage failed"; }
  cp "$work"/deb/*.deb "$out"
}
