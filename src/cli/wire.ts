import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { loadConfiguration } from '../config/load-configuration.ts'
import type { Approver } from '../contract/approval.ts'
import { SetupError } from '../contract/errors.ts'
import type { Runtime } from '../contract/runtime.ts'
import { codeTools } from '../library/code-tools.ts'
import { createRuntime } from '../library/create-runtime.ts'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'
import type { CommandLine } from './command.ts'

/** Where a person's and a project's things are. */
export interface Places {
  home: string
  project: string
  store: string
}

/** The home and project of a command line: option, then environment, then default. */
export function findPlaces({ options }: CommandLine): Places {
  const home = resolve(
    asText(options['home']) ?? process.env['HANDRAIL_HOME'] ?? join(homedir(), '.handrail'),
  )
  const project = resolve(asText(options['project']) ?? process.env['HANDRAIL_PROJECT'] ?? currentFolder())
  return { home, project, store: join(home, 'store.db') }
}

/** Under `npm run`, the current folder is where npm was called, not where the package lies. */
function currentFolder(): string {
  const called = process.env['npm_lifecycle_event'] === undefined ? undefined : process.env['INIT_CWD']
  return called ?? process.cwd()
}

function asText(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The runtime of a command line: the person's configuration and policy, the built-in tools, and the store in their home. */
export async function wireRuntime(places: Places, approve: Approver | undefined): Promise<Runtime> {
  const { configuration, policy, project, notices } = loadConfiguration(places, createSchemaChecker())
  for (const notice of notices) process.stderr.write(`handrail: ${notice}\n`)
  makeHome(places.home)
  const { $schema: _, ...options } = configuration
  return createRuntime({
    ...options,
    project: places.project,
    projectConfiguration: project,
    policy,
    tools: [codeTools()],
    sensitivePaths: [...(configuration.sensitivePaths ?? []), places.home],
    store: { path: places.store },
    archive: { dir: join(places.home, 'runs') },
    ...(approve !== undefined && { approve }),
  })
}

function makeHome(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new SetupError(
      'store_unusable',
      `The home folder "${home}" cannot be made (${code}). Name another one with HANDRAIL_HOME or --home.`,
    )
  }
}
