import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { SetupError } from '../../contract/base/errors.ts'
import { ownFile } from '../../kit/own-file.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/** What a package exports, and the file that it was loaded from. */
export interface ImportedPackage {
  readonly exports: Readonly<Record<string, unknown>>
  readonly file: string
}

/**
 * Loads a package as the project has it, else as the place where Handrail is installed has it. Throws a SetupError `peer_missing` if neither has it, or
 * if it cannot be loaded.
 */
export async function importProvider(name: string, project: string): Promise<ImportedPackage> {
  const parents = [pathToFileURL(join(project, 'package.json')).href, ownFile('package.json').href]
  for (const parent of parents) {
    const found = await importFrom(name, parent)
    if (found !== undefined) return found
  }
  throw new SetupError(
    'peer_missing',
    `The package "${name}" of the model is installed neither in "${project}" nor beside Handrail. Install it: npm install ${name}`,
  )
}

let count = 0

/** Resolved as `import` in that file would resolve it; undefined if the package is not there. */
async function importFrom(name: string, parentURL: string): Promise<ImportedPackage | undefined> {
  count += 1
  // A name of its own, as Node remembers what a name of this file led to.
  const alias = `handrail-model-${count}`
  let url: string | undefined
  let missing: unknown
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier !== alias) return next(specifier, context)
      try {
        const resolved = next(name, { ...context, parentURL })
        url = resolved.url
        return resolved
      } catch (error) {
        missing = error
        throw error
      }
    },
  })
  try {
    const exports = (await import(alias)) as Readonly<Record<string, unknown>>
    return { exports, file: fileURLToPath(url ?? '') }
  } catch (error) {
    if (error === missing && codeOf(error) === 'ERR_MODULE_NOT_FOUND') return undefined
    throw new SetupError(
      'peer_missing',
      `The package "${name}" of the model cannot be loaded (${messageOf(error).split('\n')[0]}). Install it anew: npm install ${name}`,
    )
  } finally {
    hooks.deregister()
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
