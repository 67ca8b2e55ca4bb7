import { expect, test } from 'vitest'
import { readAnswers } from './read-answers.ts'

const post = { method: 'POST', body: '{}' }
const answer = (id: number) => `{"jsonrpc":"2.0","id":${id},"result":{"said":"grüße"}}`
const events = { 'content-type': 'text/event-stream' }

/** What is taken of a response in these pieces, of which all with an even id are, and what is left of it for the SDK. */
async function read(pieces: readonly (string | Buffer | Error)[], headers: Record<string, string> = events) {
  const taken: unknown[] = []
  const left = pieces[Symbol.iterator]()
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { done, value } = left.next()
      if (done === true) controller.close()
      else if (value instanceof Error) controller.error(value)
      else controller.enqueue(Buffer.from(value))
    },
  })
  const request = readAnswers(
    async () => new Response(body, { headers }),
    (message) => {
      const isTaken =
        typeof message === 'object' && message !== null && 'id' in message && Number(message.id) % 2 === 0
      if (isTaken) taken.push(message)
      return isTaken
    },
  )
  const response = await request('http://127.0.0.1/', post)
  return { taken, status: response.status, response }
}

test('reads an answer that is all there is, as events and as JSON (MCP-1)', async () => {
  const expected = { taken: [JSON.parse(answer(2))], status: 202 }
  expect(await read([`event: message\ndata: ${answer(2)}\n\n`])).toMatchObject(expected)
  expect(await read([`data: ${answer(2)}\n\n`])).toMatchObject(expected)
  expect(await read([answer(2)], { 'content-type': 'application/json' })).toMatchObject(expected)
})

test('leaves the rest of a response to the SDK, and nothing of it twice (MCP-1)', async () => {
  const other = 'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'
  const { taken, status, response } = await read([
    `data: ${answer(2)}\n\n${other}data: ${answer(4)}\n\n`,
    other,
  ])
  expect({ taken, status }).toEqual({ taken: [JSON.parse(answer(2))], status: 200 })
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(await response.text()).toBe(`${other}data: ${answer(4)}\n\n${other}`)
  const single = await read([answer(3)], { 'content-type': 'application/json' })
  expect(await single.response.text()).toBe(answer(3))
})

test.each([
  ['an event with an id, from which the SDK goes on after a loss', [`id: 7\ndata: ${answer(2)}\n\n`]],
  ['an event that says how long to wait', [`retry: 10\n\n`, `data: ${answer(2)}\n\n`]],
  ['a comment', [`: still here\n\ndata: ${answer(2)}\n\n`]],
  ['an event of another name', [`event: other\ndata: ${answer(2)}\n\n`]],
  ['lines that end otherwise', [`data: ${answer(2)}\r\n\r\n`]],
  ['data that is not JSON', ['data: {\n\n']],
])('leaves %s to the SDK (MCP-1)', async (_what, pieces) => {
  const { taken, response } = await read(pieces)
  expect(taken).toEqual([])
  expect(await response.text()).toBe(pieces.join(''))
})

test('leaves an event that comes in pieces to the SDK, within a letter too (MCP-1)', async () => {
  const bytes = Buffer.from(`data: ${answer(2)}\n\n`)
  const cut = bytes.indexOf('ü') + 1
  const { taken, response } = await read([bytes.subarray(0, cut), bytes.subarray(cut)])
  expect(taken).toEqual([])
  expect(await response.text()).toBe(bytes.toString())
})

test('the SDK hears of a stream that breaks, before an answer or after (MCP-1)', async () => {
  const before = await read([new Error('broken')])
  await expect(before.response.text()).rejects.toThrow('broken')
  const after = await read([`data: ${answer(2)}\n\n`, new Error('broken')])
  expect(after.taken).toHaveLength(1)
  await expect(after.response.text()).rejects.toThrow('broken')
})

test('leaves what is not a plain success as it is (MCP-1)', async () => {
  const text = answer(2)
  for (const response of [
    new Response(text, { status: 400, headers: events }),
    new Response(text),
    new Response(null),
  ]) {
    const request = readAnswers(
      async () => response,
      () => true,
    )
    expect(await request('http://127.0.0.1/', post)).toBe(response)
  }
  const listening = new Response(text, { headers: events })
  expect(
    await readAnswers(
      async () => listening,
      () => true,
    )('http://127.0.0.1/', { method: 'GET' }),
  ).toBe(listening)
})
