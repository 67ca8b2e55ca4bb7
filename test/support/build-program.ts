import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { bundleInto } from '../../scripts/bundle.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The command line as it is packed, made of the sources of now. */
    program: string
  }
}

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Makes the command line that tests start: as it is packed, so that each start costs what it costs a person. */
export default async function buildProgram({ provide }: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(root, 'node_modules', '.handrail-'))
  // Tests start it as other users too.
  chmodSync(folder, 0o755)
  await bundleInto(join(folder, 'dist'))
  for (const name of ['bin', 'package.json'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  provide('program', join(folder, 'bin', 'handrail.mjs'))
  return () => rmSync(folder, { recursive: true, force: true })
}
