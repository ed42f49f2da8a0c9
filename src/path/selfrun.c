/* Files that take effect automatically: the table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "path/selfrun.h"

#include <pthread.h>

/* Suffix of a path, in lower case; a '*' matches any bytes but '/'. A name with a trailing '/' is a
 * directory, and includes everything below it. */
static const char *const git_names[] = {
    ".gitattributes", ".gitconfig", ".gitmodules", ".lfsconfig", ".config/git/"};

static const char *const git_own_names[] = {".git/"};

static const char *const vcs_names[] = {".hg/", ".hgrc", ".hgsub", ".hgsubstate", ".jj/", ".sl/",
    ".slconfig", ".svn/", ".subversion/", ".bzr/", ".bzrrc", "_darcs/", ".darcs/", "cvs/", ".cvsrc",
    ".pijul/", ".fossil", ".fossil-settings/", ".fslckout", "_fossil_", ".repo/", ".p4config",
    ".p4enviro", ".arcconfig"};

static const char *const hooks_names[] = {".githooks/", ".git-hooks/", ".git_hooks/", "githooks/",
    "git-hooks/", ".husky/", ".huskyrc", ".huskyrc.*", "husky.config.*", ".lefthook/",
    ".lefthook-local/", "lefthook.*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*",
    ".config/lefthook*", ".pre-commit-config.yaml", ".pre-commit-config.yml",
    ".pre-commit-hooks.yaml", "prek.toml", ".overcommit.yml", ".overcommit.yaml",
    ".local-overcommit.yml", "captainhook.json", "captainhook.config.json", ".simple-git-hooks.*",
    "simple-git-hooks.*", ".lintstagedrc", ".lintstagedrc.*", "lint-staged.config.*",
    ".commitlintrc", ".commitlintrc.*", "commitlint.config.*", ".rusty-hook.toml", ".cargo-husky/",
    "grumphp.yml", "grumphp.yml.dist", ".grumphp.yml", "hk.pkl", ".hk/", ".hooks/"};

static const char *const shell_names[] = {".envrc", ".envrc.local", ".direnv/", ".direnvrc",
    ".config/direnv/", ".autoenv", ".autoenv.zsh", ".autoenv_leave.zsh", ".env.enter", ".env.leave",
    ".smartcd/", ".shadowenv.d/", ".ondirrc", ".rvmrc", ".bashrc", ".bashrc.d/", ".bash_aliases",
    ".bash_completion", ".bash_login", ".bash_logout", ".bash_profile", ".config/fish/",
    "config.fish", ".config/nushell/", ".config/elvish/", ".elvish/", ".config/xonsh/", ".xonshrc",
    ".config/powershell/", "profile.ps1", "*_profile.ps1", ".cshrc", ".inputrc", ".editrc",
    ".kshrc", ".mkshrc", ".shrc", ".shinit", ".ashrc", ".yashrc", ".yash_profile", ".login",
    ".logout", ".profile", ".tcshrc", ".zlogin", ".zlogout", ".zprofile", ".zshenv", ".zshrc",
    ".zshrc.d/", ".zsh/", ".config/zsh/", ".oh-my-zsh/", ".zprezto/", ".oilrc", ".devenv/",
    ".flox/", ".hermit/"};

static const char *const session_names[] = {".xprofile", ".xinitrc", ".xsession", ".xsessionrc",
    ".xserverrc", ".xresources", ".pam_environment", ".config/environment.d/", ".config/autostart/",
    ".config/systemd/", ".config/upstart/", ".config/plasma-workspace/", ".config/i3/",
    ".config/sway/", ".config/hypr/", ".local/bin/", ".local/share/applications/",
    ".local/share/systemd/", ".kde/autostart/", "autostart/", "*.desktop", "autorun.inf",
    "library/launchagents/", ".ssh/", ".gnupg/", ".forward", ".procmailrc", ".mailcap", ".muttrc",
    ".neomuttrc", ".netrc", ".rhosts", ".shosts", ".k5login", ".screenrc", ".tmux.conf", ".tmux/",
    ".config/tmux/", ".config/zellij/", ".config/kitty/", ".config/wezterm/", ".wezterm.lua",
    ".hyper.js", ".lesskey", ".lessfilter", ".lessopen", ".nanorc", ".crontab"};

static const char *const editor_names[] = {".dir-locals.el", ".dir-locals-2.el", ".emacs",
    ".emacs.el", ".emacs.d/", ".config/emacs/", ".config/doom/", ".doom.d/", ".spacemacs", ".exrc",
    "_exrc", ".vimrc", "_vimrc", ".gvimrc", "_gvimrc", ".vim/", ".config/vim/", ".lvimrc",
    ".local.vimrc", ".vimrc.local", ".nvim.lua", ".nvimrc", ".nvim/", ".config/nvim/", ".lazy.lua",
    ".neoconf.json", ".nlsp-settings/", ".vimspector.json", ".projections.json",
    "coc-settings.json", ".ycm_extra_conf.py", ".vscode/", ".vscode-insiders/", "*.code-workspace",
    ".theia/", ".vs/", ".fleet/", ".helix/", ".config/helix/", ".idea/", "*.iml", "*.ipr", "*.iws",
    ".run/", "*.run.xml", ".zed/", ".config/zed/", ".nova/", ".atom/", ".atom-build.*",
    "*.sublime-project", "*.sublime-workspace", "*.sublime-build", "*.sublime-settings",
    ".kateconfig", ".kateproject", ".kateproject.*", ".kdev4/", "*.kdev4", ".kak/", ".kakrc",
    ".config/kak/", ".lapce/", ".project", ".classpath", ".cproject", ".buildpath", ".pydevproject",
    ".factorypath", ".autotools", ".externaltoolbuilders/", ".settings/", "nbproject/",
    ".metadata/", "*.geany", "*.pro.user", "*.qbs.user", ".devcontainer/", ".devcontainer.json",
    ".gitpod.yml", ".gitpod.yaml", ".gitpod.dockerfile", ".gitpod/", ".ona/", "devfile.yaml",
    ".devfile.yaml", ".devfile/", ".codesandbox/", ".stackblitzrc", ".replit", "replit.nix",
    ".idx/", "devbox.json", ".luarc.json", ".luarc.jsonc", ".sourcekit-lsp/", ".bsp/", ".bloop/",
    ".metals/", "rust-analyzer.toml", ".rust-analyzer.toml", "hie.yaml", ".hie-bios", ".merlin",
    ".nrepl.edn", ".clj-kondo/", ".lsp/"};

static const char *const ci_names[] = {".github/workflows/", ".github/actions/",
    ".github/dependabot.yml", ".github/dependabot.yaml", ".github/renovate.*",
    ".github/mergify.yml", ".gitea/workflows/", ".gitea/actions/", ".forgejo/workflows/",
    ".forgejo/actions/", ".gitlab-ci.yml", ".gitlab-ci.yaml", "*.gitlab-ci.yml", ".gitlab/",
    ".gitlab-ci/", ".circleci/", "circle.yml", ".travis.yml", ".travis.yaml", ".travis/",
    ".drone.yml", ".drone.yaml", ".drone.star", ".drone.jsonnet", ".drone/", ".woodpecker.yml",
    ".woodpecker.yaml", ".woodpecker/", ".appveyor.yml", ".appveyor.yaml", "appveyor.yml",
    "appveyor.yaml", "azure-pipelines*.yml", "azure-pipelines*.yaml", ".azure-pipelines/",
    ".azure/", ".azuredevops/", "azure-pipelines/", ".pipelines/", "bitbucket-pipelines.yml",
    "bitbucket-pipelines.yaml", "jenkinsfile", "jenkinsfile.*", "*.jenkinsfile", ".jenkins/",
    ".cirrus.yml", ".cirrus.yaml", ".cirrus.star", ".semaphore/", ".builds/", ".build.yml",
    ".build.yaml", ".buildkite/", "buildkite.yml", ".buildkite.yml", "buildspec.yml",
    "buildspec.yaml", "appspec.yml", "cloudbuild.yaml", "cloudbuild.yml", "cloudbuild.json",
    "codefresh.yml", ".codefresh/", "codeship-*.yml", "wercker.yml", "shippable.yml",
    ".scrutinizer.yml", ".teamcity/", ".space.kts", ".space/", ".kokoro/", ".zuul.yaml", ".zuul.d/",
    "zuul.yaml", "zuul.d/", ".tekton/", ".harness/", "screwdriver.yaml", ".vela.yml", ".vela/",
    ".onedev-buildspec.yml", ".bazelci/", ".prow.yaml", ".packit.yaml", "packit.yaml",
    ".taskcluster.yml", "bitrise.yml", "codemagic.yaml", "garnix.yaml", "dagger.json", ".dagger/",
    ".ci/", ".ci.yml", ".ci.yaml", "netlify.toml", "vercel.json", "now.json", "amplify.yml",
    "render.yaml", "heroku.yml", "railway.json", "railway.toml", "nixpacks.toml",
    ".platform.app.yaml", ".ebextensions/", ".readthedocs.yml", ".readthedocs.yaml",
    "renovate.json", "renovate.json5", ".renovaterc", ".renovaterc.*", ".mergify.yml", ".mergify/",
    "bors.toml", ".kodiak.toml", "dangerfile", "dangerfile.*", ".lgtm.yml", ".goreleaser.yml",
    ".goreleaser.yaml"};

static const char *const tool_names[] = {".cargo/", "rust-toolchain", "rust-toolchain.toml",
    ".gdbinit", ".gdbearlyinit", ".valgrindrc", ".lldbinit", ".lldbinit-*", ".ghci",
    ".ghc.environment.*", ".iex.exs", ".erlang", ".irbrc", ".pryrc", ".rdbgrc", ".byebugrc",
    ".ocamlinit", ".utoprc", ".pdbrc", ".pdbrc.py", ".perldb", ".proverc", ".ackrc", ".rprofile",
    ".renviron", ".octaverc", "startup.m", "finish.m", ".gnuplot", "maxima-init.mac", ".sage/",
    ".sqliterc", ".duckdbrc", ".psqlrc", ".my.cnf", ".mongorc.js", ".mongoshrc.js", ".jshellrc",
    ".ipython/", ".jupyter/", "ipython_config.py", "jupyter_*config.py", ".mise.toml", "mise.toml",
    ".mise.*.toml", "mise.*.toml", ".mise/", "mise/config.toml", "mise/config.*.toml",
    "mise/conf.d/", ".config/mise/", ".config/mise.toml", ".rtx.toml", ".config/gh/",
    ".config/pip/", "pip.conf", ".pypirc", ".npmrc", ".pnpmfile.cjs", ".pnpmfile.mjs",
    "pnpmfile.js", ".yarnrc", ".yarnrc.yml", ".yarn/", ".pnp.cjs", ".pnp.js", ".pnp.loader.mjs",
    "bunfig.toml", ".bunfig.toml", ".bundle/", ".fvm/", ".pixi/", ".venv/", "venv/", ".virtualenv/",
    "pyvenv.cfg", "sitecustomize.py", "usercustomize.py", "*.pth", ".mvn/", ".m2/", ".gradle/",
    "gradle/wrapper/", "init.gradle", "init.gradle.kts", ".sbtrc", ".sbtopts", ".jvmopts",
    ".mill-opts", ".mill-jvm-opts", ".bazelrc", ".bazelrc.*", "user.bazelrc", ".bazelversion",
    ".bazeliskrc", "tools/bazel", ".buckconfig", ".buckconfig.*", ".plzconfig", ".plzconfig.*",
    ".pants.rc", ".pants.bootstrap", ".terraformrc", "terraform.rc", ".terraform/", "ansible.cfg",
    ".ansible/", ".kube/", "kubeconfig", ".aws/", ".boto", ".docker/", ".htaccess", ".user.ini",
    "php.ini", ".vagrant/", ".chef/"};

static const char *const agent_names[] = {".claude/", ".claude.json", ".claude-plugin/",
    ".mcp.json", "mcp.json", "mcp_config.json", ".codex/", ".gemini/", ".cursor/",
    ".cursor-plugin/", ".opencode/", "opencode.json", "opencode.jsonc", ".windsurf/", ".codeium/",
    ".continue/", ".continuerc", ".continuerc.json", ".aider.conf.yml", ".aider*", ".goose/",
    ".config/goose/", ".kiro/", ".amazonq/", ".roo/", ".roomodes", ".cline/", ".clinerules/hooks/",
    ".kilo/", ".kilocode/", ".kilocodemodes", ".amp/", ".agents/", ".agent/", ".junie/", ".trae/",
    ".qwen/", ".augment/", ".openhands/", "crush.json", ".crush.json", ".crush/", ".factory/",
    ".zencoder/", ".tabnine/", ".cody/", ".copilot/", ".github/hooks/", ".devin/", ".jules/",
    ".warp/", ".pi/", ".gptme/", "gptme.toml", ".codebuff/", "codebuff.json", ".firebender/",
    "firebender.json", ".rovodev/", ".qoder/", ".codebuddy/", ".iflow/", ".grok/", ".kimi/",
    ".vibe/", ".forge/", "forge.yaml", ".plandex/", ".conductor/", "conductor.json",
    ".container-use/", ".mentat_config.json", ".aiassistant/", ".ruler/", ".bolt/", ".lovable/"};

static const char *const own_names[] = {".cordon/", ".config/cordon/"};

static const char *const advice_names[] = {"claude.md", "claude.local.md", "agents.md",
    "agents.*.md", "agent.md", "gemini.md", "qwen.md", "crush.md", "warp.md", "codex.md",
    "copilot.md", "opencode.md", "cursor.md", "conventions.md", "jules.md", "grok.md", "kimi.md",
    "iflow.md", "kiro.md", "replit.md", "skill.md", "*.mdc", "*.prompt.md", "*.instructions.md",
    "*.chatmode.md", "*.agent.md", ".cursorrules", ".windsurfrules", ".clinerules/",
    ".clinerules-*", ".roorules", ".roorules-*", ".rules", ".goosehints", ".augment-guidelines",
    ".openhands_instructions", ".builderrules", ".github/copilot-instructions.md",
    ".github/instructions/", ".github/prompts/", ".github/chatmodes/", ".github/agents/",
    ".github/skills/", ".sweep.yaml", ".airules", "airules.md", "system_prompt.md"};

static const char *const make_names[] = {"makefile", "makefile.*", "gnumakefile", "bsdmakefile",
    "*.mk", "*.mak", ".gn", "build.gn", "*.gni", "xmake.lua", "premake4.lua", "premake5.lua",
    "conanfile.py", "conanfile.txt", "vcpkg.json", "vcpkg-configuration.json", ".cmake-format.py",
    "kbuild", "kconfig", "configure", "configure.ac", "configure.in", "*.am", "*.m4", "autogen.sh",
    "cmakelists.txt", "*.cmake", "cmakepresets.json", "cmakeuserpresets.json", "meson.build",
    "meson_options.txt", "meson.options", "*.wrap", "justfile", ".justfile", "*.just",
    "taskfile*.yml", "taskfile*.yaml", "earthfile", "tiltfile", "snakefile", "sconstruct",
    "sconscript", "wscript", "waf", "tup.config", "tupfile", "redo", "*.do", "build", "build.ninja",
    "build.xml", "ivy.xml", "build.sh", "build.py", "build.rs", "build.zig", "build.zig.zon",
    "cargo.toml", "cargo.lock", "cross.toml", "trunk.toml", "makefile.toml", "rust-project.json",
    "dylint.toml", "go.mod", "go.sum", "go.work", "go.work.sum", "magefile.go", ".air.toml",
    "*.gradle", "*.gradle.kts", "gradle.properties", "gradle/", "gradlew", "gradlew.bat",
    "buildsrc/", "pom.xml", "mvnw", "mvnw.cmd", "*.sbt", "project/*.scala",
    "project/build.properties", ".sbt/", "build.sc", "build.mill", ".mill-version", "project.clj",
    "profiles.clj", "deps.edn", "bb.edn", "shadow-cljs.edn", "workspace", "workspace.bazel",
    "workspace.bzlmod", "module.bazel", "build.bazel", "*.bzl", "buck", "targets", "pants.toml",
    "*.csproj", "*.fsproj", "*.vbproj", "*.vcxproj", "*.sln", "*.slnx", "*.props", "*.targets",
    "directory.build.rsp", "nuget.config", "global.json", "omnisharp.json", "build.cake",
    "packages.config", "*.xcodeproj/", "*.xcworkspace/", "*.pbxproj", "*.xcconfig", "podfile",
    "podfile.lock", "cartfile", "package.swift", "package.resolved", "pubspec.yaml", "pubspec.lock",
    "mix.exs", "mix.lock", "rebar.config", "rebar.config.script", "rebar.lock", "erlang.mk",
    "cabal.project", "cabal.project.*", "*.cabal", "stack.yaml", "setup.hs", "setup.lhs", "dune",
    "dune-project", "dune-workspace", "*.opam", "*.nimble", "*.nims", "nim.cfg", "dub.json",
    "dub.sdl", "shard.yml", "elm.json", "spago.yaml", "spago.dhall", "makefile.pl", "build.pl",
    "cpanfile", "dist.ini", "*.rockspec", "renv/", "project.toml", "manifest.toml", "*.nix",
    "flake.lock", "guix.scm", "manifest.scm", "channels.scm", ".guix-*", "devenv.yaml", "latexmkrc",
    ".latexmkrc", "doxyfile", "book.toml", "mkdocs.yml", "conf.py", "_config.yml", "_quarto.yml",
    "*.rproj", "dockerfile", "dockerfile.*", "*.dockerfile", "containerfile", "docker-compose*.yml",
    "docker-compose*.yaml", "compose*.yml", "compose*.yaml", "docker-bake.hcl", "skaffold.yaml",
    "helmfile.yaml", "kustomization.yaml", "kustomization.yml", "vagrantfile", "procfile", "*.tf",
    "*.tfvars", "terragrunt.hcl", ".terraform.lock.hcl", ".tflint.hcl", "cdk.json", "pulumi.yaml",
    "serverless.yml", "serverless.yaml", "fastlane/", "fastfile", "app.json"};

static const char *const packages_names[] = {"package.json", "package-lock.json",
    "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "pnpm-workspace.yaml", "bun.lock",
    "bun.lockb", "deno.json", "deno.jsonc", "deno.lock", "node_modules/", "bower.json", ".bowerrc",
    "setup.py", "setup.cfg", "pyproject.toml", "requirements*.txt", "constraints*.txt", "pipfile",
    "pipfile.lock", "poetry.toml", "poetry.lock", "uv.toml", "uv.lock", "pdm.toml", "pdm.lock",
    ".pdm-plugins/", "pixi.toml", "pixi.lock", "hatch.toml", "hatch_build.py", "environment.yml",
    "environment.yaml", "conda-lock.yml", "__pycache__/", "gemfile", "gemfile.lock", "gems.rb",
    "gems.locked", "*.gemspec", "composer.json", "composer.lock", "vendor/bin/",
    "vendor/autoload.php", "brewfile", "berksfile"};

static const char *const tests_names[] = {"conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml",
    ".pytest.toml", "tox.ini", "tox.toml", "noxfile.py", ".coveragerc", "fabfile.py", "tasks.py",
    "truffle-config.js", "dodo.py", "pavement.py", "rakefile", "rakefile.*", "*.rake", "thorfile",
    "*.thor", "guardfile", "capfile", ".rspec", ".rspec-local", ".simplecov", "cucumber.yml",
    ".cucumber", ".busted", ".luacov", "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml",
    "codeception.yml", "behat.yml", "infection.json", "infection.json5", "robofile.php",
    "castor.php", ".mocharc", ".mocharc.*", "mocha.opts", ".nycrc", ".nycrc.*", ".c8rc", ".c8rc.*",
    ".taprc", "jest.setup.*", "jest-preset.js", "vitest.setup.*", "vitest.workspace.*",
    "cypress.json", ".testcaferc.*", "testem.js", ".wallaby.js", "wallaby.js", ".runsettings",
    ".config/nextest.toml"};

static const char *const lint_names[] = {".eslintrc", ".eslintrc.*", "eslint.config.*",
    ".prettierrc", ".prettierrc.*", ".stylelintrc", ".stylelintrc.*", ".babelrc", ".babelrc.*",
    ".swcrc", ".postcssrc", ".postcssrc.*", ".browserslistrc", "*.config.js", "*.config.cjs",
    "*.config.mjs", "*.config.jsx", "*.config.ts", "*.config.cts", "*.config.mts", "*.config.tsx",
    "*.conf.js", "*.conf.cjs", "*.conf.mjs", "*.conf.ts", ".*rc.js", ".*rc.cjs", ".*rc.mjs",
    ".*rc.ts", ".*rc.cts", ".*rc.mts", "webpack.*.js", "webpack.mix.js", "gulpfile.*",
    "gruntfile.*", "jakefile", "jakefile.*", "gatsby-*.js", "gatsby-*.ts", "ember-cli-build.js",
    "plopfile.*", "knexfile.*", "ormconfig.*", ".sequelizerc", "codegen.ts", "codegen.yml",
    "turbo.json", "nx.json", "project.json", "workspace.json", "angular.json", ".angular-cli.json",
    "lerna.json", "rush.json", "tsconfig.json", "tsconfig.*.json", "jsconfig.json", ".storybook/",
    ".vitepress/", ".vuepress/", "nodemon.json", "node.config.json", ".releaserc", ".releaserc.*",
    ".changeset/config.json", ".versionrc", ".czrc", ".cz.toml", ".textlintrc", ".textlintrc.*",
    ".remarkrc", ".remarkrc.*", ".markdownlint-cli2.*", ".markdownlint.*", ".secretlintrc",
    ".secretlintrc.*", ".cspell.*", "cspell.*", ".graphqlrc", ".graphqlrc.*", ".oxlintrc.json",
    "biome.json", "biome.jsonc", ".luacheckrc", ".pylintrc", "pylintrc", ".pylintrc.toml",
    "pylintrc.toml", "mypy.ini", ".mypy.ini", ".flake8", ".bandit", ".rubocop.yml", ".rubocop*.yml",
    ".standard.yml", ".solargraph.yml", ".yardopts", ".reek.yml", "steepfile", ".php-cs-fixer.php",
    ".php-cs-fixer.dist.php", ".php_cs", ".php_cs.dist", "phpstan.neon", "phpstan.neon.dist",
    "phpstan.dist.neon", "psalm.xml", "psalm.xml.dist", "rector.php", "ecs.php", ".phan/",
    "phpcs.xml", ".phpcs.xml", "phpcs.xml.dist", ".golangci.yml", ".golangci.yaml",
    ".golangci.toml", ".golangci.json", ".credo.exs", ".formatter.exs", ".scalafix.conf",
    ".scalafmt.conf", ".swiftlint.yml", "analysis_options.yaml", ".lintr", ".clang-tidy", ".clangd",
    "compile_commands.json", "compile_flags.txt", ".ccls", ".ctags", ".ctags.d/", ".arclint",
    ".ansible-lint", ".yamllint", ".gitlint", ".vale.ini", ".trunk/", ".mega-linter.yml",
    ".pre-commit-search-and-replace.yaml"};

static const char *const choice_names[] = {".tool-versions", ".asdfrc", ".python-version",
    ".python-versions", ".node-version", ".nvmrc", ".ruby-version", ".ruby-gemset",
    ".versions.conf", ".rbenv-vars", ".java-version", ".jenv-version", ".sdkmanrc", ".go-version",
    ".terraform-version", ".tfswitchrc", ".php-version", ".perl-version", ".swift-version",
    ".xcode-version", ".fvmrc", ".elixir-version", ".prototools", ".pkgx.yaml", "pkgx.yaml", ".env",
    ".env.*", ".flaskenv", ".config/", "session.vim", ".swiftpm/"};

/* Names of the first class that version control systems and ordinary commands (pip, gradle, bundle)
 * write as part of their work. */
static const char *const filled_names[] = {".git/", ".hg/", ".hgsubstate", ".jj/", ".sl/", ".svn/",
    ".bzr/", "_darcs/", "cvs/", ".pijul/", ".fslckout", "_fossil_", ".repo/", ".cordon/",
    ".direnv/", ".devenv/", ".flox/", ".hermit/", ".venv/", "venv/", ".virtualenv/", "pyvenv.cfg",
    "*.pth", ".yarn/", ".pnp.cjs", ".pnp.js", ".pnp.loader.mjs", ".bundle/", ".fvm/", ".pixi/",
    ".gradle/", ".m2/", ".terraform/", ".vagrant/", ".ansible/", ".ghc.environment.*", ".metals/",
    ".bloop/", ".bsp/", ".clj-kondo/", ".lsp/"};

#define NAMES(list) list, ARRAY_LEN(list)

static const struct group {
    enum selfrun_class class;
    const char *reason;
    const char *const *names;
    size_t n;
} groups[] = {
    {SELFRUN_RUNS, "git runs programs that it names", NAMES(git_names)},
    {SELFRUN_RUNS, "belongs to git", NAMES(git_own_names)},
    {SELFRUN_RUNS, "belongs to a version control system, which runs programs that it names",
        NAMES(vcs_names)},
    {SELFRUN_RUNS, "runs as a git hook", NAMES(hooks_names)},
    {SELFRUN_RUNS, "a shell reads it at startup", NAMES(shell_names)},
    {SELFRUN_RUNS, "runs when a user logs in, or a terminal or desktop starts",
        NAMES(session_names)},
    {SELFRUN_RUNS, "an editor runs commands from it", NAMES(editor_names)},
    {SELFRUN_RUNS, "runs in CI", NAMES(ci_names)},
    {SELFRUN_RUNS, "a shell, or a tool such as direnv, runs commands from it", NAMES(tool_names)},
    {SELFRUN_RUNS, "an agent follows it, and runs programs that it names", NAMES(agent_names)},
    {SELFRUN_RUNS, "cordon reads settings from it", NAMES(own_names)},
    {SELFRUN_STEERS, "an agent follows its instructions", NAMES(advice_names)},
    {SELFRUN_STEERS, "a build runs commands from it", NAMES(make_names)},
    {SELFRUN_STEERS, "selects packages to install, whose scripts are run", NAMES(packages_names)},
    {SELFRUN_STEERS, "a test run loads it", NAMES(tests_names)},
    {SELFRUN_STEERS, "a linter, formatter or bundler loads it", NAMES(lint_names)},
    {SELFRUN_STEERS, "chooses the toolchain or the environment of other programs",
        NAMES(choice_names)},
};

/* Names hashed by their first two bytes; those that begin with a wildcard have a separate list. */
enum {
    NAMES_MAX = 1500,
    KEYS = 512,
    ANY = KEYS,
};

struct selfrun_entry {
    const char *name;
    const struct group *group;
    uint16_t next; /* index of the next one with the same key, plus 1 */
};

static struct {
    struct selfrun_entry entries[NAMES_MAX];
    uint16_t first[KEYS + 1];
} table;

static char selfrun_fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t selfrun_key(char first, char second)
{
    return ((unsigned char)first * 31u + (unsigned char)second) % KEYS;
}

static void fill_table(void)
{
    size_t n = 0;
    for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
        for (size_t i = 0; i < groups[g].n; i++) {
            const char *name = groups[g].names[i];
            bool any = name[0] == '*' || name[1] == '*';
            uint16_t *first = &table.first[any ? (size_t)ANY : selfrun_key(name[0], name[1])];
            BUG_ON(n == NAMES_MAX || !name[0] || !name[1]);
            table.entries[n] = (struct selfrun_entry){name, &groups[g], *first};
            *first = (uint16_t)++n;
        }
    }
}

/* Matches one component; few names have a wildcard, and none more than two. */
static bool component_matches(struct str pattern, struct str name)
{
    for (; pattern.n; pattern = str_skip(pattern, 1), name = str_skip(name, 1)) {
        if (pattern.p[0] == '*') {
            for (size_t skip = 0; skip <= name.n; skip++)
                if (component_matches(str_skip(pattern, 1), str_skip(name, skip)))
                    return true;
            return false;
        }
        if (!name.n || selfrun_fold(name.p[0]) != pattern.p[0])
            return false;
    }
    return name.n == 0;
}

enum selfrun_match {
    MATCH_NONE,
    MATCH_LEADS, /* the path is a directory on the way */
    MATCH_WHOLE,
};

/* Matches whole components, from the start of a component. */
static enum selfrun_match selfrun_match(struct str pattern, struct str rest)
{
    struct str want, have;
    bool dir = pattern.p[pattern.n - 1] == '/';
    while (str_cut(pattern, '/', &want, &pattern)) {
        if (!str_cut(rest, '/', &have, &rest))
            return MATCH_LEADS;
        if (!component_matches(want, have))
            return MATCH_NONE;
    }
    /* A file or symlink in place of a directory also counts: it may lead to another one. */
    return dir || !rest.n ? MATCH_WHOLE : MATCH_NONE;
}

/* A directory with HEAD, objects and refs is a repository under any name: git honors its settings
 * when run inside it. By convention such a name ends in ".git". */
static bool selfrun_is_in_repository(struct str path)
{
    struct str name, rest = path;
    while (str_cut(rest, '/', &name, &rest))
        if (rest.n ? name.n > 4 && component_matches(STR("*.git"), name) : str_is(name, "HEAD"))
            return true;
    return false;
}

static void selfrun_find_in(
    size_t key, struct str rest, enum selfrun_match wanted, const struct group **found)
{
    for (uint16_t at = table.first[key]; at; at = table.entries[at - 1].next) {
        const struct selfrun_entry *e = &table.entries[at - 1];
        if ((!*found || e->group->class > (*found)->class) &&
            selfrun_match(str_z(e->name), rest) == wanted)
            *found = e->group;
    }
}

static struct selfrun selfrun_find(struct str path, enum selfrun_match wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct group *found = NULL;
    struct str name, rest = path;
    pthread_once(&once, fill_table);
    for (struct str from = path; str_cut(rest, '/', &name, &rest); from = rest) {
        if (name.n > 1)
            selfrun_find_in(selfrun_key(selfrun_fold(name.p[0]), selfrun_fold(name.p[1])), from,
                wanted, &found);
        selfrun_find_in(ANY, from, wanted, &found);
    }
    return found ? (struct selfrun){found->class, found->reason} : (struct selfrun){0};
}

struct selfrun selfrun_look(struct str path)
{
    if (selfrun_is_in_repository(path))
        return (struct selfrun){
            SELFRUN_RUNS, "belongs to a repository, and git runs programs that it names"};
    return selfrun_find(path, MATCH_WHOLE);
}

struct selfrun selfrun_leads(struct str path)
{
    return selfrun_find(path, MATCH_LEADS);
}

static bool selfrun_is_filled(struct str path)
{
    struct str name, rest = path;
    for (struct str from = path; str_cut(rest, '/', &name, &rest); from = rest)
        for (size_t i = 0; i < ARRAY_LEN(filled_names); i++)
            if (selfrun_match(str_z(filled_names[i]), from) == MATCH_WHOLE)
                return true;
    return false;
}

struct selfrun selfrun_guards(struct str path)
{
    struct selfrun found = selfrun_find(path, MATCH_WHOLE);
    return found.class == SELFRUN_RUNS && !selfrun_is_filled(path) ? found : (struct selfrun){0};
}

enum selfrun_class selfrun_class(struct str path)
{
    return selfrun_look(path).class;
}

const char *selfrun_reason(struct str path)
{
    return selfrun_look(path).reason;
}
