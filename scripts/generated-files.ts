import { readFileSync } from 'node:fs'
import { configurationSchema, projectSchema } from '../src/config/file-schemas.ts'
import { gatewayFileSchema } from '../src/config/gateway-schema.ts'
import { policyCasesSchema } from '../src/config/policy-cases.ts'
import { pricesSchema } from '../src/config/prices.ts'
import { policySchema } from '../src/config/policy/policy-schema.ts'
import { upstreamsSchema } from '../src/config/servers/upstream-schema.ts'
import { errorTable, type ErrorRow } from '../src/contract/errors/error-table.ts'
import { setupErrorTable } from '../src/contract/errors/setup-errors.ts'
import type { JsonSchema } from '../src/contract/base/schema.ts'
import type { CompatibleAlias } from '../src/contract/tool/tool.ts'
import type { Tool } from '../src/contract/tool/tool.ts'
import { capletSourceSchema } from '../src/declarative/caplets/caplet-schema.ts'
import { compositionFileSchema } from '../src/declarative/composition-schema.ts'
import { toolFileSchema } from '../src/declarative/tool-file-schema.ts'
import { toolOutputSchema } from '../src/declarative/tool-output-schema.ts'
import { codeTools } from '../src/compose/sources/code-tools.ts'
import { artifactTools } from '../src/compose/sources/artifact-tools.ts'
import { jobTools } from '../src/compose/sources/job-tools.ts'
import { agentDefinitionTools } from '../src/compose/sources/agent-definition-tools.ts'
import { delegationTools } from '../src/compose/sources/delegation-tools.ts'
import { planTools } from '../src/compose/sources/plan-tools.ts'
import { userTools } from '../src/compose/sources/user-tools.ts'
import { codeModeTools } from '../src/compose/sources/code-mode-tools.ts'
import { memoryTools } from '../src/compose/sources/memory-tools.ts'
import { scheduleTools } from '../src/compose/sources/schedule-tools.ts'
import { settingTools } from '../src/compose/sources/setting-tools.ts'
import { searchTools } from '../src/compose/sources/search-tools.ts'
import { skillTools } from '../src/compose/sources/skill-tools.ts'
import { taskTools } from '../src/compose/sources/task-tools.ts'
import { triggerTools } from '../src/compose/sources/trigger-tools.ts'
import { webTools } from '../src/compose/sources/web-tools.ts'
import { performancePage, type KeptRun } from './performance-page.ts'

/** Every generated file of the project: its path from the root, and its text. */
export function generatedFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['docs/errors.md', errorsPage()],
    ['docs/performance.md', performancePage(keptRun())],
    [
      'docs/tools.md',
      toolsPage([
        ...agentDefinitionTools().list(),
        ...delegationTools().list(),
        ...artifactTools().list(),
        ...codeTools({ shell: true }).list(),
        ...jobTools().list(),
        ...memoryTools({ dir: '/home/ada/.handrail/memory' }).list(),
        ...planTools().list(),
        ...userTools().list(),
        ...codeModeTools().list(),
        ...scheduleTools().list(),
        ...settingTools().list(),
        ...searchTools().list(),
        ...skillTools().list(),
        ...taskTools().list(),
        ...triggerTools().list(),
        ...webTools().list(),
      ]),
    ],
    ['schemas/composition.json', schemaFile('composition', compositionFileSchema)],
    ['schemas/config.json', schemaFile('config', configurationSchema)],
    ['schemas/gateway.json', schemaFile('gateway', gatewayFileSchema)],
    ['schemas/mcp.json', schemaFile('MCP servers', upstreamsSchema)],
    ['schemas/policy.json', schemaFile('policy', policySchema)],
    ['schemas/policy-cases.json', schemaFile('policy cases', policyCasesSchema)],
    ['schemas/prices.json', schemaFile('prices', pricesSchema)],
    ['schemas/project.json', schemaFile('project', projectSchema)],
    ['schemas/tool.json', schemaFile('tool', toolFileSchema)],
    ['schemas/caplet.json', schemaFile('caplet', capletSourceSchema)],
    ['schemas/tool-output.json', schemaFile('tool output', toolOutputSchema)],
  ])
}

function keptRun(): KeptRun {
  return JSON.parse(readFileSync(new URL('../bench/performance.json', import.meta.url), 'utf8')) as KeptRun
}

function schemaFile(name: string, schema: JsonSchema): string {
  const file = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `Handrail ${name}`,
    ...schema,
  }
  return `${JSON.stringify(file, null, 2)}\n`
}

function errorsPage(): string {
  const lines = [
    '# Error codes',
    '',
    'Generated from `src/contract/errors/error-table.ts` by `npm run docs`. `code` is for programs and dashboards, `reason` is finer, for the',
    'model; `message` is for people. Never parse a message.',
    '',
  ]
  for (const [code, row] of Object.entries(errorTable)) {
    lines.push(
      `## \`${code}\``,
      '',
      `${row.meaning} Who acts: **${row.actor}**. What next: **${row.next.replaceAll('_', ' ')}**.`,
      '',
      '| reason | meaning |',
      '|---|---|',
    )
    const { except = {} }: ErrorRow = row
    for (const [reason, meaning] of Object.entries(row.reasons))
      lines.push(`| \`${reason}\` | ${meaning}${whoElse(except[reason])} |`)
    lines.push('')
  }
  lines.push(
    '## At start-up',
    '',
    'Thrown as a `SetupError`, or said by the command line with exit code 2; never the outcome of a call.',
    '',
  )
  lines.push('| code | meaning |', '|---|---|')
  for (const [code, meaning] of Object.entries(setupErrorTable)) lines.push(`| \`${code}\` | ${meaning} |`)
  lines.push('')
  return lines.join('\n')
}

function whoElse(other: NonNullable<ErrorRow['except']>[string] | undefined): string {
  return other === undefined
    ? ''
    : ` Who acts: **${other.actor}**. What next: **${other.next.replaceAll('_', ' ')}**.`
}

function toolsPage(tools: readonly Tool[]): string {
  const lines = [
    '# Built-in tools',
    '',
    'Generated from the manifests by `npm run docs`. `*` marks a required field.',
    '',
  ]
  for (const { definition, compatible } of tools) {
    lines.push(
      `## \`${definition.name}\``,
      '',
      definition.description,
      '',
      `${definition.permission}, side effect ${definition.sideEffect}, safety ${definition.safety}; at most ${definition.limits.timeoutMs ?? 120_000} ms.`,
      '',
      ...fieldTable(definition.inputSchema),
      '',
    )
    if (compatible !== undefined)
      lines.push(
        `Compatible names: ${[compatible, ...(compatible.aliases ?? [])].map(describeAlias).join('; also understood: ')}.`,
        '',
      )
  }
  return lines.join('\n')
}

function describeAlias({ name, inputSchema }: CompatibleAlias): string {
  const fields = Object.keys(inputSchema.properties ?? {}).map((field) => `\`${field}\``)
  return `\`${name}\` ${fields.join(', ')}`
}

function fieldTable(schema: JsonSchema): string[] {
  const required = new Set(schema.required ?? [])
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const fallback = field.default === undefined ? '' : ` Default \`${JSON.stringify(field.default)}\`.`
    return `| \`${name}\`${required.has(name) ? '*' : ''} | ${String(field.type ?? 'any')} | ${field.description ?? ''}${fallback} |`
  })
  return ['| field | type | meaning |', '|---|---|---|', ...rows]
}
