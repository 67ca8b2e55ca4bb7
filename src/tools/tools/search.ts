import type { ToolMatch, ToolMatches } from '../../contract/services/tool-search.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { showControls } from '../../kit/text/show-controls.ts'
import { shorten } from '../../kit/text/shorten.ts'
import { defineBuiltin } from '../define-builtin.ts'

const mostMatches = 20
const usualMatches = 5
const longestDescription = 300
/** After so many searches in a row without anything new, only that is said: repeats would fill what a model can read. */
const mostFruitless = 5

const query = { type: 'string', minLength: 1, maxLength: 2_000 } as const

/** `tools.search`: finds deferred tools, and shows them to the model from its next turn on. */
export function searchTool(): Tool {
  return defineBuiltin({
    name: 'tools.search',
    title: 'Search tools',
    description:
      'Finds tools that you are not shown yet, and shows them to you from your next turn on. Search before you say that something cannot be done. Describe in a few words what the tool has to do, such as "create an issue in the tracker", or name tools that you know: "select:name, other_name".',
    tags: ['tools', 'readonly'],
    permission: 'readonly',
    sideEffect: 'none',
    scopes: [{ resource: 'handrail:session:tools', action: 'read' }],
    annotations: { readOnlyHint: true, openWorldHint: false },
    needs: ['toolSearch'],
    input: {
      type: 'object',
      properties: {
        query: {
          ...query,
          description:
            'What the tool has to do, in words; or "select:" and names of tools, with commas between.',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: mostMatches,
          default: usualMatches,
          description: 'How many tools are found at most.',
        },
      },
      required: ['query'],
      additionalProperties: false,
    },
    compatible: {
      name: 'ToolSearch',
      inputSchema: {
        type: 'object',
        properties: { query, max_results: { type: 'integer', minimum: 1, maximum: mostMatches } },
        required: ['query'],
        additionalProperties: false,
      },
      toCanonical: ({ query: words = '', max_results }) => ({
        query: words,
        ...(max_results !== undefined && { limit: max_results }),
      }),
    },
    decode: ({ query: given, limit }) => ({ wanted: toWanted(given), most: limit }),
    plan: async (input) => ({
      operations: [{ kind: 'other', resource: 'handrail:session:tools' }],
      planned: input,
    }),
    async run({ wanted, most }, { toolSearch }) {
      const found = await toolSearch.find(wanted, 'names' in wanted ? mostMatches : most)
      const { missing, fruitless } = found
      const matches = fruitless > mostFruitless ? [] : found.matches
      const summary = matches.length === 1 ? '1 tool found' : `${matches.length} tools found`
      return toolOutput({
        content: [{ type: 'text', text: describe(found) }],
        summary,
        data: {
          tools: matches.map(({ tool, description, parameters }) => ({
            name: tool,
            description,
            parameters: parameters.map(({ name, required }) => ({ name, required })),
          })),
          missing: [...missing],
        },
      })
    },
  })
}

function toWanted(given: string): { words: string } | { names: string[] } {
  const selected = /^\s*select:(.*)$/is.exec(given)?.[1]
  if (selected === undefined) return { words: given }
  const names = selected.split(',').map((name) => name.trim())
  return { names: names.filter((name) => name !== '') }
}

function describe({ matches, missing, left, fruitless }: ToolMatches): string {
  if (fruitless > mostFruitless)
    return `Your last ${fruitless} searches showed nothing new. Search no more: use the tools that you have, or say what is missing.`
  const news = matches.filter(({ known }) => !known)
  const lines = [
    ...(news.length > 0 ? ['You are shown these tools from your next turn on:', ...news.map(lineOf)] : []),
    ...(matches.length > news.length
      ? ['You have these already:', ...matches.filter(({ known }) => known).map(lineOf)]
      : []),
    ...(missing.length > 0 ? [`There are no such tools here: ${missing.map(showControls).join(', ')}`] : []),
    ...(left > 0
      ? [`${left} more cannot be shown: this session is shown as many as it can be. Use what you have.`]
      : []),
  ]
  return lines.length > 0 ? lines.join('\n') : 'No tool was found. Try other words, or go on without one.'
}

function lineOf({ tool, description, parameters }: ToolMatch): string {
  const names = parameters.map(({ name, required }) => `${showControls(name)}${required ? '' : '?'}`)
  return `- ${tool}(${names.join(', ')}): ${shorten(showControls(description).replaceAll(/\s+/g, ' '), longestDescription)}`
}
