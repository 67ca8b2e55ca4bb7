import { createHmac } from 'node:crypto'
import { join } from 'node:path'
import {
  jobTools,
  resultText,
  type JsonSchema,
  type Runtime,
  type RuntimeOptions,
  type Session,
} from 'handrail'
import {
  composeTools,
  defineLongTool,
  planTools,
  valueFrom,
  type AskedJob,
  type JobCallback,
  type News,
} from 'handrail/tools'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

const built: JsonSchema = {
  type: 'object',
  properties: { log: { type: 'string' } },
  required: ['log'],
  additionalProperties: false,
}

interface State {
  [field: string]: string | number
  branch: string
}

/** Work that goes on elsewhere. */
function createWorks() {
  const works = new Map<
    string,
    { news: (asked: AskedJob) => News<State>; asked: AskedJob[]; stopped: string[] }
  >()
  const callbacks = new Map<string, JobCallback | undefined>()
  return {
    callbacks,
    begin(id: string) {
      works.set(id, { news: () => ({ status: 'running' }), asked: [], stopped: [] })
    },
    of(id: string) {
      const work = works.get(id)
      if (work === undefined) throw new Error(`There is no work "${id}".`)
      return work
    },
    get size() {
      return works.size
    },
  }
}

type Works = ReturnType<typeof createWorks>

function buildTool(
  works: Works,
  more: { survives?: boolean; longestMs?: number; cutOff?: () => boolean } = {},
) {
  const { cutOff, ...given } = more
  return defineLongTool({
    name: 'ci.build',
    description: 'Builds a branch.',
    input: { type: 'object', properties: { branch: { type: 'string' } }, required: ['branch'] },
    output: built,
    everyMs: 1,
    ...given,
    async start({ branch }, _, { job, callback }) {
      works.begin(branch)
      works.callbacks.set(branch, callback)
      if (cutOff?.() === true) await new Promise(() => {})
      const state: State = { branch, job }
      return state
    },
    poll(asked) {
      const work = works.of(asked.state.branch)
      work.asked.push(asked)
      return work.news(asked)
    },
    stop({ state, reason }) {
      works.of(state.branch).stopped.push(reason)
    },
  })
}

const allow = { rules: [{ effect: 'allow' as const, tools: ['ci.*', 'job.*'] }] }

async function open(works: Works, more: Parameters<typeof buildTool>[1] = {}, options: RuntimeOptions = {}) {
  const runtime = await openRuntime({
    tools: [buildTool(works, more), jobTools()],
    policy: allow,
    ...options,
  })
  return { runtime, session: runtime.session() }
}

const start = async (session: Session, branch = 'main') => {
  const { data, error } = await session.call('ci.build', { branch })
  expect(error).toBeUndefined()
  return (data as { job: string }).job
}

const stateOf = (session: Session, job: string) => session.jobs().find(({ id }) => id === job)?.end?.how
const notes = (runtime: Runtime) =>
  [...runtime.store.records({ kind: 'note' })]
    .map(({ text }) => JSON.parse(text))
    .filter(({ event }) => event === 'job_ended')

test('a call answers with a job, which is asked until it is done (NEXT-2)', async () => {
  const works = createWorks()
  const { runtime, session } = await open(works)
  const job = await start(session)
  await expect.poll(() => works.of('main').asked.length).toBeGreaterThan(1)
  works.of('main').news = () => ({
    status: 'running',
    progress: 'half',
    state: { branch: 'main', job, at: 2 },
  })
  await expect.poll(() => works.of('main').asked.at(-1)?.state).toMatchObject({ at: 2 })
  works.of('main').news = () => ({ status: 'completed', result: { log: 'built' } })
  const { data } = await session.call('job.output', { id: job, wait_ms: 60_000 })
  expect(data).toMatchObject({ job: { id: job, kind: 'tool', state: 'completed', task: 'Builds a branch.' } })
  expect((data as { text: string }).text).toMatch(/half\n(?:half\n)*\{"log":"built"\}/)
  expect(notes(runtime)).toMatchObject([{ call: expect.any(String), data: { job, how: 'completed' } }])
})

test('each piece is a call with evidence under the one that started it (NEXT-2)', async () => {
  const works = createWorks()
  const { runtime, session } = await open(works)
  const result = session.call('ci.build', { branch: 'main' }, { follow: true })
  await expect.poll(() => works.size && works.of('main').asked.length).toBeGreaterThan(0)
  works.of('main').news = () => ({ status: 'completed', result: { log: 'built' } })
  const { callId, data } = await result
  expect(data).toEqual({ log: 'built' })
  const begins = [...runtime.store.records({ kind: 'begin' })].map(({ text }) => JSON.parse(text))
  const parts = begins
    .filter(({ partOf }) => partOf !== undefined)
    .map(({ partOf, origin }) => [partOf.call, partOf.part, origin])
  expect(parts[0]).toEqual([callId, 'poll.1', 'system'])
  expect([...runtime.store.records({ kind: 'end' })]).toHaveLength(begins.length)
})

test('a result is held to its schema, and obligations and redaction hold for it (NEXT-2)', async () => {
  const works = createWorks()
  const policy = {
    ...allow,
    obligations: [{ id: 'mail', action: 'mask' as const, patterns: ['[a-z]+@[a-z.]+'] }],
  }
  const { session } = await open(works, {}, { policy, secrets: { token: 'very-secret-token' } })
  const follow = (branch: string, result: unknown) => {
    const ended = session.call('ci.build', { branch }, { follow: true })
    return expect
      .poll(() => works.size && works.of(branch).asked.length)
      .toBeGreaterThan(0)
      .then(() => {
        works.of(branch).news = () => ({ status: 'completed', result: result as never })
        return ended
      })
  }
  expect((await follow('a', { log: 1 })).error).toMatchObject({ reason: 'invalid_output' })
  const { data } = await follow('b', { log: 'ann@shop.example very-secret-token' })
  expect(JSON.stringify(data)).not.toMatch(/ann@|very-secret/)
})

test('job.stop ends the work, and so does the close of its session (NEXT-2)', async () => {
  const works = createWorks()
  const { runtime, session } = await open(works)
  const job = await start(session)
  const stopped = await session.call('job.stop', { id: job, reason: 'not needed' })
  expect(stopped.data).toMatchObject({ job: { state: 'stopped', reason: 'not needed' } })
  expect(works.of('main').stopped).toEqual(['not needed'])
  await start(session, 'other')
  await session.close()
  expect(works.of('other').stopped).toEqual(['the session was closed'])
  expect(notes(runtime).map(({ data }) => data.how)).toEqual(['stopped', 'interrupted'])
})

test('a job that fails, lies about itself or takes too long ends, and says why (NEXT-2)', async () => {
  const works = createWorks()
  const { session } = await open(works)
  const follow = async (branch: string, news: () => News<State>) => {
    const ended = session.call('ci.build', { branch }, { follow: true })
    await expect.poll(() => works.size && works.of(branch).asked.length).toBeGreaterThan(0)
    works.of(branch).news = news
    return (await ended).error
  }
  expect(await follow('a', () => ({ status: 'failed', message: 'no compiler' }))).toMatchObject({
    reason: 'job_failed',
    message: expect.stringContaining('no compiler'),
  })
  expect((await follow('b', () => ({ status: 'done' }) as never))?.message).toContain('answers a poll with')
  expect(
    (
      await follow('c', () => {
        throw new Error('gone')
      })
    )?.message,
  ).toContain('gone')
  expect(works.of('c').asked.length).toBeGreaterThanOrEqual(5)
  const short = createWorks()
  const limited = await open(short, { longestMs: 5 })
  const { error } = await limited.session.call('ci.build', { branch: 'x' }, { follow: true })
  expect(error).toMatchObject({ code: 'TOOL.TIMEOUT' })
  expect(short.of('x').stopped).toEqual(['its time was over'])
})

test('what lets the start through lets the work through, until a rule denies it (NEXT-2)', async () => {
  const works = createWorks()
  const person = personSaying('allow_once')
  const { runtime, session } = await open(works, {}, { policy: {}, approve: person.approve })
  const job = await start(session)
  await expect.poll(() => works.of('main').asked.length).toBeGreaterThan(2)
  expect(person.asked.map(({ tool }) => tool)).toEqual(['ci.build'])
  await runtime.reload({ policy: { rules: [{ effect: 'deny', tools: ['ci.build'] }] } })
  await expect.poll(() => stateOf(session, job)).toBe('failed')
  expect(session.jobs()[0]?.end?.reason).toContain('its work could not be ended, and may go on')
})

test('budgets of time and bytes are settled for each piece, those of calls for the start (NEXT-2)', async () => {
  const works = createWorks()
  const budgets = [
    { id: 'calls', unit: 'calls' as const, limit: 1 },
    { id: 'out', unit: 'bytesOut' as const, limit: 1_000_000 },
  ]
  const { runtime, session } = await open(
    works,
    {},
    { policy: { rules: [{ effect: 'allow', tools: ['ci.*'] }], budgets } },
  )
  await start(session)
  await expect.poll(() => works.of('main').asked.length).toBeGreaterThan(2)
  const ends = [...runtime.store.records({ kind: 'end' })].map(({ text }) => JSON.parse(text).spent)
  expect(ends[0]).toMatchObject({ calls: 1 })
  expect(Object.keys(ends[1] ?? {})).toEqual(['out'])
  expect(ends[1].out).toBeGreaterThan(0)
})

test('a job that survives is asked again by the next process that opens its session (NEXT-2)', async () => {
  const works = createWorks()
  const place = { store: { path: join(makeFolder(), 'store.db') } }
  const first = await open(works, { survives: true }, place)
  const kept = first.runtime.session({ id: 'nightly' })
  const job = await start(kept)
  await expect.poll(() => works.of('main').asked.length).toBeGreaterThan(0)
  await first.runtime.close()
  expect(works.of('main').stopped).toEqual([])
  const before = works.of('main').asked.length
  const second = await open(works, { survives: true }, place)
  const again = second.runtime.session({ id: 'nightly' })
  expect(again.jobs().map(({ id }) => id)).toEqual([job])
  await expect.poll(() => works.of('main').asked.length).toBeGreaterThan(before)
  works.of('main').news = () => ({ status: 'completed', result: { log: 'built' } })
  expect((await again.call('job.output', { id: job, wait_ms: 60_000 })).data).toMatchObject({
    job: { state: 'completed' },
    text: '{"log":"built"}\n',
  })
  expect(notes(second.runtime)).toHaveLength(1)
  await again.close({ forget: true })
})

test('to forget a session ends the jobs that would survive it (NEXT-2)', async () => {
  const works = createWorks()
  const { runtime } = await open(works, { survives: true })
  const session = runtime.session({ id: 'brief' })
  await start(session)
  await session.close({ forget: true })
  expect(works.of('main').stopped).toEqual(['the session was forgotten'])
})

test('while plan mode lasts a job waits, and a tool that is paused ends its jobs (NEXT-2)', async () => {
  const works = createWorks()
  const { runtime, session } = await open(works, {}, { tools: [buildTool(works), jobTools(), planTools()] })
  const job = await start(session)
  await session.call('plan.enter')
  expect(session.mode).toBe('plan')
  await expect
    .poll(
      () =>
        [...runtime.store.records({ kind: 'end' })].filter(({ text }) => text.includes('mode_denied')).length,
    )
    .toBeGreaterThan(0)
  expect(stateOf(session, job)).toBeUndefined()
  await runtime.setToolState('ci.build', 'paused', { by: 'ann', reason: 'maintenance' })
  await expect.poll(() => stateOf(session, job)).toBe('failed')
})

test('what a killed process left of a session without an id is told as over, and forgotten (NEXT-2)', async () => {
  const works = createWorks()
  const { runtime, session } = await open(works)
  const id = 'job_0'
  const left = {
    id,
    tool: 'ci.build',
    call: 'call_0',
    toolCallId: 'call_0',
    actor: 'user',
    role: 'main',
    title: 'x',
    input: {},
    startedAt: 1,
    staysOpen: false,
    writer: 'gone',
    phase: 'running',
    state: null,
    polls: 0,
    said: '',
  }
  await runtime.store.append([], {
    documents: [{ tenant: 'local', kind: 'job', group: 'ses_0', id, value: left }],
  })
  await start(session)
  expect(notes(runtime)).toMatchObject([{ session: 'ses_0', data: { job: id, how: 'interrupted' } }])
  await session.close()
  expect(runtime.store.documents({ tenant: 'local', kind: 'job' })).toEqual([])
})

test('a callback asks at once, once, and only with the signature of its job (NEXT-2)', async () => {
  const works = createWorks()
  const runtime = await openRuntime({
    tools: [
      defineLongTool({
        name: 'ci.build',
        description: 'Builds.',
        everyMs: 3_600_000,
        start(_, __, { callback }) {
          works.begin('x')
          works.callbacks.set('x', callback)
          return {}
        },
        poll: ({ callbacks }) =>
          callbacks.length > 0
            ? { status: 'completed', result: callbacks[0] as string }
            : { status: 'running' },
      }),
    ],
    policy: { rules: [{ effect: 'allow', tools: ['ci.*'] }] },
    callbacks: { url: 'https://hooks.example/jobs' },
    secrets: { token: 'very-secret-token' },
  })
  const result = runtime.session().call('ci.build', {}, { follow: true })
  await expect.poll(() => works.callbacks.get('x')).toBeDefined()
  const callback = works.callbacks.get('x')
  if (callback === undefined) throw new Error('There is no callback.')
  expect(callback.url).toMatch(/^https:\/\/hooks\.example\/jobs\/local\/job_/)
  const post = (secret: string, body = '"done very-secret-token"', method = 'POST') => {
    const timestamp = String(Math.floor(Date.now() / 1_000))
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    const signature = createHmac('sha256', key).update(`msg_1.${timestamp}.${body}`).digest('base64')
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${signature}`,
    }
    return runtime.receiveCallback(
      new Request(callback.url, { method, ...(method === 'POST' && { body, headers }) }),
    )
  }
  expect((await post(`whsec_${Buffer.alloc(32).toString('base64')}`)).status).toBe(400)
  expect((await post(callback.secret, '', 'GET')).status).toBe(405)
  expect((await post(callback.secret)).status).toBe(204)
  const { data, content } = await result
  expect(JSON.stringify([data, content])).toMatch(/done/)
  expect(JSON.stringify([data, content])).not.toMatch(/very-secret/)
  expect((await post(callback.secret)).status).toBe(410)
  expect(runtime.store.documents({ tenant: 'local', kind: 'job_callback' })).toEqual([])
})

/** A long tool that ends with the first callback, and hands over where its callback is. `say` is its result. */
function calledBack(callbacks: Map<string, JobCallback | undefined>, say: (callback: JobCallback) => string) {
  return defineLongTool({
    name: 'ci.build',
    description: 'Builds.',
    everyMs: 3_600_000,
    input: { type: 'object', properties: { branch: { type: 'string' } }, required: ['branch'] },
    start({ branch }, _, { callback }) {
      callbacks.set(branch, callback)
      return { branch }
    },
    poll({ state, callbacks: posted }) {
      const callback = callbacks.get((state as { branch: string }).branch)
      if (posted.length === 0 || callback === undefined) return { status: 'running' }
      return { status: 'completed', result: say(callback) }
    },
  })
}

/** Posts a callback, signed with a secret. */
function postTo(runtime: Runtime, url: string, secret: string) {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`msg_1.${timestamp}."news"`).digest('base64')
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  }
  return runtime.receiveCallback(new Request(url, { method: 'POST', body: '"news"', headers }))
}

test('the secret of a callback is redacted in every form, not only in that of a webhook (NEXT-2, CALL-9)', async () => {
  const callbacks = new Map<string, JobCallback | undefined>()
  const forms = ({ secret }: JobCallback): string[] => {
    const bare = secret.slice('whsec_'.length)
    return [secret, bare, Buffer.from(bare).toString('base64'), encodeURIComponent(bare)]
  }
  const runtime = await openRuntime({
    tools: [calledBack(callbacks, (callback) => forms(callback).join(' and '))],
    policy: allow,
    callbacks: { url: 'https://hooks.example/jobs' },
  })
  const called = runtime.session().call('ci.build', { branch: 'main' }, { follow: true })
  await expect.poll(() => callbacks.get('main')).toBeDefined()
  const callback = callbacks.get('main')
  if (callback === undefined) throw new Error('There is no callback.')
  expect((await postTo(runtime, callback.url, callback.secret)).status).toBe(204)
  const result = await called
  // The last letters of a Base64 text hang on what follows them.
  expect(resultText(result)).toMatch(
    /^\[redacted\] and \[redacted\] and \[redacted\]\S{0,4} and \[redacted\]$/,
  )
  const kept = [...runtime.store.records({})].map(({ text, body }) => `${text}${body ?? ''}`).join('\n')
  for (const form of forms(callback)) expect(kept).not.toContain(form)
})

test('jobs of two tenants do not meet, even under one id: each is called back at its own address alone (NEXT-2)', async () => {
  const callbacks = new Map<string, JobCallback | undefined>()
  const runtime = await openRuntime({
    tools: [calledBack(callbacks, () => 'built')],
    policy: { ...allow, tenants: { acme: {}, zeta: {} } },
    callbacks: { url: 'https://hooks.example/jobs' },
  })
  const of = (tenant: string) =>
    runtime.session({ tenant }).call('ci.build', { branch: tenant }, { follow: true })
  const acme = of('acme')
  const zeta = of('zeta')
  await expect.poll(() => callbacks.size).toBe(2)
  const [first, second] = [callbacks.get('acme'), callbacks.get('zeta')]
  if (first === undefined || second === undefined) throw new Error('There is no callback.')
  // The very id of the job of acme, at zeta.
  const [job] = runtime.store.documents({ tenant: 'acme', kind: 'job' })
  if (job === undefined) throw new Error('There is no job.')
  await runtime.store.append([], { documents: [{ ...job, tenant: 'zeta', group: 'ses_0', was: null }] })
  const twin = first.url.replace('/acme/', '/zeta/')
  expect((await postTo(runtime, twin, first.secret)).status).toBe(400)
  expect((await postTo(runtime, second.url, first.secret)).status).toBe(400)
  expect((await postTo(runtime, first.url.replace('/acme/', '/%E0/'), first.secret)).status).toBe(400)
  expect((await postTo(runtime, first.url, first.secret)).status).toBe(204)
  expect(await acme).toMatchObject({ ok: true })
  expect(runtime.store.documents({ tenant: 'zeta', kind: 'job_callback' })).toEqual([])
  expect((await postTo(runtime, second.url, second.secret)).status).toBe(204)
  expect(await zeta).toMatchObject({ ok: true })
})

test('a state with a secret in it is not kept: the call says so, and the work is ended (NEXT-2)', async () => {
  const stopped: string[] = []
  const tool = defineLongTool({
    name: 'ci.leak',
    description: 'Keeps a secret.',
    start: () => ({ token: 'very-secret-token' }),
    stop: ({ reason }) => void stopped.push(reason),
    poll: () => ({ status: 'running' }),
  })
  const runtime = await openRuntime({
    tools: [tool],
    policy: { rules: [{ effect: 'allow', tools: ['ci.*'] }] },
    secrets: { token: 'very-secret-token' },
  })
  const { error } = await runtime.session().call('ci.leak')
  expect(error).toMatchObject({ reason: 'invalid_state' })
  expect(stopped).toEqual(['what it is known by cannot be kept'])
  expect(JSON.stringify(runtime.store.documents({ tenant: 'local', kind: 'job' }))).not.toContain(
    'very-secret',
  )
})

test('a long tool is a part of a composition, which waits for its job (NEXT-1, NEXT-2)', async () => {
  const works = createWorks()
  const build = buildTool(works)
  const both = composeTools({
    name: 'ci.both',
    description: 'Builds and shows.',
    parts: { build: { tool: build, input: { branch: 'main' } } },
    output: { log: valueFrom('build', '/log') },
  })
  const runtime = await openRuntime({ tools: [build, both], policy: allow })
  const result = runtime.session().call('ci.both')
  await expect.poll(() => works.size && works.of('main').asked.length).toBeGreaterThan(0)
  works.of('main').news = () => ({ status: 'completed', result: { log: 'built' } })
  expect((await result).data).toEqual({ log: 'built' })
})

test('a session is closed although the start of a job does not end (NEXT-2)', async () => {
  const works = createWorks()
  const { session } = await open(works, { cutOff: () => true }, { limits: { abortGraceMs: 1 } })
  const call = session.call('ci.build', { branch: 'main' })
  await expect.poll(() => works.size).toBe(1)
  await session.close()
  expect((await call).ok).toBe(false)
})
