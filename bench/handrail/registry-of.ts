import type { defineTool, JsonSchema, Rule, Tool } from 'handrail'

/** Names of the ten tools that are called. They stand in every registry of this size or more. */
export const calledTools = Array.from({ length: 10 }, (_, index) => `bench.add${index}`)

/** This many tools with four fields each, in groups of fifty; no two share a schema object or a text. */
export function makeTools(count: number, define: typeof defineTool): Tool[] {
  return makeDefinitions(count).map((definition) => define({ ...definition, run: () => ({ ok: true }) }))
}

/** The same as plain objects. */
export function makeDefinitions(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    name: calledTools[index] ?? `group${Math.floor(index / 50)}.tool${index}`,
    description: `Changes the entry of register ${index} and gives what stood there before, with its date.`,
    permission: 'readonly' as const,
    input: makeSchema(index),
  }))
}

function makeSchema(index: number): JsonSchema {
  return {
    type: 'object',
    properties: {
      item: { type: 'string', minLength: 1, maxLength: 200, description: `Key in register ${index}.` },
      count: { type: 'integer', minimum: 0, maximum: 1_000_000_000 },
      unit: { type: 'string', enum: ['g', 'kg', 'piece'] },
      express: { type: 'boolean' },
    },
    required: ['item', 'count', 'unit', 'express'],
    additionalProperties: false,
  }
}

/** This many rules of every kind. One of each ten allows the tools that are called; the others speak of other things. */
export function makeRules(count: number): Rule[] {
  return Array.from({ length: count }, (_, index) => makeRule(index))
}

function makeRule(index: number): Rule {
  const id = `rule-${index}`
  if (index === 9) return { id, effect: 'allow', tools: ['bench.*'] }
  if (index % 10 < 5) return { id, effect: 'deny', tools: [`group${index % 200}.tool${index}`] }
  if (index % 10 < 7) return { id, effect: 'ask', tools: [`group${index}.*`] }
  if (index % 10 === 7) return { id, effect: 'deny', tags: [`tag-${index}`] }
  if (index % 10 === 8) return { id, effect: 'deny', resources: [`handrail:file:/srv/secret-${index}/**`] }
  return { id, effect: 'allow', tools: [`group${index % 200}.*`] }
}
