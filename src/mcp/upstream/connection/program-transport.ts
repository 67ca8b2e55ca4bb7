import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'
import { createJoinedWriter } from '../../../kit/text/create-joined-writer.ts'
import type { LongProgram, ProgramRequest, Programs } from '../../../contract/mcp/tool-feed.ts'
import { withinMs } from '../../../kit/time/within-ms.ts'
import type { ServerLog } from '../base/server-log.ts'
import type { Flow } from './watch-flow.ts'

/** What a transport to a program stands on. */
export interface ProgramTransportOptions {
  readonly programs: Programs
  readonly request: ProgramRequest
  readonly flow: Flow
  /** Told of what the program says beside the protocol, and of its end. */
  readonly log: ServerLog
}

/** A line longer than this ends the connection. Counted in UTF-16 code units. */
const maxLineLength = 32 * 1024 * 1024
/** How long a program that takes nothing any more may need to end. */
const endingMs = 1_000

/**
 * MCP over the standard streams of a program: one JSON message a line. A line that is not a message is left out and reported. The program
 * ends with the connection, and the connection with the program.
 */
export class ProgramTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  /** By these two, the client of the SDK knows a program from a server on the web. */
  readonly stderr = null
  readonly pid = null
  readonly #options: ProgramTransportOptions
  #opening: Promise<LongProgram> | undefined
  #program: LongProgram | undefined
  /** What it said before anybody listened. */
  #early = ''
  readonly #write = createJoinedWriter(async (text) => this.#program?.write(text))
  #line = ''
  #closed = false

  constructor(options: ProgramTransportOptions) {
    this.#options = options
  }

  /** Starts the program, which is not listened to yet. Resolves also if that fails, as `start` then rejects. */
  async begin(): Promise<void> {
    await this.#open().catch(() => {})
  }

  async start(): Promise<void> {
    const { log } = this.#options
    const program = await this.#open()
    if (this.#closed) return program.end()
    this.#program = program
    const early = this.#early
    this.#early = ''
    this.#receive(early)
    void program.ended.then((end) => {
      if (!this.#closed) log.end(describeEnd(end))
      return this.close()
    })
  }

  #open(): Promise<LongProgram> {
    return (this.#opening ??= this.#startProgram())
  }

  async #startProgram(): Promise<LongProgram> {
    const { programs, request, log } = this.#options
    return programs.open(request, {
      onStdout: (text) => {
        if (this.#program === undefined) this.#early += text
        else this.#receive(text)
      },
      onStderr: (text) => log.add(text),
      onRefused: (host) => log.addRefused(host),
    })
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#program === undefined || this.#closed) throw new Error('The program is not running.')
    try {
      await this.#write(`${JSON.stringify(message)}\n`)
    } catch (error) {
      // Most take nothing any more because they are about to end, and how they end says more.
      await withinMs(this.#program.ended, endingMs)
      throw error
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.onclose?.()
    const program = this.#program ?? (await this.#opening?.catch(() => undefined))
    await program?.end()
  }

  #receive(text: string): void {
    const parts = text.split('\n')
    parts[0] = this.#line + (parts[0] ?? '')
    this.#line = parts.pop() ?? ''
    for (const part of parts) this.#read(part)
    if (this.#line.length > maxLineLength) this.#fail(`A message is longer than ${maxLineLength} characters.`)
  }

  #read(line: string): void {
    if (this.#closed || line.trim() === '') return
    if (line.length > maxLineLength)
      return this.#fail(`A message is longer than ${maxLineLength} characters.`)
    let message: unknown
    try {
      message = JSON.parse(line)
    } catch {
      return this.#options.log.addStray(line)
    }
    const fault = this.#options.flow(message)
    if (fault !== undefined) return this.#fail(fault)
    // The client looks at what it gets; what is not an answer to it is none.
    this.onmessage?.(message as JSONRPCMessage)
  }

  #fail(message: string): void {
    this.#line = ''
    this.#options.log.end(message)
    this.onerror?.(new Error(message))
    void this.close()
  }
}

/** How a program came to its end, in a sentence. */
function describeEnd({ exitCode, signal, fault }: Awaited<LongProgram['ended']>): string {
  if (fault !== undefined) return fault
  return signal === null
    ? `Its program ended with exit code ${exitCode}.`
    : `Its program was ended by ${signal}.`
}
