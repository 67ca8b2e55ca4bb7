import { join } from 'node:path'
import type { Configuration, ProjectConfiguration } from '../contract/configuration.ts'
import { SetupError } from '../contract/base/errors.ts'
import type { Issue } from '../contract/base/json.ts'
import type { Policy } from '../contract/policy.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import { signatureOf } from '../kit/watch-files.ts'
import { checkFile, configurationForm, policyForm, projectForm, type Form } from './check-file.ts'
import {
  findDoubles,
  findPart,
  gatewayPath,
  nameOfFile,
  nameOfPlace,
  ownPath,
  readPart,
  type PartPlace,
} from './gateway-parts.ts'
import { findSaid, findVanished, type Said } from './last-start.ts'

/** What the files of a person and of a project say. */
export interface LoadedConfiguration {
  configuration: Configuration
  policy: Policy
  project: ProjectConfiguration
  /** Paths of the files that were there. */
  files: readonly string[]
  /** What was there that would allow more if it were gone. */
  said: Said
  /** What was left out and why, for the person to read. */
  notices: readonly string[]
}

/**
 * Reads `<home>/config.json`, `<home>/policy.json`, or what stands for them in `<home>/gateway.json`, and `<project>/handrail.json`. A missing file says nothing, unless it was there at the last start. Throws
 * a SetupError with every issue of every file, each with its file and JSON pointer. A policy that is given stands in the place of the person's own.
 */
export function loadConfiguration(
  places: { home: string; project: string },
  checker: SchemaChecker,
  instead?: Policy,
): LoadedConfiguration {
  const paths = configurationPaths(places)
  for (let round = 1; ; round++) {
    const before = signatureOf(paths)
    const { loaded, issues } = readConfiguration(places, checker, instead)
    // What moves from one file to another meanwhile may have been missed in both.
    if (signatureOf(paths) !== before && round < mostRounds) continue
    if (issues.length === 0) return tighten(loaded)
    throw new SetupError(
      'invalid_configuration',
      'The configuration cannot be used. Nothing was started:',
      issues,
    )
  }
}

/** So often files are read that change again and again. */
const mostRounds = 10

function readConfiguration(
  places: { home: string; project: string },
  checker: SchemaChecker,
  instead?: Policy,
): { loaded: LoadedConfiguration; issues: readonly Issue[] } {
  const issues: Issue[] = []
  const files: string[] = []
  const load = <File extends object>(place: PartPlace, form: Form<File>): File | Record<never, never> => {
    const read = readFile(place, form, checker)
    if (read.there) files.push(nameOfFile(place))
    // What is wrong with a file that holds several parts is said once.
    issues.push(...read.issues.filter(({ pointer }) => !issues.some((issue) => issue.pointer === pointer)))
    return read.file ?? {}
  }
  const configuration = load(findPart(places.home, 'config'), configurationForm)
  const place = findPart(places.home, 'policy')
  const policy = instead ?? load(place, policyForm)
  if (instead !== undefined && readPart(place) !== undefined) files.push(nameOfFile(place))
  const project = load({ path: projectPath(places.project), field: undefined }, projectForm)
  const said = findSaid(places.home, files)
  issues.push(...findDoubles(places.home), ...findVanished(places.home, said))
  return { loaded: { configuration, policy, project, files, said, notices: [] }, issues }
}

/** Reads one file that must be there. Throws a SetupError with every issue, each with its file and JSON pointer. */
export function loadFile<File>(path: string, form: Form<File>, checker: SchemaChecker): File {
  const { file, there, issues } = readFile({ path, field: undefined }, form, checker)
  if (file !== undefined && issues.length === 0) return file
  throw new SetupError('invalid_configuration', 'The file cannot be used:', there ? issues : [noFile(path)])
}

/** The issue of a file that must be there and is not. */
export function noFile(path: string): Issue {
  return { pointer: `${path}#`, code: 'missing', message: 'There is no such file. Name another one.' }
}

/** What a file, or a part of one, says. Each issue is named with its file. */
interface ReadFile<File> {
  file: File | undefined
  /** What of it has the form, as `checkFile` returns it. */
  part: unknown
  there: boolean
  issues: readonly Issue[]
}

export function readFile<File>(place: PartPlace, form: Form<File>, checker: SchemaChecker): ReadFile<File> {
  const read = readPart(place)
  if (read === undefined) return { file: undefined, part: undefined, there: false, issues: [] }
  if ('issues' in read) {
    const whole = { path: place.path, field: undefined }
    return { file: undefined, part: undefined, there: true, issues: inPlace(read.issues, whole) }
  }
  const { file, part, issues } = checkFile(read.value, form, checker)
  return { file, part, there: true, issues: inPlace(issues, place) }
}

function inPlace(issues: readonly Issue[], place: PartPlace): Issue[] {
  return issues.map((issue) => ({ ...issue, pointer: nameOfPlace(place, issue.pointer) }))
}

function projectPath(project: string): string {
  return join(project, 'handrail.json')
}

/** The files that say, or could say, something of the configuration of a person and of a project. */
export function configurationPaths({ home, project }: { home: string; project: string }): readonly string[] {
  return [gatewayPath(home), ownPath(home, 'config'), ownPath(home, 'policy'), projectPath(project)]
}

/** A repository is not the person: what its file relaxes is left out, and said. */
function tighten(loaded: LoadedConfiguration): LoadedConfiguration {
  const notices: string[] = []
  const rules = (loaded.project.rules ?? []).filter((rule, index) => {
    const effect: string = rule.effect
    if (effect !== 'allow') return true
    notices.push(
      `handrail.json: rule "${rule.id ?? index}" allows something; a project can only tighten, so it is ignored.`,
    )
    return false
  })
  const own = new Map<string, unknown>(Object.entries(loaded.configuration.limits ?? {}))
  for (const [name, limit] of Object.entries(loaded.project.limits ?? {})) {
    const current = own.get(name)
    if (typeof current === 'number' && Number(limit) > current)
      notices.push(
        `handrail.json: limits.${name} is higher than the person's ${current}; a project can only tighten, so it is ignored.`,
      )
  }
  return { ...loaded, project: { ...loaded.project, rules }, notices }
}
