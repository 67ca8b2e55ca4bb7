import type {
  QuickJSContext,
  QuickJSHandle,
  QuickJSRuntime,
  QuickJSWASMModule,
} from 'quickjs-emscripten-core'
import type { IsolatedProgram, ProgramFault } from '../../contract/services/isolates.ts'
import type { FromThread, ThreadState } from './messages.ts'
import { isBroken } from './load-engine.ts'
import { takeImage, type MemoryImage } from './memory-image.ts'
import { prelude } from './prelude.ts'
import { toJavaScript } from './to-javascript.ts'

/** An engine that is ready for a program. */
export interface ReadyEngine {
  readonly runtime: QuickJSRuntime
  readonly context: QuickJSContext
  /** The function that the prelude is. */
  readonly build: QuickJSHandle
  /** What its memory is before a program: that of the next one, too. */
  readonly image: MemoryImage
}

/** Makes a context in an engine, in which no program has run. */
export function readyEngine(engine: QuickJSWASMModule): ReadyEngine {
  const runtime = engine.newRuntime()
  runtime.setMaxStackSize(stackBytes)
  // That there is a handler is part of the image; each program sets its own.
  runtime.setInterruptHandler(() => false)
  const context = runtime.newContext()
  const build = context.unwrapResult(context.evalCode(prelude, 'prelude.js', { strict: true }))
  return { runtime, context, build, image: takeImage(engine.getWasmMemory()) }
}

/** A context of an engine, and the functions of its prelude. */
interface Room extends Pick<ReadyEngine, 'runtime' | 'context'> {
  readonly start: QuickJSHandle
  readonly settle: QuickJSHandle
  readonly take: QuickJSHandle
  readonly finish: QuickJSHandle
  readonly tell: QuickJSHandle
}

/** What the prelude says of a program that goes no further. */
interface End {
  readonly end: {
    readonly value?: string
    readonly tooLong?: number
    readonly thrown?: readonly string[]
  } | null
  readonly printed: string
  readonly unprinted: number
}

/** Why a program cannot go on. */
interface Fault {
  readonly fault: ProgramFault
  readonly message: string
  readonly line?: number
}

/** Bytes of the stack of a program. */
const stackBytes = 256 * 1024

/** One program in an engine, which has no other one meanwhile. */
export class EngineRoom {
  readonly #program: IsolatedProgram
  readonly #room: Room
  #fault: Fault | undefined
  #computedMs = 0
  #deadline = Number.POSITIVE_INFINITY
  #isLate = false

  constructor({ runtime, context, build }: ReadyEngine, program: IsolatedProgram) {
    this.#program = program
    runtime.setMemoryLimit(program.bounds.memoryBytes)
    runtime.setInterruptHandler(() => {
      this.#isLate ||= performance.now() > this.#deadline
      return this.#isLate
    })
    this.#room = { runtime, context, ...this.#furnish(context, build) }
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

  /** Hands in what its calls returned, in their order, as JSON text, and runs it on. */
  settle(replies: string): FromThread {
    return this.#compute(() => {
      const { context, settle } = this.#room
      const json = context.newString(replies)
      const settled = context.callFunction(settle, context.undefined, json)
      json.dispose()
      this.#dispose(settled)
    })
  }

  #compute(work: () => void): FromThread {
    const begun = performance.now()
    this.#deadline = begun + this.#program.bounds.computeMs - this.#computedMs
    let said: ThreadState
    try {
      work()
      this.#drain()
      said = this.#isLate ? this.#toFailed(this.#tooLong()) : this.#report()
    } catch (error) {
      said = { type: 'failed', fault: 'crashed', message: this.#explainCrash(error), printed: '' }
    }
    this.#computedMs += performance.now() - begun
    return { ...said, computedMs: this.#computedMs }
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
    this.#fault ??= fault
  }

  #report(): ThreadState {
    if (this.#fault !== undefined) return this.#toFailed(this.#fault)
    const calls = this.#ask(this.#room.take)
    if (calls !== '') return { type: 'calls', calls }
    const { end, printed, unprinted }: End = JSON.parse(this.#ask(this.#room.finish))
    if (end === null) return this.#toFailed(stuck)
    if (end.thrown !== undefined) return this.#toFailed(toThrown(end.thrown))
    if (end.tooLong !== undefined) return this.#toFailed(this.#tooLarge(end.tooLong))
    const more = unprinted === 0 ? '' : `\n… ${unprinted} more characters were printed`
    return { type: 'ended', ...(end.value !== undefined && { value: end.value }), printed: printed + more }
  }

  #toFailed(fault: Fault): ThreadState {
    const { line } = fault
    // What is missing at the end is told of the line that is put behind the program.
    const last = this.#program.code.split('\n').length
    const at = line === undefined ? {} : { line: Math.min(line, last) }
    return { type: 'failed', ...fault, ...at, printed: this.#printed() }
  }

  /** What it had printed; nothing if the engine has no room to say so. */
  #printed(): string {
    try {
      return String(JSON.parse(this.#ask(this.#room.tell)))
    } catch {
      return ''
    }
  }

  /** The text that a function of the prelude returns. Nothing of the program runs for it, so it is not late. */
  #ask(handle: QuickJSHandle): string {
    const { context } = this.#room
    this.#deadline = Number.POSITIVE_INFINITY
    this.#isLate = false
    const told = context.unwrapResult(context.callFunction(handle, context.undefined))
    return told.consume((text) => context.getString(text))
  }

  #tooLarge(length: number): Fault {
    const { returnedLength } = this.#program.bounds
    return {
      fault: 'returned',
      message: `The program returned ${length} characters of JSON, and ${returnedLength} are the most. Return what is needed of it.`,
    }
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
      this.#fault = { ...fault, message, ...(line !== undefined && { line }) }
      return undefined
    }
    const second = context.evalCode(javascript.code, fileName, { strict: true })
    if (second.error === undefined) return second.value
    this.#fault = this.#read(second.error)
    second.error.dispose()
    return undefined
  }

  #dispose(result: ReturnType<QuickJSContext['callFunction']>): void {
    if (result.error !== undefined) this.#fault ??= this.#read(result.error)
    ;(result.error ?? result.value).dispose()
  }

  /** What the engine itself threw. Nothing of the program runs for that. */
  #read(handle: QuickJSHandle): Fault {
    const dumped: unknown = this.#room.context.dump(handle)
    const { name, message, stack } = isRecord(dumped) ? dumped : {}
    return toFault(textOf(name), textOf(message), textOf(stack))
  }

  #furnish(context: QuickJSContext, build: QuickJSHandle): Omit<Room, 'runtime' | 'context'> {
    const { at: now, seed, bounds } = this.#program
    const given = {
      now,
      seed: toSeed(seed),
      mostCalls: bounds.calls,
      mostInput: bounds.inputLength,
      mostPrinted: bounds.printedLength,
      mostReturned: bounds.returnedLength,
    }
    const json = context.newString(JSON.stringify(given))
    const built = context.unwrapResult(context.callFunction(build, context.undefined, json))
    const part = (name: string): QuickJSHandle => context.getProp(built, name)
    const parts = {
      start: part('start'),
      settle: part('settle'),
      take: part('take'),
      finish: part('finish'),
      tell: part('tell'),
    }
    for (const each of [json, built]) each.dispose()
    return parts
  }
}

const stuck: Fault = {
  fault: 'stuck',
  message:
    'The program waits for a promise that nothing settles. Await only calls of tools, and what follows from them.',
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

function toThrown([name = '', message = '', stack = '']: readonly string[]): Fault {
  const fault = toFault(name, message, stack)
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

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null
}
