import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { SetupError } from '../../contract/base/errors.ts'
import { importPackage } from '../../kit/import-package.ts'
import { ownFile } from '../../kit/own-file.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/** What a package exports, and the file that it was loaded from. */
export interface ImportedPackage {
  readonly exports: Readonly<Record<string, unknown>>
  readonly file: string
}

/** Whose packages count beside those of Handrail. */
export interface PackagePlace {
  readonly project: string
  /** Whether the person trusts what is installed in the project: its code runs with their rights and keys. */
  readonly trustsProject: boolean
}

/**
 * Loads a package as the place where Handrail is installed has it, else as a trusted project has it. Throws a SetupError `peer_missing` if neither has it, or
 * if it cannot be loaded.
 */
export async function importProvider(
  name: string,
  { project, trustsProject }: PackagePlace,
): Promise<ImportedPackage> {
  const ofProject = pathToFileURL(join(project, 'package.json')).href
  const parents = [ownFile('package.json').href, ...(trustsProject ? [ofProject] : [])]
  for (const parent of parents) {
    const found = await importFrom(name, parent)
    if (found !== undefined) return found
  }
  throw new SetupError(
    'peer_missing',
    trustsProject
      ? `The package "${name}" of the model is installed neither beside Handrail nor in "${project}". Install it: npm install ${name}`
      : `The package "${name}" of the model is not installed beside Handrail. Install it there: npm install ${name}. One of the project counts only with --trust-project, as its code runs with your rights and keys.`,
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
    const exports = await importPackage<Readonly<Record<string, unknown>>>(alias)
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
