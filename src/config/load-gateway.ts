import { join } from 'node:path'
import type { SchemaChecker } from '../contract/schema.ts'
import type { GatewayConfiguration } from '../contract/serving.ts'
import { gatewayForm } from './check-file.ts'
import { loadFile } from './load-configuration.ts'
import { readJsonFile } from './read-json-file.ts'

/** Where the gateway of a person or a team is configured. */
export function gatewayPath(home: string): string {
  return join(home, 'gateway.json')
}

/** Reads `<home>/gateway.json`. A missing file says nothing. Throws a SetupError with every fault, each with its JSON pointer. */
export function loadGateway(home: string, checker: SchemaChecker): GatewayConfiguration {
  const path = gatewayPath(home)
  return readJsonFile(path) === undefined ? {} : loadFile(path, gatewayForm, checker)
}
