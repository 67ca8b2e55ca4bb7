import { modes, roles } from '../../contract/base/principal.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { argv, described, flag, list, object, someTexts, text } from '../base/schema-parts.ts'

export const mode: JsonSchema = { enum: [...modes] }

/** Roles, at least one. */
export const someRoles: JsonSchema = { type: 'array', items: { enum: [...roles] }, minItems: 1 }

const matchers: { [name: string]: JsonSchema } = {
  id: described(text, 'Shown by explain and kept in the evidence.'),
  tools: described(someTexts, 'Patterns of canonical names, "*" for any characters.'),
  tags: described(someTexts, 'Tags, any of which matches.'),
  roles: described(someRoles, 'Roles, any of which matches.'),
  modes: { type: 'array', items: mode, minItems: 1, description: 'Modes, any of which matches.' },
  resources: described(
    someTexts,
    'URN patterns of what the call reaches: handrail:file:/srv/**, handrail:host:*.example.com, handrail:exec:/usr/bin/git, handrail:tool:code.*.',
  ),
  argv: described(
    argv,
    'Patterns of a command, one for each argument; a last "**" stands for any further ones.',
  ),
  commands: described(
    someTexts,
    'Patterns of commands, held against each command of a command line: "npm test", "git log *", "npm run build:*".',
  ),
  input: described(
    { type: 'object', additionalProperties: { type: 'string' }, minProperties: 1 },
    'Patterns of fields of the input that hold text, a number or a boolean, "*" for any characters.',
  ),
  inputOnly: described(
    flag,
    'Whether the input has no field but those that "input" names; without "input", none at all. Default false.',
  ),
  reason: described(text, 'Shown to the person who is asked, and to the caller who is denied.'),
}

/** Rules of a person's policy, of all tenants or of one. */
export const rulesSchema: JsonSchema = list(
  object(
    {
      ...matchers,
      effect: { enum: ['allow', 'ask', 'deny'] },
      projects: described(someTexts, 'Folders of the projects in which it holds. Absent: all.'),
      sensitive: described(flag, 'Lets an allow rule cover sensitive paths too. Default false.'),
    },
    { description: 'Every field that is present must match.', required: ['effect'] },
  ),
  'Deny beats ask, ask beats allow.',
)

/** Rules of a project. */
export const projectRulesSchema: JsonSchema = list(
  object(
    { ...matchers, effect: { enum: ['ask', 'deny', 'allow'] } },
    { description: 'Every field that is present must match.', required: ['effect'] },
  ),
  'Rules that ask or deny; one that allows is ignored.',
)
