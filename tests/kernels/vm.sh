# SPDX-License-Identifier: Apache-2.0
# Machines in qemu for script/kernels: kernels, images, and a boot. Sourced after script/common.sh; needs $arch, $cache, $work,
# $cpus, $source; $machine is the process of the running machine.

# Packages of every image in addition to Debian's base: for the suites, the demo, and building.
# shellcheck disable=SC2207 # words
packages=($(script/bootstrap --list build) apparmor btrfs-progs bubblewrap busybox-static dbus-user-session dialog expect fakeroot fd-find fzf gcc git htop iproute2
  kmod less libc6-dev libpam-systemd make mc nano procps python3 ripgrep systemd-sysv tig tmux tzdata util-linux vim)
# Modules needed for a disk and a port; the others are loaded from the disk.
modules=(virtio_pci virtio_mmio virtio_blk virtio_console ext4)

# vm_arch: the qemu settings of an architecture.
vm_arch() {
  case $arch in
  amd64)
    qemu=(qemu-system-x86_64 -machine q35 -cpu max)
    console=ttyS0 flavours=(cloud-amd64 generic amd64)
    ;;
  arm64)
    # All page sizes, and 32-bit programs; with the fast pointer authentication.
    qemu=(qemu-system-aarch64 -machine virt -cpu "max,pauth-impdef=on")
    console=ttyAMA0 flavours=(cloud-arm64 generic arm64)
    ;;
  *) die "no machine for the architecture $arch" ;;
  esac
}

# vm_foreign COMMAND…: runs a command that starts programs of $arch. If the kernel cannot run them (binfmt_misc), qemu is registered,
# and unregistered afterwards.
vm_foreign() (
  # shellcheck disable=SC2030 # for this command alone
  name=qemu-aarch64 misc=/proc/sys/fs/binfmt_misc
  if [ "$arch" != arm64 ] || [ "$(dpkg --print-architecture)" = arm64 ] || [ -e "$misc/$name" ]; then
    "$@"
    exit
  fi
  [ -e "$misc/register" ] || mount -t binfmt_misc none "$misc"
  # Qemu itself instead of a helper of Debian's that not every machine has; the file is opened now, and works in any root.
  sed "s|:/usr/libexec/[^:]*:|:/usr/bin/$name-static:|" "/usr/lib/binfmt.d/$name.conf" >"$misc/register"
  trap 'echo -1 >"$misc/$name"' EXIT
  "$@"
)

# vm_busybox: the path of a static busybox of $arch.
vm_busybox() {
  local dir=$cache/busybox-$arch
  if [ "$(dpkg --print-architecture)" = "$arch" ]; then
    echo /bin/busybox
    return
  fi
  if [ ! -d "$dir" ]; then
    fetch_lists
    mkdir "$work/busybox"
    (cd "$work/busybox" && fetch_apt apt-get download -qq busybox-static/bookworm >&2 && dpkg-deb -x busybox-static_*.deb .)
    mv "$work/busybox" "$dir"
  fi
  echo "$dir/bin/busybox"
}

# vm_image: the Debian system, made once.
vm_image() {
  local names
  names=$(IFS=,; echo "${packages[*]}")
  image=$cache/root-$arch-$(cksum <<<"$names" | cut -d ' ' -f 1).ext4
  [ ! -f "$image" ] || return 0
  say "making the image of Debian 12 ($arch)"
  [ "$(id -u)" = 0 ] || die "making the image needs root: its files have their owners"
  # shellcheck disable=SC2016 # $1 is the hook's
  vm_foreign mmdebstrap --quiet --mode=root --architectures="$arch" --variant=minbase --format=directory --include="$names" \
    --customize-hook='chroot "$1" useradd --create-home --uid 1000 --shell /bin/bash user' \
    --customize-hook='mkdir -p "$1/srv/cordon"' \
    --customize-hook='chroot "$1" systemctl --quiet mask systemd-timesyncd.service getty@.service serial-getty@.service' \
    bookworm "$work/root" "$(debian_site bookworm)" >"$work/log"
  mke2fs -q -t ext4 -d "$work/root" "$image.new" 3G >"$work/log"
  rm -rf "$work/root"
  mv "$image.new" "$image"
}

# vm_tree BUILD: the repository's files and the results of BUILD, without intermediate files; or, with $source, no build results.
vm_tree() {
  local stage=$work/tree without=(':!fuzz/corpus' ':!web')
  mkdir "$stage"
  [ -z "$source" ] || without=()
  git ls-files -co --exclude-standard -z -- "${without[@]}" | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$stage"
  [ -z "$source" ] || { vm_tree_image "$stage"; return; }
  tar -c --exclude='*.p' --exclude='*.a' --exclude="$1/fuzz" --exclude="$1/kernels" --exclude="$1/npm" --exclude="$1/meson-*" "$1" | tar -x -C "$stage"
  [ "$1" = build ] || mv "$stage/$1" "$stage/build"
  [ -n "$quick" ] || vm_parser "$stage/build"
  # Nothing is built there.
  printf '#!/bin/sh\n' >"$stage/script/build"
  vm_tree_image "$stage"
}

# vm_parser DIR: a newer apparmor_parser into DIR, if there is one.
vm_parser() {
  local parser
  parser=$(fetch_parser) || say "no suite has an apparmor_parser for 'doctor --fix'"
  [ -z "$parser" ] || cp -a "$parser" "$1/parser"
}

vm_tree_image() {
  mke2fs -q -t ext4 -E root_owner=0:0 -d "$1" "$work/tree.ext4" 1G >"$work/log"
  rm -rf "$1"
}

# vm_kernel DIR DEB…: unpacks a kernel's packages into DIR: vmlinuz, modules.ext4, initrd.
vm_kernel() {
  local dir=$1 new=$1.new deb version
  shift
  rm -rf "$new"
  mkdir -p "$new/x"
  for deb; do dpkg-deb -x "$deb" "$new/x"; done
  [ -d "$new/x/lib/modules" ] || mv "$new/x/usr/lib" "$new/x/lib"
  version=$(basename "$(echo "$new"/x/lib/modules/*)")
  cp "$new/x/boot/vmlinuz-$version" "$new/vmlinuz"
  depmod -b "$new/x" "$version"
  vm_initrd "$new" "$version"
  mke2fs -q -t ext4 -d "$new/x/lib/modules" "$new/modules.ext4" 1G >"$work/log"
  rm -rf "$new/x"
  echo "$version" >"$new/version"
  mv "$new" "$dir"
}

# vm_initrd DIR VERSION: the initial file system, without init: busybox, and modules in the order of their dependencies.
vm_initrd() {
  local root=$1/initrd.d file name
  mkdir -p "$root"/{bin,dev,proc,root,modules}
  cp "$(vm_busybox)" "$root/bin/busybox"
  : >"$root/modules/list"
  for name in "${modules[@]}"; do
    modprobe -d "$1/x" -S "$2" --show-depends "$name" 2>/dev/null | sed -n 's/^insmod \([^ ]*\).*/\1/p'
  done | while read -r file; do
    name=$(basename "$file")
    name=${name%%.ko*}.ko
    ! grep -qx "$name" "$root/modules/list" || continue
    case $file in
    *.zst) zstd -qdc "$file" ;;
    *.xz) xz -dc "$file" ;;
    *) cat "$file" ;;
    esac >"$root/modules/$name"
    echo "$name" >>"$root/modules/list"
  done
  (cd "$root" && find . | cpio -o -H newc --quiet -R 0:0) | gzip -1 >"$1/initrd"
  rm -rf "$root"
}

# vm_boot KERNEL-DIR JOB OUTPUT SECONDS [WORD…]: runs the file JOB on that kernel, with its output in OUTPUT; words are appended to
# the kernel's command line. Returns the job's exit status, or 124 after a timeout, or 125 if the machine ended without one.
vm_boot() {
  local dir=$1 job=$2 output=$3 seconds=$4 drive=format=raw,if=none status=0
  shift 4
  truncate -s %512 "$job"
  : >"$output"
  { cat "$dir/initrd" && (cd tests/kernels && echo init | cpio -o -H newc --quiet -R 0:0 | gzip -1); } >"$work/initrd"
  timeout --kill-after=10 "$seconds" "${qemu[@]}" -accel tcg,thread=multi -smp "$cpus" -m 2048 -nographic -no-reboot -nic none \
    -kernel "$dir/vmlinuz" -initrd "$work/initrd" -append "console=$console panic=-1 quiet no_timer_check $*" \
    -drive "file=$image,$drive,id=a,snapshot=on" -device virtio-blk-pci,drive=a \
    -drive "file=$work/tree.ext4,$drive,id=b,snapshot=on" -device virtio-blk-pci,drive=b \
    -drive "file=$dir/modules.ext4,$drive,id=c,readonly=on" -device virtio-blk-pci,drive=c \
    -drive "file=$job,$drive,id=d,readonly=on" -device virtio-blk-pci,drive=d \
    -device virtio-serial-pci -chardev "file,id=port,path=$output" -device virtserialport,chardev=port \
    -display none -serial "file:$work/console" -monitor none </dev/null >"$work/qemu" 2>&1 &
  machine=$!
  wait "$machine" || status=$?
  machine=
  [ "$status" = 0 ] || { cat "$work/qemu" >&2; return "$status"; }
  status=$(sed -n '$s/^kernels: exit \([0-9]*\)$/\1/p' "$output")
  [ -n "$status" ] || { cat "$work/qemu" >&2 && tail -n 30 "$work/console" >&2; return 125; }
  sed -i '$d' "$output"
  return "$status"
}
