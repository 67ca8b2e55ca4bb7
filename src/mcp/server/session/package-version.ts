import { readFileSync } from 'node:fs'
import { ownFile } from '../../../kit/own-file.ts'

/** The version of this package. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(ownFile('package.json'), 'utf8'))
  const { version } = manifest as { version?: unknown }
  return typeof version === 'string' ? version : '0.0.0'
}
