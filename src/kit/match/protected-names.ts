/** Names that other programs run or obey, and why they are here. */
export interface NameGroup {
  readonly why: string
  readonly names: readonly string[]
}

/**
 * Files and folders that programs of the person run or obey without asking, wherever they lie in a project: no tool writes them, and what a
 * command makes under such a name at the top of a root is renamed.
 */
export const protectedGroups: readonly NameGroup[] = [
  {
    why: 'a shell runs it when it starts or ends, or when its directory is entered (bash(1), zsh(1), csh(1), direnv(1))',
    names: [
      '.bash_aliases',
      '.bash_login',
      '.bash_logout',
      '.bash_profile',
      '.bashrc',
      '.cshrc',
      '.envrc',
      '.inputrc',
      '.kshrc',
      '.login',
      '.logout',
      '.mkshrc',
      '.profile',
      '.tcshrc',
      '.xprofile',
      '.xsession',
      '.zlogin',
      '.zlogout',
      '.zprofile',
      '.zshenv',
      '.zshrc',
    ],
  },
  {
    why: 'an agent reads from it which servers it starts, which hooks it runs and what it may do unasked',
    names: [
      '.aider.conf.yml',
      '.amazonq',
      '.augment',
      '.claude',
      '.cline',
      '.clinerules',
      '.codeium',
      '.codex',
      '.continue',
      '.crush.json',
      '.cursor',
      '.factory',
      '.gemini',
      '.goose',
      '.junie',
      '.kilocode',
      '.kiro',
      '.mcp.json',
      '.opencode',
      '.qwen',
      '.roo',
      '.trae',
      '.windsurf',
      'crush.json',
      'handrail.json',
      'opencode.json',
      'opencode.jsonc',
    ],
  },
  {
    why: 'an editor takes from it which programs it starts, or code that it runs, when the folder is opened',
    names: [
      '.dir-locals.el',
      '.emacs',
      '.emacs.d',
      '.exrc',
      '.fleet',
      '.gvimrc',
      '.idea',
      '.lvimrc',
      '.nova',
      '.nvim.lua',
      '.nvimrc',
      '.vimrc',
      '.vs',
      '.vscode',
      '.zed',
    ],
  },
  {
    why: 'a debugger or an interpreter runs it when it starts in the folder',
    names: [
      '.gdbearlyinit',
      '.gdbinit',
      '.irbrc',
      '.lldbinit',
      '.pdbrc',
      '.pryrc',
      '.psqlrc',
      '.pythonrc.py',
      '.rprofile',
      '.sqliterc',
    ],
  },
  {
    why: 'a program takes from it which programs it runs, or where it gets code and sends secrets',
    names: [
      '.curlrc',
      '.gitconfig',
      '.gitmodules',
      '.hgrc',
      '.netrc',
      '.npmrc',
      '.pip.conf',
      '.pnpmfile.cjs',
      '.pypirc',
      '.ripgreprc',
      '.screenrc',
      '.tmux.conf',
      '.tool-versions',
      '.wgetrc',
      '.yarnrc',
      '.yarnrc.yml',
    ],
  },
]

/**
 * Files and folders that belong to a project and are obeyed by programs of the person as well: tools write them, but only a person, or a rule
 * that allows it, says yes to that. A name with a slash is a path from any folder on.
 */
export const obeyedGroups: readonly NameGroup[] = [
  {
    why: 'git runs what it says, at a commit or a checkout (husky, lefthook, pre-commit, overcommit, gitattributes(5))',
    names: [
      '.gitattributes',
      '.githooks',
      '.husky',
      '.lefthook.toml',
      '.lefthook.yaml',
      '.lefthook.yml',
      '.lintstagedrc',
      '.lintstagedrc.cjs',
      '.lintstagedrc.js',
      '.lintstagedrc.json',
      '.lintstagedrc.mjs',
      '.lintstagedrc.yaml',
      '.overcommit.yml',
      '.pre-commit-config.yaml',
      '.pre-commit-hooks.yaml',
      'lefthook.toml',
      'lefthook.yaml',
      'lefthook.yml',
      'lint-staged.config.cjs',
      'lint-staged.config.js',
      'lint-staged.config.mjs',
    ],
  },
  {
    why: 'a version manager, a builder or a package manager runs what it says, whatever it is asked for (mise, cargo, bazel, yarn, bundler, maven)',
    names: [
      '.bazelrc',
      '.bundle/config',
      '.cargo/config',
      '.cargo/config.toml',
      '.config/mise',
      '.config/mise.toml',
      '.mise',
      '.mise.local.toml',
      '.mise.toml',
      '.mvn',
      '.pnp.cjs',
      '.pnp.loader.mjs',
      '.yarn/plugins',
      '.yarn/releases',
      'devbox.json',
      'mise.local.toml',
      'mise.toml',
    ],
  },
  {
    why: 'an agent follows the skills in it, and runs their programs',
    names: ['.agents/skills'],
  },
  {
    why: 'a container is made from it, with programs that run on the machine before (devcontainer.json: initializeCommand)',
    names: ['.devcontainer', '.devcontainer.json'],
  },
  {
    why: 'Python runs it in every program that starts in the folder (site)',
    names: ['sitecustomize.py', 'usercustomize.py'],
  },
]

/** What of a folder of a version control decides which programs that runs, and where it looks for that. Commands find it read-only. */
export const protectedInside: Readonly<Record<string, readonly string[]>> = {
  '.git': ['commondir', 'config', 'config.worktree', 'hooks', 'modules'],
  '.hg': ['hgrc', 'hgrc-not-shared', 'sharedpath'],
}
