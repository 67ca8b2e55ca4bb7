import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Configuration, ProjectConfiguration } from '../contract/configuration.ts'
import { SetupError } from '../contract/errors.ts'
import type { Fault } from '../contract/json.ts'
import type { Policy, Rule } from '../contract/policy.ts'
import type { SchemaChecker } from '../contract/schema.ts'
import { checkFile, configurationForm, policyForm, projectForm, type Form } from './check-file.ts'

/** What the files of a person and of a project say. */
export interface LoadedConfiguration {
  configuration: Configuration
  policy: Policy
  project: ProjectConfiguration
  /** Paths of the files that were there. */
  files: readonly string[]
  /** What was left out and why, for the person to read. */
  notices: readonly string[]
}

/**
 * Reads `<home>/config.json`, `<home>/policy.json` and `<project>/handrail.json`. A missing file says nothing. Throws a SetupError
 * with every fault of every file, each with its file and JSON pointer.
 */
export function loadConfiguration(
  places: { home: string; project: string },
  checker: SchemaChecker,
): LoadedConfiguration {
  const faults: Fault[] = []
  const files: string[] = []
  const load = <File extends object>(path: string, form: Form<File>): File | Record<never, never> => {
    const read = readJsonFile(path)
    if ('fault' in read) faults.push(read.fault)
    if ('value' in read) files.push(path)
    const checked = checkFile('value' in read ? read.value : {}, form, checker)
    faults.push(...checked.faults.map((fault) => ({ ...fault, pointer: `${path}#${fault.pointer}` })))
    return checked.file ?? {}
  }
  const paths = configurationPaths(places)
  const configuration = load(paths.configuration, configurationForm)
  const policy = load(paths.policy, policyForm)
  const project = load(paths.project, projectForm)
  if (faults.length > 0)
    throw new SetupError(
      'invalid_configuration',
      'The configuration cannot be used. Nothing was started:',
      faults,
    )
  return tighten({ configuration, policy, project, files, notices: [] })
}

/** Where the files of a person and of a project are. */
export function configurationPaths({ home, project }: { home: string; project: string }) {
  return {
    configuration: join(home, 'config.json'),
    policy: join(home, 'policy.json'),
    project: join(project, 'handrail.json'),
  }
}

/** A configuration larger than this is none. */
const maxBytes = 1024 * 1024

function readJsonFile(path: string): { value: unknown } | { fault: Fault } | Record<never, never> {
  const refuse = (code: string, message: string) => ({ fault: { pointer: `${path}#`, code, message } })
  let content: string
  try {
    content = readRegularFile(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    // No folder is no file; what needs the folder says that it is missing.
    if (code === 'ENOENT' || code === 'ENOTDIR') return {}
    if (error instanceof NoConfiguration) return refuse('unreadable', error.message)
    return refuse('unreadable', `The file cannot be read (${code}). Mend its permissions or remove it.`)
  }
  try {
    return { value: JSON.parse(content) }
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    return refuse('invalid_json', `The file is not valid JSON: ${detail}. Mend it or remove it.`)
  }
}

class NoConfiguration extends Error {}

/** Opened without waiting: a repository may hold a pipe, or a link to a device without end, under this name. */
function readRegularFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new NoConfiguration('It is not a file. Put a file there or remove it.')
    if (stat.size > maxBytes)
      throw new NoConfiguration(`It has ${stat.size} bytes, and at most ${maxBytes} are taken. Shorten it.`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** A repository is not the person: what its file relaxes is left out, and said. */
function tighten(loaded: LoadedConfiguration): LoadedConfiguration {
  const notices: string[] = []
  const rules = (loaded.project.rules ?? []).filter((rule, index) => {
    if ((rule.effect as Rule['effect']) !== 'allow') return true
    notices.push(
      `handrail.json: rule "${rule.id ?? index}" allows something; a project can only tighten, so it is ignored.`,
    )
    return false
  })
  const own = loaded.configuration.limits ?? {}
  for (const [name, limit] of Object.entries(loaded.project.limits ?? {})) {
    const current: unknown = own[name as keyof typeof own]
    if (typeof current === 'number' && Number(limit) > current)
      notices.push(
        `handrail.json: limits.${name} is higher than the person's ${current}; a project can only tighten, so it is ignored.`,
      )
  }
  return { ...loaded, project: { ...loaded.project, rules }, notices }
}
