import { createHash } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { startHttp } from './connect.ts'
import { createDemoRuntime } from './demo-tools.ts'
import { fakeTool } from './fake-runtime.ts'
import { createModern, type Answer, type RawClient } from './raw-client.ts'

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const token = (id: string) => ({ id, sha256: createHash('sha256').update(id).digest('hex'), actor: id })
const inputResponses = { approval: { action: 'accept', content: { decision: 'allow_once' } } }
const refused = { code: -32602, data: { reason: 'invalid_request_state' } }

/** Two callers of one server. */
async function setUp() {
  const hasty = fakeTool({ name: 'demo.hasty' }, async (_input, { ask }) => {
    await ask('file a.txt', 20)
    return {}
  })
  const runtime = createDemoRuntime([hasty])
  const server = await startHttp({ runtime, tokens: [token('anna'), token('bert')] })
  ends.push(() => server.close())
  const open = (id: string) =>
    createModern(server, { capabilities: { elicitation: { form: {} } }, token: id })
  const ran = () => runtime.ended.filter(({ outcome }) => outcome === 'ok').map(({ tool }) => tool)
  return { runtime, ran, anna: open('anna'), bert: open('bert') }
}

const write = (client: RawClient, more: object = {}) =>
  client.ask('tools/call', { name: 'demo__write', arguments: { a: 1 }, ...more })
const comeBack = (client: RawClient, { requestState }: Answer, more: object = {}) =>
  write(client, { requestState, inputResponses, ...more })

test('the yes to a call is not a yes of another caller, who cannot use it up either (MCP-2, AUTH-6)', async () => {
  const { ran, anna, bert } = await setUp()
  const pause = await write(anna)
  const own = await write(bert)
  await expect(comeBack(bert, pause)).rejects.toMatchObject(refused)
  expect(ran()).toEqual([])
  expect((await comeBack(anna, pause)).content[0]?.text).toBe('written: allow_once')
  expect((await comeBack(bert, own)).content[0]?.text).toBe('written: allow_once')
})

test('the yes to a call is not a yes to another input or another tool, and then not to the first one either (MCP-2)', async () => {
  for (const other of [{ arguments: { a: 2 } }, { arguments: { a: 1, b: null } }, { name: 'demo__echo' }]) {
    const { runtime, ran, anna } = await setUp()
    const pause = await write(anna)
    await expect(comeBack(anna, pause, other)).rejects.toMatchObject(refused)
    await expect(comeBack(anna, pause)).rejects.toMatchObject(refused)
    await expect.poll(() => runtime.ended).toMatchObject([{ tool: 'demo.write', outcome: 'denied' }])
    expect(ran()).toEqual([])
  }
})

test('a yes counts once, also while the call that it was for still runs (MCP-2)', async () => {
  const { ran, anna } = await setUp()
  const waiting = { arguments: { wait: true } }
  const pause = await write(anna, waiting)
  let rejected = 0
  const together = Array.from({ length: 5 }, () => comeBack(anna, pause, waiting))
  for (const each of together)
    each.catch((error: unknown) => {
      expect(error).toMatchObject(refused)
      rejected++
    })
  await expect.poll(() => rejected).toBe(4)
  await anna.ask('tools/call', { name: 'demo__go', arguments: {} })
  expect((await Promise.any(together)).content[0]?.text).toBe('written: allow_once')
  await expect(comeBack(anna, pause, waiting)).rejects.toMatchObject(refused)
  expect(ran().filter((tool) => tool === 'demo.write')).toHaveLength(1)
})

test('a yes that comes too late is none (MCP-2, PERM-5)', async () => {
  const { runtime, ran, anna } = await setUp()
  const hasty = { name: 'demo__hasty', arguments: {} }
  const pause = await anna.ask('tools/call', hasty)
  expect(pause.resultType).toBe('input_required')
  await expect.poll(() => runtime.ended).toMatchObject([{ tool: 'demo.hasty', outcome: 'denied' }])
  await expect(comeBack(anna, pause, hasty)).rejects.toMatchObject(refused)
  expect(ran()).toEqual([])
})

test('a state that says something else than what was signed is refused, and leaves the question as it is (MCP-2)', async () => {
  const { ran, anna } = await setUp()
  const pause = await write(anna)
  const state = pause.requestState ?? ''
  const parts = state.split('.')
  const other = Buffer.from(JSON.stringify({ ticket: 'made-up' })).toString('base64url')
  for (const requestState of [
    `${state}x`,
    state.slice(1),
    parts.map((part, index) => (index === parts.length - 2 ? other : part)).join('.'),
    other,
    '',
  ])
    await expect(comeBack(anna, { ...pause, requestState })).rejects.toMatchObject({ code: -32602 })
  expect(ran()).toEqual([])
  expect((await comeBack(anna, pause)).content[0]?.text).toBe('written: allow_once')
})
