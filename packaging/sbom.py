#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the SBOM of a release as SPDX 2.3 JSON: its files with their hashes, the static programs in them with their libraries, and
the dependencies of Debian packages.

    sbom.py --version 0.1.0 --commit NAME --dir dist [--static ARCH=DIR]… [--data SOURCE=VERSION]…
DIR has libraries.tsv (libraries.py). SOURCE: a source package of data, from which tables in Debian packages are generated.
"""
import argparse
import datetime
import hashlib
import json
import os
import re
import subprocess

import libraries

KINDS = (".deb", ".tar.gz", ".tgz", ".rpm")
NONE = "NOASSERTION"


def spdx_id(*words):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", "-".join(words))


def relation(one, kind, other, comment=""):
    return {"spdxElementId": one["SPDXID"], "relationshipType": kind, "relatedSpdxElement": other["SPDXID"],
            **({"comment": comment} if comment else {})}


def package_entry(name, version, licence, **more):
    return {"SPDXID": spdx_id("Package", name, *([version] if version else [])), "name": name, "versionInfo": version or NONE,
            "downloadLocation": NONE, "filesAnalyzed": False, "licenseConcluded": licence,
            "licenseDeclared": licence, "copyrightText": NONE, **more}


def debian_entry(name, version, licence, arch):
    purl = f"pkg:deb/debian/{name}" + (f"@{version}" if version else "") + arch
    return package_entry(name, version, licence, externalRefs=[
        {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}])


class Sbom:
    def __init__(self, options):
        self.options, self.packages, self.files, self.relations = options, {}, [], []
        self.main = self.add(package_entry(
            "cordon", options.version, libraries.OWN, supplier="Organization: The Cordon authors",
            primaryPackagePurpose="APPLICATION", sourceInfo="commit " + options.commit))
        self.relations.append(relation({"SPDXID": "SPDXRef-DOCUMENT"}, "DESCRIBES", self.main))
        self.data = [tuple(words.split("=", 1)) for words in options.data]
        self.programs = dict(self.program(*words.split("=", 1)) for words in options.static)

    def add(self, package):
        return self.packages.setdefault(package["SPDXID"], package)

    def program(self, arch, directory):
        """The static program of an architecture, with its libraries."""
        rows = libraries.read(directory)
        program = self.add(package_entry(f"cordon-linux-{arch}", self.options.version, libraries.expression(rows),
                                         primaryPackagePurpose="APPLICATION"))
        self.add_parts(program, rows)
        return arch, program

    def add_parts(self, one, rows):
        for name, version in rows:
            entry = self.add(debian_entry(name, version, libraries.LICENCES[name], "?arch=source"))
            self.relations.append(relation(one, "GENERATED_FROM" if name in libraries.DATA else "STATIC_LINK", entry))

    def licence(self, name, held):
        if name.endswith(".deb"):
            return libraries.expression(self.data)
        return held[0]["licenseConcluded"] if len(held) == 1 else NONE if held else libraries.OWN

    def add_file(self, name):
        with open(os.path.join(self.options.dir, name), "rb") as f:
            data = f.read()
        held = [program for arch, program in self.programs.items() if f"-{arch}.tar.gz" in name or f".{arch}.rpm" in name or name.endswith(".tgz")]
        entry = {"SPDXID": spdx_id("File", name), "fileName": "./" + name, "fileTypes": ["ARCHIVE"],
                 "checksums": [{"algorithm": "SHA1", "checksumValue": hashlib.sha1(data).hexdigest()},
                               {"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}],
                 "licenseConcluded": self.licence(name, held), "licenseInfoInFiles": [NONE], "copyrightText": NONE}
        self.files.append(entry)
        self.relations.append(relation(self.main, "GENERATES", entry))
        self.relations += [relation(entry, "CONTAINS", program) for program in held]
        if name.endswith(".deb"):
            self.add_parts(entry, self.data)
            self.add_needs(entry, name)

    def add_needs(self, entry, name):
        """A Debian package contains no libraries of others: it depends on them, or can do without. One of several alternatives is enough: the
        first one is listed, with the others as a comment."""
        for field, kind in (("Depends", "DEPENDS_ON"), ("Recommends", "OPTIONAL_DEPENDENCY_OF")):
            text = subprocess.run(["dpkg-deb", "-f", os.path.join(self.options.dir, name), field], stdout=subprocess.PIPE, check=True, text=True).stdout
            groups = {tuple(re.findall(r"(?:^|\|)\s*([a-z0-9.+-]+)", group)) for group in text.split(",")} - {()}
            for package, *others in sorted(groups):
                other = self.main if package.startswith("libcordon") else self.add(debian_entry(package, "", NONE, ""))
                one, two = (entry, other) if field == "Depends" else (other, entry)
                self.relations.append(relation(one, kind, two, " ".join(["or", *others]) if others else ""))

    def document(self):
        digest = hashlib.sha256(json.dumps([self.files, self.relations]).encode()).hexdigest()
        created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
        version = self.options.version
        return {
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "cordon-" + version,
            "documentNamespace": f"https://spdx.org/spdxdocs/cordon-{version}-{digest[:32]}",
            "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: cordon-sbom", "Organization: The Cordon authors"]},
            "packages": [*self.packages.values()], "files": self.files, "relationships": self.relations}


def main():
    parser = argparse.ArgumentParser()
    for name in ("version", "commit", "dir"):
        parser.add_argument("--" + name, required=True)
    for name in ("static", "data"):
        parser.add_argument("--" + name, action="append", default=[])
    sbom = Sbom(parser.parse_args())
    for name in sorted(os.listdir(sbom.options.dir)):
        if name.endswith(KINDS):
            sbom.add_file(name)
    print(json.dumps(sbom.document(), indent=2))


if __name__ == "__main__":
    main()
