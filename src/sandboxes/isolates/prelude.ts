/**
 * What stands in an isolate before its program does, as the text of an expression: a function that takes the clock, the seed and the bounds as JSON
 * text, and returns what starts the program, what settles its calls, what takes those that it made, and what says how it ended. Everything that it uses later it takes at its
 * start, so that a program that changes built-in objects changes its own world alone. What they return is JSON text that is put together here: what stands in
 * it, no setter and no `toJSON` of the program sees.
 */
export const prelude = String.raw`(given) => {
  'use strict'
  const { parse, stringify } = JSON
  const { apply, construct, ownKeys } = Reflect
  const { freeze, defineProperty } = Object
  const PlainPromise = Promise, PlainError = Error, PlainDate = Date, PlainProxy = Proxy, text = String
  const { now, seed, mostCalls, mostInput, mostPrinted, mostReturned } = parse(given)
  const { slice: cut } = text.prototype
  const slice = (value, length) => apply(cut, value, [0, length])
  const replaced = (target, name, value) =>
    defineProperty(target, name, { __proto__: null, value, writable: true, configurable: true, enumerable: false })

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
    __proto__: null,
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
      const keys = ownKeys(fields)
      for (let index = 0; index < keys.length; index++)
        defineProperty(this, keys[index], {
          __proto__: null, value: fields[keys[index]], writable: true, configurable: true, enumerable: true,
        })
      replaced(this, 'name', 'ToolError')
      replaced(this, 'stack', stack)
    }
  }
  replaced(globalThis, 'ToolError', ToolError)

  // Without a prototype, so that nothing a program puts there is found.
  const open = { __proto__: null }
  let made = 0, answered = 0, calls = '', printed = '', unprinted = 0, end = ''
  const toolCall = (name) => (input = {}) => {
    const { stack } = new PlainError('')
    return new PlainPromise((resolve, reject) => {
      const json = stringify(input)
      if (json === undefined) throw new TypeError('The input of a tool is an object, such as { path: "notes.md" }.')
      if (made >= mostCalls)
        return reject(new ToolError({
          code: 'QUOTA.BUDGET_EXCEEDED',
          reason: 'program_calls',
          message: 'A program may make ' + mostCalls + ' calls, and this one has. Return what it found, and go on in another program.',
        }, stack))
      if (json.length > mostInput)
        return reject(new ToolError({
          code: 'SCHEMA.VALIDATION_FAILED',
          reason: 'input_too_large',
          message: 'The input of "' + slice(name, 200) + '" has ' + json.length + ' characters as JSON, and a program hands over ' + mostInput + ' at most.',
        }, stack))
      calls += (calls === '' ? '[' : ',') + '[' + stringify(slice(name, 300)) + ',' + stringify(json) + ']'
      open[made++] = { __proto__: null, resolve, reject, stack }
    })
  }
  replaced(globalThis, 'tools', new PlainProxy(freeze({ __proto__: null }), {
    __proto__: null,
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
    line = printed === '' ? line : '\n' + line
    const left = mostPrinted - printed.length
    printed += slice(line, left)
    if (line.length > left) unprinted += line.length - left
  }
  replaced(globalThis, 'console', freeze({ __proto__: null, log, info: log, warn: log, error: log, debug: log }))

  const triple = (name, message, stack) => '[' + stringify(name) + ',' + stringify(message) + ',' + stringify(stack) + ']'
  const describe = (thrown) => {
    try {
      if (thrown instanceof PlainError) {
        const { name, message, stack } = thrown
        return triple(slice(text(name), 200), slice(text(message), 4000), slice(text(stack), 8000))
      }
      return triple('Error', 'The program threw ' + slice(shown(thrown), 4000), '')
    } catch {
      return '["Error","The program threw a value that cannot be shown.",""]'
    }
  }
  const start = async (main) => {
    try {
      const returned = await main()
      const json = returned === undefined ? undefined : stringify(returned)
      if (json === undefined) end = '{}'
      else if (json.length > mostReturned) end = '{"tooLong":' + json.length + '}'
      else end = '{"value":' + stringify(json) + '}'
    } catch (thrown) {
      end = '{"thrown":' + describe(thrown) + '}'
    }
  }
  const settle = (json) => {
    const replies = parse(json)
    for (let index = 0; index < replies.length; index++) {
      const { ok, value, error } = replies[index]
      const { resolve, reject, stack } = open[answered]
      delete open[answered++]
      if (ok) resolve(value)
      else reject(new ToolError(error, stack))
    }
  }
  const take = () => {
    if (calls === '') return ''
    const news = calls + ']'
    calls = ''
    return news
  }
  const finish = () => '{"end":' + (end === '' ? 'null' : end) + ',"printed":' + stringify(printed) + ',"unprinted":' + unprinted + '}'
  const tell = () => stringify(printed)
  return { __proto__: null, start, settle, take, finish, tell }
}`
