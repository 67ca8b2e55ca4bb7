import { getDefaultWritePaths, SandboxManager } from '@anthropic-ai/sandbox-runtime'
import { messageOf } from '../../kit/text/message-of.ts'
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
  const { argv } = await wrap({ network, filesystem })
  const frame = toFrame(argv[2] ?? '', inside)
  if (frame !== undefined) return frame
  endSandbox()
  throw new Error(
    'this version of it writes sandboxes in a form that is not known; install another one: "npm install @anthropic-ai/sandbox-runtime@0.0.83"',
  )
}

/** How often the library may look for the shell: the program that it asks has one second, which may be too short on a busy machine. */
const maxTries = 5

async function wrap(
  rules: Parameters<typeof SandboxManager.wrapWithSandboxArgv>[2],
  tries = 1,
): ReturnType<typeof SandboxManager.wrapWithSandboxArgv> {
  try {
    return await SandboxManager.wrapWithSandboxArgv(inside, '/bin/sh', rules)
  } catch (error) {
    if (tries < maxTries && /not found in PATH/.test(messageOf(error))) return wrap(rules, tries + 1)
    throw error
  }
}

/** Tells the library that a command has ended, so that it removes what it made for it. */
export function endSandbox(): void {
  SandboxManager.cleanupAfterCommand()
}

/** What the library lets every command write, unasked. */
export function findUnasked(): readonly string[] {
  return getDefaultWritePaths()
}
