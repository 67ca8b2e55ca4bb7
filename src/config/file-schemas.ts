import type { JsonSchema } from '../contract/schema.ts'

const text: JsonSchema = { type: 'string', minLength: 1 }
const texts: JsonSchema = { type: 'array', items: text }
/** An argument may be empty. */
const argv: JsonSchema = { type: 'array', items: { type: 'string' }, minItems: 1 }
const flag: JsonSchema = { type: 'boolean' }
const count: JsonSchema = { type: 'integer', minimum: 1 }

function object(
  properties: { [name: string]: JsonSchema },
  about: { description: string; required?: string[] },
): JsonSchema {
  return { type: 'object', additionalProperties: false, ...about, properties }
}

const described = (schema: JsonSchema, description: string): JsonSchema => ({ ...schema, description })

const limits = object(
  {
    defaultTimeoutMs: described(count, 'Time limit of tools that name none. Default 120000.'),
    maxTimeoutMs: described(count, 'Time limit that no tool may exceed. Default 600000.'),
    maxBytesIn: described(count, 'Largest input of a call. Default 2097152.'),
    maxBytesOut: described(count, 'Largest result of a call, before it is shortened. Default 8388608.'),
    inlineBytes: described(count, 'Longer text of a result goes to an artifact. Default 32768.'),
    parallelReads: described(count, 'Read-only calls of one turn at a time. Default 10.'),
    parallelAgents: described(count, 'Agent-starting calls of one turn at a time. Default 4.'),
    callsPerSession: described(count, 'Calls of one session. Default: no limit.'),
    repeatsPerSession: described(count, 'The same tool with the same input in one session. Default 50.'),
    approvalTimeoutMs: described(count, 'How long a person may take to answer. Default 600000.'),
    approvalTtlMs: described(count, 'How long a given approval holds before it is used. Default 60000.'),
    abortGraceMs: described(count, 'How long a tool may take to react to its abort. Default 2000.'),
    idempotencyWindowMs: described(count, 'How long a keyed result is given again. Default 86400000.'),
  },
  { description: 'Limits that hold for every call.' },
)

/** One hook of the configuration. */
export const commandHookSchema: JsonSchema = object(
  {
    on: { enum: ['PreToolUse', 'PostToolUse'], description: 'When the program runs.' },
    command: described(argv, 'argv; no shell.'),
    tools: described(texts, 'Patterns of canonical names. Default: all tools.'),
    tags: described(texts, 'Tags, any of which matches. Default: all tools.'),
    timeoutMs: described(count, 'Default 30000.'),
  },
  { description: 'A program that gets the event as JSON on stdin.', required: ['on', 'command'] },
)

const roles: JsonSchema = {
  type: 'array',
  items: { enum: ['main', 'orchestrator', 'sub', 'fork', 'worker'] },
}
const mode: JsonSchema = { enum: ['default', 'plan', 'accept-edits', 'bypass'] }

const matchers: { [name: string]: JsonSchema } = {
  id: described(text, 'Shown by explain and kept in the evidence.'),
  tools: described(texts, 'Patterns of canonical names, "*" for any letters.'),
  tags: described(texts, 'Tags, any of which matches.'),
  roles: described(roles, 'Roles, any of which matches.'),
  modes: described({ type: 'array', items: mode }, 'Modes, any of which matches.'),
  resources: described(
    texts,
    'URN patterns of what the call reaches: handrail:file:/srv/**, handrail:host:*.example.com, handrail:exec:/usr/bin/git, handrail:tool:code.*.',
  ),
  argv: described(
    argv,
    'Patterns of a command, one for each argument; a last "**" stands for any further ones.',
  ),
  reason: described(text, 'Shown to whoever is asked or denied.'),
}

/** `<home>/config.json`. */
export const configurationSchema: JsonSchema = object(
  {
    $schema: text,
    readRoots: described(texts, 'Further directories that tools may read.'),
    writeRoots: described(texts, 'Further directories that tools may read and write.'),
    tmp: described(flag, 'Whether tools may write to the temporary directory. Default false.'),
    sensitivePaths: described(texts, 'Added to the built-in sensitive paths.'),
    env: described(
      texts,
      'Environment variables that commands see, beside PATH, HOME, TMPDIR, LANG and LC_ALL.',
    ),
    hooks: {
      type: 'array',
      items: commandHookSchema,
      description: 'Programs that see calls before or after they run.',
    },
    limits,
    allowedTools: described(texts, 'Patterns of the tools that sessions may have. Default: all.'),
    disallowedTools: described(texts, 'Patterns of tools that no session has.'),
  },
  { description: "Handrail's configuration of one person." },
)

/** `<home>/policy.json`. */
export const policySchema: JsonSchema = object(
  {
    $schema: text,
    mode: described(mode, 'Mode of sessions that name none. Default "default".'),
    allowBypass: described(flag, 'Allows sessions in mode bypass, which ask nobody. Default false.'),
    network: object(
      {
        default: {
          enum: ['allow', 'ask', 'deny'],
          description: 'What happens to network calls. Default "ask".',
        },
        hosts: described(texts, 'Hosts that are let through: names, or "*.example.com".'),
        everyTime: described(
          flag,
          'Ask for every call, whatever was allowed for the session. Default false.',
        ),
      },
      { description: 'Calls that reach the network.' },
    ),
    rules: {
      type: 'array',
      description: 'Deny beats ask, ask beats allow.',
      items: object(
        {
          ...matchers,
          effect: { enum: ['allow', 'ask', 'deny'] },
          sensitive: described(flag, 'Lets an allow rule cover sensitive paths too. Default false.'),
        },
        { description: 'Every field that is present must match.', required: ['effect'] },
      ),
    },
  },
  { description: 'What tools may do without asking, what asks, and what is denied.' },
)

/** `<project>/handrail.json`. */
export const projectSchema: JsonSchema = object(
  {
    $schema: text,
    sensitivePaths: described(texts, 'Added to the sensitive paths.'),
    disallowedTools: described(texts, 'Patterns of tools that no session in this project has.'),
    limits: described(limits, 'Count only where they are lower.'),
    rules: {
      type: 'array',
      description: 'Rules that ask or deny; one that allows is ignored.',
      items: object(
        { ...matchers, effect: { enum: ['ask', 'deny', 'allow'] } },
        { description: 'Every field that is present must match.', required: ['effect'] },
      ),
    },
  },
  { description: 'What a project adds to the caution of the person who works in it. It can only tighten.' },
)
