import type { Approver } from '../../src/contract/approval.ts'
import type { CallError } from '../../src/contract/base/errors.ts'
import type { RuntimeEvent } from '../../src/contract/events.ts'
import type { JsonObject } from '../../src/contract/base/json.ts'
import type { PresentedTool } from '../../src/contract/registry.ts'
import type { ContentBlock, ToolResult } from '../../src/contract/base/result.ts'
import type { Runtime, Session, SessionOptions } from '../../src/contract/runtime.ts'
import { callError } from '../../src/kit/result/call-error.ts'
import { newId } from '../../src/kit/new-id.ts'

/** What a fake tool may do while it runs. */
export interface FakeContext {
  readonly signal: AbortSignal
  readonly presentation: string | undefined
  readonly idempotencyKey: string | undefined
  readonly progress: (update: { message?: string; done?: number; total?: number }) => void
  /** `timeoutMs`: how long the person has; default 20 s. */
  readonly ask: (scope: string, timeoutMs?: number) => Promise<string>
}

export interface FakeTool {
  readonly presented: PresentedTool
  run(input: JsonObject, context: FakeContext): Promise<FakeOutput> | FakeOutput
}

export interface FakeOutput {
  content?: ContentBlock[]
  data?: ToolResult['data']
  error?: CallError
}

export interface FakeRuntime extends Runtime {
  /** Names of the calls that came to the pipeline, and how they ended. */
  readonly ended: { tool: string; outcome: string; rawName?: string | undefined }[]
  /** Names of the calls that began. */
  readonly started: string[]
  readonly opened: SessionOptions[]
  readonly closedSessions: { count: number }
}

export function fakeTool(
  about: Partial<PresentedTool> & { name: string },
  run: FakeTool['run'] = (input) => ({ content: [{ type: 'text', text: JSON.stringify(input) }] }),
): FakeTool {
  const presented: PresentedTool = {
    tool: about.tool ?? about.name,
    title: `Title of ${about.name}`,
    description: `Does ${about.name}.`,
    inputSchema: { type: 'object' },
    presentation: 'canonical',
    ...about,
  }
  return { presented, run }
}

/** A runtime that knows these tools and no policy: enough to see what comes through the door and what goes back. */
export function createFakeRuntime(tools: readonly FakeTool[]): FakeRuntime {
  const ended: FakeRuntime['ended'] = []
  const started: string[] = []
  const opened: SessionOptions[] = []
  const closedSessions = { count: 0 }
  const runtime: Partial<FakeRuntime> = {
    ended,
    started,
    opened,
    closedSessions,
    settled: async () => {},
    store: { readOnly: undefined } as Runtime['store'],
    registry: {
      view: () => ({ list: () => [], find: () => undefined }),
      version: () => 1,
    } as unknown as Runtime['registry'],
    session(options: SessionOptions = {}) {
      opened.push(options)
      return createFakeSession(tools, { options, ended, started, closedSessions })
    },
  }
  return runtime as FakeRuntime
}

type Parts = { options: SessionOptions } & Pick<FakeRuntime, 'ended' | 'started' | 'closedSessions'>

function createFakeSession(
  tools: readonly FakeTool[],
  { options, ended, started, closedSessions }: Parts,
): Session {
  const listeners = new Set<(event: RuntimeEvent) => void>()
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  const call: Session['call'] = async (name, input, request = {}) => {
    const callId = newId('call', Date.now())
    const toolCallId = String(request.id ?? callId)
    const signal = AbortSignal.any([closing.signal, request.signal ?? closing.signal])
    const tool = tools.find(
      ({ presented }) =>
        presented.name === name && presented.presentation === (request.presentation ?? 'canonical'),
    )
    const about = { callId, toolCallId, tool: tool?.presented.tool ?? name }
    started.push(about.tool)
    const output = await travel(tool, input, {
      signal,
      presentation: request.presentation,
      idempotencyKey: request.idempotencyKey,
      progress: ({ message = '', done, total }) => {
        const data = { ...(done !== undefined && { done }), ...(total !== undefined && { total }) }
        request.onProgress?.({ message, ...data })
        for (const listener of listeners)
          listener({
            type: 'tool_progress',
            sequence: 1,
            level: 'info',
            at: 0,
            tenant: 't',
            session: 's',
            summary: message,
            toolCallId,
            data,
          })
      },
      ask: (scope, timeoutMs = 20_000) =>
        ask(request.approve ?? options.approve, { ...about, scope, signal, timeoutMs }),
    })
    const result = toResult(output, about)
    ended.push({ tool: about.tool, outcome: result.outcome, rawName: request.rawName })
    return result
  }
  const session: Partial<Session> = {
    id: newId('ses', Date.now()),
    principal: { tenant: 'local', actor: 'user', role: 'main' },
    mode: 'default',
    tools: () => tools.map(({ presented }) => presented),
    jobs: () => [],
    call(...given) {
      const result = call(...given)
      running.add(result)
      void result.finally(() => running.delete(result))
      return result
    },
    on(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      closedSessions.count++
      closing.abort()
      await Promise.allSettled(running)
    },
  }
  return session as Session
}

async function travel(tool: FakeTool | undefined, input: unknown, context: FakeContext): Promise<FakeOutput> {
  if (tool === undefined) {
    const data = { nearest: ['demo.echo'] }
    const message = 'There is no such tool. Did you mean "demo.echo"?'
    return { error: callError('POLICY.DENY_TOOL', 'tool_not_available', { message, data }) }
  }
  try {
    return await tool.run(input as JsonObject, context)
  } catch (error) {
    if (context.signal.aborted)
      return { error: callError('TOOL.ABORTED', 'aborted_by_user', { message: 'Aborted.' }) }
    const { message } = error as Error
    return { error: callError('POLICY.APPROVAL_DENIED', message, { message: `Not allowed: ${message}.` }) }
  }
}

/** Rejects with the reason why it may not run. */
async function ask(
  approve: Approver | undefined,
  about: {
    callId: string
    toolCallId: string
    tool: string
    scope: string
    signal: AbortSignal
    timeoutMs: number
  },
): Promise<string> {
  if (approve === undefined) throw new Error('no_callback')
  const { signal, ...named } = about
  const answer = await approve(
    {
      ...named,
      session: 's',
      principal: { tenant: 'local', actor: 'user', role: 'main' },
      title: 'Write a file',
      permission: 'write',
      tags: [],
      dangerous: false,
      inputSummary: '{}',
      ran: false,
      preview: { kind: 'diff', title: 'Changes a.txt', body: '-old\n+new\u001b[2K' },
      cwd: undefined,
      env: [],
      hosts: [],
      because: { layer: 'defaults', rule: 'writes-ask', effect: 'ask', reason: 'It writes.' },
      hookNotes: [],
      suggested: 'allow_once',
      parents: [],
    },
    signal,
  ).catch((error: unknown) => {
    throw new Error('callback_failed', { cause: error })
  })
  if (answer.decision === 'deny') throw new Error(`denied, ${answer.reason ?? 'no reason'}`)
  return answer.decision
}

function toResult(
  output: FakeOutput,
  about: { callId: string; toolCallId: string; tool: string },
): ToolResult {
  const { content = [], data, error } = output
  const outcome = error === undefined ? 'ok' : error.code === 'TOOL.ABORTED' ? 'aborted' : 'denied'
  return {
    ...about,
    ok: error === undefined,
    outcome,
    content: error
      ? [{ type: 'text', text: `${error.code} (${error.reason}): ${error.message}` }, ...content]
      : content,
    ...(data !== undefined && { data }),
    summary: `${about.tool}: done`,
    artifacts: [],
    ...(error && { error }),
    metadata: { session: 's', durationMs: 1 },
  }
}
