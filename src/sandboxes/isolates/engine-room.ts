import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import type {
  IsolatedProgram,
  ProgramCall,
  ProgramFault,
  ProgramReply,
} from '../../contract/services/isolates.ts'
import type { FromThread } from './messages.ts'
import { isBroken } from './load-engine.ts'
import { prelude } from './prelude.ts'
import { toJavaScript } from './to-javascript.ts'

type Said = FromThread extends infer Each ? (Each extends unknown ? Omit<Each, 'computedMs'> : never) : never

/** A context of an engine, and what lies in it. */
interface Room {
  readonly runtime: QuickJSRuntime
  readonly context: QuickJSContext
  start: QuickJSHandle
  settle: QuickJSHandle
}

/** Why a program cannot go on. */
interface Fault {
  readonly fault: ProgramFault
  readonly message: string
  readonly line?: number
}

/** Bytes of the stack of a program. */
const stackBytes = 256 * 1024

/** One program in an engine of its own. */
export class EngineRoom {
  readonly #program: IsolatedProgram
  readonly #room: Room
  #calls: ProgramCall[] = []
  /** Ids of calls that were handed out and not answered. */
  #handed: number[] = []
  #made = 0
  #printed = ''
  #unprinted = 0
  #end: { value?: string } | Fault | undefined
  #computedMs = 0
  #deadline = Number.POSITIVE_INFINITY
  #isLate = false

  constructor(engine: QuickJSWASMModule, program: IsolatedProgram) {
    this.#program = program
    const runtime = engine.newRuntime()
    runtime.setMemoryLimit(program.bounds.memoryBytes)
    runtime.setMaxStackSize(stackBytes)
    runtime.setInterruptHandler(() => {
      this.#isLate ||= performance.now() > this.#deadline
      return this.#isLate
    })
    const context = runtime.newContext()
    this.#room = { runtime, context, ...this.#furnish(context) }
  }

  /** Runs the program until it waits for replies, or ends. */
  start(): FromThread {
    return this.#compute(() => {
      const { context, start } = this.#room
      const main = this.#compile()
      if (main === undefined) return
      const started = context.callFunction(start, context.undefined, main)
      main.dispose()
      this.#dispose(started)
    })
  }

  /** Hands in what its calls returned, and runs it on. */
  settle(replies: readonly ProgramReply[]): FromThread {
    const answered = this.#handed.map((id, index) => ({ id, ...replies[index] }))
    this.#handed = []
    return this.#compute(() => {
      const { context, settle } = this.#room
      const json = context.newString(JSON.stringify(answered))
      const settled = context.callFunction(settle, context.undefined, json)
      json.dispose()
      this.#dispose(settled)
    })
  }

  #compute(work: () => void): FromThread {
    const begun = performance.now()
    this.#deadline = begun + this.#program.bounds.computeMs - this.#computedMs
    try {
      work()
      this.#drain()
    } catch (error) {
      this.#end = { fault: 'crashed', message: this.#explainCrash(error) }
    }
    if (this.#isLate) this.#end = this.#tooLong()
    this.#computedMs += performance.now() - begun
    return { ...this.#report(), computedMs: this.#computedMs }
  }

  #explainCrash(error: unknown): string {
    return isBroken(error)
      ? 'The program broke its engine, which ended it.'
      : 'The program could not be run to its end.'
  }

  #drain(): void {
    const { runtime } = this.#room
    const done = runtime.executePendingJobs()
    if (done.error === undefined) return
    const fault = this.#read(done.error)
    done.error.dispose()
    this.#end ??= fault
  }

  #report(): Said {
    const printed = this.#print()
    const end = this.#end
    if (end !== undefined && 'fault' in end) return { type: 'failed', ...end, printed }
    if (this.#calls.length > 0) {
      const calls = this.#calls
      this.#calls = []
      return { type: 'calls', calls }
    }
    if (end !== undefined) return { type: 'ended', ...end, printed }
    return {
      type: 'failed',
      fault: 'stuck',
      message:
        'The program waits for a promise that nothing settles. Await only calls of tools, and what follows from them.',
      printed,
    }
  }

  #print(): string {
    return this.#unprinted === 0
      ? this.#printed
      : `${this.#printed}\n… ${this.#unprinted} more characters were printed`
  }

  #tooLong(): Fault {
    const { computeMs } = this.#program.bounds
    return {
      fault: 'time',
      message: `The program computed for longer than ${computeMs} ms, and was ended. Let it do less, or look for a loop without an end.`,
    }
  }

  /** The program as a function; undefined if it is none, which ends it. JavaScript is taken as it is. */
  #compile(): QuickJSHandle | undefined {
    const { context } = this.#room
    const wrapped = `(async () => {${this.#program.code}\n})`
    const first = context.evalCode(wrapped, fileName, { strict: true })
    if (first.error === undefined) return first.value
    const fault = this.#read(first.error)
    first.error.dispose()
    const javascript = fault.fault === 'syntax' ? toJavaScript(wrapped) : fault
    if (!('code' in javascript)) {
      const { message, line } = javascript
      this.#end = { ...fault, message, ...(line !== undefined && { line }) }
      return undefined
    }
    const second = context.evalCode(javascript.code, fileName, { strict: true })
    if (second.error === undefined) return second.value
    this.#end = this.#read(second.error)
    second.error.dispose()
    return undefined
  }

  #dispose(result: ReturnType<QuickJSContext['callFunction']>): void {
    if (result.error !== undefined) this.#end ??= this.#read(result.error)
    ;(result.error ?? result.value).dispose()
  }

  /** What the engine itself threw. Nothing of the program runs for that. */
  #read(handle: QuickJSHandle): Fault {
    const dumped: unknown = this.#room.context.dump(handle)
    const { name, message, stack } = isRecord(dumped) ? dumped : {}
    return toFault(textOf(name), textOf(message), textOf(stack))
  }

  #furnish(context: QuickJSContext): Pick<Room, 'start' | 'settle'> {
    const host = context.newObject()
    const put = (name: string, run: (...given: QuickJSHandle[]) => QuickJSHandle | undefined): void =>
      context
        .newFunction(name, (...given) => run(...given) ?? context.undefined)
        .consume((made) => context.setProp(host, name, made))
    const textAt = (handle: QuickJSHandle | undefined): string =>
      handle === undefined ? '' : context.getString(handle)
    put('call', (name, input) => context.newString(this.#call(parseText(textAt(name)), input, context)))
    put('print', (line) => {
      this.#addPrinted(parseText(textAt(line)))
      return undefined
    })
    put('ended', (json) => void (this.#end ??= this.#toEnd(json, context)))
    put('failed', (described) => void (this.#end ??= toThrown(textAt(described))))
    const now = context.newNumber(this.#program.at)
    const seed = context.unwrapResult(context.evalCode(JSON.stringify(toSeed(this.#program.seed))))
    const build = context.unwrapResult(context.evalCode(prelude, 'prelude.js', { strict: true }))
    const built = context.unwrapResult(context.callFunction(build, context.undefined, host, now, seed))
    for (const each of [host, now, seed, build]) each.dispose()
    const parts = { start: context.getProp(built, 'start'), settle: context.getProp(built, 'settle') }
    built.dispose()
    return parts
  }

  /** Returns the id of the call, or why it is refused, as JSON text. */
  #call(name: string, input: QuickJSHandle | undefined, context: QuickJSContext): string {
    const { calls, inputLength } = this.#program.bounds
    const length =
      input === undefined ? 0 : context.getProp(input, 'length').consume((each) => context.getNumber(each))
    if (this.#made >= calls)
      return JSON.stringify({
        code: 'QUOTA.BUDGET_EXCEEDED',
        reason: 'program_calls',
        message: `A program may make ${calls} calls, and this one has. Return what it found, and go on in another program.`,
      })
    if (length > inputLength)
      return JSON.stringify({
        code: 'SCHEMA.VALIDATION_FAILED',
        reason: 'input_too_large',
        message: `The input of "${name.slice(0, 200)}" has ${length} characters as JSON, and a program hands over ${inputLength} at most.`,
      })
    const id = this.#made++
    this.#calls.push({
      name: name.slice(0, 300),
      input: input === undefined ? '{}' : context.getString(input),
    })
    this.#handed.push(id)
    return String(id)
  }

  #toEnd(json: QuickJSHandle | undefined, context: QuickJSContext): { value?: string } | Fault {
    if (json === undefined) return {}
    const { returnedLength } = this.#program.bounds
    const length = context.getProp(json, 'length').consume((each) => context.getNumber(each))
    if (length <= returnedLength) return length === 0 ? {} : { value: context.getString(json) }
    return {
      fault: 'returned',
      message: `The program returned ${length} characters of JSON, and ${returnedLength} are the most. Return what is needed of it.`,
    }
  }

  #addPrinted(line: string): void {
    const { printedLength } = this.#program.bounds
    const text = this.#printed === '' ? line : `\n${line}`
    const left = Math.max(0, printedLength - this.#printed.length)
    this.#printed += text.slice(0, left)
    this.#unprinted += Math.max(0, text.length - left)
  }
}

const fileName = 'program.js'

/** Four numbers that all of the seed counts for. */
function toSeed(seed: string): number[] {
  return [0, 1, 2, 3].map((salt) => {
    let state = 2_166_136_261 ^ salt
    for (const character of `${salt}${seed}`)
      state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 16_777_619)
    return state | 0
  })
}

function toThrown(described: string): Fault {
  const parsed: unknown = JSON.parse(described)
  const [name, message, stack] = Array.isArray(parsed) ? parsed : []
  const fault = toFault(textOf(name), textOf(message), textOf(stack))
  return fault.fault === 'syntax'
    ? { ...fault, fault: 'thrown', message: `SyntaxError: ${fault.message}` }
    : fault
}

/** An error of the engine or the program. The places of its stack are lines of the program alone. */
function toFault(name: string, message: string, stack: string): Fault {
  const line = Number(/program\.js:(\d+)/.exec(stack)?.[1])
  const at = Number.isInteger(line) ? { line } : {}
  if (name === 'InternalError' && message === 'out of memory')
    return { fault: 'memory', message: 'The program took more memory than it may.', ...at }
  if (name === 'SyntaxError') return { fault: 'syntax', message, ...at }
  return { fault: 'thrown', message: `${name === '' ? 'Error' : name}: ${message}`, ...at }
}

/** A text that came as JSON, as one that crosses as it is ends at its first NUL. */
function parseText(json: string): string {
  return textOf(JSON.parse(json))
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null
}
