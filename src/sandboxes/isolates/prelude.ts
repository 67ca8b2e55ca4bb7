/**
 * What stands in an isolate before its program does, as the text of an expression: a function that takes what the thread hands in, and returns what
 * starts the program and what settles its calls. Everything that it uses later it takes at its start, so that a program that changes built-in
 * objects changes its own world alone.
 */
export const prelude = String.raw`(host, now, seed) => {
  'use strict'
  const { parse, stringify } = JSON
  const { apply, construct, ownKeys } = Reflect
  const { freeze, defineProperty } = Object
  const PlainPromise = Promise, PlainError = Error, PlainDate = Date, PlainProxy = Proxy, text = String
  const { call, print, ended, failed } = host
  const slice = (value, length) => apply(''.slice, value, [0, length])
  const replaced = (target, name, value) =>
    defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false })

  let [a, b, c, d] = seed
  replaced(Math, 'random', () => {
    const t = (a + b + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t | 0
    return (t >>> 0) / 4294967296
  })
  const clock = new PlainProxy(PlainDate, {
    construct: (target, given, wanted) => construct(target, given.length === 0 ? [now] : given, wanted),
    apply: () => new clock().toString(),
  })
  replaced(PlainDate, 'now', () => now)
  replaced(PlainDate.prototype, 'constructor', clock)
  replaced(globalThis, 'Date', clock)
  for (const name of ['WeakRef', 'FinalizationRegistry', 'SharedArrayBuffer', 'Atomics']) delete globalThis[name]

  class ToolError extends PlainError {
    constructor(fields, stack) {
      super(fields.message)
      for (const key of ownKeys(fields))
        defineProperty(this, key, { value: fields[key], writable: true, configurable: true, enumerable: true })
      replaced(this, 'name', 'ToolError')
      replaced(this, 'stack', stack)
    }
  }
  replaced(globalThis, 'ToolError', ToolError)

  // Without a prototype, so that nothing a program puts there is found.
  let open = { __proto__: null }
  const toolCall = (name) => (input = {}) => new PlainPromise((resolve, reject) => {
    const json = stringify(input)
    if (json === undefined) throw new TypeError('The input of a tool is an object, such as { path: "notes.md" }.')
    const refused = parse(call(stringify(name), json))
    const { stack } = new PlainError('')
    if (typeof refused === 'number') open[refused] = { __proto__: null, resolve, reject, stack }
    else reject(new ToolError(refused, stack))
  })
  replaced(globalThis, 'tools', new PlainProxy(freeze({ __proto__: null }), {
    get: (_, name) => (typeof name === 'string' && name !== 'then' ? toolCall(name) : undefined),
  }))

  const shown = (value) => {
    if (typeof value === 'string') return value
    try {
      if (value instanceof PlainError) return text(value.name) + ': ' + text(value.message)
      return stringify(value) ?? text(value)
    } catch {
      return '[a value that cannot be shown]'
    }
  }
  const log = (...values) => {
    let line = ''
    for (let index = 0; index < values.length; index++) {
      line += (index === 0 ? '' : ' ') + slice(shown(values[index]), 65536)
      if (line.length > 65536) break
    }
    print(stringify(slice(line, 65536)))
  }
  replaced(globalThis, 'console', freeze({ __proto__: null, log, info: log, warn: log, error: log, debug: log }))

  const describe = (thrown) => {
    try {
      if (thrown instanceof PlainError) {
        const { name, message, stack } = thrown
        return stringify([slice(text(name), 200), slice(text(message), 4000), slice(text(stack), 8000)])
      }
      return stringify(['Error', 'The program threw ' + slice(shown(thrown), 4000), ''])
    } catch {
      return '["Error","The program threw a value that cannot be shown.",""]'
    }
  }
  const start = async (main) => {
    try {
      const returned = await main()
      if (returned === undefined) return ended('')
      const json = stringify(returned)
      ended(json === undefined ? '' : json)
    } catch (thrown) {
      failed(describe(thrown))
    }
  }
  const settle = (json) => {
    const replies = parse(json)
    for (let index = 0; index < replies.length; index++) {
      const { id, ok, value, error } = replies[index]
      const { resolve, reject, stack } = open[id]
      delete open[id]
      if (ok) resolve(value)
      else reject(new ToolError(error, stack))
    }
  }
  return { __proto__: null, start, settle }
}`
