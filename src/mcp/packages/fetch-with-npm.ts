import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProgramRequest } from '../../contract/mcp/tool-feed.ts'
import { readJsonObject } from '../../kit/json/is-json-object.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { oneLine } from '../../kit/text/one-line.ts'
import { FetchFailed } from './fetch-failed.ts'
import type { Fetched, Fetching, Lock, PackageVersion } from './fetching.ts'
import { hostWithPort } from './host-with-port.ts'
import { readNpmSettings, type NpmSettings } from './npm-settings.ts'
import { nameOfSpec } from './read-package-command.ts'
import { runFetcher } from './run-fetcher.ts'
import { runStep, type StepEnd } from './run-step.ts'

const lockFiles = ['package.json', 'package-lock.json'] as const
const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']

/**
 * Fetches packages of npm as its own program does: from the registries that the person configured, each file held to the integrity that its
 * registry says. Scripts of packages run after that, without network and away from the cache.
 */
export async function fetchWithNpm(fetching: Fetching): Promise<Fetched> {
  const { folder, lock, command } = fetching
  const settings = readNpmSettings()
  const own = join(folder, '.npmrc')
  writeFileSync(own, settings.file, { mode: 0o644 })
  for (const name of lockFiles) if (lock?.[name] !== undefined) writeFileSync(join(folder, name), lock[name])
  const registries = [
    ...settings.registries,
    ...(settings.namesDefault ? [] : [await askDefault(fetching, settings)]),
  ]
  const argv =
    lock === undefined
      ? ['npm', 'install', '--omit=dev', ...quiet, '--', ...command.specs]
      : ['npm', 'ci', ...quiet]
  const end = await step(fetching, settings, {
    argv,
    hosts: [...registries.map(hostWithPort), ...fetching.hosts],
  })
  // Nothing of a package may read how the person is let in.
  rmSync(own, { force: true })
  if (!end.ok) throw toFailure(command.specs, end)
  const locked = readLock(folder)
  return {
    lock: locked,
    versions: versionsOf(command.specs, locked),
    notes: await runScripts(fetching, locked),
  }
}

/** The registry that npm has if the settings name none. */
async function askDefault(fetching: Fetching, settings: NpmSettings): Promise<string> {
  const argv = ['npm', 'config', 'get', 'registry', '--no-update-notifier']
  const { output, said } = await step(fetching, settings, { argv, hosts: [] })
  const url = output.trim()
  if (URL.canParse(url)) return url
  throw new FetchFailed(`npm does not say which registry it has: ${oneLine(said, 300)}`)
}

function step(
  fetching: Fetching,
  { env, certificates }: NpmSettings,
  { argv, hosts }: { argv: readonly string[]; hosts: readonly string[] },
): Promise<StepEnd> {
  return runFetcher(fetching, {
    argv,
    env: {
      ...env,
      npm_config_userconfig: join(fetching.folder, '.npmrc'),
      npm_config_cache: fetching.cache,
      npm_config_ignore_scripts: 'true',
    },
    hosts,
    read: certificates,
  })
}

function toFailure(specs: readonly string[], { said }: StepEnd): FetchFailed {
  const lines = said
    .split('\n')
    .filter((line) => /^npm (?:error|ERR!) /i.test(line) && !/A complete log|code E\d/.test(line))
  const why = oneLine(
    (lines.length > 0 ? lines : [said]).map((line) => line.replace(/^npm (?:error|ERR!)\s*/i, '')).join(' '),
    400,
  )
  const refused = /Refused by Handrail \(\w+\) - \w+ \w+:\/\/([^/\s]+)/.exec(said)?.[1]
  return new FetchFailed(
    `Its package ${specs.map((spec) => `"${spec}"`).join(', ')} could not be fetched: ${why}`,
    refused === undefined
      ? 'Correct "args" in mcp.json, or the registry that npm is configured with.'
      : `Its registry leads to "${refused}". If packages may be fetched from there, its entry in mcp.json needs:\n  "fetch": ["${refused}"]`,
  )
}

function readLock(folder: string): Lock {
  return Object.fromEntries(lockFiles.map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
}

function packagesIn(lock: Lock): Record<string, unknown> {
  const { packages } = readJsonObject(JSON.parse(lock['package-lock.json'] ?? '{}'))
  return isPlainObject(packages) ? packages : {}
}

function versionsOf(specs: readonly string[], lock: Lock): PackageVersion[] {
  const packages = packagesIn(lock)
  return specs.map(nameOfSpec).map((name) => {
    const found = packages[`node_modules/${name}`]
    const { version, integrity } = isPlainObject(found) ? found : {}
    return {
      name,
      version: typeof version === 'string' ? version : '',
      integrity: typeof integrity === 'string' ? integrity : undefined,
    }
  })
}

/** Where one fails, the package may work all the same. */
async function runScripts({ programs, tenant, folder, signal }: Fetching, lock: Lock): Promise<string[]> {
  const hasScripts = Object.values(packagesIn(lock)).some(
    (each) => isPlainObject(each) && each['hasInstallScript'] === true,
  )
  if (!hasScripts || !existsSync(join(folder, 'node_modules'))) return []
  const request: ProgramRequest = {
    tenant,
    argv: ['npm', 'rebuild', ...quiet],
    cwd: folder,
    env: {},
    read: [],
    write: [],
    hosts: [],
    own: { home: folder, write: [], read: [], hosts: [] },
  }
  const { ok, said } = await runStep(programs, request, signal)
  return ok
    ? []
    : [
        `A script of its packages failed, since it has no network or for a fault of its own: ${oneLine(said, 300)}`,
      ]
}
