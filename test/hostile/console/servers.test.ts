import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { enter, startConsole } from '../../support/console.ts'

const secret = 'hush-hush-4711-secret'
const console = keepOpen(async () => {
  const started = await startConsole()
  return { ...started, ...(await enter(started.link)) }
})

/** Entries of which a runtime takes nothing, and one that logs in. */
const written = {
  off: { command: 'x', disabled: true, env: { API_KEY: secret } },
  faulty: { command: 'x', netwrok: true, env: { API_KEY: secret } },
  arguments: { command: 'x', enabled: false, args: ['--token', secret, `--api-key=${secret}`] },
  login: { url: 'https://it.example/mcp', oauth: { client_id: 'a', client_secret: secret } },
}

test.each(Object.entries(written))(
  'a secret that stands in an entry as it is (%s) is in no diff, and no new entry is written with one',
  async (_what, entry) => {
    const { change, place } = console()
    const near = { near: { command: 'near' } }
    writeFileSync(
      join(place.home, 'mcp.json'),
      JSON.stringify({ mcpServers: { it: entry, ...near } }, null, 2),
    )
    for (const changes of [{ it: { remove: true } }, { near: { remove: true } }]) {
      const { status, body } = await change('/servers/plan', { changes })
      expect([status, body.diff.includes('near') || body.diff.includes('"it"')]).toEqual([200, true])
      expect(body.diff).not.toContain(secret)
    }
    const added = await change('/servers/plan', { changes: { more: { entry } } })
    expect(added.status).toBe(409)
    const tried = await change('/servers/try', { text: JSON.stringify({ more: entry }) })
    expect(tried.status).toBe(200)
    expect(JSON.stringify([added.body, tried.body])).not.toContain(secret)
  },
)
