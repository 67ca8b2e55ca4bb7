import { request, type IncomingHttpHeaders } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { makePlace, type Place } from '../support/command-line.ts'
import { startServer } from '../support/start-command.ts'
import { parseExposition, samplesOf } from '../support/prometheus.ts'

const secret = 'correct-horse-battery-staple'

/** `handrail serve` in this place, and a client of it. */
async function serve(place: Place) {
  const server = await startServer(place)
  const url = new URL(server.url)
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(url))
  onTestFinished(() => client.close())
  return { url, client, output: server.output }
}

interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

function ask(url: URL, options: { method?: string; path?: string; headers?: object } = {}): Promise<Answer> {
  const { method = 'GET', path = '/metrics', headers = {} } = options
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: url.hostname, port: url.port, path, method, headers: { ...headers } },
      (answer) => {
        let text = ''
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()))
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }))
        answer.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}

const budgets = [{ id: 'a day', unit: 'calls', limit: 100, windowMs: 86_400_000 }]

test('/metrics of the gateway says what was called, in the text format 0.0.4 (EVID-5, EVID-6)', async () => {
  const place = makePlace({ 'a.txt': 'hello\n' }, { 'policy.json': { budgets } })
  const { url, client, output } = await serve(place)
  expect(output.stdout).toContain(`metrics    http://127.0.0.1:${url.port}/metrics\n`)

  const before = parseExposition((await ask(url)).text)
  expect(samplesOf(before, 'tool_running')).toEqual({ '': 0 })
  expect(samplesOf(before, 'tool_invocations_total')).toEqual({})

  const call = (name: string, input: Record<string, unknown>) => client.callTool({ name, arguments: input })
  await call('code__read_file', { path: 'a.txt' })
  await call('code__read_file', { path: 'a.txt' })
  await call('code__read_file', { path: 'missing.txt' })
  await call('code__read_file', { path: `/etc/${secret}` })
  await call('code__write_file', { path: 'b.txt', content: secret })
  await call(`no__such_${secret}`, {})

  const { status, headers, text } = await ask(url)
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text))
  const families = parseExposition(text)
  expect(samplesOf(families, 'tool_invocations_total')).toEqual({
    '{tool="code.read_file",tenant="local",origin="llm"}': 4,
    '{tool="code.write_file",tenant="local",origin="llm"}': 1,
    '{tool="unknown",tenant="local",origin="llm"}': 1,
  })
  expect(samplesOf(families, 'tool_denied_total')).toEqual({
    '{tool="code.read_file",code="SANDBOX.CAPABILITY_BLOCKED"}': 1,
    '{tool="code.write_file",code="POLICY.APPROVAL_DENIED"}': 1,
    '{tool="unknown",code="POLICY.DENY_TOOL"}': 1,
  })
  expect(samplesOf(families, 'tool_errors_total')).toEqual({
    '{code="TOOL.FAILED"}': 1,
    '{code="SANDBOX.CAPABILITY_BLOCKED"}': 1,
    '{code="POLICY.APPROVAL_DENIED"}': 1,
    '{code="POLICY.DENY_TOOL"}': 1,
  })
  expect(samplesOf(families, 'tool_outcomes_total')).toEqual({
    '{level="info",outcome="ok"}': 2,
    '{level="failure",outcome="failed"}': 1,
    '{level="failure",outcome="denied"}': 3,
  })
  expect(samplesOf(families, 'tool_running')).toEqual({ '': 0 })
  expect(samplesOf(families, 'tool_budget_calls')).toEqual({ '': 3 })
  expect(samplesOf(families, 'tool_budget_spent')).toEqual({ '{budget="a day"}': 3 })
  expect(samplesOf(families, 'tool_budget_bytes')['{dir="in"}']).toBeGreaterThan(100)
  expect(families.get('tool_latency_ms')).toMatchObject({ type: 'histogram' })
  expect(samplesOf(families, 'tool_latency_ms')).toMatchObject({
    '_count{stage="total"}': 6,
    '_bucket{stage="total",le="+Inf"}': 6,
    '_count{stage="run"}': 3,
    '_count{stage="record"}': 6,
  })
  expect(text).not.toContain(secret)
  expect(text).not.toContain('a.txt')
})

test('/metrics is guarded as the MCP endpoint is, and read only (EVID-5, MCP-2)', async () => {
  const { url } = await serve(makePlace())
  const statusOf = async (options: Parameters<typeof ask>[1]) => (await ask(url, options)).status
  expect(await statusOf({ headers: { host: `evil.example:${url.port}` } })).toBe(403)
  expect(await statusOf({ headers: { origin: 'https://evil.example' } })).toBe(403)
  expect(await statusOf({ headers: { origin: 'http://localhost:3000' } })).toBe(200)
  expect(await statusOf({ path: '/metrics?names=all' })).toBe(200)
  expect(await statusOf({ path: '/metrics/' })).toBe(404)
  for (const method of ['POST', 'PUT', 'DELETE', 'HEAD']) {
    const answer = await ask(url, { method })
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET'])
  }
})
