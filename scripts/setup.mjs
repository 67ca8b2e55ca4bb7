// Installs the development dependencies when they are missing or older than the lock file, and programs that tests and the bench need.
// Plain JavaScript, so that it runs on any Node from 20 on.
import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const installed = join(root, 'node_modules', '.package-lock.json')
const lock = join(root, 'package-lock.json')

// The locked versions, without writing the lock: `npm ci` refuses a lock that lacks the optional packages of other platforms,
// and a registry need not have all of those.
const install = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error']

if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
  process.stderr.write('handrail: installing dependencies, once\n')
  const npm = process.env.npm_execpath
  const [command, ...args] = npm === undefined ? ['npm'] : [process.execPath, npm]
  const done = spawnSync(command, [...args, ...install], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (done.status !== 0) {
    process.stderr.write('handrail: npm install failed; see the lines above\n')
    process.exit(done.status ?? 1)
  }
}

// Before tests, what isolates commands and what shows pages is installed too, and before the bench what its peers need, where this is Debian or a child of
// it and we are root. Elsewhere what needs it fails, and says what to install.
const programs = {
  pretest: { bwrap: 'bubblewrap', chromium: 'chromium' },
  'pretest:long': { bwrap: 'bubblewrap' },
  prebench: { bwrap: 'bubblewrap', socat: 'socat', rg: 'ripgrep' },
}
const isThere = (command) =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, command)))
const wanted = process.platform === 'linux' ? (programs[process.env.npm_lifecycle_event] ?? {}) : {}
const missing = Object.entries(wanted).flatMap(([command, name]) => (isThere(command) ? [] : [name]))
if (missing.length > 0) {
  const install = ['install', '-y', ...missing]
  const line = `apt-get ${install.join(' ')}`
  if (process.getuid?.() === 0 && isThere('apt-get')) {
    process.stderr.write(`handrail: ${line}\n`)
    const apt = (...args) =>
      spawnSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0
    if (!apt(...install) && !(apt('update') && apt(...install)))
      process.stderr.write('handrail: these could not be installed; see the lines above\n')
  } else process.stderr.write(`handrail: install what is needed, as root: ${line}\n`)
}
