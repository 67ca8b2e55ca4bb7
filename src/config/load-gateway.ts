import { homedir } from 'node:os'
import { SetupError } from '../contract/base/errors.ts'
import type { Issue } from '../contract/base/json.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import type { GatewayConfiguration } from '../contract/mcp/serving.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { checkFile, configurationForm, gatewayForm, policyForm } from './check-file.ts'
import { findDoubles, gatewayPath, nameOfPlace, parts, type Part } from './gateway-parts.ts'
import { readUpstreams } from './servers/load-upstreams.ts'
import { readJsonFile } from './base/read-json-file.ts'

/** As `findGateway`; a missing file says nothing. */
export function loadGateway(home: string, checker: SchemaChecker): GatewayConfiguration {
  return findGateway(home, checker) ?? {}
}

/**
 * Reads `<home>/gateway.json`; undefined if there is none. Throws a SetupError with every issue, each with its JSON pointer: those of the
 * parts too that stand in it in place of files of their own.
 */
export function findGateway(home: string, checker: SchemaChecker): GatewayConfiguration | undefined {
  const value = readIfThere(home)
  if (value === undefined) return undefined
  const { file, issues } = checkGatewayFile(value, checker)
  const all = [...placed(issues, home), ...findDoubles(home)]
  if (all.length > 0) throw refusal(all)
  return file ?? {}
}

/** The file as it stands, parts and all. Throws a SetupError if it is not JSON. */
export function readGateway(home: string): unknown {
  return readIfThere(home) ?? {}
}

/** Never undefined for a file that is there. */
function readIfThere(home: string): unknown {
  const read = readJsonFile(gatewayPath(home))
  if (read === undefined) return undefined
  if ('value' in read) return read.value
  throw refusal(placed(read.issues, home))
}

/** Every issue of what should be a gateway, or the gateway without its parts. */
export function checkGatewayFile(
  value: unknown,
  checker: SchemaChecker,
): { file: GatewayConfiguration | undefined; issues: readonly Issue[] } {
  if (!isPlainObject(value)) return checkFile(value, gatewayForm, checker)
  const own = Object.fromEntries(Object.entries(value).filter(([name]) => !isPart(name)))
  const { file, issues } = checkFile(own, gatewayForm, checker)
  const ofParts = parts
    .filter((part) => Object.hasOwn(value, part))
    .flatMap((part) => checkPart[part](value[part], checker))
  return { file, issues: [...issues, ...ofParts] }
}

const checkPart: Readonly<Record<Part, (value: unknown, checker: SchemaChecker) => readonly Issue[]>> = {
  config: (value, checker) => within('/config', checkFile(value, configurationForm, checker).issues),
  policy: (value, checker) => within('/policy', checkFile(value, policyForm, checker).issues),
  mcpServers(value, checker) {
    if (!isPlainObject(value)) return within('/mcpServers', [noServers])
    return readUpstreams(value, { checker, home: homedir() }).faulty.flatMap(({ issues }) => issues)
  },
}

const noServers: Issue = {
  pointer: '',
  code: 'wrong_type',
  message: 'Servers are an object: {"<name>": {"command": "…"} or {"url": "…"}}.',
}

function isPart(name: string): name is Part {
  return parts.some((part) => part === name)
}

function within(pointer: string, issues: readonly Issue[]): Issue[] {
  return issues.map((issue) => ({ ...issue, pointer: pointer + issue.pointer }))
}

function placed(issues: readonly Issue[], home: string): Issue[] {
  const place = { path: gatewayPath(home), field: undefined }
  return issues.map((issue) => ({ ...issue, pointer: nameOfPlace(place, issue.pointer) }))
}

function refusal(issues: readonly Issue[]): SetupError {
  return new SetupError('invalid_configuration', 'The file cannot be used:', issues)
}
