import { readJsonObject } from '../../../kit/json/is-json-object.ts'
import { readFileSync } from 'node:fs'
import { ownFile } from '../../../kit/own-file.ts'

/** The version of this package. */
export function packageVersion(): string {
  const { version } = readJsonObject(JSON.parse(readFileSync(ownFile('package.json'), 'utf8')))
  return typeof version === 'string' ? version : '0.0.0'
}
