import { getDefaultWritePaths, SandboxManager } from '@anthropic-ai/sandbox-runtime'
import type { SandboxRules } from './sandbox-rules.ts'
import { toFrame } from './to-frame.ts'

/** What stands for the command when the library writes a sandbox: it never sees the command itself, nor does the log of the system. */
const inside = 'true'

/**
 * A sandbox of these rules: the arguments of the program that makes it, before those of what runs inside. Each is written by itself,
 * without the configuration that the library could keep for the whole process, so that commands of different rules run at the same
 * time. The library looks for programs along PATH and reads variables: run it where no other code uses these.
 */
export async function writeSandbox({ network, filesystem }: SandboxRules): Promise<readonly string[]> {
  const { argv } = await SandboxManager.wrapWithSandboxArgv(inside, '/bin/sh', { network, filesystem })
  const frame = toFrame(argv[2] ?? '', inside)
  if (frame !== undefined) return frame
  endSandbox()
  throw new Error(
    'this version of it writes sandboxes in a form that is not known; install another one: "npm install @anthropic-ai/sandbox-runtime@0.0.83"',
  )
}

/** Tells the library that a command has ended, so that it removes what it made for it. */
export function endSandbox(): void {
  SandboxManager.cleanupAfterCommand()
}

/** What the library lets every command write, unasked. */
export function findUnasked(): readonly string[] {
  return getDefaultWritePaths()
}
