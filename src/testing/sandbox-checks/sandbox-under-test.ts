import type { Profile } from '../../contract/base/profile.ts'
import type { Sandbox } from '../../contract/services/sandbox.ts'

/** A sandbox under test, with the machine's programs in the PATH that it hands on. */
export interface SandboxUnderTest {
  sandbox: Sandbox
  /** An empty folder, by its path without links, that the sandbox is around and its programs may write. */
  project: string
  /** A folder beside it that is in no root, with a file `canary.txt` that says `CANARY`; the programs' user may read and write it. */
  outside: string
  /** Closes the sandbox and removes what is left. */
  dispose: () => Promise<void>
}

/** Tests of one subject by their titles. */
export interface SandboxChecks {
  readonly [title: string]: (subject: SandboxUnderTest) => Promise<void>
}

/** Services for a call that may read and write the project and run everything, but for these changes. */
export function enterProject(
  { sandbox, project }: SandboxUnderTest,
  changes: Partial<Profile> = {},
  access: 'read' | 'write' = 'write',
) {
  const profile: Profile = {
    readRoots: [project],
    writeRoots: [project],
    hosts: [],
    executables: ['*'],
    browser: false,
    tmp: false,
    secrets: [],
    timeoutMs: 20_000,
    maxBytesIn: 1024 * 1024,
    maxBytesOut: 1024 * 1024,
    digest: '',
    ...changes,
  }
  return sandbox.enter(profile, { access })
}

/** Fits a refusal with this code or reason. */
export function refusedWith(word: string): (error: unknown) => boolean {
  return (error) =>
    error instanceof Error &&
    (('code' in error && error.code === word) || ('reason' in error && error.reason === word))
}
