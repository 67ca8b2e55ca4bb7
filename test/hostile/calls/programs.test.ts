import { setTimeout as sleep } from 'node:timers/promises'
import { createRuntime, defineTool } from 'handrail'
import { codeModeTools } from 'handrail/tools'
import { describe, expect, test } from 'vitest'
import { keepOpen } from '../../support/at-end.ts'
import { openPrograms, returnedBy, runCode } from '../../agents/open-programs.ts'

const openShop = async (computeMs: number) => {
  const open = await openPrograms(
    { policy: { rules: [{ effect: 'allow', tools: ['shop.*'] }] } },
    { computeMs, memoryMb: 16, calls: 100 },
  )
  return { ...open, session: open.runtime.session() }
}

/** Where programs end by themselves, however busy the machine is. */
const shop = keepOpen(() => openShop(60_000))
const hastyShop = keepOpen(() => openShop(1_000))

describe('a program reaches nothing but tools', () => {
  test('there is nothing of the host in it (NEXT-5)', async () => {
    const names =
      'process require module fetch setTimeout setInterval queueMicrotask structuredClone performance navigator crypto WebAssembly XMLHttpRequest Worker SharedArrayBuffer Atomics WeakRef FinalizationRegistry std os Deno Bun global window self'
    const result = await runCode(
      shop().session,
      `return ${JSON.stringify(names.split(' '))}.filter((name) => { try { return (0, eval)('typeof ' + name) !== 'undefined' } catch { return false } })`,
    )
    expect(returnedBy(result)).toEqual([])
  })

  test.each([
    [
      'a constructor of a constructor',
      'return tools.shop__look.constructor.constructor("return typeof process")()',
    ],
    [
      'that of an error',
      'try { await tools.shop__look({}) } catch (e) { return e.constructor.constructor("return typeof process")() }',
    ],
    [
      'that of a promise',
      'return tools.shop__look({ n: 1 }).constructor.constructor("return typeof process")()',
    ],
    ['that of console', 'return console.log.constructor("return typeof process")()'],
    ['that of a generator', 'return (function* () {}).constructor("yield typeof process")().next().value'],
    ['a text that is evaluated', 'return (0, eval)("typeof process")'],
    [
      'the end of the function that it stands in',
      '}); globalThis.found = typeof process; (async () => { return found',
    ],
    [
      'the stack of an error',
      'Error.prepareStackTrace = (_, frames) => frames; const { stack } = new Error(""); return typeof stack === "string" && !/node|file:|\\/work|src\\//.test(stack) ? "undefined" : String(stack)',
    ],
    [
      'the callers of a function',
      'function f() { return f.caller } try { return String(f()?.constructor("return typeof process")()) } catch { return "undefined" }',
    ],
  ])('%s leads to nothing', async (_, code) => {
    expect(returnedBy(await runCode(shop().session, code))).toBe('undefined')
  })

  test.each([
    'await import("node:fs")',
    'await import("./x.js")',
    'await import("data:text/javascript,export default 1")',
  ])('%s fails', async (code) => {
    expect((await runCode(shop().session, code)).error?.reason).toBe('program_failed')
  })

  test('an error says nothing of the paths and the stack of the host (JS-12)', async () => {
    const codes = [
      'null.x',
      'throw new Error("x")',
      'const a = ;',
      'enum A {}',
      'await tools.shop__look()',
      'await import("fs")',
    ]
    for (const code of codes) {
      const result = await runCode(shop().session, code)
      expect(result.ok).toBe(false)
      expect(JSON.stringify(result)).not.toMatch(/node:|node_modules|file:\/\/|\/src\/|\.ts\b|prelude|dist\//)
    }
  })
})

describe('a program ends within its bounds', () => {
  test.each([
    [
      'a text of 50 GB',
      'let all = ""; for (let n = 0; n < 50; n++) all += new Array(1e8).join("a"); return all.length',
    ],
    ['lists without an end', 'const all = []; for (;;) all.push(new Array(1e6).fill(1))'],
    ['a buffer of 1 GB', 'return new Uint8Array(2 ** 30).length'],
  ])('%s takes more memory than it may (JS-04)', async (_, code) => {
    const { error } = await runCode(hastyShop().session, code)
    expect(['program_limit', 'program_failed']).toContain(error?.reason)
    expect(returnedBy(await runCode(hastyShop().session, 'return 1'))).toBe(1)
  })

  test('calls without an end are refused behind the most (JS-09)', async () => {
    const { did, session } = shop()
    did.length = 0
    const { error } = await runCode(session, 'for (let n = 0; ; n++) await tools.shop__look({ n })')
    expect(error?.message).toContain('A program may make 100 calls')
    expect(did.filter((each) => each.startsWith('look '))).toHaveLength(100)
  })

  test('calls that are not waited for are refused behind the most, and none runs twice (JS-09)', async () => {
    const { did, session } = shop()
    did.length = 0
    const code =
      'const all = []; for (let n = 0; n < 600; n++) all.push(tools.shop__note({ n }).catch((error) => error.reason)); const said = await Promise.all(all); return said.filter((each) => each === "program_calls").length'
    expect(returnedBy(await runCode(session, code))).toBe(500)
    expect(new Set(did).size).toBe(100)
  })

  test.each([
    ['recursion', 'const f = () => f() + 1; return f()'],
    ['a deep value', 'let deep = []; for (let n = 0; n < 1e5; n++) deep = [deep]; return deep'],
    ['deep JSON', 'return JSON.parse("[".repeat(1e6))'],
    ['a deep text of a program', 'return eval("(".repeat(1e6))'],
    ['a deep pattern', 'return new RegExp("(".repeat(1e6) + ")".repeat(1e6))'],
    ['a large value', 'return "x".repeat(1e6)'],
    ['a value that contains itself', 'const own = {}; own.own = own; return own'],
    ['a value of another kind', 'return 10n'],
    ['an input that is no JSON', 'await tools.shop__look(() => 1)'],
    ['an input with a getter that throws', 'await tools.shop__look({ get n() { throw 1 } })'],
    ['a large input', 'await tools.shop__look({ n: "x".repeat(2e6) })'],
    ['an error that throws', 'throw { get message() { throw 1 }, toString() { throw 2 } }'],
    ['a proxy that throws', 'throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })'],
  ])('%s fails, and the next program runs', async (_, code) => {
    const { session } = shop()
    expect((await runCode(session, code)).error?.reason).toMatch(/^program_/)
    expect(returnedBy(await runCode(session, 'return 1'))).toBe(1)
  })

  test('what it prints is cut, and says so', async () => {
    const result = await runCode(
      shop().session,
      'console.log({ get x() { throw 1 } }, "x".repeat(1e6)); for (let n = 0; n < 20; n++) console.log("y".repeat(1e4))',
    )
    const { printed } = result.data as { printed: string }
    expect(printed.length).toBeLessThan(66_000)
    expect(printed).toMatch(/more characters were printed$/)
  })

  test('built-in objects that it changes are its own alone, and none of its calls is another one (NEXT-5)', async () => {
    const { did, session } = shop()
    did.length = 0
    const code = `
      const evil = () => ({ n: 666 })
      Object.prototype.toJSON = undefined
      for (const name of ['then', 'catch']) Promise.prototype[name] = evil
      JSON.stringify = evil; JSON.parse = evil; Array.prototype.push = evil; Reflect.apply = evil
      Object.prototype.resolve = evil; Object.prototype.ok = true; Object.defineProperty = evil
      globalThis.Promise = evil; globalThis.Error = evil; String.prototype.slice = evil
      return await tools.shop__look({ n: 5 })`
    expect(returnedBy(await runCode(session, code))).toEqual({ n: 5 })
    expect(did).toEqual(['look 5', 'looked 5'])
    expect(returnedBy(await runCode(session, 'return [({}).resolve, typeof JSON.parse("{}")]'))).toEqual([
      null,
      'object',
    ])
  })

  test('names of tools from a program mean tools alone', async () => {
    const code =
      'const said = []; for (const name of ["__proto__", "constructor", "toString", "", "shop..look", "shop__look\\u0000", "x".repeat(1e5)]) try { await tools[name]({ n: 1 }); said.push(name) } catch (error) { said.push(error.reason) } return said'
    const result = await runCode(shop().session, code)
    expect(new Set(returnedBy(result) as string[])).toEqual(new Set(['tool_not_available', 'invalid_call']))
  })

  test('an input that names a prototype stays an input', async () => {
    const code =
      'try { return await tools.shop__look(JSON.parse(\'{"__proto__": {"n": 1}}\')) } catch (error) { return error.reason }'
    expect(returnedBy(await runCode(shop().session, code))).toBe('invalid_input')
    expect(({} as { n?: number }).n).toBeUndefined()
  })
})

const endless = [
  ['a loop', 'for (;;) {}'],
  ['a pattern that backtracks', 'return /^(a+)+$/.test("a".repeat(50) + "b")'],
  [
    'promises without an end',
    'const again = () => Promise.resolve().then(again); await again(); await new Promise(again)',
  ],
  ['a loop in what it returns', 'return new Proxy({}, { ownKeys() { for (;;); } })'],
  ['a loop in what it throws', 'throw { get message() { for (;;); }, toString() { for (;;); } }'],
  ['a loop whose end it catches', 'for (;;) try { await new Promise(() => { for (;;); }) } catch {}'],
  ['a flood of calls', 'for (;;) tools.shop__look({ n: 1 })'],
  [
    'sorting without an end',
    'const all = Array.from({ length: 1e6 }, (_, n) => n); for (;;) all.sort(() => 0)',
  ],
] as const

test('programs that compute without an end are ended, and the process goes on beside them (NEXT-5, JS-04)', async () => {
  const { session } = hastyShop()
  await runCode(session, 'return 1')
  const ending = new AbortController()
  const running = endless.map(([, code]) =>
    session.call('code_mode.run', { code }, { signal: ending.signal }),
  )
  expect((await session.call('shop.look', { n: 1 })).ok).toBe(true)
  ending.abort()
  const ended = await Promise.all(running)
  for (const { outcome, error } of ended)
    expect([outcome, error?.reason]).toSatisfy(
      ([how, why]) => how === 'aborted' || why === 'program_limit' || why === 'program_failed',
    )
  expect(returnedBy(await runCode(session, 'return 1'))).toBe(1)
})

test('a loop is ended without an abort, with what it had printed (NEXT-5, JS-04)', async () => {
  const { error } = await runCode(hastyShop().session, 'console.log("here"); for (;;) {}')
  expect([error?.reason, error?.data?.['fault']]).toEqual(['program_limit', 'time'])
  expect(error?.message).toContain('here')
})

test('programs of two tenants never meet, nor do two programs of one (NEXT-5, TEN-1)', async () => {
  const whose = defineTool({
    name: 'shop.whose',
    description: 'Says whose it is.',
    permission: 'readonly',
    input: { type: 'object', properties: {} },
    run: (_, { principal }) => principal.tenant,
  })
  const runtime = await createRuntime({
    store: 'memory',
    tools: [whose, codeModeTools()],
    policy: { tenants: { acme: {}, other: {} } },
  })
  const leave =
    'globalThis.left = "secret of acme"; Object.prototype.left = "secret"; Math.left = 1; return await tools.shop__whose()'
  const look =
    'await tools.shop__whose(); return [typeof left, typeof ({}).left, typeof Math.left, await tools.shop__whose()]'
  expect(returnedBy(await runCode(runtime.session({ tenant: 'acme' }), leave))).toBe('acme')
  for (const tenant of ['acme', 'other'])
    expect(returnedBy(await runCode(runtime.session({ tenant }), look))).toEqual([
      'undefined',
      'undefined',
      'undefined',
      tenant,
    ])
  await sleep(0)
  await runtime.close()
})
