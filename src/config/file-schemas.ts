import type { JsonSchema } from '../contract/base/schema.ts'
import { toolGroups } from '../contract/configuration.ts'
import { a2aSchema } from './a2a-schemas.ts'
import { mostProgramLimits } from '../contract/services/code-mode.ts'
import { memoryModes } from '../contract/services/memory.ts'
import { projectRulesSchema } from './policy/rule-schemas.ts'
import { argv, count, described, flag, list, object, someTexts, text, texts } from './base/schema-parts.ts'

/** A whole number from 1 to this. */
function upTo(maximum: number, description: string): JsonSchema {
  return { type: 'integer', minimum: 1, maximum, description }
}

const limits = object(
  {
    defaultTimeoutMs: described(count, 'Time limit of tools that name none. Default 120000.'),
    maxTimeoutMs: described(count, 'Time limit that no tool may exceed. Default 600000.'),
    maxBytesIn: described(count, 'Largest input of a call. Default 2097152.'),
    maxBytesOut: described(count, 'Largest result of a call, before it is shortened. Default 8388608.'),
    inlineBytes: described(count, 'Longer text of a result goes to an artifact. Default 32768.'),
    artifactBytes: described(
      count,
      "What one call may leave as artifacts, altogether, and each job. Of a command's output the rest is not kept. Default 268435456.",
    ),
    parallelReads: described(count, 'Read-only calls of one turn at a time. Default 10.'),
    parallelAgents: described(count, 'Agent-starting calls of one turn at a time. Default 4.'),
    agentsPerSession: described(count, 'Agent-starting calls of one session at a time. Default 8.'),
    callsPerSession: described(count, 'Calls of one session. Default: no limit.'),
    repeatsPerSession: described(
      count,
      'The same tool with the same input and the same result in one session, while nothing else is changed. Default 50.',
    ),
    approvalTimeoutMs: described(
      count,
      'How long a person may take to say yes or no to a call. Default 600000.',
    ),
    pendingApprovalMs: described(
      count,
      'How long a question that is kept for a person waits, and its answer for the call. Default 86400000.',
    ),
    elicitationTimeoutMs: described(
      count,
      'How long an answer to what a call asks may take; the time limit of the call stands still meanwhile. Default 600000.',
    ),
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
    tools: described(someTexts, 'Patterns of canonical names. Default: all tools.'),
    tags: described(someTexts, 'Tags, any of which matches. Default: all tools.'),
    timeoutMs: described(count, 'Default 30000.'),
  },
  { description: 'A program that gets the event as JSON on stdin.', required: ['on', 'command'] },
)

const network = object(
  {
    hosts: described(
      texts,
      'Hosts that calls may reach at most: names, "*.example.com" or "*", each with or without ":port". Default: all.',
    ),
    ports: {
      type: 'array',
      items: { type: 'integer', minimum: 1, maximum: 65_535 },
      description: 'Ports beside 80 and 443.',
    },
    privateHosts: described(
      texts,
      'What of the own network may be reached: names, addresses or ranges such as "10.1.0.0/16", each with or without ":port". Default: nothing.',
    ),
  },
  { description: 'What of the network calls may reach, whatever a policy lets through.' },
)

const webSearch = object(
  {
    engine: { enum: ['searxng', 'brave', 'tavily'], description: 'The kind of engine.' },
    url: described(text, 'Where it is; required for searxng.'),
    secret: described(text, 'Name of the environment variable that holds its key.'),
  },
  { description: 'The engine behind web.search. Absent: there is no such tool.', required: ['engine'] },
)

const triggers = {
  type: 'object',
  additionalProperties: object(
    {
      url: described(text, 'Where a JSON body is sent by POST.'),
      description: described(text, 'What it does, for the model.'),
      secret: described(
        text,
        'Name of the environment variable with the secret (whsec_…) that signs requests.',
      ),
    },
    { description: 'Something on another machine that a call starts.', required: ['url'] },
  ),
  description: 'What remote.trigger starts, by name. Absent: there is no such tool.',
} as const

const settingValue = { type: ['string', 'number', 'boolean'] } as const

const modelSettings = {
  type: 'object',
  additionalProperties: object(
    {
      type: { enum: ['string', 'number', 'boolean'] },
      enum: { type: 'array', minItems: 1, items: settingValue, description: 'The values that there are.' },
      default: described(settingValue, 'What it is as long as no call set it.'),
      description: described(text, 'What it means, for the model.'),
      writable: described(flag, 'Whether calls may set it. Default false.'),
    },
    { description: 'A setting that is open to models.', required: ['type'] },
  ),
  description: 'What internal.config shows and sets, by key. Absent: there is no such tool.',
} as const

const commands = object(
  {
    hosts: described(
      texts,
      'Hosts that isolated commands may reach: names, "*.example.com" or "*", each with or without a port beside 80 and 443, as in "db.example:5432". Default: none.',
    ),
    secrets: {
      type: 'object',
      additionalProperties: texts,
      description:
        'For a program, by the name that it is called with: names of environment variables whose values it gets as secrets.',
    },
    review: {
      enum: ['always', 'protected', 'never'],
      description:
        'Which changes of a command a person sees before they land: all; those that a rule, a sensitive path or a protected name asks about, and those of a command that is asked about; or none. Default protected.',
    },
  },
  { description: 'What commands of code.run_command and code.run_shell get beside what all commands get.' },
)

const sandbox: JsonSchema = {
  type: ['string', 'object'],
  additionalProperties: false,
  description: 'How commands are isolated. "host" is short for {"kind": "host"}: not at all.',
  properties: {
    kind: {
      enum: ['bubblewrap', 'sandbox-runtime', 'host'],
      description: 'Default: what isolates on this platform. Never the host unless it is chosen.',
    },
    user: described(
      text,
      'For Handrail as root: whom commands run as, a name or "uid:gid". Default: the owner of the project, else nobody.',
    ),
    memoryBytes: described(
      count,
      'Memory of a command: of each process at once, of all together soon after. Default 4 GiB.',
    ),
    processes: described(count, 'Processes and threads of a command together. Default 512.'),
    fileBytes: described(count, 'Size of a file that a process writes. Default 4 GiB.'),
    tmpBytes: described(count, "Size of the sandbox's own /tmp. Default 512 MiB."),
    layerBytes: described(
      count,
      'What a command may write while it is held back, all files together. Default 8 GiB.',
    ),
    cpuSeconds: described(count, 'CPU time of each process. Default: no bound but the time limit.'),
    hold: {
      enum: ['asked', 'auto', 'always', 'never'],
      description:
        'Which commands are held back, so that what they write lands once it may: those that a person decides about, or that the policy lets write less than their bounds; all, if this machine can do that; always all, so that no command runs otherwise; or none. Default asked.',
    },
  },
}

const languageServers: JsonSchema = {
  type: 'object',
  description:
    'What code.lsp asks, by name; typescript, rust, go, python, pylsp and clangd are known, and need only what is to be different.',
  additionalProperties: object(
    {
      enabled: described(flag, 'Default true.'),
      command: described(argv, 'argv; no shell. The program talks over its standard streams.'),
      extensions: {
        type: 'array',
        minItems: 1,
        items: { type: 'string', pattern: '^\\.[A-Za-z0-9_+-]+$' },
        description: 'Endings of the files that it is asked about, such as ".ts".',
      },
      initializationOptions: { type: 'object', description: 'What it gets when it starts.' },
      settings: { type: 'object', description: 'What it gets when it asks for its settings.' },
      timeoutMs: described(count, 'How long it may take to answer. Default 20000.'),
    },
    { description: 'A program that answers in the Language Server Protocol.' },
  ),
}

const undo: JsonSchema = {
  type: ['boolean', 'object'],
  additionalProperties: false,
  description: 'What calls replace or remove is kept for a while to be taken back. false: not at all.',
  properties: {
    days: described(count, 'How long a call can be taken back. Default 7.'),
    bytes: described(count, 'What is kept altogether; the oldest calls go first. Default 1073741824.'),
    callBytes: described(
      count,
      'What is kept for one call at most. One that replaces more is not taken back. Default 67108864.',
    ),
  },
}

const agents: JsonSchema = object(
  {
    models: {
      type: 'object',
      description:
        'Models that calls and agent definitions may name, by those names. Default: none, so that agents work with the model of who started them.',
      additionalProperties: {
        type: ['string', 'object'],
        additionalProperties: false,
        description:
          'A model as "handrail run --model" takes it. "openai/gpt-5" is short for {"model": "openai/gpt-5"}.',
        required: ['model'],
        properties: {
          model: described(text, 'The model, such as "openai/gpt-5".'),
          baseUrl: described(text, 'Where its provider answers, such as a server of your own.'),
        },
      },
    },
  },
  { description: 'With what agents work that calls start.' },
)

const workerPools: JsonSchema = {
  type: 'object',
  minProperties: 1,
  description: 'Workers for steps of tasks, by the ids of their pools. Default: a pool "default" of 4.',
  additionalProperties: object(
    {
      size: { type: 'integer', minimum: 1, maximum: 100, description: 'How many work at once.' },
      description: described(text, 'What its workers are for, for the model that dispatches them.'),
      definition: described(text, 'Id of an agent definition. Default: none.'),
      allowedTools: described(
        texts,
        'Patterns of tools that its workers ask for beside those of every worker. Default: those of the definition.',
      ),
    },
    { description: 'Workers of one kind.', required: ['size'] },
  ),
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
    instructionFiles: {
      type: 'array',
      items: { type: 'string', pattern: '^[^/\\\\]+$' },
      description: 'Names of files that tell how to work in a project, beside AGENTS.md and CLAUDE.md.',
    },
    sandbox,
    shell: described(flag, 'Whether there is code.run_shell, which runs command lines. Default false.'),
    toolGroups: {
      type: 'array',
      items: { enum: toolGroups },
      description:
        'Groups of built-in tools beside those for files, commands, jobs, artifacts and the web: agent starts agents, teams and workers, memory keeps facts and recalls them, plan has plan mode and todos, skill lists skills and loads them, task has tasks whose steps workers claim, user asks the person. Default: none.',
    },
    agents,
    workerPools,
    skills: object(
      {
        packages: {
          type: 'array',
          items: { type: 'string', pattern: '^(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~-][a-z0-9._~-]*$' },
          description: 'Packages in node_modules of the project whose skills there are. Default: none.',
        },
        project: described(flag, 'Whether the skills of the project count. Default true.'),
      },
      { description: 'Skills beside those of the home folder.' },
    ),
    caplets: object(
      {
        publishers: {
          type: 'object',
          additionalProperties: { type: 'string', pattern: '^[A-Za-z0-9_-]{43}$' },
          description:
            'Public keys of publishers, by names of your own, as "handrail caplet pack" prints them.',
        },
      },
      { description: 'Whose caplets are taken: tools that were packed and signed. Default: none are.' },
    ),
    codeMode: object(
      {
        computeMs: upTo(
          mostProgramLimits.computeMs,
          'Milliseconds that it computes, without its calls. Default 10000.',
        ),
        memoryMb: upTo(mostProgramLimits.memoryMb, 'Megabytes of its memory. Default 64.'),
        calls: upTo(mostProgramLimits.calls, 'Calls of tools. Default 500.'),
      },
      { description: 'What one program of the group code_mode may take.' },
    ),
    memory: object(
      {
        mode: {
          enum: memoryModes,
          description:
            'What calls may keep in the memory folder of the home: candidate (default), disabled, or external. A memory of that kind is handed in by a program and cannot be named here: with external there are no tools for memory.',
        },
      },
      { description: 'What is kept for later sessions.' },
    ),
    commands,
    hooks: list(commandHookSchema, 'Programs that see calls before or after they run.'),
    languageServers,
    network,
    a2a: a2aSchema,
    webSearch,
    mcpRegistry: described(
      text,
      'The address of a registry of MCP servers with the API of the official one (https://registry.modelcontextprotocol.io), which is asked if a person searches. Default: none is.',
    ),
    triggers,
    modelSettings,
    limits,
    undo,
    overlapCalls: described(
      flag,
      'Lets a write of a turn run beside earlier reads of it that touch something else. Default false.',
    ),
    allowedTools: described(texts, 'Patterns of the tools that sessions may have. Default: all.'),
    disallowedTools: described(texts, 'Patterns of tools that no session has.'),
    deferredTools: described(
      texts,
      'Patterns of tools that models are not shown until tools.search finds them, as in ["mcp.tracker.*"]. Default: none.',
    ),
  },
  { description: "Handrail's configuration of one person." },
)

/** `<project>/handrail.json`. */
export const projectSchema: JsonSchema = object(
  {
    $schema: text,
    sensitivePaths: described(texts, 'Added to the sensitive paths.'),
    disallowedTools: described(texts, 'Patterns of tools that no session in this project has.'),
    limits: described(limits, 'Count only where they are lower.'),
    rules: projectRulesSchema,
  },
  { description: 'What a project adds to the caution of the person who works in it. It can only tighten.' },
)
