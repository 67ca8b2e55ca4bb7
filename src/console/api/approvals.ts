import { SetupError } from '../../contract/base/errors.ts'
import type { PendingApproval } from '../../contract/pending-approval.ts'
import { allowAsRule, offerRule, type RuleOffer } from '../../compose/foresight/allow-as-rule.ts'
import { parsePointer } from '../../kit/json/json-pointer.ts'
import { findCalls } from '../../evidence/find-calls.ts'
import { answerProblem } from '../base/answers.ts'
import { refuseReadOnly, whyReadOnly } from '../base/policy-access.ts'
import { refusingSetup } from '../base/refusing-setup.ts'
import { suggestionRow, toSuggestionRow } from './policy-rows.ts'
import { endpoint, type Asked, type Endpoint, type Question } from '../base/endpoint.ts'
import { sees } from '../base/roles.ts'
import { callRow, toRow } from './call-row.ts'
import { toJsonObject } from '../base/to-json-object.ts'

const states = ['waiting', 'allowed', 'denied', 'expired', 'used', 'all'] as const
const approval = { type: 'object', description: 'As `handrail approvals --json` shows it.' } as const

const list = endpoint({
  method: 'GET',
  path: '/api/approvals',
  summary: 'The questions that wait for a person, the oldest deadline first.',
  role: 'viewer',
  reach: 'each',
  query: { state: `One of ${states.join(', ')}. Default: waiting.`, session: 'Only of this session.' },
  answer: {
    type: 'object',
    properties: { approvals: { type: 'array', items: approval } },
    required: ['approvals'],
  },
  run({ visitor, query, parts: { runtime } }) {
    const state = states.find((each) => each === (query.get('state') ?? 'waiting'))
    if (state === undefined)
      return answerProblem({ status: 400, detail: `The state is one of ${states.join(', ')}.` })
    const session = query.get('session')
    const found = runtime.approvals.list({
      state,
      ...(session !== null && { session }),
    })
    const own = found.filter(({ tenant }) => sees(visitor, tenant))
    const sorted = own.toSorted((one, other) => one.expiresAt - other.expiresAt)
    return { approvals: sorted.map(toJsonObject) }
  },
})

/** How many calls of a session are shown before the one that asks, and how many are looked through for earlier answers. */
const before = { shown: 5, counted: 1_000 } as const

const show = endpoint({
  method: 'GET',
  path: '/api/approvals/{id}',
  summary:
    'A question: what happened just before in its session, and how often its tool was let through or denied before.',
  role: 'viewer',
  reach: ofFound,
  answer: {
    type: 'object',
    properties: {
      approval,
      before: { type: 'array', items: callRow },
      earlier: {
        type: 'object',
        description: `Of the last ${before.counted} calls of the tool by the same actor.`,
        properties: { calls: { type: 'integer' }, ok: { type: 'integer' }, denied: { type: 'integer' } },
        required: ['calls', 'ok', 'denied'],
      },
    },
    required: ['approval', 'before', 'earlier'],
  },
  run(asked) {
    const found = findSeen(asked)
    if (found instanceof Response) return found
    const { tenant, request } = found
    const { store } = asked.parts.runtime
    const tenants = [tenant]
    const inSession = findCalls(store, { tenants, session: request.session, limit: before.shown })
    const { actor } = request.principal
    const same = findCalls(store, { tenants, actor, tool: request.tool, limit: before.counted })
    return {
      approval: toJsonObject(found),
      before: inSession.map(toRow),
      earlier: {
        calls: same.length,
        ok: same.filter(({ outcome }) => outcome === 'ok').length,
        denied: same.filter(({ outcome }) => outcome === 'denied').length,
      },
    }
  },
})

const decide = endpoint({
  method: 'POST',
  path: '/api/approvals/{id}',
  summary: 'Answers a question. The first answer wins; the evidence says whose it was.',
  role: 'approver',
  reach: ofFound,
  body: {
    type: 'object',
    properties: {
      decision: { type: 'string', enum: ['allow_once', 'allow_for_session', 'deny'] },
      reason: { type: 'string', description: 'The model is told it.' },
      digest: {
        type: 'string',
        description: 'Of the question that was seen: it is refused if it is another one by now.',
      },
    },
    required: ['decision', 'digest'],
    additionalProperties: false,
  },
  answer: { type: 'object', properties: { approval }, required: ['approval'] },
  async run(asked) {
    const found = findSeen(asked)
    if (found instanceof Response) return found
    const { body, visitor, parts } = asked
    const given = { ...body, by: visitor.actor }
    try {
      // The fields fit the schema above.
      const decided = await parts.runtime.approvals.decide(found.id, given as unknown as Given)
      return { approval: toJsonObject(decided) }
    } catch (error) {
      if (!(error instanceof SetupError)) throw error
      const status = error.code === 'not_approver' ? 403 : 409
      return answerProblem({ status, detail: error.message, code: error.code })
    }
  },
})

type Given = Parameters<Asked['parts']['runtime']['approvals']['decide']>[1]

function ofFound(question: Question): readonly string[] | Response {
  const found = findSeen(question)
  return found instanceof Response ? found : [found.tenant]
}

function findSeen({ visitor, path, parts }: Question): PendingApproval | Response {
  const found = parts.runtime.approvals.find(path['id'] ?? '')
  if (found !== undefined && sees(visitor, found.tenant)) return found
  return answerProblem({
    status: 404,
    detail: 'There is no such approval: it was over long ago, or never was.',
    code: 'unknown_approval',
  })
}

const digestOfFile = {
  type: 'string',
  description: 'Of the policy file for which the rule was made.',
} as const

const showRule = endpoint({
  method: 'GET',
  path: '/api/approvals/{id}/rule',
  summary:
    'The narrowest rule that would let the call of a question through, with what else it would have let through.',
  role: 'viewer',
  reach: ofFound,
  answer: {
    type: 'object',
    properties: {
      suggestion: suggestionRow,
      file: { type: 'string', description: 'What the rule would go into.' },
      digest: digestOfFile,
      reason: { type: 'string', description: 'Why there is no rule, or why you cannot add it.' },
    },
  },
  run(asked) {
    const found = findSeen(asked)
    if (found instanceof Response) return found
    return refusingSetup(async () => {
      const offer = await makeOffer(found, asked)
      if ('reason' in offer) return { reason: offer.reason }
      const { suggestion, file, digest } = offer
      const readOnly = whyReadOnly(asked.visitor, asked.parts.policy, placeOf(offer))
      return {
        suggestion: toSuggestionRow(suggestion),
        ...(readOnly === undefined ? { file, digest } : { reason: readOnly }),
      }
    })
  },
})

const decideAsRule = endpoint({
  method: 'POST',
  path: '/api/approvals/{id}/rule',
  summary:
    'Allows the call of a question and adds its rule to the policy file. The evidence says who did it.',
  role: 'operator',
  reach: ofFound,
  body: {
    type: 'object',
    properties: {
      digest: { type: 'string', description: 'Of the question that was seen.' },
      policy: digestOfFile,
      reason: { type: 'string' },
    },
    required: ['digest', 'policy'],
    additionalProperties: false,
  },
  answer: {
    type: 'object',
    properties: { approval, version: { type: 'integer', description: 'Of the policy file.' } },
    required: ['approval', 'version'],
  },
  run(asked) {
    const found = findSeen(asked)
    if (found instanceof Response) return found
    const { visitor, body, parts } = asked
    const { book } = parts.policy
    return refusingSetup(async () => {
      const offer = await makeOffer(found, asked)
      if ('reason' in offer || book === undefined)
        return answerProblem({
          status: 409,
          detail: `No rule is made of this call: ${'reason' in offer ? offer.reason : ''}.`,
          code: 'no_rule',
        })
      const refused = refuseReadOnly(visitor, parts.policy, placeOf(offer))
      if (refused !== undefined) return refused
      if (offer.digest !== body['policy'])
        return answerProblem({
          status: 409,
          detail: 'The policy was changed meanwhile, so nothing was decided. Look at the rule again.',
          code: 'file_changed',
        })
      const answer = {
        by: visitor.actor,
        digest: String(body['digest']),
        ...(typeof body['reason'] === 'string' && { reason: body['reason'] }),
      }
      const { approvals } = parts.runtime
      const done = await allowAsRule(found, offer, { approvals, book, answer })
      return { approval: toJsonObject(done.approval), version: done.version.version }
    })
  },
})

async function makeOffer(found: PendingApproval, { parts }: Asked): ReturnType<typeof offerRule> {
  const { book, wire } = parts.policy
  if (book === undefined) return { reason: 'the program that runs this gateway gives its policy' }
  const { store } = parts.runtime
  return offerRule(found, { store, runtime: await wire(book.present().policy), book })
}

function placeOf({ suggestion }: RuleOffer): string[] {
  return parsePointer(suggestion.place)
}

export const approvalEndpoints: readonly Endpoint[] = [list, show, decide, showRule, decideAsRule]
