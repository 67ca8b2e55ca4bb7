import { hash } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { mcpTools, type McpTools } from '../../compose/sources/mcp-tools.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { toSourceName } from '../../mcp/upstream/base/tool-names.ts'
import { sweepLeftovers } from '../../sandboxes/places/sweep-leftovers.ts'
import { showLine } from '../base/show-safely.ts'
import { keepRuntimes, type KeptRuntimes } from '../hook/keep-runtimes.ts'
import { describeSetup } from '../setup/describe-setup.ts'
import { wireRuntime, type Places } from '../setup/wire.ts'

/** What a process that runs several commands has to do around each. */
export interface CommandKeeper {
  /** Runs a command, which `run` does. */
  run(argv: readonly string[], run: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** In a process that runs several commands. */
let kept: KeptRuntimes | undefined

/** From now on, the runtime of a call is there for the next call, if that one would make the same. */
export function keepCallRuntimes(): CommandKeeper {
  const close = async (): Promise<void> => {
    const before = kept
    kept = undefined
    await before?.close()
  }
  return {
    async run([name], run) {
      // Any other command finds everything as the call would have left it.
      if (name !== 'call') await close()
      else kept ??= keepRuntimes({ tell, wire: wireKept, describe, isAsMade })
      await sweepLeftovers()
      await run()
    },
    close,
  }
}

function tell(error: unknown): void {
  process.stderr.write(`handrail: ${showLine(messageOf(error))}\n`)
}

/** A call of the command line. */
interface CallRun {
  readonly tool: string
  run(this: void, runtime: Runtime): Promise<number>
}

/** Makes a call with a runtime for this one alone, or one that an earlier call made. Resolves to the exit code. */
export async function withCallRuntime(places: Places, { tool, run }: CallRun): Promise<number> {
  // What such a tool connects to begins and ends with the command.
  if (kept !== undefined && !/^(?:mcp|a2a)\./.test(tool)) return kept.withRuntime(places, run)
  const meet = (server: string): boolean => tool.startsWith(`${toSourceName(server)}.`)
  const runtime = await wireRuntime(places, undefined, { upstreams: mcpTools({ path: places.mcp, meet }) })
  try {
    return await run(runtime)
  } finally {
    await runtime.close()
  }
}

/** What a runtime was like when it was made. */
interface Made {
  readonly upstreams: McpTools
  readonly facts: number
  readonly isQuiet: boolean
}

const madeOf = new WeakMap<Runtime, Made>()

async function wireKept(places: Places): Promise<Runtime> {
  const upstreams = mcpTools({ path: places.mcp, meet: () => false })
  const before = process.stderr.bytesWritten
  const runtime = await wireRuntime(places, undefined, { upstreams })
  await runtime.settled()
  const isQuiet = process.stderr.bytesWritten === before
  madeOf.set(runtime, { upstreams, facts: runtime.store.factsVersion(), isQuiet })
  return runtime
}

/** What it tells and recovers when it is made, each command does, and what it connected to ends with the command. */
function isAsMade(runtime: Runtime): boolean {
  const made = madeOf.get(runtime)
  return (
    made !== undefined &&
    made.isQuiet &&
    made.facts === runtime.store.factsVersion() &&
    runtime.store.orphans().length === 0 &&
    made.upstreams.describe().servers.every(({ state }) => state === 'idle')
  )
}

/** Everything that a call finds where it starts. */
function describe(places: Places): string {
  const own = [process.env, process.umask(), process.cwd(), listFiles(places.caplets)]
  return `${describeSetup(places)} ${hash('sha256', JSON.stringify(own))}`
}

/** Each file below a folder, with what changes if it does. */
function listFiles(folder: string): readonly string[] {
  let found: readonly string[]
  try {
    found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  } catch {
    return []
  }
  return found.map((name) => {
    const stat = statSync(join(folder, name), { bigint: true, throwIfNoEntry: false })
    return `${name} ${stat?.ino} ${stat?.size} ${stat?.mtimeNs} ${stat?.ctimeNs}`
  })
}
