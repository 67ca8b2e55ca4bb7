import { createAgentDefinitionRegistry } from '../../compose/sources/agent-definition-registry.ts'
import type {
  AgentDefinitionIssue,
  AgentDefinitionList,
  RegisteredAgentDefinition,
} from '../../contract/services/agent-definition.ts'
import { SetupError } from '../../contract/base/errors.ts'
import { nearestNames } from '../../kit/text/nearest-names.ts'
import { jsonOption } from '../arguments/caller.ts'
import type { CommandGroup, CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showLine, writeJson, writeText } from '../base/show-safely.ts'
import { findPlaces } from '../setup/wire.ts'

/** `handrail agents` */
export const agents: CommandGroup = {
  summary: 'Lists the definitions of agents, and says what is wrong with their files.',
  otherwise: 'list',
  verbs: {
    list: {
      usage: '',
      summary: 'The definitions in force in the project, and every issue of a file.',
      more: 'They come with Handrail, from <home>/agents/*.md and from .claude/agents/*.md of the project. It ends with 2 if a file is left out.',
      options: jsonOption,
      examples: ['handrail agents', 'handrail agents --json'],
      takes: 0,
      run: runList,
    },
    show: {
      usage: '<id>',
      summary: 'One definition: all that it says.',
      options: jsonOption,
      examples: ['handrail agents show Explore'],
      needs: 'Name the definition. "handrail agents" lists them.',
      takes: 1,
      run: runShow,
    },
  },
}

function listDefinitions(given: CommandLine): Promise<AgentDefinitionList> {
  const { home, project } = findPlaces(given)
  return createAgentDefinitionRegistry({ home }).list(project)
}

async function runList(given: CommandLine): Promise<number> {
  const list = await listDefinitions(given)
  if (given.options['json'] === true) writeJson(list)
  else writeText(process.stdout, toPage(list))
  return list.issues.some(({ leftOut }) => leftOut) ? exitCodes.usage : exitCodes.ok
}

function toPage({ definitions, issues }: AgentDefinitionList): string {
  const widest = Math.max(...definitions.map(({ id }) => id.length))
  const rows = definitions.map(
    ({ id, origin, role, description }) =>
      `${id.padEnd(widest)}  ${origin.padEnd(7)}  ${role.padEnd(12)}  ${firstSentence(description)}`,
  )
  return `${[...rows, ...issues.map(describeIssue)].join('\n')}\n`
}

const longestRow = 80

function firstSentence(description: string): string {
  const line = description.replaceAll(/\s+/g, ' ')
  const sentence = /^.*?[.!?](?= |$)/.exec(line)?.[0] ?? line
  return sentence.length > longestRow ? `${sentence.slice(0, longestRow - 1)}…` : sentence
}

function describeIssue({ file = '', line, message, leftOut }: AgentDefinitionIssue): string {
  return `${file}${line === undefined ? '' : `:${line}`}: ${message}${leftOut ? ' It is left out.' : ''}`
}

async function runShow(given: CommandLine): Promise<number> {
  const [id = ''] = given.positionals
  const { definitions } = await listDefinitions(given)
  const found = definitions.find((definition) => definition.id === id)
  if (found === undefined) {
    const [nearest] = nearestNames(
      id,
      definitions.map((each) => each.id),
      1,
    )
    const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
    throw new SetupError(
      'unknown_definition',
      `There is no definition "${showLine(id)}".${hint} "handrail agents" lists them, and says what is wrong with files.`,
    )
  }
  if (given.options['json'] === true) writeJson(found)
  else writeText(process.stdout, toDetails(found))
  return exitCodes.ok
}

function toDetails(definition: RegisteredAgentDefinition): string {
  const { description, instructions, limits, outputSchema, ...rest } = definition
  const facts = { ...rest, ...limits, ...(outputSchema !== undefined && { outputSchema }) }
  const rows = Object.entries(facts).map(([name, value]) => `${name}: ${toWords(value)}`)
  return `${rows.join('\n')}\n\n${description}\n\n${instructions}\n`
}

function toWords(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
