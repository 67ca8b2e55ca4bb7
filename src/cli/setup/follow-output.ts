import type { Session } from '../../contract/runtime.ts'
import { writeText } from '../base/show-safely.ts'

/** What a person has seen of a result before it was there. */
export interface Output {
  shown(): string
}

/** Shows a person at a terminal what the commands of a session print, as it comes; of other tools, how far they are. */
export function followOutput(session: Session): Output | undefined {
  if (!process.stdout.isTTY) return undefined
  let shown = ''
  session.on(({ type, tool = '', summary }) => {
    if (type === 'permission_deferred')
      writeText(
        process.stderr,
        `handrail: ${tool} runs. What it changes is held back, and you are asked when it has ended. Ctrl-C drops it.\n`,
      )
    if (type !== 'tool_progress' || summary === '') return
    if (!tool.startsWith('code.run_')) writeText(process.stderr, `${tool}: ${summary}\n`)
    else {
      shown += summary
      writeText(process.stdout, summary)
    }
  })
  return { shown: () => shown }
}
