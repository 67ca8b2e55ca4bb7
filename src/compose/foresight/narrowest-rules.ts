import { dirname } from 'node:path'
import type { Rule } from '../../contract/policy.ts'
import { quoteWord, type NamedReach, type Reached } from './name-reach.ts'

/** Approved calls that are alike, and what each of them reaches. */
export interface Family<Item> {
  readonly members: readonly { readonly item: Item; readonly reach: NamedReach }[]
}

/** What calls a rule would speak of, and which calls of a family these are. */
export interface Candidate<Item> {
  readonly reached: Reached
  readonly items: readonly Item[]
}

/** Things that a rule lists one by one. With more of them it has a pattern. */
const mostListed = 5
/** With fewer different inputs it is not known what they have in common. */
const fewestInputs = 3

/** What is alike about calls that reach this: one folder, one program with so many words, the same fields. */
export function kinOf(reach: NamedReach): string {
  switch (reach.kind) {
    case 'resources':
      return JSON.stringify(['resources', [...new Set(reach.resources.map((urn) => dirname(urn)))]])
    case 'commands':
      return JSON.stringify(['commands', reach.commands.map(kinOfCommand)])
    case 'input':
      return JSON.stringify([
        'input',
        Object.keys(reach.input).sort(),
        reach.resources,
        reach.commands?.map(kinOfCommand),
      ])
  }
}

function kinOfCommand(words: readonly string[]): readonly [program: string | undefined, words: number] {
  return [words[0], words.length]
}

/** What the narrowest rules say that speak of the calls of a family: one thing that recurs, a short list of things, or else the pattern of many. */
export function findCandidates<Item>({ members }: Family<Item>, fewest: number): Candidate<Item>[] {
  const items = members.map(({ item }) => item)
  const distinct = new Map<string, { reach: NamedReach; items: Item[] }>()
  for (const { item, reach } of members) {
    const key = JSON.stringify(reach)
    const known = distinct.get(key)
    if (known === undefined) distinct.set(key, { reach, items: [item] })
    else known.items.push(item)
  }
  const kinds = [...distinct.values()]
  const listed = kinds.length <= mostListed ? list(kinds.map(({ reach }) => reach)) : undefined
  if (listed !== undefined) return items.length < fewest ? [] : [{ reached: listed, items }]
  const single = kinds
    .filter((kind) => kind.items.length >= fewest)
    .flatMap((kind) => {
      const reached = list([kind.reach])
      return reached === undefined ? [] : [{ reached, items: kind.items }]
    })
  const wide = kinds.length < fewestInputs ? undefined : findPattern(kinds.map(({ reach }) => reach))
  return wide === undefined ? single : [...single, { reached: wide, items }]
}

/** What a rule says that lists all of it; undefined if no rule does. */
export function list(reaches: readonly NamedReach[]): Reached | undefined {
  const [first] = reaches
  const resources = reaches.flatMap((reach) => (reach.kind === 'resources' ? reach.resources : []))
  if (resources.length > 0) return { resources: [...new Set(resources)].sort() }
  const commands = reaches.flatMap((reach) => (reach.kind === 'commands' ? reach.commands : []))
  if (commands.length > 0) return { commands: listCommands(commands) }
  if (reaches.length !== 1 || first?.kind !== 'input') return undefined
  return toReached(first, first.input, first.commands && listCommands(first.commands))
}

function listCommands(commands: readonly (readonly string[])[]): string[] {
  return [...new Set(commands.map((words) => words.map(quoteWord).join(' ')))].sort()
}

/** What was left out was not seen by who said yes. */
function toReached(
  { resources }: Extract<NamedReach, { kind: 'input' }>,
  input: Rule['input'] = {},
  commands?: readonly string[],
): Reached {
  return {
    ...(resources !== undefined && { resources }),
    ...(commands !== undefined && { commands }),
    ...(Object.keys(input).length > 0 && { input }),
    inputOnly: true,
  }
}

/** What they have in common. */
function findPattern(reaches: readonly NamedReach[]): Reached | undefined {
  const [first] = reaches
  if (first?.kind === 'resources') {
    const folders = new Set(
      reaches.flatMap((reach) =>
        reach.kind === 'resources' ? reach.resources.map((urn) => dirname(urn)) : [],
      ),
    )
    const areFiles = [...folders].every((folder) => folder.startsWith('handrail:file:/'))
    return areFiles ? { resources: [...folders].map((folder) => `${folder}/*`).sort() } : undefined
  }
  const lines = reaches.flatMap((reach) => ('commands' in reach ? [reach.commands ?? []] : []))
  const commands = lines.length === 0 ? undefined : findCommandPatterns(lines)
  if (first === undefined || first.kind === 'commands') return commands && { commands }
  const inputs = reaches.flatMap((reach) => (reach.kind === 'input' ? [reach.input] : []))
  return toReached(
    first,
    Object.fromEntries(
      Object.entries(first.input).map(([field, value]) => [
        field,
        inputs.every((input) => input[field] === value) ? value : '*',
      ]),
    ),
    commands,
  )
}

/** Each command as far as its words are the same in all of these lines. */
function findCommandPatterns(lines: readonly (readonly (readonly string[])[])[]): string[] {
  const [first = []] = lines
  const patterns = first.map((words, at) =>
    words
      .map((word, index) =>
        lines.every((commands) => commands[at]?.[index] === word) ? quoteWord(word) : '"*"',
      )
      .join(' '),
  )
  return [...new Set(patterns)]
}
