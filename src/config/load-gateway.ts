import { homedir } from 'node:os'
import { SetupError } from '../contract/base/errors.ts'
import type { Fault } from '../contract/base/json.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import type { GatewayConfiguration } from '../contract/mcp/serving.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { checkFile, configurationForm, gatewayForm, policyForm } from './check-file.ts'
import { findDoubles, gatewayPath, nameOfPlace, parts, type Part } from './gateway-parts.ts'
import { readUpstreams } from './servers/load-upstreams.ts'
import { readJsonFile } from './base/read-json-file.ts'

/**
 * Reads `<home>/gateway.json`. A missing file says nothing. Throws a SetupError with every fault, each with its JSON pointer: those of the
 * parts too that stand in it in place of files of their own.
 */
export function loadGateway(home: string, checker: SchemaChecker): GatewayConfiguration {
  const { file, faults } = checkGatewayFile(readGateway(home), checker)
  const all = [...placed(faults, home), ...findDoubles(home)]
  if (all.length > 0) throw refusal(all)
  return file ?? {}
}

/** The file as it stands, parts and all. Throws a SetupError if it is not JSON. */
export function readGateway(home: string): unknown {
  const read = readJsonFile(gatewayPath(home)) ?? { value: {} }
  if ('value' in read) return read.value
  throw refusal(placed(read.faults, home))
}

/** Every fault of what should be a gateway, or the gateway without its parts. */
export function checkGatewayFile(
  value: unknown,
  checker: SchemaChecker,
): { file: GatewayConfiguration | undefined; faults: readonly Fault[] } {
  if (!isPlainObject(value)) return checkFile(value, gatewayForm, checker)
  const own = Object.fromEntries(Object.entries(value).filter(([name]) => !isPart(name)))
  const { file, faults } = checkFile(own, gatewayForm, checker)
  const ofParts = parts
    .filter((part) => Object.hasOwn(value, part))
    .flatMap((part) => checkPart[part](value[part], checker))
  return { file, faults: [...faults, ...ofParts] }
}

const checkPart: Readonly<Record<Part, (value: unknown, checker: SchemaChecker) => readonly Fault[]>> = {
  config: (value, checker) => within('/config', checkFile(value, configurationForm, checker).faults),
  policy: (value, checker) => within('/policy', checkFile(value, policyForm, checker).faults),
  mcpServers(value, checker) {
    if (!isPlainObject(value)) return within('/mcpServers', [noServers])
    return readUpstreams(value, { checker, home: homedir() }).faulty.flatMap(({ faults }) => faults)
  },
}

const noServers: Fault = {
  pointer: '',
  code: 'wrong_type',
  message: 'Servers are an object: {"<name>": {"command": "…"} or {"url": "…"}}.',
}

function isPart(name: string): name is Part {
  return (parts as readonly string[]).includes(name)
}

function within(pointer: string, faults: readonly Fault[]): Fault[] {
  return faults.map((fault) => ({ ...fault, pointer: pointer + fault.pointer }))
}

function placed(faults: readonly Fault[], home: string): Fault[] {
  const place = { path: gatewayPath(home), field: undefined }
  return faults.map((fault) => ({ ...fault, pointer: nameOfPlace(place, fault.pointer) }))
}

function refusal(faults: readonly Fault[]): SetupError {
  return new SetupError('invalid_configuration', 'The file cannot be used:', faults)
}
