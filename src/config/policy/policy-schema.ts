import type { JsonSchema } from '../../contract/base/schema.ts'
import { mode, rulesSchema, someRoles } from './rule-schemas.ts'
import { count, described, flag, list, object, someTexts, text, texts } from '../base/schema-parts.ts'

const whom: { [name: string]: JsonSchema } = {
  tenants: described(someTexts, 'Patterns of tenants. Default: all.'),
  actors: described(someTexts, 'Patterns of actors. Default: all.'),
}
const which = described(someTexts, 'Patterns of canonical names. Default: all tools.')

const network = object(
  {
    default: {
      enum: ['allow', 'ask', 'deny'],
      description: 'What happens to network calls. Default "ask".',
    },
    hosts: described(texts, 'Hosts that are let through: names, or "*.example.com".'),
    everyTime: described(flag, 'Ask for every call, whatever was allowed for the session. Default false.'),
  },
  { description: 'Calls that reach the network.' },
)

const grants = list(
  object(
    {
      id: described(text, 'Kept in the evidence. Default: its place in the file.'),
      ...whom,
      roles: described(someRoles, 'Roles, any of which matches. Default: all.'),
      tools: which,
      scopes: list(
        object(
          {
            resource: described(text, 'Pattern of a resource that tools name in their scopes.'),
            actions: described(someTexts, 'Actions on it; "*" for all.'),
          },
          { description: 'What tools may require.', required: ['resource', 'actions'] },
        ),
        'Scopes that tools may require. Default: all. Empty: none.',
      ),
      capabilities: object(
        {
          read: described(texts, 'Folders that calls may read: absolute, "~/…" or "{project}/…".'),
          write: described(texts, 'Folders that calls may read and write.'),
          hosts: described(texts, 'Hosts that calls may reach: names, or "*.example.com".'),
          executables: described(texts, 'Programs that calls may start: names, or absolute paths.'),
        },
        { description: 'What calls may reach at most. Absent: what the policy bounds. Empty: nothing.' },
      ),
    },
    { description: 'Every field that is present must match.' },
  ),
  'What principals may use at all. Absent: what the rules let through. Empty: nothing.',
)

const tenant = object(
  {
    project: described(text, "The tenant's project folder. Default: the runtime's."),
    readRoots: described(texts, 'Further directories that its tools may read.'),
    writeRoots: described(texts, 'Further directories that its tools may read and write.'),
    allowedTools: described(texts, 'Patterns of the tools that it has. Default: all. Empty: none.'),
    disallowedTools: described(texts, 'Patterns of tools that it does not have.'),
    rules: rulesSchema,
    settings: {
      type: 'object',
      additionalProperties: { type: 'object' },
      description: 'Settings of tools, by canonical name.',
    },
  },
  { description: 'What holds for this tenant alone.' },
)

const budgets = list(
  object(
    {
      id: described(text, 'Names its accounts: another id starts anew.'),
      unit: {
        enum: ['calls', 'bytesIn', 'bytesOut', 'cpuMs', 'wallMs', 'cost', 'tokens', 'money'],
        description:
          'Calls and what they spend; tokens of language models in agent runs; or money, which those and calls with a price cost.',
      },
      limit: described(
        { ...count, maximum: Number.MAX_SAFE_INTEGER },
        'What its calls may spend together, in each window or in total.',
      ),
      windowMs: described(
        { ...count, maximum: Number.MAX_SAFE_INTEGER },
        'Length of its windows in milliseconds. Default: in total.',
      ),
      each: {
        type: 'array',
        items: { enum: ['tenant', 'actor', 'tool'] },
        uniqueItems: true,
        description: 'Whom it counts apart. Default ["tenant"]. Empty: one account for all.',
      },
      ...whom,
      tools: which,
      kind: {
        enum: ['budget', 'rate'],
        description: 'A rate answers "come again later". Default "budget".',
      },
    },
    { description: 'Every matcher that is present must match.', required: ['id', 'unit', 'limit'] },
  ),
  'What calls may spend.',
)

const prices = list(
  object(
    {
      tools: described(someTexts, 'Patterns of tools, such as "mcp.search.*".'),
      perCall: {
        type: 'number',
        minimum: 0,
        maximum: 1_000_000_000,
        description: 'Of one call, to the millionth, in the unit of prices.json.',
      },
    },
    { description: 'The first that names a tool counts.', required: ['tools', 'perCall'] },
  ),
  'What calls of tools cost; budgets of money count it.',
)

const obligations = list(
  object(
    {
      id: described(text, 'Kept in the evidence and shown by preflight.'),
      tenants: described(someTexts, 'Patterns of tenants. Default: all.'),
      tools: which,
      tags: described(someTexts, 'Tags, any of which matches. Default: all tools.'),
      action: {
        enum: ['redact', 'mask', 'watermark'],
        description: 'Replace a value, leave its last four characters, or add a text.',
      },
      pointers: described(someTexts, 'RFC 6901 pointers into the data; "*" stands for every member or item.'),
      patterns: described(someTexts, 'Regular expressions, found anywhere in text.'),
      classifications: described(someTexts, 'Fields whose schema carries one of these in x-classification.'),
      text: described(text, 'What a watermark adds; {tenant}, {actor}, {call} and {at} are filled in.'),
      onFailure: {
        enum: ['deny', 'degrade'],
        description: 'Withhold the result, or its data, where it cannot be done. Default "deny".',
      },
    },
    { description: 'Every matcher that is present must match.', required: ['id', 'action'] },
  ),
  'What is done to results.',
)

const approvers = list(
  object(
    {
      id: described(text, 'Kept in the evidence. Default: its place in the file.'),
      tenants: described(someTexts, 'Patterns of tenants that ask. Default: all.'),
      tools: which,
      approvers: described(someTexts, 'Patterns of actors who may say yes. Default: all.'),
      notRequester: described(flag, 'The actor who asks cannot say yes. Default false.'),
      needed: described({ ...count, maximum: 10 }, 'How many different people have to say yes. Default 1.'),
      escalate: object(
        {
          afterMs: described(
            { ...count, maximum: Number.MAX_SAFE_INTEGER },
            'So many milliseconds after the question.',
          ),
          approvers: described(someTexts, 'Patterns of actors who may say yes from then on, too.'),
        },
        { description: 'Who else decides if it takes too long.', required: ['afterMs', 'approvers'] },
      ),
    },
    { description: 'Every matcher that is present must match; all that match have to be met.' },
  ),
  'Who may decide about calls that ask. Absent: the person who is asked.',
)

/** `<home>/policy.json`. */
export const policySchema: JsonSchema = object(
  {
    $schema: text,
    mode: described(mode, 'Mode of sessions that name none. Default "default".'),
    allowBypass: described(flag, 'Allows sessions in mode bypass, which ask no person. Default false.'),
    network,
    rules: rulesSchema,
    grants,
    tenants: {
      type: 'object',
      additionalProperties: tenant,
      description: 'Where it is present, it names every tenant there is, beside "local".',
    },
    budgets,
    prices,
    obligations,
    approvers,
  },
  { description: 'What tools may do without asking, what asks, and what is denied.' },
)
