import type { JsonSchema } from '../contract/base/schema.ts'

const text: JsonSchema = { type: 'string', minLength: 1 }
const variable: JsonSchema = { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$' }
const bytes: JsonSchema = { type: 'integer', minimum: 1, maximum: 8_388_608, default: 65_536 }

/** An array of texts without repetition; none by default. */
function texts(items: JsonSchema, description: string): JsonSchema {
  return { type: 'array', items, uniqueItems: true, default: [], description }
}

/** `<home>/tools/*.json`. */
export const toolFileSchema: JsonSchema = {
  type: 'object',
  description:
    'One command as a tool. Only files in the tools folder of a person are read, never those of a project.',
  additionalProperties: false,
  properties: {
    $schema: text,
    name: {
      type: 'string',
      pattern: String.raw`^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+){1,7}$`,
      maxLength: 200,
      description: 'Canonical name: two to eight parts, joined by dots, such as "git.log".',
    },
    title: text,
    version: {
      type: 'string',
      pattern: String.raw`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`,
      default: '1.0.0',
    },
    description: { ...text, description: 'What a model reads to decide whether to use the tool.' },
    input_schema: {
      type: 'object',
      default: { type: 'object', properties: {}, additionalProperties: false },
      description: 'JSON Schema of the input, in the subset of native tools. Default: no input.',
    },
    output_schema: {
      type: 'object',
      description: 'JSON Schema of the data that the tool gives. Not with the output "text".',
    },
    permission: {
      enum: ['readonly', 'write'],
      default: 'write',
      description: 'What it does to the outside.',
    },
    tags: texts(text, 'Such as "network" or "dangerous"; rules and hooks speak of them.'),
    command_type: { enum: ['exec', 'shell'], default: 'exec' },
    command: {
      ...text,
      maxLength: 32_768,
      description:
        'exec: the program, by name, by absolute path, or by a path from "./" on that starts at the folder of this file. shell: the script that sh runs; its arguments are "$1", "$2", …',
    },
    args: {
      type: 'array',
      items: { type: ['string', 'array'], items: { type: 'string' }, minItems: 2, maxItems: 2 },
      maxItems: 1_000,
      default: [],
      description:
        'One argument each: a text as it is, or "{{field}}" for a field of the input. ["--option", "{{field}}"] is an option with its value; both are left out where the field is. After "--" a value may begin with "-".',
    },
    output: {
      enum: ['result', 'json', 'text'],
      default: 'result',
      description: 'What stdout is: a result as schemas/tool-output.json has it, any JSON value, or text.',
    },
    working_dir: {
      ...text,
      default: '.',
      description: 'From the project on, or absolute; inside of what calls may read. Default: the project.',
    },
    env_allowlist: texts(
      variable,
      'Environment variables that the program gets beside those of all commands.',
    ),
    secrets: texts(variable, 'Secrets that the program gets as environment variables of these names.'),
    hosts: texts(
      { type: 'string', pattern: String.raw`^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*$` },
      'Hosts that the program may reach, such as "api.example.com" or "*.example.com". With any, the tool has the tag "network".',
    ),
    defer: {
      type: 'boolean',
      description: 'Whether models are not shown the tool until tools.search finds it. Default false.',
    },
    compatibility: {
      type: 'object',
      additionalProperties: false,
      properties: {
        providers: texts(text, 'Patterns of providers, such as "anthropic". Default: all.'),
        models: texts(text, 'Patterns of names of models, such as "gpt-5*". Default: all.'),
      },
      description: 'The models that have the tool. Default: all.',
    },
    deprecations: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          what: { ...text, description: 'The tool, or what of it.' },
          since: { ...text, description: 'The version.' },
          advice: { ...text, description: 'What to use instead.' },
        },
        required: ['what', 'since', 'advice'],
      },
      description:
        'What should not be used any more. Models read it in the description, callers in the result.',
    },
    timeout_ms: {
      type: 'integer',
      minimum: 1,
      maximum: 600_000,
      description: 'Default: as the configuration has it.',
    },
    stdout_limit_bytes: {
      ...bytes,
      description: 'Kept of stdout; of more, start and end are shown and an artifact has the whole.',
    },
    stderr_limit_bytes: { ...bytes, description: 'Kept of stderr, in the same way.' },
  },
  required: ['name', 'description', 'command'],
}
