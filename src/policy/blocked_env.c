/* Environment variables that make a program load or run other code. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/blocked.h"

#include <strings.h>

#define DROP "remove it; use an option or a file of the program instead"

#define LOADER  "it controls the dynamic loader"
#define LIBC    "the C library reads settings or code from it"
#define INJECTS "it makes an interpreter load or run other code"
#define SHELL   "it makes a shell run or read other code"
#define GIT     "git runs programs or reads settings that it specifies"
#define BUILD   "it makes a build run other programs"
#define RUNS    "a program runs commands that it specifies"
#define PLUGINS "a library loads code from it"
#define WRITES  "it makes programs write files"

/* Names are separated by blanks; one '*' matches any text. Names that only select a format, a
 * language, a number or the user's own editor and pager (EDITOR, VISUAL, PAGER) are not listed. */
static const struct blocked rows[] = {
    {"LD_* DYLD_* LIBPATH SHLIB_PATH", LOADER, DROP},
    {"GLIBC_* GCONV_PATH GETCONF_DIR HOSTALIASES LOCALDOMAIN LOCPATH NIS_PATH NLSPATH RESOLV_* "
     "RES_OPTIONS",
        LIBC, DROP},
    {"GMON_OUT_PREFIX MALLOC_CONF *_MALLOC_CONF MALLOC_TRACE SSLKEYLOGFILE", WRITES, DROP},
    /* interpreters */
    {"PYTHONPATH PYTHONHOME PYTHONSTARTUP PYTHONINSPECT PYTHONBREAKPOINT PYTHONUSERBASE "
     "PYTHONEXECUTABLE PYTHONPLATLIBDIR PYTHONPYCACHEPREFIX PYTHONWARNINGS PYTHON_PRESITE "
     "PYTEST_ADDOPTS PYTEST_PLUGINS",
        INJECTS, DROP},
    {"PERL5* PERLLIB PERLDB_OPTS PERLIO_DEBUG HARNESS_PERL HARNESS_PERL_SWITCHES", INJECTS, DROP},
    {"RUBYGEMS_GEMDEPS RUBYLIB RUBYLIB_PREFIX RUBYOPT RUBYPATH RUBYSHELL BUNDLE_GEMFILE", INJECTS,
        DROP},
    {"NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE BUN_OPTIONS BUN_INSPECT_PRELOAD "
     "NPM_CONFIG_GIT NPM_CONFIG_GLOBALCONFIG NPM_CONFIG_NODE_GYP NPM_CONFIG_NODE_OPTIONS "
     "NPM_CONFIG_PREFIX NPM_CONFIG_SCRIPT_SHELL NPM_CONFIG_SHELL NPM_CONFIG_USERCONFIG "
     "YARN_RC_FILENAME YARN_YARN_PATH",
        INJECTS, DROP},
    {"CLASSPATH JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS IBM_JAVA_OPTIONS "
     "OPENJ9_JAVA_OPTIONS GRADLE_OPTS JAVA_OPTS MAVEN_ARGS MAVEN_OPTS SBT_OPTS",
        INJECTS, DROP},
    {"LUA_INIT* LUA_PATH* LUA_CPATH*", INJECTS, DROP},
    {"R_DEFAULT_PACKAGES R_ENVIRON* R_HOME R_LIBS* R_PROFILE*", INJECTS, DROP},
    {"DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS DOTNET_SHARED_STORE CORECLR_* COR_* "
     "MONO_ENV_OPTIONS MONO_PATH",
        INJECTS, DROP},
    {"PHPRC PHP_INI_SCAN_DIR", INJECTS, DROP},
    {"ERL_*FLAGS ERL_LIBS ELIXIR_ERL_OPTIONS", INJECTS, DROP},
    {"CAML_LD_LIBRARY_PATH EMACSLOADPATH EXINIT GHC_ENVIRONMENT GHC_PACKAGE_PATH GUILE_* "
     "GVIMINIT JULIA_DEPOT_PATH JULIA_LOAD_PATH OCAML_TOPLEVEL_PATH OCTAVE_*_INITFILE "
     "OCTAVE_PATH PSQLRC TCLLIBPATH TCL*_TM_PATH TCL_LIBRARY TEXMFCNF TK_LIBRARY VIMINIT "
     "VIMRUNTIME",
        INJECTS, DROP},
    /* shells */
    {"IFS", "it changes how a shell splits words", DROP},
    {"BASH_ENV BASH_FUNC_* BASH_LOADABLES_PATH BASH_XTRACEFD BASHOPTS CDPATH ENV EXECIGNORE "
     "FPATH GLOBIGNORE KSH_ENV MAILPATH PROMPT_COMMAND PS0 PS1 PS2 PS4 SHELLOPTS ZDOTDIR",
        SHELL, DROP},
    /* git */
    {"GIT_ALLOW_PROTOCOL GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_ASKPASS GIT_ATTR_SOURCE "
     "GIT_COMMON_DIR GIT_CONFIG* GIT_DIR GIT_EDITOR GIT_EXEC_PATH GIT_EXTERNAL_DIFF "
     "GIT_INDEX_FILE GIT_OBJECT_DIRECTORY GIT_PAGER GIT_PROTOCOL_FROM_USER GIT_PROXY_COMMAND "
     "GIT_SEQUENCE_EDITOR GIT_SSH* GIT_TEMPLATE_DIR GIT_WORK_TREE",
        GIT, DROP},
    {"GIT_REDIRECT_* GIT_TRACE*", WRITES, DROP},
    /* builds */
    {"GNUMAKEFLAGS MAKEFILES MAKEFLAGS MFLAGS CONFIG_SHELL CONFIG_SITE", BUILD, DROP},
    {"CARGO_BUILD_RUSTC* CARGO_BUILD_RUSTDOC* CARGO_BUILD_RUSTFLAGS CARGO_ENCODED_RUST*FLAGS "
     "CARGO_TARGET_*_LINKER CARGO_TARGET_*_RUNNER CARGO_TARGET_*_RUSTFLAGS RUSTC "
     "RUSTC_*WRAPPER RUSTDOC RUSTDOCFLAGS RUSTFLAGS RUSTFMT",
        BUILD, DROP},
    {"CCACHE_COMPILER CCACHE_PREFIX* CCC_OVERRIDE_OPTIONS COMPILER_PATH GCC_EXEC_PREFIX GOENV "
     "GOFLAGS CMAKE_*_COMPILER_LAUNCHER CMAKE_TOOLCHAIN_FILE",
        BUILD, DROP},
    /* programs that ordinary programs start */
    {"*SAN_SYMBOLIZER_PATH CURL_HOME CVS_RSH FZF_DEFAULT_COMMAND FZF_DEFAULT_OPTS* HGEDITOR "
     "HGMERGE HGRCPATH LESS LESSCLOSE LESSEDIT LESSKEY* LESSOPEN MANOPT MANPAGER PSQL_EDITOR* "
     "PSQL_PAGER RIPGREP_CONFIG_PATH RSYNC_CONNECT_PROG RSYNC_RSH SSH_ASKPASS SSH_PKCS11_HELPER "
     "SSH_SK_HELPER SSH_SK_PROVIDER SUDO_ASKPASS SUDO_EDITOR SVN_SSH SYSTEMD_EDITOR "
     "SYSTEMD_PAGER TAPE TAR_OPTIONS VALGRIND_LIB VALGRIND_OPTS WGETRC ZIPOPT",
        RUNS, DROP},
    /* libraries with plug-ins */
    {"ALSA_PLUGIN_DIR GBM_BACKENDS_PATH GDK_PIXBUF_MODULE* GIO_EXTRA_MODULES GIO_MODULE_DIR "
     "GSS_MECH_CONFIG GST_PLUGIN_* GTK*_MODULES GTK_IM_MODULE_FILE GTK_PATH KRB5_CONFIG "
     "LIBGL_DRIVERS_PATH LIBMYSQL_PLUGINS LIBMYSQL_PLUGIN_DIR LIBVA_DRIVERS_PATH "
     "MAGICK_CODER_MODULE_PATH OCL_ICD_* OPENSSL_CONF "
     "OPENSSL_ENGINES OPENSSL_MODULES PIPEWIRE_MODULE_DIR QML*_IMPORT_PATH QT_PLUGIN_PATH "
     "QT_QPA_PLATFORM_PLUGIN_PATH SASL_PATH SPA_PLUGIN_DIR VDPAU_DRIVER_PATH VK_ADD_* VK_DRIVER* "
     "VK_ICD* VK_INSTANCE* VK_LAYER* VK_LOADER*",
        PLUGINS, DROP},
};

static bool blocked_env_same(struct str a, struct str b)
{
    return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

static bool blocked_env_matches(struct str pattern, struct str name)
{
    ptrdiff_t star = str_find(pattern, '*');
    if (star < 0)
        return blocked_env_same(pattern, name);
    struct str tail = str_skip(pattern, (size_t)star + 1);
    return name.n >= (size_t)star + tail.n &&
           blocked_env_same(str_head(pattern, (size_t)star), str_head(name, (size_t)star)) &&
           blocked_env_same(tail, str_skip(name, name.n - tail.n));
}

const struct blocked *blocked_env(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct str each, rest = str_z(rows[i].name);
        while (rest.n && str_cut(rest, ' ', &each, &rest))
            if (each.n && blocked_env_matches(each, name))
                return &rows[i];
    }
    return NULL;
}
