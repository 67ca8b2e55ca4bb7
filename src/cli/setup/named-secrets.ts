import type { Runtime } from '../../contract/runtime.ts'

/** The secrets that the configuration and the person's tools name, from the environment. One that is not there is missed by the tool that needs it. */
export function readSecrets(names: readonly string[]): Record<string, string> {
  const secrets: Record<string, string> = {}
  for (const name of names) {
    const value = process.env[name]
    if (value !== undefined && value !== '') secrets[name] = value
  }
  return secrets
}

const named = new WeakMap<Runtime, readonly string[]>()

/** Keeps in mind which environment variables a runtime keeps out of every text. */
export function noteSecrets(runtime: Runtime, names: readonly string[]): void {
  named.set(runtime, names)
}

/** The environment variables whose values a runtime keeps out of every text, also those that are not set. */
export function namedSecrets(runtime: Runtime): readonly string[] {
  return named.get(runtime) ?? []
}
