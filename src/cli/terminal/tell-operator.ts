import type { RuntimeEvent } from '../../contract/events.ts'
import { showLine } from '../base/show-safely.ts'

/**
 * Reports on the standard error output what an operator has to do something about, each once: definitions that are held, and calls that no
 * person could be asked about.
 */
export function createOperatorLog(): (event: RuntimeEvent) => void {
  const told = new Set<string>()
  return (event) => {
    const line = toLine(event)
    if (line === undefined || told.has(line)) return
    told.add(line)
    process.stderr.write(`handrail: ${showLine(line)}\n`)
  }
}

function toLine({ type, tool = '', tenant, data }: RuntimeEvent): string | undefined {
  const whose = tenant === '' || tenant === 'local' ? '' : ` (tenant ${tenant})`
  if (type === 'definition_pending')
    return `${tool}${whose} is held, since its definition changed at its source: "handrail mcp review" shows the change and how to approve it`
  const { advice, reason } = data ?? {}
  if (typeof advice !== 'string') return undefined
  // Clients without a person decline by themselves, and that looks the same.
  if (type === 'permission_decided')
    return reason === 'declined in the client'
      ? `${tool}${whose} was declined in the client. If no person works there: ${advice}`
      : undefined
  return `${tool}${whose} was not run, since no person could be asked. ${advice}`
}
