import type { RunBrief } from '../../../agents/loop/brief.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import type { Difference } from '../compare-calls.ts'

/** What a model would be told now in another way than it was. */
export function compareBriefs(recorded: RunBrief, now: RunBrief): Difference[] {
  return [
    ...compareTexts('system', recorded.system, now.system),
    ...compareTexts('instructions', recorded.instructions.join('\n\n'), now.instructions.join('\n\n')),
    ...compareTexts('output', canonicalJson(recorded.output ?? null), canonicalJson(now.output ?? null)),
    ...compareTools(recorded.tools, now.tools),
  ]
}

type Tools = RunBrief['tools']

/** One difference names all tools that were lost, one those that came, and one each tool that is another one. */
function compareTools(recorded: Tools, now: Tools): Difference[] {
  const before = new Map(recorded.map(({ name, digest }) => [name, digest]))
  const after = new Map(now.map(({ name, digest }) => [name, digest]))
  const lost = recorded.filter(({ name }) => !after.has(name))
  const come = now.filter(({ name }) => !before.has(name))
  const changed = now.filter(({ name, digest }) => (before.get(name) ?? digest) !== digest)
  const what = 'tools' as const
  return [
    ...(lost.length === 0 ? [] : [{ what, recorded: listNames(lost), now: 'not there' }]),
    ...(come.length === 0 ? [] : [{ what, recorded: 'not there', now: listNames(come) }]),
    ...changed.map(({ name, digest }) => ({
      what,
      recorded: `${name} ${before.get(name) ?? ''}`,
      now: `${name} ${digest}, with another description or input schema`,
    })),
  ]
}

const mostNames = 20

function listNames(tools: Tools): string {
  const names = tools.slice(0, mostNames).map(({ name }) => name)
  const more = tools.length - names.length
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

/** Two texts from a little before the place on where they part. */
export function compareTexts(what: Difference['what'], recorded: string, now: string): Difference[] {
  if (recorded === now) return []
  let same = 0
  while (same < recorded.length && recorded[same] === now[same]) same++
  const from = Math.max(0, same - 20)
  return [{ what, recorded: excerpt(recorded, from), now: excerpt(now, from) }]
}

const shown = 100

function excerpt(text: string, from: number): string {
  if (text === '') return 'nothing'
  const part = text.slice(from, from + shown).toWellFormed()
  return `${from > 0 ? '…' : ''}${part}${from + shown < text.length ? '…' : ''}`
}
