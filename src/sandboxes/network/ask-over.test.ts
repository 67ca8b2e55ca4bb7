import { getEventListeners, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { brotliCompressSync, createGzip, gzipSync, zstdCompressSync } from 'node:zlib'
import { expect, onTestFinished, test, vi } from 'vitest'
import { ToolFailure } from '../../contract/base/errors.ts'
import { openDoor } from './open-door.ts'

interface Seen {
  readonly method: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
  /** How often it was said what the body is. */
  readonly types: number
}

/** A server on loopback that answers as it is told, and a door to it. */
async function openWay(answer: (response: ServerResponse, request: IncomingMessage) => unknown) {
  const seen: Seen[] = []
  const sockets = new Set<unknown>()
  const server = createServer((request, response) => {
    let body = ''
    sockets.add(request.socket)
    request.on('data', (piece: Buffer) => (body += piece.toString()))
    request.on('end', () => {
      const { method, headers, rawHeaders } = request
      const types = rawHeaders.filter((name) => name.toLowerCase() === 'content-type').length
      seen.push({ method, headers, body, types })
      answer(response, request)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  const door = openDoor(url, {})
  onTestFinished(async () => {
    await door.close()
    server.closeAllConnections()
    server.close()
  })
  return { url, door, seen, sockets, server }
}

/** What a request or a body fails with. */
async function faultOf(work: Promise<unknown>): Promise<Error & { cause?: unknown }> {
  return work.then(
    () => new Error('It did not fail.'),
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  )
}

/** Resolves when a connection is no more, however it ended. */
function closeOf(socket: Socket): Promise<unknown> {
  return new Promise((resolve) => socket.once('close', resolve))
}

const mebibyte = 1024 * 1024

test('requests are sent in every form that the web knows', async () => {
  const { url, door, seen } = await openWay((response) => response.end('ok'))
  const send = async (init?: RequestInit) => (await door.request(new URL(url), init)).text()
  await send()
  await send({
    method: 'post',
    body: 'größer',
    headers: { 'Content-Type': 'application/json', accept: 'a/b' },
  })
  await send({ method: 'POST', body: new URLSearchParams({ a: 'b c' }), headers: [['x-one', '1']] })
  await send({ method: 'DELETE', headers: new Headers({ 'user-agent': 'mine' }) })
  await send({ method: 'POST', body: new TextEncoder().encode('bytes') })
  await send({ method: 'POST', body: 'text', signal: null })
  expect(seen.map(({ method, body }) => [method, body])).toEqual([
    ['GET', ''],
    ['POST', 'größer'],
    ['POST', 'a=b+c'],
    ['DELETE', ''],
    ['POST', 'bytes'],
    ['POST', 'text'],
  ])
  const ordinary = { 'user-agent': 'Handrail', accept: '*/*', 'accept-encoding': 'gzip, br, zstd' }
  expect(seen.map(({ headers }) => headers)).toMatchObject([
    ordinary,
    { ...ordinary, 'content-type': 'application/json', accept: 'a/b', 'content-length': '8' },
    { ...ordinary, 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8', 'x-one': '1' },
    { ...ordinary, 'user-agent': 'mine' },
    ordinary,
    { ...ordinary, 'content-type': 'text/plain;charset=UTF-8' },
  ])
  expect(seen.map(({ types }) => types)).toEqual([0, 1, 1, 0, 0, 1])
  expect((await faultOf(send({ headers: { 'x-two': 'a\nb' } }))).name).toBe('TypeError')
  expect(seen).toHaveLength(6)
})

test('an answer is one of the web: status, headers, and no body where there can be none', async () => {
  const { url, door } = await openWay((response, { headers }) => {
    const status = Number(headers['x-status'])
    response.writeHead(status, 'As It Is', { 'X-One': ['1', '2'], 'mcp-session-id': 's' })
    response.end(status === 200 ? '{"a":1}' : undefined)
  })
  const ask = (status: number, method = 'GET') =>
    door.request(url, { method, headers: { 'x-status': String(status) } })
  const answer = await ask(200)
  expect(answer).toBeInstanceOf(Response)
  expect([answer.status, answer.statusText, answer.ok]).toEqual([200, 'As It Is', true])
  expect([answer.headers.get('x-one'), answer.headers.get('MCP-Session-Id')]).toEqual(['1, 2', 's'])
  expect(await answer.json()).toEqual({ a: 1 })
  expect((await ask(200, 'HEAD')).body).toBeNull()
  for (const status of [204, 205, 304]) expect((await ask(status)).body).toBeNull()
  expect(await (await ask(202)).text()).toBe('')
  expect((await ask(404)).ok).toBe(false)
  const odd = await faultOf(ask(999))
  expect([odd.name, odd.cause]).toEqual(['TypeError', expect.any(RangeError)])
})

test('what is packed is unpacked, in each form that was offered, and nothing else is taken', async () => {
  const text = JSON.stringify({ tools: Array.from({ length: 5_000 }, (_, n) => `tool ${n}`) })
  const packed: Record<string, Buffer> = {
    gzip: gzipSync(text),
    br: brotliCompressSync(text),
    zstd: zstdCompressSync(text),
    'gzip, br': brotliCompressSync(gzipSync(text)),
    identity: Buffer.from(text),
    compress: Buffer.from(text),
    'br, gzip': gzipSync('neither'),
  }
  const { url, door } = await openWay((response, { headers }) => {
    const encoding = String(headers['x-wanted'])
    response.writeHead(200, { 'content-encoding': encoding }).end(packed[encoding])
  })
  const ask = (wanted: string) => door.request(url, { headers: { 'x-wanted': wanted } })
  for (const encoding of ['gzip', 'br', 'zstd', 'gzip, br', 'identity'])
    expect(await (await ask(encoding)).text()).toBe(text)
  const unknown = await faultOf(ask('compress'))
  expect([unknown.name, unknown.cause]).toEqual(['TypeError', expect.any(ToolFailure)])
  const broken = await faultOf((await ask('br, gzip')).text())
  expect([broken.name, broken.message, broken.cause]).toEqual(['TypeError', 'terminated', expect.any(Error)])
})

test('an event comes when it is sent, packed or not', async () => {
  const streams: (() => void)[] = []
  const { url, door } = await openWay((response, { headers }) => {
    const isPacked = headers['x-packed'] === 'yes'
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      ...(isPacked && { 'content-encoding': 'gzip' }),
    })
    const gzip = createGzip()
    if (isPacked) gzip.pipe(response)
    const out = isPacked ? gzip : response
    out.write('data: 1\n\n')
    if (isPacked) gzip.flush()
    streams.push(() => out.end('data: 2\n\n'))
  })
  for (const packed of ['no', 'yes']) {
    const { body } = await door.request(url, { headers: { 'x-packed': packed } })
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).toBe('data: 1\n\n')
    streams.pop()?.()
    expect((await reader?.read())?.value).toBe('data: 2\n\n')
    expect((await reader?.read())?.done).toBe(true)
  }
})

test('what is too large ends its connection, however it is packed; a stream of events may go on', async () => {
  const closed: Promise<unknown>[] = []
  const line = Buffer.from(`data: ${'x'.repeat(mebibyte)}\n\n`)
  const emptyBlock = Buffer.from([0, 0, 0, 0xff, 0xff])
  const bodies: Record<string, [Record<string, string>, Iterable<Buffer>]> = {
    plain: [{}, Array.from({ length: 33 }, () => Buffer.alloc(mebibyte, 'x'))],
    packed: [{ 'content-encoding': 'gzip' }, [gzipSync(Buffer.alloc(33 * mebibyte))]],
    // Blocks of nothing.
    void: [
      { 'content-encoding': 'gzip' },
      [
        gzipSync('').subarray(0, 10),
        ...Array.from({ length: 35 }, () => Buffer.alloc(1_000_000, emptyBlock)),
      ],
    ],
    event: [
      { 'content-type': 'text/event-stream; charset=utf-8' },
      Array.from({ length: 33 }, () => line.subarray(0, mebibyte)),
    ],
    // One frame of zstd that stands for nothing.
    'void event': [
      { 'content-type': 'text/event-stream; charset=utf-8', 'content-encoding': 'zstd' },
      [
        Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0x10]),
        ...Array.from({ length: 35 }, () => Buffer.alloc(mebibyte, '\n')),
      ],
    ],
    'packed events': [
      { 'content-type': 'text/event-stream', 'content-encoding': 'gzip' },
      [gzipSync(Buffer.concat(Array.from({ length: 40 }, () => line)), { level: 0 })],
    ],
    events: [{ 'content-type': 'text/event-stream' }, Array.from({ length: 40 }, () => line)],
  }
  const { url, door } = await openWay((response, { headers, socket }) => {
    const [fields, pieces] = bodies[String(headers['x-wanted'])] ?? [{}, []]
    if (fields['content-type'] !== 'text/event-stream') closed.push(closeOf(socket))
    response.writeHead(200, fields)
    for (const piece of pieces) response.write(piece)
    response.end()
  })
  const ask = async (wanted: string) => {
    let size = 0
    const { body } = await door.request(url, { headers: { 'x-wanted': wanted } })
    for await (const piece of body ?? []) size += piece.length
    return size
  }
  for (const wanted of ['plain', 'packed', 'void', 'event', 'void event'])
    expect((await faultOf(ask(wanted))).message).toBe('The answer is larger than 33554432 bytes.')
  for (const wanted of ['events', 'packed events']) expect(await ask(wanted)).toBe(40 * line.length)
  expect(await Promise.all(closed)).toHaveLength(5)
})

test('whoever does not want an answer any more frees its connection, at every moment', async () => {
  const arrived: ((value: { response: ServerResponse; gone: Promise<unknown> }) => void)[] = []
  const { url, door, seen } = await openWay((response, { socket }) =>
    arrived.shift()?.({ response, gone: closeOf(socket) }),
  )
  const next = async (init: RequestInit) => {
    const { promise, resolve } = Promise.withResolvers<{ response: ServerResponse; gone: Promise<unknown> }>()
    arrived.push(resolve)
    const asked = door.request(url, init)
    asked.catch(() => {})
    return { asked, ...(await promise) }
  }
  const reason = new Error('not any more')
  const aborted = await faultOf(door.request(url, { signal: AbortSignal.abort(reason) }))
  expect([aborted, seen.length]).toEqual([reason, 0])

  const waiting = new AbortController()
  const before = await next({ signal: waiting.signal })
  waiting.abort(reason)
  expect(await faultOf(before.asked)).toBe(reason)
  await before.gone

  for (const packed of [{}, { 'content-encoding': 'gzip' }]) {
    const reading = new AbortController()
    const during = await next({ signal: reading.signal })
    during.response.writeHead(200, packed).write(gzipSync('half'))
    const half = await during.asked
    reading.abort(reason)
    expect(await faultOf(half.text())).toBe(reason)
    await during.gone

    const left = await next({})
    left.response.writeHead(200, packed).write(gzipSync('half'))
    await (await left.asked).body?.cancel()
    await left.gone
  }
})

test('what is aborted before there is a connection says so at once, and is not sent', async () => {
  const { promise: found, resolve: find } = Promise.withResolvers<readonly string[]>()
  const { promise: looked, resolve: look } = Promise.withResolvers<void>()
  const { url, seen } = await openWay((response) => response.end())
  const named = url.replace('127.0.0.1', 'intranet.example')
  const door = openDoor(named, {
    lookup() {
      look()
      return found
    },
  })
  onTestFinished(() => door.close())
  const reason = new Error('not any more')
  const leaving = new AbortController()
  const left = faultOf(door.request(named, { signal: leaving.signal }))
  await looked
  leaving.abort(reason)
  expect(await left).toBe(reason)
  find(['127.0.0.1'])
  await (await door.request(named, { method: 'PUT' })).text()
  expect(seen.map(({ method }) => method)).toEqual(['PUT'])
})

test('an answer that has come whole is still lost to whoever aborts before it is read', async () => {
  const text = 'x'.repeat(1000)
  const { url, door } = await openWay((response, { headers }) =>
    headers['x-packed'] === 'yes'
      ? response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))
      : response.end(text),
  )
  const reason = new Error('not any more')
  for (const packed of ['no', 'yes']) {
    const leaving = new AbortController()
    const { signal } = leaving
    const answer = await door.request(url, { signal, headers: { 'x-packed': packed } })
    // It is all there when the connection is used again.
    await (await door.request(url)).text()
    leaving.abort(reason)
    expect(await faultOf(answer.text())).toBe(reason)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  }
})

test('an answer that nobody reads does not hold its connection for ever; one that is read does', async () => {
  const closed: Promise<unknown>[] = []
  const { url, door } = await openWay((response, { socket, headers }) => {
    closed.push(closeOf(socket))
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: 1\n\n')
    if (headers['x-whole'] === 'yes') response.end()
  })
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { signal } = new AbortController()
  const whole = await door.request(url, { signal, headers: { 'x-whole': 'yes' } })
  const unread = await door.request(url, { signal })
  const read = await door.request(url, { signal })
  const reader = read.body?.getReader()
  await reader?.read()
  vi.advanceTimersByTime(60_000)
  const fault = await faultOf(unread.text())
  expect(fault.cause).toMatchObject({ message: 'The answer was not read within 60 s.' })
  await closed[1]
  // Only the one that is read listens on.
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  expect(await whole.text()).toBe('data: 1\n\n')
  await reader?.cancel()
  await closed[2]
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('a signal that outlives its requests keeps nothing of them', async () => {
  const { url, door } = await openWay((response, { headers, socket }) => {
    if (headers['x-lost'] === 'yes') socket.destroy()
    else response.end('ok')
  })
  const { signal } = new AbortController()
  const texts = await Promise.all(
    Array.from({ length: 20 }, async () => (await door.request(url, { signal })).text()),
  )
  expect(new Set(texts)).toEqual(new Set(['ok']))
  await faultOf(door.request(url, { signal, headers: { 'x-lost': 'yes' } }))
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test('whoever cannot be reached, and whoever breaks off, is told apart by the cause', async () => {
  const { url, door, server } = await openWay((response, { socket, headers }) => {
    if (headers['x-half'] !== 'yes') return socket.destroy()
    return response.writeHead(200).write('half', () => socket.destroy())
  })
  const lost = await faultOf(door.request(url))
  expect([lost.name, lost.message]).toEqual(['TypeError', 'fetch failed'])
  expect(lost.cause).toMatchObject({ code: 'UND_ERR_SOCKET' })
  const half = await faultOf((await door.request(url, { headers: { 'x-half': 'yes' } })).text())
  expect([half.name, half.message, half.cause]).toEqual(['TypeError', 'terminated', expect.any(Error)])
  server.close()
  await once(server, 'close')
  const gone = await faultOf(door.request(url))
  expect([gone.name, gone.cause]).toMatchObject(['TypeError', { code: 'ECONNREFUSED' }])
  await door.close()
  expect((await faultOf(door.request(url))).name).toBe('TypeError')
})

test('connections are used again beside a stream that stays open', async () => {
  const { url, door, sockets } = await openWay((response, { method }) => {
    if (method === 'POST') response.end('ok')
    else response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
  })
  const first = await door.request(url, { method: 'GET' })
  for (let round = 0; round < 20; round++)
    await (await door.request(url, { method: 'POST', body: 'x' })).text()
  // One that was just used is left alone for a moment, in which another one may be opened.
  expect(sockets.size).toBeLessThanOrEqual(3)
  await first.body?.cancel()
})
