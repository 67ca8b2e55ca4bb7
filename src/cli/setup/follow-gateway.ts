import { existsSync } from 'node:fs'
import { gatewayPath } from '../../config/gateway-parts.ts'
import { findGateway } from '../../config/load-gateway.ts'
import type { GatewayConfiguration } from '../../contract/mcp/serving.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { showSafely } from '../base/show-safely.ts'
import { watchFiles } from '../../kit/watch-files.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/**
 * Lets a living server take over who may connect when the person changes `gateway.json`, from the next request on, and says so on stderr.
 * A file that cannot be used, or is gone, changes nothing: without it, more could connect. Close it.
 */
export function followGateway(
  { home, current }: { home: string; current: GatewayConfiguration },
  server: { changeCallers(next: GatewayConfiguration): void },
): { close(): Promise<void> } {
  const checker = createSchemaChecker()
  const path = gatewayPath(home)
  let inForce = current
  let wasThere = existsSync(path) || Object.keys(current).length > 0
  return watchFiles(
    () => [path],
    async () => {
      try {
        const next = findGateway(home, checker)
        const isNews = wasThere || next !== undefined
        wasThere = next !== undefined
        if (!isNews) return
        if (next === undefined)
          throw new Error(
            `"${path}" is gone, and who may connect stays as it was. Put it back; to say nothing, write {} there.`,
          )
        if (canonicalJson({ ...next }) === canonicalJson({ ...inForce })) return
        if (hasCallers(inForce) && !hasCallers(next))
          throw new Error(
            'It names no callers any more, and those of before stay in force. Restart to let every caller in.',
          )
        server.changeCallers(next)
        const waiting = findWaiting(inForce, next)
        inForce = next
        say('who may connect is as gateway.json says now, from the next request on')
        if (waiting.length > 0) say(`${waiting.join(', ')} of gateway.json wait for the next start`)
      } catch (error) {
        say(messageOf(error))
      }
    },
  )
}

function hasCallers({ tokens, oauth }: GatewayConfiguration): boolean {
  return tokens !== undefined || oauth !== undefined
}

/** What only a start takes over. */
function findWaiting(before: GatewayConfiguration, after: GatewayConfiguration): string[] {
  // A door that was not there when the server started is opened by the next start.
  const taken = new Set(['tokens', 'oauth', 'console', ...(before.a2a === undefined ? [] : ['a2a'])])
  const waiting = Object.keys({ ...before, ...after }).filter(
    (name) =>
      !taken.has(name) &&
      canonicalJson(Reflect.get(before, name) ?? null) !== canonicalJson(Reflect.get(after, name) ?? null),
  )
  // Which hosts are served is known from the start on.
  const isMoved = after.console !== undefined && after.console.url !== before.console?.url
  return isMoved ? [...waiting, 'console.url'] : waiting
}

function say(message: string): void {
  process.stderr.write(`handrail: ${showSafely(message)}\n`)
}
