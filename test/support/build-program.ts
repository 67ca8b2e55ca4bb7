import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { TestProject } from 'vitest/node'
import { bundleInto } from '../../scripts/bundle.ts'
import { bundleFolder, insideEntries } from './bundle.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The command line as it is packed, made of the sources of now. */
    program: string
    /** What Node is started with so that a script imports the package as it is packed. */
    onBundle: string
  }
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Makes the package that tests use and the command line that they start: as it is packed, so that each costs what it costs a person. */
export default async function buildProgram({ provide }: TestProject): Promise<() => void> {
  // Tests start it as other users too.
  mkdirSync(bundleFolder, { recursive: true, mode: 0o755 })
  await bundleInto(join(bundleFolder, 'dist'), insideEntries)
  for (const name of ['bin', 'package.json'])
    cpSync(join(root, name), join(bundleFolder, name), { recursive: true })
  const hook = pathToFileURL(join(root, 'test', 'support', 'use-bundle.ts'))
  hook.search = encodeURIComponent(bundleFolder)
  provide('program', join(bundleFolder, 'bin', 'handrail.cjs'))
  provide('onBundle', `--import=${hook.href}`)
  return () => rmSync(bundleFolder, { recursive: true, force: true })
}
