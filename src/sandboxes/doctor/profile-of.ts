import type { Profile } from '../../contract/base/profile.ts'

/** What a trial may touch: one root to read, these to write, these hosts, and every program. */
export function profileOf(
  root: string,
  writeRoots: readonly string[],
  hosts: readonly string[] = [],
): Profile {
  return {
    readRoots: [root],
    writeRoots,
    hosts,
    executables: ['*'],
    browser: false,
    tmp: false,
    secrets: [],
    timeoutMs: 10_000,
    maxBytesIn: 0,
    maxBytesOut: 0,
    digest: '',
  }
}
