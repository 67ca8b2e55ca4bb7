import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'
import { stdioServer } from './connect.ts'

interface Outcome {
  code: number | null
  stdout: string[]
  stderr: string
}

/** Starts the server, writes this to it, closes the pipe, and waits for its end. */
function pipe(input: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, stdioServer)
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({ code, stdout: stdout.split('\n').filter((line) => line !== ''), stderr }),
    )
    child.stdin.end(input)
  })
}

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}
const lines = (...messages: readonly (object | string)[]): string =>
  messages.map((message) => `${typeof message === 'string' ? message : JSON.stringify(message)}\n`).join('')
const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } })

test('answers all that was piped in before it ends, and writes nothing but messages (MCP-2)', async () => {
  const { code, stdout, stderr } = await pipe(
    lines(initialize, call(2, 'demo__echo'), call(3, 'demo__write')),
  )
  const messages = stdout.map((line) => JSON.parse(line) as { id: number; jsonrpc: string })
  expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true)
  expect(new Set(messages.map(({ id }) => id))).toEqual(new Set([1, 2, 3]))
  expect([code, stderr]).toEqual([0, 'closed\n'])
})

test('answers a malformed line and goes on with the next (MCP-2)', async () => {
  const long = `{"text":"${'x'.repeat(5_000_000)}"}`
  const { stdout } = await pipe(lines('{nonsense', '{"jsonrpc":"2.0"}', '', long, initialize, '[]'))
  const answers = stdout.map(
    (line) => JSON.parse(line) as { id: unknown; error?: { code: number; message: string } },
  )
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
    [null, -32700],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [1, undefined],
  ])
  expect(answers[2]?.error?.message).toContain('longer than')
})
