import type { RunBrief } from '../../../agents/loop/brief.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import type { Redactor } from '../../../kit/secrets/redact.ts'
import type { Difference } from '../compare-calls.ts'

/** What a model would be told now in another way than it was, with no secret in it. */
export function compareBriefs(recorded: RunBrief, now: RunBrief, redactor: Redactor): Difference[] {
  const compare = (what: Difference['what'], of: (brief: RunBrief) => string): Difference[] =>
    // Before they are cut: half of a secret is none that could be found.
    of(recorded) === of(now) ? [] : compareTexts(what, redactor.text(of(recorded)), redactor.text(of(now)))
  return [
    ...compare('system', ({ system }) => system),
    ...compare('instructions', ({ instructions }) => instructions.join('\n\n')),
    ...compare('output', ({ output }) => canonicalJson(output ?? null)),
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
function compareTexts(what: Difference['what'], recorded: string, now: string): Difference[] {
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
