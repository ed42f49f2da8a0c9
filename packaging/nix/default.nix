# SPDX-License-Identifier: Apache-2.0
# Cordon from this tree: nix-build packaging/nix. Written from the manual of Nixpkgs, not built by us.
{ pkgs ? import <nixpkgs> { } }:
pkgs.stdenv.mkDerivation {
  pname = "cordon";
  version = "0.1.0";
  src = ../..;
  nativeBuildInputs = with pkgs; [ meson ninja pkg-config python3 scdoc ];
  buildInputs = with pkgs; [ curl jansson libyaml md4c pcre2 zlib ];
  # The tables of Unicode are looked for where Debian has them.
  postPatch = ''
    substituteInPlace src/meson.build --replace /usr/share/unicode ${pkgs.unicode-character-database}/share/unicode
  '';
  mesonFlags = [ "-Dtests=false" "-Dbundle=false" ];
  meta = {
    description = "Run coding agents and terminal programs inside a boundary";
    license = pkgs.lib.licenses.asl20;
    platforms = [ "x86_64-linux" "aarch64-linux" ];
  };
}
