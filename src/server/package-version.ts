import { readFileSync } from 'node:fs'

/** The version of this package. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const { version } = manifest as { version?: unknown }
  return typeof version === 'string' ? version : '0.0.0'
}
