import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { oneLine } from '../../kit/text/one-line.ts'
import { FetchFailed } from './fetch-failed.ts'
import type { Fetched, Fetching, PackageVersion } from './fetching.ts'
import { findFileHosts } from './find-file-hosts.ts'
import { nameOfSpec } from './read-package-command.ts'
import { runFetcher } from './run-fetcher.ts'
import type { StepEnd } from './run-step.ts'
import { hostWithPort } from './host-with-port.ts'

const wantedFile = 'wanted.txt'
const lockFile = 'locked.txt'
const settingsFile = 'uv.toml'

/**
 * Fetches packages of Python with uv, from the index that the person configured: first all that is needed is written down with its digests, then
 * exactly that is put into an environment of its own. Nothing is built, so that no code of a package runs meanwhile.
 */
export async function fetchWithUv(fetching: Fetching): Promise<Fetched> {
  const { folder, lock, command } = fetching
  const settings = readSettings()
  writeFileSync(join(folder, settingsFile), settings.file, { mode: 0o644 })
  writeFileSync(join(folder, wantedFile), `${command.specs.join('\n')}\n`, { mode: 0o644 })
  if (lock?.[lockFile] !== undefined) writeFileSync(join(folder, lockFile), lock[lockFile], { mode: 0o644 })
  const indexes = settings.indexes.length > 0 ? settings.indexes : [await askDefault(fetching, settings)]
  const files = await findFileHosts(fetching.web, indexes, nameOfSpec(command.specs[0] ?? ''))
  const hosts = [...indexes.map(hostWithPort), ...files, ...fetching.hosts]
  const python = command.python === undefined ? [] : ['--python', command.python]
  const inVenv = ['--python', join('venv', 'bin', 'python')]
  const steps = [
    { argv: ['uv', 'venv', '--relocatable', '--no-project', ...python, 'venv'], hosts: [] },
    ...(lock === undefined
      ? [
          {
            argv: [
              'uv',
              'pip',
              'compile',
              '--generate-hashes',
              '--no-build',
              ...inVenv,
              '-o',
              lockFile,
              wantedFile,
            ],
            hosts,
          },
        ]
      : []),
    { argv: ['uv', 'pip', 'install', '--require-hashes', '--no-build', ...inVenv, '-r', lockFile], hosts },
  ]
  for (const each of steps) {
    const end = await step(fetching, settings, each)
    if (!end.ok) throw toFailure(command.specs, end)
  }
  const locked = readFileSync(join(folder, lockFile), 'utf8')
  return { lock: { [lockFile]: locked }, versions: versionsOf(command.specs, locked), notes: [] }
}

interface Settings {
  readonly indexes: readonly string[]
  readonly file: string
  readonly env: Readonly<Record<string, string>>
}

/** Variables that say where packages come from, and how one is let in there. */
const variables =
  /^(?:UV_(?:DEFAULT_INDEX|INDEX|INDEX_URL|EXTRA_INDEX_URL|INDEX_\w+_(?:USERNAME|PASSWORD)|NATIVE_TLS|SYSTEM_CERTS)|SSL_CERT_FILE|SSL_CERT_DIR)$/

function readSettings(env: Readonly<Record<string, string | undefined>> = process.env): Settings {
  const path =
    env['UV_CONFIG_FILE'] ?? join(env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'uv', settingsFile)
  const file = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const own = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && variables.test(entry[0]),
  )
  const said = [
    ...[...file.matchAll(/^\s*(?:url|index-url)\s*=\s*["']([^"']+)["']/gm)].map(([, url = '']) => url),
    ...own.flatMap(([name, value]) =>
      name.startsWith('UV_') ? value.split(/\s+/).map((each) => each.replace(/^[\w.-]+=/, '')) : [],
    ),
  ]
  return {
    indexes: said.filter((each) => /^https?:\/\//.test(each) && URL.canParse(each)),
    file,
    env: Object.fromEntries(own),
  }
}

/** The index that uv has if the settings name none: it stands in the words of uv. */
async function askDefault(fetching: Fetching, settings: Settings): Promise<string> {
  const { output, said } = await step(fetching, settings, {
    argv: ['uv', 'pip', 'install', '--help'],
    hosts: [],
  })
  const [, url] = /by default:?\s*<?(https?:\/\/[^\s>)\]]+)/.exec(output) ?? []
  if (url !== undefined && URL.canParse(url)) return url
  throw new FetchFailed(
    `uv does not say which index it has: ${oneLine(said, 300)}`,
    'Name the index in the environment of Handrail: UV_DEFAULT_INDEX.',
  )
}

function step(
  fetching: Fetching,
  { env }: Settings,
  { argv, hosts }: { argv: readonly string[]; hosts: readonly string[] },
): Promise<StepEnd> {
  return runFetcher(fetching, {
    argv,
    env: {
      ...env,
      UV_CONFIG_FILE: join(fetching.folder, settingsFile),
      UV_CACHE_DIR: fetching.cache,
      UV_LINK_MODE: 'copy',
      UV_NO_PROGRESS: '1',
      UV_PYTHON_DOWNLOADS: 'never',
    },
    hosts,
    read: [],
  })
}

function toFailure(specs: readonly string[], { said }: StepEnd): FetchFailed {
  const why = oneLine(said.replaceAll(/^\s*[×│╰├─▶⠋-⠿]+/gm, ' '), 400)
  return new FetchFailed(
    `Its package ${specs.map((spec) => `"${spec}"`).join(', ')} could not be fetched: ${why}`,
    'Correct "args" in mcp.json, or the index that uv is configured with.',
  )
}

function versionsOf(specs: readonly string[], locked: string): PackageVersion[] {
  const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_.]+/g, '-')
  const found = new Map(
    [...locked.matchAll(/^([\w.-]+)(?:\[[^\]]*\])?==([^\s\\;]+)[^]*?--hash=(\S+)/gm)].map(
      ([, name = '', version = '', hash = '']) => [plain(name), { version, integrity: hash }],
    ),
  )
  return specs.map(nameOfSpec).map((name) => {
    const { version = '', integrity } = found.get(plain(name)) ?? {}
    return { name, version, integrity }
  })
}
