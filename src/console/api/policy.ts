import { placeOfRule } from '../../compose/foresight/add-rule.ts'
import { insertRule } from '../../config/policy-file/insert-rule.ts'
import { readJsonObject } from '../../kit/json/is-json-object.ts'
import { countHits } from '../../compose/foresight/count-hits.ts'
import { foreseePolicy } from '../../compose/foresight/foresee-policy.ts'
import { mostCalls, suggestRules, week } from '../../compose/foresight/suggest-rules.ts'
import { createSimulation } from '../../compose/simulation/create-simulation.ts'
import { placeFaults } from '../../config/policy-file/policy-text.ts'
import type { PolicyBook } from '../../config/policy-file/policy-book.ts'
import { everyTenant } from '../../contract/mcp/console-login.ts'
import { SetupError } from '../../contract/base/errors.ts'
import { notePolicy } from '../../policy/note-policy.ts'
import { answerProblem } from '../base/answers.ts'
import { endpoint, type Asked, type Endpoint } from '../base/endpoint.ts'
import { refuseReadOnly, whyReadOnly } from '../base/policy-access.ts'
import { ofAllTenants, ofTenant, readCount } from '../base/read-query.ts'
import { refusingSetup } from '../base/refusing-setup.ts'
import { sees, tenantsOf } from '../base/roles.ts'
import { toJsonObject } from '../base/to-json-object.ts'
import {
  faultRow,
  foresightRow,
  policyPage,
  suggestionRow,
  toSuggestionRow,
  withoutRuleRow,
  type FaultRow,
  type ForesightRow,
  type PolicyPage,
  type RuleRow,
} from './policy-rows.ts'

/** A policy that is sent has at most so many characters. */
const mostCharacters = 1024 * 1024
const day = 86_400_000
const text = { type: 'string', description: 'What the whole policy would say.' } as const
const digest = {
  type: 'string',
  description: 'Of the text that was changed, as `GET /api/policy` has it.',
} as const

const show = endpoint({
  method: 'GET',
  path: '/api/policy',
  summary:
    'The policy: its rules with the calls that each decided in the last seven days, and what its file says.',
  role: 'viewer',
  reach: 'each',
  answer: policyPage,
  run: (asked) => refusingSetup(() => toPage(asked)),
})

async function toPage({ visitor, tenants, parts }: Asked): Promise<PolicyPage> {
  const { runtime, policy: desk } = parts
  const { book } = desk
  const options = await desk.wire(book?.present().policy)
  const { policy = {}, projectConfiguration } = options
  const projectRules = projectConfiguration?.rules ?? []
  const file = book?.read()
  const said = file && book?.check(file.text)
  const readOnly = whyReadOnly(visitor, desk)
  const recent = {
    tenants,
    since: Date.now() - week,
    most: mostCalls,
  }
  const rules = countHits({ policy, projectRules }, runtime.store, recent)
  const simulation = await createSimulation({ ...options, onError: () => {} })
  const notes = notePolicy(policy, simulation.definitions())
  await simulation.close()
  const seesAll = sees(visitor, everyTenant)
  return {
    version: runtime.policyVersion,
    mode: policy.mode ?? 'default',
    ...(file !== undefined && seesAll && { file: file.name, text: file.text, digest: file.digest }),
    ...(readOnly !== undefined && { readOnly }),
    faults: seesAll && said !== undefined && 'faults' in said ? [...said.faults] : [],
    rules: rules
      .filter(({ tenant }) => tenant === undefined || sees(visitor, tenant))
      .map(({ rule, layer, pointer, ...rest }): RuleRow => {
        const note = layer === 'project' ? undefined : notes.find((each) => isOf(each.pointer, pointer))
        return {
          ...rest,
          layer,
          pointer,
          rule: toJsonObject(rule),
          ...(note !== undefined && { note: note.message }),
        }
      }),
  }
}

function isOf(pointer: string, rule: string): boolean {
  return pointer === rule || pointer.startsWith(`${rule}/`)
}

const suggestions = endpoint({
  method: 'GET',
  path: '/api/policy/suggestions',
  summary:
    'The narrowest rules for what people said yes to more than once, each with what else it would have let through.',
  role: 'viewer',
  reach: (question) =>
    question.query.has('tenant')
      ? ofTenant(question)
      : tenantsOf(question.visitor, question.parts.runtime.store.tenants()),
  query: { days: 'Calls of the last so many days, up to 90. Default: 7.', tenant: 'Of this tenant alone.' },
  answer: {
    type: 'object',
    properties: {
      suggested: { type: 'array', items: suggestionRow },
      withoutRule: {
        type: 'array',
        items: withoutRuleRow,
        description: 'What no rule would answer, and why.',
      },
      isCut: { type: 'boolean', description: 'Whether only the newest calls were looked at.' },
    },
    required: ['suggested', 'withoutRule', 'isCut'],
  },
  run({ tenants, query, parts: { runtime, policy: desk } }) {
    const days = readCount(query, { name: 'days', usual: 7, most: 90 })
    if (days instanceof Response) return days
    const { store } = runtime
    return refusingSetup(async () => {
      const found = await suggestRules({
        store,
        runtime: await desk.wire(desk.book?.present().policy),
        since: Date.now() - days * day,
        tenants,
      })
      return {
        suggested: found.suggested.map(toSuggestionRow),
        withoutRule: found.withoutRule.map(({ calls, ...rest }) => ({ ...rest, calls: [...calls] })),
        isCut: found.isCut,
      }
    })
  },
})

const foresee = endpoint({
  method: 'POST',
  path: '/api/policy/foresight',
  summary:
    'What would come of a policy, before it is saved: its faults, calls that it would decide otherwise, its cases.',
  role: 'operator',
  reach: ofAllTenants,
  mostCharacters,
  body: { type: 'object', properties: { text }, required: ['text'], additionalProperties: false },
  answer: foresightRow,
  run(asked) {
    const book = bookOf(asked)
    if (book instanceof Response) return book
    return refusingSetup(() => lookAhead(asked, book))
  },
})

const check = endpoint({
  method: 'POST',
  path: '/api/policy/check',
  summary: 'What is wrong with the text of a policy, each fault at its line. Judges no call.',
  role: 'operator',
  reach: ofAllTenants,
  mostCharacters,
  body: { type: 'object', properties: { text }, required: ['text'], additionalProperties: false },
  answer: {
    type: 'object',
    properties: { faults: { type: 'array', items: faultRow } },
    required: ['faults'],
  },
  run(asked) {
    const book = bookOf(asked)
    if (book instanceof Response) return book
    const said = book.check(String(asked.body['text']))
    return { faults: 'faults' in said ? [...said.faults] : [] }
  },
})

/** The book of who may change all of it. */
function bookOf({ visitor, parts }: Asked): PolicyBook | Response {
  const refused = refuseReadOnly(visitor, parts.policy)
  if (refused !== undefined) return refused
  return parts.policy.book ?? answerProblem({ status: 404, detail: 'There is no policy file.' })
}

async function lookAhead({ body, visitor, parts }: Asked, book: PolicyBook): Promise<ForesightRow> {
  const { runtime, policy: desk } = parts
  const { store } = runtime
  const given = String(body['text'])
  const said = book.check(given)
  if ('faults' in said) return { ...nothing, faults: [...said.faults] }
  try {
    const found = await foreseePolicy({
      store,
      runtime: await desk.wire(book.present().policy),
      policy: said.policy,
      tenants: tenantsOf(visitor, store.tenants()),
      cases: desk.cases(),
    })
    return {
      ...found,
      faults: [],
      notes: placeFaults(found.notes, given),
      different: found.different.map(({ was, now, would, ...call }) => ({
        ...call,
        was: { ...was },
        now: { ...now },
        would: { ...would },
      })),
      unjudged: [...found.unjudged],
      failures: [...found.failures],
    }
  } catch (error) {
    if (!(error instanceof SetupError)) throw error
    return { ...nothing, faults: toFaults(error, given) }
  }
}

const nothing = {
  faults: [],
  notes: [],
  judged: 0,
  different: [],
  unjudged: [],
  isCut: false,
  cases: 0,
  failures: [],
}

/** What a runtime refuses of a policy whose text has no fault, such as the folder of a tenant that is not there. */
function toFaults({ issues, message }: SetupError, given: string): FaultRow[] {
  const inPolicy = issues.map((issue) => ({
    ...issue,
    pointer: issue.pointer.replace(/^\/policy(?=\/|$)/, ''),
  }))
  return placeFaults(inPolicy.length > 0 ? inPolicy : [{ pointer: '', message }], given)
}

const draft = endpoint({
  method: 'POST',
  path: '/api/policy/draft',
  summary: 'The text of a policy with one more rule; comments stay. Nothing is saved.',
  role: 'operator',
  reach: ofAllTenants,
  mostCharacters,
  body: {
    type: 'object',
    properties: { text, tenant: { type: 'string' }, rule: { type: 'object' } },
    required: ['text', 'tenant', 'rule'],
    additionalProperties: false,
  },
  answer: { type: 'object', properties: { text }, required: ['text'] },
  run(asked) {
    const book = bookOf(asked)
    if (book instanceof Response) return book
    const given = String(asked.body['text'])
    const said = book.check(given)
    if ('faults' in said)
      return answerProblem({
        status: 400,
        detail: 'The policy has issues. Mend them before a rule is added.',
        code: 'invalid_policy',
        issues: said.faults,
      })
    const place = placeOfRule(said.policy, String(asked.body['tenant']))
    return refusingSetup(() => ({ text: insertRule(given, place, readJsonObject(asked.body['rule'])) }))
  },
})

const save = endpoint({
  method: 'POST',
  path: '/api/policy',
  summary:
    'Saves the policy file as a whole. It is refused if the file changed since it was read; the evidence says who did it.',
  role: 'operator',
  reach: ofAllTenants,
  mostCharacters,
  body: {
    type: 'object',
    properties: {
      text,
      digest,
      reason: { type: 'string', maxLength: 500, description: 'What for; it is kept with the version.' },
      despiteCases: { type: 'boolean', description: 'Also if cases come out otherwise than they should.' },
    },
    required: ['text', 'digest'],
    additionalProperties: false,
  },
  answer: {
    type: 'object',
    properties: { version: { type: 'integer', description: 'Of the file.' }, digest: { type: 'string' } },
    required: ['version', 'digest'],
  },
  run(asked) {
    const book = bookOf(asked)
    if (book instanceof Response) return book
    const { body, visitor } = asked
    return refusingSetup(async () => {
      const { faults, failures } = await lookAhead(asked, book)
      if (faults.length > 0)
        return answerProblem({
          status: 400,
          detail: 'The policy has issues.',
          code: 'invalid_policy',
          issues: faults,
        })
      if (failures.length > 0 && body['despiteCases'] !== true)
        return answerProblem({
          status: 409,
          detail: `${failures.length} cases of policy-cases.json come out otherwise than they should.`,
          code: 'cases_fail',
          issues: failures,
        })
      const saved = await book.save({
        text: String(body['text']),
        digest: String(body['digest']),
        by: visitor.actor,
        ...(typeof body['reason'] === 'string' && { reason: body['reason'] }),
      })
      return { version: saved.version, digest: saved.digest }
    })
  },
})

export const policyEndpoints: readonly Endpoint[] = [show, suggestions, foresee, check, draft, save]
