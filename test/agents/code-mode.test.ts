import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRuntime, defineTool } from 'handrail'
import { delegationTools } from 'handrail/agents'
import { verifyEvidence, type BeginRecord } from 'handrail/evidence'
import { replayRun } from 'handrail/replay'
import { codeModeTools, composeTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace } from '../support/command-line.ts'
import { keepOpen } from '../support/at-end.ts'
import { modelSaying, toldResults } from '../support/mock-model.ts'
import { openPrograms, returnedBy, runCode } from './open-programs.ts'

const allowAll = { rules: [{ effect: 'allow' as const, tools: ['shop.*'] }] }

const shop = keepOpen(async () => {
  const open = await openPrograms({ policy: allowAll })
  return { ...open, session: open.runtime.session({ id: 'shop' }) }
})

test('a program calls tools and returns JSON; what it prints is shown (NEXT-5)', async () => {
  const { session } = shop()
  const result = await runCode(
    session,
    `interface Found { n: number }
    const found: Found[] = []
    for (let n = 1; n <= 3; n++) found.push(await tools.shop__look({ n }))
    console.log('found', found)
    return { sum: found.reduce((sum, { n }) => sum + n, 0), text: await tools.shop__note({ n: 4 }) }`,
  )
  expect(result.data).toEqual({
    returned: { sum: 6, text: 'noted 4' },
    printed: 'found [{"n":1},{"n":2},{"n":3}]',
    calls: 4,
  })
})

test('calls that are made together are one turn: reads run together, writes alone (NEXT-5, EXEC-1)', async () => {
  const { did, session } = shop()
  did.length = 0
  await runCode(
    session,
    'await Promise.all([tools.shop__look({ n: 1 }), tools.shop__look({ n: 2 }), tools.shop__note({ n: 3 }), tools.shop__look({ n: 4 })])',
  )
  expect(did).toEqual(['look 1', 'look 2', 'looked 1', 'looked 2', 'note 3', 'look 4', 'looked 4'])
})

test('what a tool fails with is an error that the program catches, with code, reason and issues (NEXT-5, ERR-1)', async () => {
  const { session } = shop()
  const result = await runCode(
    session,
    `try { await tools.shop__look({ n: 'x' }) } catch (error) {
      return [error instanceof ToolError, error.name, error.tool, error.code, error.reason, error.issues[0].pointer]
    }`,
  )
  expect(returnedBy(result)).toEqual([
    true,
    'ToolError',
    'shop.look',
    'SCHEMA.VALIDATION_FAILED',
    'invalid_input',
    '/n',
  ])
})

test.each([
  ['const a = 1\nconst b: = 2', 'syntax', 2],
  ['\nenum A { B }', 'syntax', 2],
  ['const a = 1\nif (a) {', 'syntax', 2],
  ['const a = [1,', 'syntax', 1],
  ['const a: number = 1\nconst b = `x', 'syntax', 2],
  ['\n\nthrow new TypeError("wrong")', 'thrown', 3],
  ['\nawait tools.shop__look({})', 'thrown', 2],
  ['await new Promise(() => undefined)', 'stuck', undefined],
])('%j fails with its line (NEXT-5)', async (code, fault, line) => {
  const { session } = shop()
  const { error } = await runCode(session, code)
  expect([error?.reason, error?.data]).toEqual([
    'program_failed',
    { fault, calls: expect.any(Number), ...(line !== undefined && { line }) },
  ])
})

test('each call of a program is recorded with the call that ran the program (NEXT-5, EVID-1)', async () => {
  const { runtime, session } = shop()
  const result = await runCode(session, 'return await tools.shop__look({ n: 9 })')
  const begins = [
    ...runtime.store.records({ session: session.id, kind: 'begin', newestFirst: true, limit: 2 }),
  ]
  const [inner, outer] = begins.map(({ text }) => JSON.parse(text) as BeginRecord)
  expect([outer?.call, outer?.tool, outer?.partOf]).toEqual([result.callId, 'code_mode.run', undefined])
  expect([inner?.tool, inner?.partOf]).toEqual(['shop.look', { call: result.callId, part: '1' }])
})

test('a program cannot run programs through a composition either (NEXT-5, NEXT-4)', async () => {
  const inner = codeModeTools()
    .list()
    .find(({ definition }) => definition.name === 'code_mode.run')
  if (inner === undefined) throw new Error('There is no code_mode.run.')
  const nested = composeTools({
    name: 'shop.nested',
    description: 'Runs a program.',
    parts: { one: { tool: inner, input: { code: 'return 1' } } },
  })
  const { runtime } = await openPrograms({ tools: [nested] })
  const session = runtime.session()
  expect(await session.call('shop.nested')).toMatchObject({ ok: true, data: { returned: 1 } })
  const { error } = await runCode(session, 'return await tools.shop__nested()')
  expect(error?.message).toContain('A program cannot start another program')
})

test('undo of a program takes back what all of its calls did (NEXT-5)', async () => {
  const place = makePlace(
    { 'a.txt': 'old' },
    {
      'config.json': { toolGroups: ['code_mode'], sandbox: 'host' },
      'policy.json': { rules: [{ effect: 'allow', tools: ['code.write_file', 'code.edit_file'] }] },
    },
  )
  const code =
    'await tools.code__write_file({ path: "a.txt", content: "new", overwrite: true }); await tools.code__write_file({ path: "b.txt", content: "b" })'
  const ran = jsonOf<{ call_id: string }>(
    await handrail(place, ['call', 'code_mode.run', JSON.stringify({ code }), '--json']),
  )
  expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe('new')
  const { code: exit } = await handrail(place, ['undo', ran.call_id, '--yes'])
  expect(exit).toBe(0)
  expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe('old')
  expect(existsSync(join(place.project, 'b.txt'))).toBe(false)
})

test('a program cannot run programs, nor call what its session may not (NEXT-5, POOL-4)', async () => {
  const { runtime } = shop()
  const code =
    'const tries = [() => tools.code_mode__run({ code: "return 1" }), () => tools.shop__note({ n: 1 })]; const said = []; for (const call of tries) try { await call(); said.push("ok") } catch (error) { said.push(error.reason) }; return said'
  const reader = runtime.session({ disallowedTools: ['shop.note'] })
  expect(returnedBy(await runCode(reader, code))).toEqual(['nested_program', 'tool_not_available'])
  const planning = runtime.session({ mode: 'plan' })
  expect(returnedBy(await runCode(planning, code))).toEqual(['nested_program', 'mode_denied'])
  const child = runtime.session({ parent: reader, allowedTools: ['code_mode.*', 'shop.*'] })
  expect(returnedBy(await runCode(child, code))).toEqual(['nested_program', 'tool_not_available'])
})

test('declarations are the same text for the same tools, and name each tool in its own way (NEXT-5)', async () => {
  const tools = ['a.b', 'a.b__c', 'a.b.c', 'a.b-c', 'z.last'].map((name) =>
    defineTool({
      name,
      description: `Says */ ${name}.`,
      permission: 'readonly',
      input: {
        type: 'object',
        properties: {
          'odd name': { type: 'string', description: 'Any */ one' },
          kind: { enum: ['x', 'y'] },
          of: { type: 'array', items: { $ref: '#/$defs/part' } },
        },
        required: ['kind'],
        $defs: { part: { type: 'object', properties: { deep: { type: ['number', 'null'] } } } },
      },
      run: () => name,
    }),
  )
  const one = await openPrograms({ tools })
  const other = await openPrograms({ tools: tools.toReversed() })
  const declare = async ({ runtime: of }: typeof one) =>
    (await of.session().call('code_mode.declarations', { tools: ['a*'] })).data
  const { declarations } = (await declare(one)) as { declarations: string }
  expect(await declare(other)).toEqual({ declarations })
  expect(declarations).toContain(`  /** a.b: Says * / a.b. */
  a__b(input: {
    kind: "x" | "y"
    /** Any * / one */
    "odd name"?: string
    of?: Array<{
      deep?: number | null
    }>
  }): Promise<any>`)
  const names = [...declarations.matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name ?? '')
  expect(new Set(names).size).toBe(4)
  const said = await runCode(
    one.runtime.session(),
    `return [${names.map((name) => `await tools.${name}({ kind: 'x' })`).join()}]`,
  )
  expect((returnedBy(said) as string[]).toSorted()).toEqual(['a.b', 'a.b-c', 'a.b.c', 'a.b__c'])
})

test('a program sees what a model would see: obligations and secrets hold before it does (NEXT-5, OUT-1)', async () => {
  const card = defineTool({
    name: 'shop.card',
    description: 'Shows a card.',
    permission: 'readonly',
    input: { type: 'object', properties: {} },
    output: {
      type: 'object',
      properties: { card: { type: 'string', 'x-classification': 'pii' }, key: { type: 'string' } },
    },
    run: () => ({ card: '4111', key: 'sk-very-secret-1' }),
  })
  const masked = await openPrograms({
    tools: [card],
    secrets: { key: 'sk-very-secret-1' },
    policy: { obligations: [{ id: 'pii', action: 'mask', classifications: ['pii'] }] },
  })
  const result = await runCode(
    masked.runtime.session(),
    'const { key, card } = await tools.shop__card(); return [key.includes("secret"), card.includes("4111")]',
  )
  expect(returnedBy(result)).toEqual([false, false])
  expect(JSON.stringify(result)).not.toContain('sk-very-secret-1')
})

test('a program that waits goes on after the decision, in another process too, and repeats no call (NEXT-5, APPR-1)', async () => {
  const asking = await openPrograms()
  const code =
    'const { n } = await tools.shop__look({ n: 7 }); const drawn = [Math.random(), Date.now()]; await tools.shop__note({ n }); try { await tools.shop__note({ n: n + 1 }) } catch (error) { drawn.push(error.reason) }; return [...drawn, await tools.shop__note({ n: n + 2 })]'
  const call = { id: 'call_0', tool: 'code_mode.run', input: { code } }
  const first = asking.runtime.session({ id: 'thread' })
  let step = await first.step([call])
  expect(step.waiting.map(({ approval }) => approval.request.tool)).toEqual(['shop.note'])
  await asking.runtime.close()
  for (const decision of ['allow_once', 'deny', 'allow_once'] as const) {
    const again = await asking.open()
    const [waiting] = again.approvals.list()
    await again.approvals.decide(waiting?.id ?? '', { decision, by: 'ann' })
    step = await again.session({ id: 'thread' }).resume(JSON.parse(JSON.stringify(step)))
    if (decision === 'deny') expect(step.waiting).toHaveLength(1)
    await again.close()
  }
  const [result] = step.results
  expect(returnedBy(result as never)).toEqual([expect.any(Number), expect.any(Number), 'denied', 'noted 9'])
  expect(asking.did).toEqual(['look 7', 'looked 7', 'note 7', 'note 9'])
  // The same program in the same session is a new one now.
  const after = await asking.open()
  const next = await after.session({ id: 'thread' }).step([call])
  expect([next.waiting.length, asking.did.length]).toEqual([1, 6])
  expect(verifyEvidence(after.store)).toMatchObject({ ok: true })
})

test('several calls that ask at a time wait together, and each is asked about once (NEXT-5, APPR-1)', async () => {
  const asking = await openPrograms()
  const of = asking.runtime.session({ id: 'thread' })
  const code = 'return await Promise.all([1, 2].map((n) => tools.shop__note({ n })))'
  let step = await of.step([{ id: 'a', tool: 'code_mode.run', input: { code } }])
  const waiting = asking.runtime.approvals.list()
  expect(waiting).toHaveLength(2)
  for (const { id } of waiting)
    await asking.runtime.approvals.decide(id, { decision: 'allow_once', by: 'ann' })
  step = await of.resume(step)
  expect(returnedBy(step.results[0] as never)).toEqual(['noted 1', 'noted 2'])
  expect(asking.did).toEqual(['note 1', 'note 2'])
})

test('a call with an approver stands while the person is asked about a call of its program (NEXT-5, APPR-1)', async () => {
  const asked: string[] = []
  const asking = await openPrograms({
    approve: async ({ tool }) => {
      asked.push(tool)
      return { decision: 'allow_for_session' as const }
    },
  })
  const of = asking.runtime.session()
  const code =
    'return [await tools.shop__note({ n: 1 }), await tools.shop__note({ n: 1 }), await tools.shop__look({ n: 2 })]'
  expect(returnedBy(await runCode(of, code))).toEqual(['noted 1', 'noted 1', { n: 2 }])
  expect(asked).toEqual(['shop.note'])
})

test('a program that waits under another policy is not told what was decided under the old one (NEXT-5, POL-1)', async () => {
  const asking = await openPrograms()
  const of = asking.runtime.session({ id: 'thread' })
  const code = 'await tools.shop__look({ n: 1 }); return await tools.shop__note({ n: 2 })'
  const step = await of.step([{ id: 'a', tool: 'code_mode.run', input: { code } }])
  await asking.runtime.reload({ policy: { rules: [{ effect: 'allow', tools: ['shop.*'] }] } })
  const [waiting] = asking.runtime.approvals.list()
  await asking.runtime.approvals.decide(waiting?.id ?? '', { decision: 'allow_once', by: 'ann' })
  const next = await of.resume(step)
  expect(next.results[0]?.error?.reason).toBe('program_stale')
  expect(asking.did).toEqual(['look 1', 'looked 1'])
})

test('an abort ends a program that computes at once, and one whose call runs (NEXT-5, EXEC-4)', async () => {
  const held = Promise.withResolvers<void>()
  const slow = defineTool({
    name: 'shop.slow',
    description: 'Waits.',
    permission: 'readonly',
    input: { type: 'object', properties: {} },
    run: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
        held.resolve()
      }),
  })
  const slowly = await openPrograms({ tools: [slow] })
  const of = slowly.runtime.session()
  const calling = of.turn([{ id: 'a', tool: 'code_mode.run', input: { code: 'await tools.shop__slow()' } }])
  await held.promise
  expect(of.abort('a', 'enough')).toBe(true)
  expect((await calling).results[0]?.outcome).toBe('aborted')
  const computing = new AbortController()
  const looping = of.call('code_mode.run', { code: 'for (;;) {}' }, { signal: computing.signal })
  setTimeout(() => computing.abort(), 50)
  expect((await looping).outcome).toBe('aborted')
})

test('calls of a program count against budgets and limits of the session, and the program is told (NEXT-5, BUD-1)', async () => {
  const few = await openPrograms({
    policy: { budgets: [{ id: 'looks', unit: 'calls', limit: 2, each: [], tools: ['shop.look'] }] },
  })
  const code =
    'const said = []; for (let n = 0; n < 3; n++) try { said.push((await tools.shop__look({ n })).n) } catch (error) { said.push(error.code) }; return said'
  expect(returnedBy(await runCode(few.runtime.session(), code))).toEqual([0, 1, 'QUOTA.BUDGET_EXCEEDED'])
})

test('a program of a run waits and goes on with the run, and the run is replayed (NEXT-5, AGENT-3, EVID-3)', async () => {
  const asking = await openPrograms({ tools: [delegationTools()] })
  const code = 'const { n } = await tools.shop__look({ n: 1 }); return await tools.shop__note({ n })'
  const saying = () =>
    modelSaying([{ calls: [{ tool: 'code_mode__run', input: { code } }] }, { text: 'Done.' }])
  const { model } = saying()
  const waiting = await (await asking.runtime.run({ model, prompt: 'Go.' })).result
  expect(waiting.endReason).toBe('approval_pending')
  await asking.runtime.close()
  const again = await asking.open()
  await again.approvals.decide(waiting.waiting[0]?.id ?? '', { decision: 'allow_once', by: 'ann' })
  const { model: other, asked } = modelSaying([{ text: 'Done.' }])
  const ended = await (await again.run({ model: other, resume: waiting.id })).result
  expect([ended.endReason, ended.text]).toEqual(['completed', 'Done.'])
  expect(toldResults(asked[0] ?? { prompt: [] }).join()).toContain('noted 1')
  expect(asking.did).toEqual(['look 1', 'looked 1', 'note 1'])
  const replayed = await replayRun({ store: again.store, session: ended.session, runtime: asking.options })
  expect(replayed).toMatchObject({ calls: expect.any(Number), divergence: undefined })
  expect(asking.did).toHaveLength(3)
})

test('the clock and the random numbers of a program say nothing of the machine (NEXT-5)', async () => {
  const { session } = shop()
  const runtimeOf = await createRuntime({ store: 'memory' })
  await runtimeOf.close()
  const code =
    'const at = Date.now(); for (let n = 0; n < 1e5; n++); return [Date.now() - at, new Date().getTime() - at, new (new Date(0).constructor)().getTime() - at, new Date(2020, 6, 1).getTimezoneOffset(), typeof performance]'
  expect(returnedBy(await runCode(session, code))).toEqual([0, 0, 0, 0, 'undefined'])
})
