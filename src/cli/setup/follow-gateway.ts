import { unwatchFile, watchFile, type Stats } from 'node:fs'
import { gatewayPath } from '../../config/gateway-parts.ts'
import { loadGateway } from '../../config/load-gateway.ts'
import type { GatewayConfiguration } from '../../contract/mcp/serving.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import type { HttpServer } from '../../mcp/server/http/serve-http.ts'
import { showSafely } from '../base/show-safely.ts'
import { messageOf } from '../../kit/text/message-of.ts'

const everyMs = 250

/**
 * Lets a living server take over who may connect when the person changes `gateway.json`, from the next request on, and says so on stderr.
 * A file that cannot be used, or is gone, changes nothing: without it, more could connect. Close it.
 */
export function followGateway(
  { home, current }: { home: string; current: GatewayConfiguration },
  server: HttpServer,
): { close(): void } {
  const checker = createSchemaChecker()
  const path = gatewayPath(home)
  let inForce = current
  const look = (now: Stats, before: Stats): void => {
    // Told at the start of a file that is not there.
    if (now.ino === 0 && before.ino === 0) return
    try {
      if (now.ino === 0)
        throw new Error(
          `"${path}" is gone, and who may connect stays as it was. Put it back; to say nothing, write {} there.`,
        )
      const next = loadGateway(home, checker)
      if (canonicalJson({ ...next }) === canonicalJson({ ...inForce })) return
      if (hasCallers(inForce) && !hasCallers(next))
        throw new Error(
          'It names no callers any more, and those of before stay in force. Restart to let everybody in.',
        )
      server.changeCallers(next)
      const waiting = findWaiting(inForce, next)
      inForce = next
      say('who may connect is as gateway.json says now, from the next request on')
      if (waiting.length > 0) say(`${waiting.join(', ')} of gateway.json wait for the next start`)
    } catch (error) {
      say(messageOf(error))
    }
  }
  watchFile(path, { interval: everyMs, persistent: false }, look)
  return { close: () => unwatchFile(path, look) }
}

function hasCallers({ tokens, oauth }: GatewayConfiguration): boolean {
  return tokens !== undefined || oauth !== undefined
}

/** What only a start takes over. */
function findWaiting(before: GatewayConfiguration, after: GatewayConfiguration): string[] {
  const names = [
    ...new Set([...Object.keys(before), ...Object.keys(after)]),
  ] as (keyof GatewayConfiguration)[]
  return names.filter(
    (name) =>
      name !== 'tokens' &&
      name !== 'oauth' &&
      canonicalJson(before[name] ?? null) !== canonicalJson(after[name] ?? null),
  )
}

function say(message: string): void {
  process.stderr.write(`handrail: ${showSafely(message)}\n`)
}
