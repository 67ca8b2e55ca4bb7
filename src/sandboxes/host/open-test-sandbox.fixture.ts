import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Profile } from '../../contract/base/profile.ts'
import type { SandboxServices } from '../../contract/services/sandbox.ts'
import { createHostSandbox, type HostSandboxOptions } from './create-host-sandbox.ts'

/** A project folder, a folder outside it with a canary, and a sandbox around the project: for tests. */
export interface TestSandbox extends AsyncDisposable {
  readonly project: string
  readonly outside: string
  /** Services for a call that may read and write the project and run everything, but for these changes. */
  enter(
    changes?: Partial<Profile>,
    options?: Parameters<ReturnType<typeof createHostSandbox>['enter']>[1],
  ): SandboxServices
  /** Writes a file of the project, its directories too. */
  put(path: string, content: string | Uint8Array): string
}

/** Content of `canary.txt` in the outside folder; nothing that a test reads may contain it. */
export const canary = 'CANARY'

/** Makes a place in the system's temporary directory; gone when disposed of. */
export function openTestSandbox(options: Partial<HostSandboxOptions> = {}): TestSandbox {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'handrail-')))
  const project = join(base, 'project')
  const outside = join(base, 'outside')
  for (const directory of [project, outside]) mkdirSync(directory)
  writeFileSync(join(outside, 'canary.txt'), canary)
  const env = { PATH: process.env['PATH'] ?? '' }
  const sandbox = createHostSandbox({ project, env, home: join(base, 'home'), ...options })
  return {
    project,
    outside,
    enter: (changes, how = { access: 'write' }) => sandbox.enter({ ...profileFor(project), ...changes }, how),
    put(path, content) {
      const place = join(project, path)
      mkdirSync(dirname(place), { recursive: true })
      writeFileSync(place, content)
      return place
    },
    async [Symbol.asyncDispose]() {
      await sandbox.close()
      rmSync(base, { recursive: true, force: true })
    },
  }
}

function profileFor(project: string): Profile {
  return {
    readRoots: [project],
    writeRoots: [project],
    hosts: [],
    executables: ['*'],
    browser: false,
    tmp: false,
    secrets: [],
    timeoutMs: 10_000,
    maxBytesIn: 1_000_000,
    maxBytesOut: 1_000_000,
    digest: 'sha256:test',
  }
}

/** The reason of the `ToolFailure` that the work ends with; `done` where it ends well. */
export async function reasonOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (error) {
    if (error instanceof ToolFailure) return error.reason
    throw error
  }
}
