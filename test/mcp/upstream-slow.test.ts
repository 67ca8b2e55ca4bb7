import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Runtime } from 'handrail'
import { makeFolder } from '../support/project.ts'
import { startScripted } from '../support/scripted-server.ts'
import { openUpstreams, said } from '../support/upstreams.ts'

const readonly = { readonly: ['*'] }

/** Opens a runtime with a server that says nothing for so long that this one gives up a question that may stay open. */
async function openLate(server: object, asked: Promise<unknown>, answer: () => void): Promise<Runtime> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const opening = openUpstreams({ it: server })
  await asked
  await vi.advanceTimersByTimeAsync(10_000)
  vi.useRealTimers()
  answer()
  return opening
}

test('a server on the web whose first answer takes seconds is imported and called (MCP-1)', async () => {
  const asked = Promise.withResolvers<void>()
  const answered = Promise.withResolvers<undefined>()
  const server = await startScripted(({ method }) => {
    if (method !== 'server/discover') return undefined
    asked.resolve()
    return answered.promise
  })
  const runtime = await openLate({ url: server.url, tools: readonly }, asked.promise, () =>
    answered.resolve(undefined),
  )
  expect(said(await runtime.session().call('mcp.it.act'))).toBe('done act')
})

/** Knows no handshake, and answers nothing before there is a second file. */
const program = `
import { existsSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
const [asked, may] = process.argv.slice(2)
const cached = { ttlMs: 0, cacheScope: 'private', resultType: 'complete' }
const results = {
  'server/discover': {
    supportedVersions: ['2026-07-28'],
    capabilities: { tools: {} },
    serverInfo: { name: 'slow', version: '1' },
    ...cached,
  },
  'tools/list': { tools: [{ name: 'act', inputSchema: { type: 'object' } }], ...cached },
  'tools/call': { content: [{ type: 'text', text: 'done' }], resultType: 'complete' },
}
const answer = ({ id, method }) => {
  const found = results[method]
  const said = found ? { result: found } : { error: { code: -32601, message: 'unknown' } }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...said }))
}
const heard = []
const answerAll = () => {
  if (!existsSync(may)) return
  for (const each of heard.splice(0)) answer(each)
}
setInterval(answerAll, 10).unref()
createInterface({ input: process.stdin }).on('line', (line) => {
  writeFileSync(asked, '')
  heard.push(JSON.parse(line))
  answerAll()
})
`

test('a program that shakes no hands, and takes seconds to say so, is imported and called (MCP-1)', async () => {
  const folder = makeFolder({ 'slow.mjs': program })
  const [script, asked, may] = ['slow.mjs', 'asked', 'may'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const server = {
    command: process.execPath,
    args: [script, asked, may],
    read: [folder],
    write: [folder],
    tools: readonly,
  }
  const isAsked = expect.poll(() => existsSync(asked)).toBe(true)
  const runtime = await openLate(server, isAsked, () => writeFileSync(may, ''))
  expect(said(await runtime.session().call('mcp.it.act'))).toBe('done')
})
