import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { findInBundle } from './bundle.ts'

/** Loaded before a program that a test starts: lets it use the bundle in the folder that the query of this URL names. */
const folder = decodeURIComponent(new URL(import.meta.url).search.slice(1))

registerHooks({
  resolve(specifier, context, next) {
    const found = findInBundle(folder, specifier)
    return next(found === undefined ? specifier : pathToFileURL(found).href, context)
  },
})
