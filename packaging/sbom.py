#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the SBOM of a release as SPDX 2.3 JSON: its files with their hashes, and the libraries that the program says it has.

    sbom.py --version 0.1.0 --dir dist --program build-release/cordon
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess

LICENCE = "Apache-2.0"
KINDS = (".deb", ".tar.gz", ".tgz", ".rpm")
# The Debian package that a library of the build comes from: for its exact version.
DEBIAN = {"glibc": "libc6-dev", "jansson": "libjansson-dev", "yaml-0.1": "libyaml-dev", "libpcre2-8": "libpcre2-dev",
          "zlib": "zlib1g-dev", "libcurl": "libcurl4-openssl-dev", "md4c": "libmd4c-dev", "OpenSSL": "libssl-dev",
          "nghttp2": "libnghttp2-dev"}
RELATIONS = {"static": "STATIC_LINK", "shared": "DYNAMIC_LINK"}


def debian_version(library):
    """Of the source package: "openssl", "3.0.16-1~deb12u1"; None: not a Debian system."""
    if library not in DEBIAN:
        return None
    done = subprocess.run(["dpkg-query", "-W", "-f", "${source:Package} ${source:Version}", DEBIAN[library]],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return tuple(done.stdout.split()) if done.returncode == 0 else None


def spdx_id(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", "-".join(words))


def file_entry(directory, name):
    with open(os.path.join(directory, name), "rb") as f:
        data = f.read()
    return {
        "SPDXID": spdx_id("File", name), "fileName": "./" + name, "fileTypes": ["ARCHIVE"],
        "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                      {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}],
        "licenseConcluded": LICENCE, "licenseInfoInFiles": ["NOASSERTION"], "copyrightText": "NOASSERTION"}


def package_entry(name, version, licence, **more):
    return {"SPDXID": spdx_id("Package", name), "name": name, "versionInfo": version or "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": "NOASSERTION", **more}


def library_entry(library):
    more = {}
    source = debian_version(library["name"])
    if source:
        more["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                                 "referenceLocator": "pkg:deb/debian/%s@%s?arch=source" % source}]
    return package_entry(library["name"], library["version"], "NOASSERTION", **more)


def relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def main():
    parser = argparse.ArgumentParser()
    for name in ("version", "dir", "program"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    facts = json.loads(subprocess.run([options.program, "version", "--verbose", "--json"], stdout=subprocess.PIPE,
                                      check=True).stdout)
    files = [file_entry(options.dir, name) for name in sorted(os.listdir(options.dir)) if name.endswith(KINDS)]
    libraries = [l for l in facts["libraries"] if l["linked"] in RELATIONS]
    main_package = package_entry("cordon", options.version, LICENCE, supplier="Organization: The Cordon authors",
                                 primaryPackagePurpose="APPLICATION", sourceInfo="commit " + facts["build"]["commit"])
    relations = [relation("SPDXRef-DOCUMENT", "DESCRIBES", main_package["SPDXID"])]
    relations += [relation(main_package["SPDXID"], "GENERATES", f["SPDXID"]) for f in files]
    relations += [relation(main_package["SPDXID"], RELATIONS[l["linked"]], spdx_id("Package", l["name"])) for l in libraries]
    digest = hashlib.sha256(json.dumps([files, libraries]).encode()).hexdigest()
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    print(json.dumps({
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "cordon-" + options.version,
        "documentNamespace": f"https://spdx.org/spdxdocs/cordon-{options.version}-{digest[:32]}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: cordon-sbom", "Organization: The Cordon authors"]},
        "packages": [main_package, *map(library_entry, libraries)], "files": files, "relationships": relations,
    }, indent=2))


if __name__ == "__main__":
    main()
