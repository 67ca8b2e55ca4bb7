import { enableCompileCache, flushCompileCache, registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compiledFolder, findInBundle } from './bundle.ts'

/** Loaded before a program that a test starts, from the folder of a bundle: lets it use that. */
const folder = join(import.meta.dirname, '..')

enableCompileCache(compiledFolder(folder))
// Node does so at the end of a process, which most of these are killed before.
setTimeout(flushCompileCache, 250).unref()

registerHooks({
  resolve(specifier, context, next) {
    const found = findInBundle(folder, specifier)
    return next(found === undefined ? specifier : pathToFileURL(found).href, context)
  },
})
