import type { ApprovalAnswer } from '../../../contract/approval.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import type { Session } from '../../../contract/runtime.ts'
import type { FromSchema } from '../../../define/infer-input.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { toCallingActor } from '../../../kit/names/calling-actor.ts'
import { endpoint, type Asked, type Endpoint } from '../../base/endpoint.ts'
import { ofTenant } from '../../base/read-query.ts'
import { refusingSetup } from '../../base/refusing-setup.ts'
import { toJsonObject } from '../../base/to-json-object.ts'
import { findTool } from './tools.ts'

const query = { tenant: 'Default: "local", or your own.' } as const
const body = {
  type: 'object',
  properties: { input: { type: 'object', description: 'As the input schema of the tool has it.' } },
  required: ['input'],
  additionalProperties: false,
} as const

const wouldBe = {
  type: 'object',
  properties: {
    actor: { type: 'string', description: 'Who would make the call.' },
    effect: { type: 'string', enum: ['allow', 'ask', 'deny'] },
    steps: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          step: { type: 'string' },
          outcome: { type: 'string', enum: ['passed', 'stopped', 'would_ask', 'not_reached'] },
          note: { type: 'string' },
        },
        required: ['step', 'outcome', 'note'],
      },
    },
    decision: { type: 'object' },
    error: { type: 'object', description: 'Its `issues` name what is wrong with the input.' },
    preview: {
      type: 'object',
      properties: {
        kind: { type: 'string' },
        title: { type: 'string' },
        body: { type: 'string' },
        asOfNow: { type: 'string' },
      },
      required: ['kind', 'title', 'body'],
    },
    sandbox: { type: 'string', description: 'What isolates the programs of the call.' },
    obligations: { type: 'array', items: { type: 'string' } },
  },
  required: ['actor', 'effect', 'steps', 'obligations'],
} as const

const tried = {
  type: 'object',
  properties: {
    call: { type: 'string' },
    state: { type: 'string', enum: ['ended', 'waiting', 'running'] },
    approval: { type: 'string', description: 'The question that it waits for.' },
    result: { type: 'object', description: 'Of a call that has ended. Secrets redacted.' },
  },
  required: ['call', 'state'],
} as const

/** What would happen to a call that is tried. */
export type WouldBe = FromSchema<typeof wouldBe>

/** What has become of a call that is tried. */
export type Tried = FromSchema<typeof tried>

const preflight = endpoint({
  method: 'POST',
  path: '/api/tools/{tool}/preflight',
  summary: 'What would happen to a call of yours: the decision, step by step, and a preview. Nothing runs.',
  role: 'operator',
  reach: ofTenant,
  query,
  body,
  answer: wouldBe,
  async run(asked) {
    const opened = await openTrial(asked)
    if (opened instanceof Response) return opened
    const { session, tool, input, actor } = opened
    try {
      const { effect, steps, decision, error, preview, sandbox, obligations } = await session.preflight(
        tool,
        input,
      )
      return {
        actor,
        effect,
        steps: steps.map((step) => ({ ...step })),
        obligations: [...obligations],
        ...(decision !== undefined && { decision: toJsonObject(decision) }),
        ...(error !== undefined && { error: toJsonObject(error) }),
        ...(preview !== undefined && { preview: { ...preview } }),
        ...(sandbox !== undefined && { sandbox }),
      }
    } finally {
      await session.close()
    }
  },
})

/** How long a call is waited for before it is answered that it runs. */
const patienceMs = 5_000

const call = endpoint({
  method: 'POST',
  path: '/api/tools/{tool}/call',
  summary:
    'Calls a tool as you, in a session of its own. Answered with the result, or with the call if it asks a person or takes longer: it goes on without you.',
  role: 'operator',
  reach: ofTenant,
  query,
  body,
  answer: tried,
  async run(asked) {
    const opened = await openTrial(asked)
    if (opened instanceof Response) return opened
    const { session, tool, input } = opened
    const begun = watchBegin(session)
    const ended = runToEnd(session, tool, input)
    return Promise.race([ended.then(toEnded), begun])
  },
})

/** A session of the visitor in the tenant that is reached, for one call. */
async function openTrial(asked: Asked) {
  const found = findTool(asked)
  if (found instanceof Response) return found
  const { input } = asked.body
  const actor = toCallingActor(asked.visitor.actor)
  return refusingSetup(() => {
    const session = asked.parts.runtime.session({ tenant: found.tenant, actor, approve: askOthers })
    return {
      session,
      actor,
      tool: found.registered.definition.name,
      input: isPlainObject(input) ? input : {},
    }
  })
}

/** Leaves the question to those who may answer it in the inbox, the visitor among them. */
function askOthers(): Promise<ApprovalAnswer> {
  return Promise.withResolvers<ApprovalAnswer>().promise
}

async function runToEnd(session: Session, tool: string, input: object): Promise<ToolResult> {
  try {
    return await session.call(tool, input)
  } finally {
    await session.close()
  }
}

/** Resolves once the call of this session asks a person, or has run for a while. */
function watchBegin(session: Session): Promise<Tried> {
  const { promise, resolve } = Promise.withResolvers<Tried>()
  const stop = session.on(({ type, call: id, data }) => {
    if (id === undefined) return
    const approval = data?.['approval']
    if (type === 'permission_requested' && typeof approval === 'string')
      resolve({ call: id, state: 'waiting', approval })
    if (type === 'tool_started') setTimeout(() => resolve({ call: id, state: 'running' }), patienceMs).unref()
  })
  void promise.then(stop)
  return promise
}

function toEnded(result: ToolResult): Tried {
  return { call: result.callId, state: 'ended', result: toJsonObject(result) }
}

export const tryEndpoints: readonly Endpoint[] = [preflight, call]
