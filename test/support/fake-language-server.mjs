// A language server that behaves as its first argument says. It runs inside the sandbox, on whatever Node is there.
import { connect } from 'node:net'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'

const [, , manner = 'good', mark = ''] = process.argv
const root = process.cwd()
const me = Math.random().toString(36).slice(2)
const cancelled = []
let asked = 0
let isIndexing = manner === 'indexing'

const send = (...messages) => {
  const frames = messages.map((message) => {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
    return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body])
  })
  process.stdout.write(Buffer.concat(frames))
}
const hover = (value) => ({ contents: { kind: 'plaintext', value } })
const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 1 } }
const places = (...paths) => paths.map((path) => ({ uri: `file://${path}`, range }))

const misbehave = {
  silent: () => {},
  dead: () => process.exit(7),
  garbage: () => process.stdout.write('no message at all\n'.repeat(1000)),
  huge: () => process.stdout.write('Content-Length: 9999999999\r\n\r\n{'),
  endless: () => {
    const line = Buffer.alloc(65_536, 'y')
    const more = () => process.stdout.write(line, more)
    more()
  },
  flood: () => {
    const more = () => {
      for (let count = 0; count < 500; count++)
        send({ method: 'window/logMessage', params: { type: 3, message: 'x'.repeat(500) } })
      setImmediate(more)
    }
    more()
  },
}

const answers = {
  'textDocument/hover': async () => {
    if (manner === 'writing') return hover(await tryOutside())
    if (manner === 'asking')
      return hover(JSON.stringify(await ask('workspace/configuration', { items: [{ section: 'a.b' }] })))
    if (isIndexing) return null
    return hover(`${me} asked ${++asked} cancelled ${cancelled.length}`)
  },
  'textDocument/definition': () =>
    places(`${root}/a.fake`, '/etc/passwd', `${root}/../x.fake`, `${root}/.env`, `${root}/link.fake`),
  'textDocument/references': () =>
    Array.from({ length: 10_000 }, () => ({ uri: `file://${root}/a.fake`, range })),
}

async function tryOutside() {
  const said = []
  for (const path of [`${root}/pwned`, '/etc/pwned', '/usr/pwned'])
    try {
      writeFileSync(path, 'x')
      said.push('written')
    } catch (error) {
      said.push(error.code)
    }
  const socket = connect(80, '1.1.1.1')
  said.push(
    await new Promise((done) =>
      socket.on('connect', () => done('connected')).on('error', (e) => done(e.code)),
    ),
  )
  return said.join(' ')
}

const waiting = new Map()
function ask(method, params) {
  return new Promise((resolve) => {
    waiting.set('q', resolve)
    send({ id: 'q', method, params })
  })
}

async function take({ id, method, params, result }) {
  if (method === undefined) return waiting.get(id)?.(result)
  if (method === 'initialize') {
    if (manner === 'dead at once') process.exit(3)
    send({
      id,
      result: {
        capabilities: { hoverProvider: true, definitionProvider: true, referencesProvider: true },
      },
    })
    if (isIndexing) {
      send({ method: '$/progress', params: { token: 1, value: { kind: 'begin', title: 'index' } } })
    }
    return
  }
  if (method === '$/cancelRequest') return cancelled.push(params.id)
  if (id === undefined) return
  if (manner === 'silent once' && asked++ === 0) {
    // Shows whoever looks from outside that the question has come.
    spawn('sh', ['-c', `sleep 600; : silent-${mark}`])
    return
  }
  if (Object.hasOwn(misbehave, manner)) return misbehave[manner]()
  const answer = answers[method]
  if (answer === undefined) return send({ id, error: { code: -32_601, message: 'unknown' } })
  const answered = { id, result: await answer(params) }
  if (!isIndexing || ++asked < 3) return send(answered)
  // The index is done as soon as the answer was made, so that both come at once.
  isIndexing = false
  asked = 0
  send(answered, { method: '$/progress', params: { token: 1, value: { kind: 'end' } } })
}

let buffer = Buffer.alloc(0)
process.stdin.on('data', (chunk) => {
  buffer = Buffer.concat([buffer, chunk])
  for (;;) {
    const end = buffer.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/content-length: (\d+)/i.exec(buffer.toString('latin1', 0, end))[1])
    if (buffer.length < end + 4 + length) return
    const message = JSON.parse(buffer.toString('utf8', end + 4, end + 4 + length))
    buffer = buffer.subarray(end + 4 + length)
    void take(message)
  }
})
