#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks an SBOM against SPDX 2.3 as far as it uses it, and against the files and the program that it is about.

    sbom.py SBOM DIR PROGRAM      prints each problem; exit status 1 if there is one
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
RELATIONS = {"DESCRIBES", "GENERATES", "STATIC_LINK", "DYNAMIC_LINK"}
PURL = re.compile(r"pkg:deb/debian/[a-z0-9.+-]+@[A-Za-z0-9.+:~-]+\?arch=source")


def problems(sbom, directory, program):
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
    related = {r["relatedSpdxElement"] for r in sbom["relationships"]}
    yield from (f"{i}: in no relationship" for i in ids if i not in related and i != "SPDXRef-DOCUMENT")
    yield from file_problems(sbom, directory)
    yield from library_problems(sbom, program)


def file_problems(sbom, directory):
    listed = {f["fileName"]: {c["algorithm"]: c["checksumValue"] for c in f["checksums"]} for f in sbom["files"]}
    there = {"./" + n for n in os.listdir(directory) if not n.endswith(".spdx.json") and n != "SHA256SUMS"}
    yield from (f"{name}: listed or there, not both" for name in set(listed) ^ there)
    for name in set(listed) & there:
        with open(os.path.join(directory, name), "rb") as f:
            data = f.read()
        if listed[name] != {"SHA1": hashlib.sha1(data).hexdigest(), "SHA256": hashlib.sha256(data).hexdigest()}:
            yield f"{name}: another hash"


def library_problems(sbom, program):
    """Every library of the program, with its version; as the dynamic linker sees them, too."""
    facts = json.loads(subprocess.run([program, "version", "-v", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    packages = {p["name"]: p for p in sbom["packages"]}
    for library in facts["libraries"]:
        if library["linked"] not in ("static", "shared"):
            continue
        package = packages.get(library["name"])
        if not package or package["versionInfo"] != library["version"]:
            yield f"{library['name']} {library['version']}: not listed"
        elif not any(PURL.fullmatch(r["referenceLocator"]) for r in package.get("externalRefs", [])):
            yield f"{library['name']}: no Debian source package"
    if facts["build"]["static"] and not {"glibc", "jansson", "yaml-0.1", "libpcre2-8", "zlib", "libcurl", "md4c", "OpenSSL", "nghttp2"} <= set(packages):
        yield f"a static program has more libraries than {sorted(packages)}"
    if packages["cordon"]["versionInfo"] != facts["version"] or packages["cordon"]["licenseDeclared"] != "Apache-2.0":
        yield "the program's own entry"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        sbom = json.load(f)
    found = list(problems(sbom, sys.argv[2], sys.argv[3]))
    print("\n".join(found))
    return len(found) > 0


sys.exit(main())
