import { showLine } from '../../base/show-safely.ts'
import type { ListedNote } from '../../../evidence/find-notes.ts'

/** One line of the listing. Most messages name the tool and who did it already. */
export function toNoteLine({ at, event, tool, actor, message }: ListedNote): string {
  const what = tool === undefined || message.includes(tool) ? [] : [tool]
  const who = actor === undefined || actor === '' || message.includes(actor) ? [] : [`by ${actor}`]
  const about = showLine([...what, message, ...who].filter((part) => part !== '').join('  '))
  return `${new Date(at).toISOString()}  ${event.padEnd(19)}  ${about}`
}
