import type { Face } from '../../contract/call.ts'
import type { Session } from '../../contract/runtime.ts'
import type { ToolResult } from '../../contract/result.ts'
import { resultText, toWireResult } from '../../kit/to-wire-result.ts'
import { mcpTools } from '../../library/mcp-tools.ts'
import { toSourceName } from '../../mcp/upstream/tool-names.ts'
import { exitCodeOf, exitCodes } from '../exit-codes.ts'
import { callerOptions, callerUsage, readCaller, readText } from '../caller.ts'
import type { Command } from '../command.ts'
import { parseInput } from '../parse-input.ts'
import { readChoice } from '../read-choice.ts'
import { writeJson, writeText } from '../show-safely.ts'
import { listenForStop } from '../stop-signal.ts'
import { tellArtifacts } from '../tell-artifacts.ts'
import { openTerminal } from '../terminal.ts'
import { createFixedApprover, createTerminalApprover } from '../terminal-approver.ts'
import { createTerminalResponder } from '../terminal-responder.ts'
import { UsageError } from '../usage-error.ts'
import { findPlaces, wireRuntime } from '../wire.ts'

/** `handrail call` */
export const call: Command = {
  usage: `<tool> '<json input>' [--json] [--approve once|session|deny] [--key K] [--consent ID] ${callerUsage} [--face canonical|familiar]`,
  summary:
    'Makes one call on the road. Asks at the terminal where a person must decide; no terminal means deny.',
  options: {
    json: { type: 'boolean' },
    approve: { type: 'string' },
    key: { type: 'string' },
    consent: { type: 'string' },
    ...callerOptions,
    face: { type: 'string' },
  },
  takes: 2,
  async run(given) {
    const [tool, text] = given.positionals
    if (tool === undefined) throw new UsageError(`Name a tool. Usage: handrail call ${call.usage}`)
    const input = await parseInput(text)
    const word = readChoice(given, 'approve', ['once', 'session', 'deny'] as const)
    const caller = readCaller(given)
    const face = readChoice<Face>(given, 'face', ['canonical', 'familiar'])
    const key = readText(given, 'key')
    const consent = readText(given, 'consent')

    const stop = listenForStop()
    const terminal = openTerminal(() => stop.stop())
    const approve =
      word === undefined ? terminal && createTerminalApprover(terminal) : createFixedApprover(word)
    const places = findPlaces(given)
    const meet = (server: string): boolean => tool.startsWith(`${toSourceName(server)}.`)
    const upstreams = mcpTools({ path: places.mcp, meet })
    const respond = terminal && createTerminalResponder(terminal)
    const runtime = await wireRuntime(places, approve, { respond, upstreams })
    try {
      await runtime.settled()
      const session = runtime.session(caller)
      const result = await session.call(tool, input, {
        signal: stop.signal,
        ...(key !== undefined && { idempotencyKey: key }),
        ...(consent !== undefined && { consent }),
        ...(face !== undefined && { face }),
      })
      const json = given.options['json'] === true
      print(result, json)
      if (!json) tellArtifacts(result, given)
      await endJobs(session)
      return result.ok ? exitCodes.ok : (stop.exitCode ?? exitCodeOf(result))
    } finally {
      await runtime.close()
      stop.release()
    }
  },
}

/** Jobs last as long as their session, and this one ends here. */
async function endJobs(session: Session): Promise<void> {
  const ended = new Set<unknown>()
  session.on(({ type, data }) => {
    if (type === 'job_ended') ended.add(data?.['job'])
  })
  await session.close()
  for (const job of ended)
    process.stderr.write(
      `handrail: ${String(job)} ended with this command. Under "handrail serve" jobs last as long as the client's session.\n`,
    )
}

function print(result: ToolResult, json: boolean): void {
  if (json) {
    writeJson(toWireResult(result))
    return
  }
  const text = resultText(result)
  const stream = result.ok ? process.stdout : process.stderr
  if (text !== '') writeText(stream, text.endsWith('\n') ? text : `${text}\n`)
  else if (result.ok) writeText(stream, `${result.summary}\n`)
}
