import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { noSandbox } from '../bubblewrap/sandbox-fault.ts'
import type { SandboxRules } from './sandbox-rules.ts'
import { toFrame } from './to-frame.ts'

/** What stands for the command when the library writes a sandbox: it never sees the command itself, nor does the log of the system. */
const inside = 'true'

const name = '@anthropic-ai/sandbox-runtime'

/** The folder of the library's own programs; undefined where it is not installed. */
export function findLibrary(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'vendor')
  } catch {
    // Not installed: then no command runs, and the answer says what to install.
    return undefined
  }
}

/** What the library lets every command write, unasked. */
export async function findUnasked(): Promise<readonly string[]> {
  return (await loadLibrary()).getDefaultWritePaths()
}

/**
 * A sandbox of these rules: the arguments of the program that makes it, before those of what runs inside. Each is written by itself, without the configuration that the library could keep for the whole process, so that
 * commands of different rules run at the same time. Fails with `SANDBOX.UNAVAILABLE`.
 */
export async function writeSandbox({ network, filesystem }: SandboxRules): Promise<readonly string[]> {
  const { SandboxManager } = await loadLibrary()
  const written = await SandboxManager.wrapWithSandboxArgv(inside, '/bin/sh', { network, filesystem }).catch(
    (error: unknown) => {
      throw noSandbox('no_backend', `sandbox-runtime wrote no sandbox: ${String(error)}`)
    },
  )
  const frame = toFrame(written.argv[2] ?? '', inside)
  if (frame !== undefined) return frame
  SandboxManager.cleanupAfterCommand()
  throw noSandbox(
    'no_backend',
    `this version of sandbox-runtime writes a sandbox in a form that is not known. Install another one: "npm install ${name}@0.0.83".`,
  )
}

/** Tells the library that a command has ended, so that it can remove what it made for it. */
export async function endSandbox(): Promise<void> {
  const { SandboxManager } = await loadLibrary()
  SandboxManager.cleanupAfterCommand()
}

function loadLibrary() {
  return import('@anthropic-ai/sandbox-runtime')
}
