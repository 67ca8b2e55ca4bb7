import type { ListedMemory } from '../../contract/memory.ts'
import { shorten } from '../../kit/text/shorten.ts'
import { showLine, showSafely } from '../base/show-safely.ts'

const longest = 100

/** A fact in one line: its id, where it holds, and how it begins. */
export function toMemoryRow({ id, state, scope, project, content }: ListedMemory): string {
  const place = scope === 'tenant' ? 'everywhere' : (project ?? '')
  const mark = state === 'candidate' ? '  candidate' : ''
  return showLine(`${id}${mark}  ${place}  ${shorten(content.replaceAll(/\s+/g, ' '), longest)}`)
}

/** A fact and where it comes from, with nothing that could drive the terminal, as lines that each end. */
export function toMemoryPage(fact: ListedMemory): string {
  const { id, state, scope, project, tags, source, content } = fact
  const { by, at, ...from } = source
  const rows: (readonly [name: string, value: string | undefined])[] = [
    ['id', id],
    ['state', state],
    ['scope', scope],
    ['project', project],
    ['tags', tags.join(', ') || undefined],
    ['by', by],
    ...Object.entries(from),
    ['at', at === undefined ? undefined : new Date(at).toISOString()],
  ]
  const lines = rows.flatMap(([name, value]) =>
    value === undefined ? [] : [showLine(`${name.padEnd(8)} ${value}`)],
  )
  return `${lines.join('\n')}\n\n${showSafely(content)}\n`
}
