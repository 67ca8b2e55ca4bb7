import { ToolFailure } from '../../contract/base/errors.ts'
import type { ProgramRequest, Programs } from '../../contract/mcp/tool-feed.ts'

import { FetchFailed } from './fetch-failed.ts'

/** How a step came to its end. */
export interface StepEnd {
  readonly ok: boolean
  /** Its standard output. */
  readonly output: string
  /** The last of what it said, of both its streams. */
  readonly said: string
}

const maxOutput = 1024 * 1024
const maxSaid = 16_384

/** Runs a program to its end, in the sandbox. Rejects where it cannot be started, or when the signal is aborted. */
export async function runStep(
  programs: Programs,
  request: ProgramRequest,
  signal: AbortSignal,
): Promise<StepEnd> {
  let output = ''
  let said = ''
  const hear = (text: string): void => void (said = (said + text).slice(-maxSaid))
  signal.throwIfAborted()
  const program = await open(programs, request, {
    onStdout(text) {
      if (output.length < maxOutput) output += text
      hear(text)
    },
    onStderr: hear,
  })
  const stop = (): void => void program.end()
  signal.addEventListener('abort', stop, { once: true })
  try {
    const { exitCode, fault } = await program.ended
    signal.throwIfAborted()
    return { ok: exitCode === 0, output, said: fault ?? said }
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

async function open(
  programs: Programs,
  request: ProgramRequest,
  listener: Parameters<Programs['open']>[1],
): ReturnType<Programs['open']> {
  try {
    return await programs.open(request, listener)
  } catch (error) {
    if (!(error instanceof ToolFailure) || error.reason !== 'command_not_found') throw error
    const [name = ''] = request.argv
    throw new FetchFailed(
      `Its package is fetched with "${name}", and programs find no "${name}" here.`,
      `Install "${name}" where every user may start it, such as in /usr/local/bin, or name the program of the server itself as "command".`,
    )
  }
}
