import type { Approver } from '../../contract/approval.ts'
import type { Session } from '../../contract/runtime.ts'
import { newId } from '../../kit/new-id.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { toWireResult } from '../../kit/result/to-wire-result.ts'
import { endpoint, type Asked, type Endpoint } from '../base/endpoint.ts'
import { refusingSetup } from '../base/refusing-setup.ts'
import { toJsonObject } from '../base/to-json-object.ts'
import { findTool } from './find-tool.ts'

const body = {
  type: 'object',
  properties: {
    input: { type: 'object', description: 'What the tool is called with.' },
    session: {
      type: 'string',
      pattern: '^[A-Za-z0-9-]{8,64}$',
      description: 'Names a session of your own: what you allow for the session holds in it.',
    },
  },
  required: ['input', 'session'],
  additionalProperties: false,
} as const

const tenantQuery = { tenant: 'Whose tool, and whose call. Default: your own, or "local".' }

const look = endpoint({
  method: 'POST',
  path: '/api/tools/{tool}/preflight',
  summary: 'What a call of yours would do now: how it would be decided, and its preview. Nothing is done.',
  role: 'operator',
  query: tenantQuery,
  body,
  answer: {
    type: 'object',
    properties: {
      effect: { type: 'string', description: 'allow, ask or deny.' },
      steps: { type: 'array', items: { type: 'object' } },
      decision: { type: 'object' },
      preview: { type: 'object' },
      error: { type: 'object', description: 'Its `issues` name the faulty fields of the input.' },
    },
    required: ['effect', 'steps'],
  },
  run: (asked) =>
    inSession(asked, async (session, tool) => {
      const input = readInput(asked)
      const { effect, steps, decision, preview, error } = await session.preflight(tool, input, {
        origin: 'api',
        approve: answeredInInbox,
      })
      return {
        effect,
        steps: steps.map(toJsonObject),
        ...(decision !== undefined && { decision: toJsonObject(decision) }),
        ...(preview !== undefined && { preview: toJsonObject(preview) }),
        ...(error !== undefined && { error: toJsonObject(error) }),
      }
    }),
})

const run = endpoint({
  method: 'POST',
  path: '/api/tools/{tool}/call',
  summary:
    'Calls a tool, as you, on the road that all calls go. If a person has to say yes, it says which question waits; ask the same again once that is answered.',
  role: 'operator',
  query: tenantQuery,
  body,
  answer: {
    type: 'object',
    properties: {
      result: { type: 'object', description: 'As `handrail call --json` shows it. Absent while it waits.' },
      waiting: { type: 'object', description: 'The approval that it waits for.' },
    },
  },
  run: (asked) =>
    inSession(asked, async (session, tool) => {
      const call = { id: newId('try', Date.now()), tool, input: readInput(asked) }
      const { results, waiting } = await session.step([call], { origin: 'api', anew: true })
      const [[result], [open]] = [results, waiting]
      return {
        ...(result !== undefined && { result: toWireResult(result) }),
        ...(open !== undefined && { waiting: toJsonObject(open.approval) }),
      }
    }),
})

/** A call waits for a person, and a preflight asks nobody: it is told only that somebody can be asked. */
const answeredInInbox: Approver = () => Promise.reject(new Error('This is answered in the inbox.'))

/** Does something in the session that the visitor named. It is of the visitor alone. */
async function inSession<Answer extends object>(
  asked: Asked,
  act: (session: Session, tool: string) => Promise<Answer>,
): Promise<Answer | Response> {
  const found = findTool(asked)
  if (found instanceof Response) return found
  return refusingSetup(async () => {
    const session = asked.parts.runtime.session({
      id: `console-${String(asked.body['session'])}`,
      tenant: found.tenant,
      actor: asked.visitor.actor,
    })
    try {
      return await act(session, found.registered.definition.name)
    } finally {
      await session.close()
    }
  })
}

function readInput({ body: { input } }: Asked): object {
  return isPlainObject(input) ? input : {}
}

export const tryEndpoints: readonly Endpoint[] = [look, run]
