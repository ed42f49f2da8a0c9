#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks an SBOM against the parts of SPDX 2.3 that it uses, and against the files and the static programs that it describes.

    sbom.py SBOM DIR [ARCH=COMMAND]…      prints each problem; exit status 1 if there is one. COMMAND starts the program.
"""
import hashlib
import json
import os
import re
import subprocess
import sys

DOCUMENT = {"spdxVersion", "dataLicense", "SPDXID", "name", "documentNamespace", "creationInfo", "packages", "files", "relationships"}
PACKAGE = {"SPDXID", "name", "versionInfo", "downloadLocation", "filesAnalyzed", "licenseConcluded", "licenseDeclared", "copyrightText"}
FILE = {"SPDXID", "fileName", "checksums", "licenseConcluded", "copyrightText"}
RELATIONS = {"DESCRIBES", "GENERATES", "STATIC_LINK", "GENERATED_FROM", "CONTAINS", "DEPENDS_ON", "OPTIONAL_DEPENDENCY_OF"}
PURL = re.compile(r"pkg:deb/debian/([a-z0-9.+-]+)@([A-Za-z0-9.+:~-]+)\?arch=source")
# The names of a static program's libraries, and Debian's source packages.
SOURCES = {"glibc": "glibc", "jansson": "jansson", "yaml-0.1": "libyaml", "libpcre2-8": "pcre2", "zlib": "zlib", "libcurl": "curl",
           "md4c": "md4c", "OpenSSL": "openssl", "nghttp2": "nghttp2"}


def problems(sbom, directory, programs):
    yield from (f"no {key}" for key in DOCUMENT - set(sbom))
    if (sbom["spdxVersion"], sbom["dataLicense"], sbom["SPDXID"]) != ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"):
        yield "not an SPDX 2.3 document"
    if not re.fullmatch(r"https://[^#\s]+", sbom["documentNamespace"]):
        yield f"documentNamespace {sbom['documentNamespace']}"
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", sbom["creationInfo"]["created"]):
        yield f"created {sbom['creationInfo']['created']}"
    if not all(re.fullmatch(r"(Tool|Organization|Person): .+", c) for c in sbom["creationInfo"]["creators"]):
        yield "creators"
    for kind, wanted in (("packages", PACKAGE), ("files", FILE)):
        for entry in sbom[kind]:
            yield from (f"{entry.get('SPDXID')}: no {key}" for key in wanted - set(entry))
    ids = [e["SPDXID"] for e in sbom["packages"] + sbom["files"]] + ["SPDXRef-DOCUMENT"]
    yield from (f"{i}: twice" for i in set(ids) if ids.count(i) > 1)
    yield from (f"{i}: not an id" for i in ids if not re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", i))
    for relation in sbom["relationships"]:
        if relation["relationshipType"] not in RELATIONS or not {relation["spdxElementId"], relation["relatedSpdxElement"]} <= set(ids):
            yield f"relationship {relation}"
    related = {r["relatedSpdxElement"] for r in sbom["relationships"]} | {
        r["spdxElementId"] for r in sbom["relationships"] if r["relationshipType"] == "OPTIONAL_DEPENDENCY_OF"}
    yield from (f"{i}: in no relationship" for i in ids if i not in related and i != "SPDXRef-DOCUMENT")
    yield from file_problems(sbom, directory)
    yield from content_problems(sbom)
    for words in programs:
        yield from program_problems(sbom, *words.split("=", 1))


def file_problems(sbom, directory):
    listed = {f["fileName"]: {c["algorithm"]: c["checksumValue"] for c in f["checksums"]} for f in sbom["files"]}
    there = {"./" + n for n in os.listdir(directory) if not n.endswith(".spdx.json") and n not in ("SHA256SUMS", "SHA256SUMS.asc")}
    yield from (f"{name}: listed or there, not both" for name in set(listed) ^ there)
    for name in set(listed) & there:
        with open(os.path.join(directory, name), "rb") as f:
            data = f.read()
        if listed[name] != {"SHA1": hashlib.sha1(data).hexdigest(), "SHA256": hashlib.sha256(data).hexdigest()}:
            yield f"{name}: another hash"


def of(sbom, one, kind):
    """The packages that an entry has this relation to, by name."""
    packages = {p["SPDXID"]: p for p in sbom["packages"]}
    return {packages[r["relatedSpdxElement"]]["name"]: packages[r["relatedSpdxElement"]] for r in sbom["relationships"]
            if r["spdxElementId"] == one["SPDXID"] and r["relationshipType"] == kind}


def content_problems(sbom):
    """Archives contain static programs, Debian packages do not; a static program has all libraries."""
    for file in sbom["files"]:
        name, held, needs = file["fileName"], of(sbom, file, "CONTAINS"), of(sbom, file, "DEPENDS_ON")
        arch = re.search(r"(x86_64|aarch64)\.(tar\.gz|rpm)$", name)
        if arch and [*held] != ["cordon-linux-" + arch[1]] or name.endswith(".tgz") and not held:
            yield f"{name}: has {[*held]}"
        if name.endswith(".deb") and ("unicode-data" not in of(sbom, file, "GENERATED_FROM") or "Unicode-DFS-2016" not in file["licenseConcluded"]):
            yield f"{name}: its tables are made of unicode-data, whose licence is not in {file['licenseConcluded']}"
        if name.endswith((".deb", "-source.tar.gz")) and held or "/cordon_" in name and "libc6" not in needs:
            yield f"{name}: has {[*held]}, needs {[*needs]}"
        if held and file["licenseConcluded"] == "Apache-2.0":
            yield f"{name}: libraries of others are in it, and its licence is {file['licenseConcluded']}"
    for program in (p for p in sbom["packages"] if p["name"].startswith("cordon-linux-")):
        linked = of(sbom, program, "STATIC_LINK")
        yield from (f"{program['name']}: no {name}" for name in set(SOURCES.values()) - set(linked))
        for name, package in linked.items():
            purls = [PURL.fullmatch(r["referenceLocator"]) for r in package.get("externalRefs", [])]
            if not any(m and m.groups() == (name, package["versionInfo"]) for m in purls):
                yield f"{name}: not the source package"
            if not set(package["licenseDeclared"].split(" AND ")) <= set(program["licenseDeclared"].split(" AND ")):
                yield f"{program['name']}: {name}'s licence is not part of its own"


def program_problems(sbom, arch, command):
    """The program must report the same libraries."""
    facts = json.loads(subprocess.run([*command.split(), "version", "-v", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    packages = {p["name"]: p for p in sbom["packages"]}
    linked = of(sbom, packages["cordon-linux-" + arch], "STATIC_LINK")
    for library in facts["libraries"]:
        package = linked.get(SOURCES.get(library["name"]))
        if library["linked"] == "static" and (not package or not package["versionInfo"].split(":")[-1].startswith(library["version"])):
            yield f"{arch}: {library['name']} {library['version']}: listed as {package and package['versionInfo']}"
    if not facts["build"]["static"] or packages["cordon"]["versionInfo"] != facts["version"] or packages["cordon"]["licenseDeclared"] != "Apache-2.0":
        yield f"{arch}: the program's own entry"
    if packages["cordon"]["sourceInfo"] != "commit " + facts["build"]["commit"]:
        yield f"{arch}: it is built from {facts['build']['commit']}, and released as {packages['cordon']['sourceInfo']}"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        sbom = json.load(f)
    found = list(problems(sbom, sys.argv[2], sys.argv[3:]))
    print("\n".join(found))
    return len(found) > 0


sys.exit(main())
