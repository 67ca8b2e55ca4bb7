import type { Issue } from '../contract/base/json.ts'
import type { Operation } from '../contract/base/plan.ts'
import type { Effect, Layer } from '../contract/policy.ts'
import { modes, roles, type Mode, type Role } from '../contract/base/principal.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type { Form } from './check-file.ts'
import { argv, described, flag, list, object, text } from './base/schema-parts.ts'

/** What a policy should say of one call. */
export interface PolicyCase {
  /** Shown where the case fails. Default: its place in the file. */
  name?: string
  principal?: { tenant?: string; actor?: string; role?: Role }
  /** Canonical name. */
  tool: string
  /** The call is planned from this input, as it would be. Default `{}`. */
  input?: { [name: string]: unknown }
  /** Instead of an input: what the call would do. A path may begin with `{project}`. */
  operations?: readonly CaseOperation[]
  mode?: Mode
  /** `layer` and `rule` of what decides, where they matter. */
  expect: { effect: Effect; layer?: Layer; rule?: string }
}

/** An operation; what is left out is filled in. */
export interface CaseOperation {
  kind: Operation['kind']
  path?: string
  recursive?: boolean
  executable?: string
  argv?: readonly string[]
  cwd?: string
  host?: string
  url?: string
  resource?: string
}

/** A file of cases. */
export interface PolicyCases {
  $schema?: string
  cases: readonly PolicyCase[]
}

const layers: { readonly [layer in Layer]: true } = {
  bounds: true,
  role: true,
  mode: true,
  set: true,
  policy: true,
  project: true,
  tenant: true,
  skill: true,
  grants: true,
  'decision-point': true,
  'session-approval': true,
  consent: true,
  defaults: true,
  sandbox: true,
  hook: true,
  person: true,
}

/** What each kind of operation must say. */
const needed: { readonly [kind in Operation['kind']]: 'path' | 'executable' | 'host' | 'resource' } = {
  'fs.read': 'path',
  'fs.write': 'path',
  process: 'executable',
  net: 'host',
  other: 'resource',
}

const operation = object(
  {
    kind: { enum: Object.keys(needed) },
    path: described(text, 'Absolute, or from "{project}" on.'),
    recursive: flag,
    executable: described(text, 'Absolute path of a program.'),
    argv: described(argv, 'Default: the name of the program alone.'),
    cwd: described(text, 'Default: the project.'),
    host: text,
    url: text,
    resource: text,
  },
  { description: 'One thing that the call would do.', required: ['kind'] },
)

/** A file of cases for `handrail policy test`. */
export const policyCasesSchema: JsonSchema = object(
  {
    $schema: text,
    cases: {
      ...list(
        object(
          {
            name: described(text, 'Shown where the case fails.'),
            principal: object(
              { tenant: text, actor: text, role: { enum: [...roles] } },
              { description: 'Who makes the call. Default: the actor "user" of the tenant "local" as main.' },
            ),
            tool: described(text, 'Canonical name.'),
            input: { type: 'object', description: 'The call is planned from it. Default {}.' },
            operations: list(operation, 'Instead of an input: what the call would do.'),
            mode: { enum: [...modes] },
            expect: object(
              {
                effect: { enum: ['allow', 'ask', 'deny'] },
                layer: { enum: Object.keys(layers), description: 'The layer that decides.' },
                rule: described(text, 'The rule that decides.'),
              },
              { description: 'What the policy should say.', required: ['effect'] },
            ),
          },
          { description: 'One call.', required: ['tool', 'expect'] },
        ),
        'Calls and what the policy should say of each.',
      ),
      minItems: 1,
    },
  },
  { description: 'What a policy should say.', required: ['cases'] },
)

export const policyCasesForm: Form<PolicyCases> = {
  schema: policyCasesSchema,
  check: ({ cases }) => cases.flatMap((each, index) => checkCase(each, `/cases/${index}`)),
}

function checkCase({ input, operations = [] }: PolicyCase, pointer: string): Issue[] {
  const issues = operations.flatMap((each, index): Issue[] => {
    const field = needed[each.kind]
    if (each[field] !== undefined) return []
    const message = `An operation "${each.kind}" needs "${field}".`
    return [{ pointer: `${pointer}/operations/${index}`, code: 'missing', message }]
  })
  if (input === undefined || operations.length === 0) return issues
  const message = 'A case has an input, from which the call is planned, or operations. Take one of them out.'
  return [...issues, { pointer: `${pointer}/operations`, code: 'contradiction', message }]
}
