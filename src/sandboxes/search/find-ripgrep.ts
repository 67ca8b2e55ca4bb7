import type * as ripgrep from '@vscode/ripgrep'
import { ToolFailure } from '../../contract/base/errors.ts'
import { importPackage } from '../../kit/import-package.ts'
import { findProgram } from '../programs/find-program.ts'

/**
 * Where ripgrep is: the one that comes with `@vscode/ripgrep`, else `rg` in this PATH. Fails with `missing_program` where
 * neither is.
 */
export async function findRipgrep(path: string, packaged = packagedRipgrep): Promise<string> {
  for (const name of [await packaged(), 'rg']) {
    const found = name === undefined ? undefined : findProgram(name, { cwd: '/', path })
    if (found?.executable === true) return found.path
  }
  throw new ToolFailure({
    code: 'SANDBOX.UNAVAILABLE',
    reason: 'missing_program',
    message:
      'Searching needs ripgrep, which is not there. Install it with "npm install @vscode/ripgrep", or "rg" with the packages of your system.',
  })
}

async function packagedRipgrep(): Promise<string | undefined> {
  try {
    return (await importPackage<typeof ripgrep>('@vscode/ripgrep')).rgPath
  } catch {
    // Not installed, or without a binary for this machine: then the system's own has to do.
    return undefined
  }
}
