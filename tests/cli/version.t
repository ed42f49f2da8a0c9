# cordon version. See run.py for the format.

## the version alone, as --version prints it
$ cordon version | cmp - <(cordon --version) && cordon version --json | cmp - <(cordon --version --json)

## with --verbose: the build, its libraries, this machine
$ cordon version --verbose | head -n 1
cordon 0.1.0
$ cordon version -v | grep -oE '^(commit|compiler|build|architecture|jansson|libcurl|md4c|SIMD|kernel|Landlock|user namespaces|cgroup v2|container) ' | xargs
commit compiler build architecture jansson libcurl md4c SIMD kernel Landlock user namespaces cgroup v2 container
$ cordon version -v | grep -qx "kernel  *$(uname -r)" && echo same
same
$ cordon version -v | grep -E '^commit +([0-9a-f]{7,40}(-dirty)?|unknown)$' | wc -l
1

## as JSON, with a member for each value
$ cordon version --verbose --json | python3 -c '
> import json, platform, sys
> o = json.load(sys.stdin)
> print(o["protocol_version"], o["version"], *sorted(o["build"]))
> print(o["machine"]["kernel"] == platform.release(), isinstance(o["machine"]["cgroup2"], bool), o["machine"]["landlock_abi"] >= 0)
> print(o["build"]["architecture"] == platform.machine(), type(o["simd"]).__name__)
> libraries = {l["name"]: l for l in o["libraries"]}
> print(libraries["jansson"]["linked"], libraries["jansson"]["version"] is not None, libraries["libcurl"]["linked"] in ("static", "on demand", "missing"))
> '
1 0.1.0 architecture commit compiler static type
True True True
True list
static True True

## a missing library is reported with a remedy
$ if cordon version -v --json | grep -q '"static":true'; then echo "libcurl missing apt install"; else
>   mkdir empty
>   printf x > empty/libcurl.so.4; printf x > empty/libcurl-gnutls.so.4; printf x > empty/libmd4c.so.0
>   LD_LIBRARY_PATH=$T/empty cordon version -v --json | python3 -c '
> import json, sys
> l = {l["name"]: l for l in json.load(sys.stdin)["libraries"]}["libcurl"]
> print(l["name"], l["linked"], "apt install" if "apt install" in l["detail"] else l["detail"])'
> fi
libcurl missing apt install

## invalid command lines
$ cordon version x
cordon: unexpected argument 'x' [E_CLI_INVALID_ARG]
cordon: try 'cordon version --help'
? 12
$ cordon version --verbos
cordon: 'cordon version' has no option '--verbos'; did you mean '--verbose'? [E_CLI_INVALID_ARG]
cordon: try 'cordon version --help'
? 12
$ cordon version --verbose > /dev/full
cordon: cannot write to standard output: No space left on device [E_IO]
? 10
