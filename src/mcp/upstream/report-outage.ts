import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import type { ConnectionFault } from './base/explain-fault.ts'

/**
 * Reports why a source cannot be connected to for a tenant, or nothing if it can: lists leave its tools out until then, and the
 * operator learns each reason once.
 */
export function createOutageReporter(
  source: string,
  host: Pick<FeedHost, 'report' | 'setOutage'>,
): (tenant: string, fault: ConnectionFault | undefined) => void {
  const outages = new Map<string, string>()
  return (tenant, fault) => {
    const why = fault?.message
    if (why === outages.get(tenant)) return
    if (fault === undefined) outages.delete(tenant)
    else {
      outages.set(tenant, fault.message)
      host.report(source, toReport(fault))
    }
    host.setOutage({ source, tenant, why })
  }
}

function toReport({ message, remedy, keyLines }: ConnectionFault): string {
  const said = keyLines.length === 0 ? [] : [`It said: ${keyLines.join(' ')}`]
  const advice = remedy === undefined ? [] : ['"handrail mcp status" says what to change.']
  return [message, ...said, 'Its tools are not listed until it answers.', ...advice].join(' ')
}
