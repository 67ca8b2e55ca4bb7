import { PassThrough } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { SessionResourceContext } from '../../../contract/services/session-resources.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { beforeAbort } from '../../../kit/time/before-abort.ts'
import { messageOf } from '../../../kit/text/message-of.ts'
import { aborted, createConnection, ServerBusy, type Connection } from './connection.ts'
import { createDocuments, toUri, type Documents, type Look } from './documents.ts'
import type { ServerChoice } from './known-servers.ts'
import { ServerTrouble } from './server-trouble.ts'

/** What a session keeps of one language server for one project: started with the first question, and again after it died, so often. */
export interface LanguageServer {
  /**
   * Puts a question to the server as the files are now. Rejects with a `ServerTrouble` if it cannot be started or does not answer,
   * with a `ToolFailure` if the call was aborted.
   */
  ask<Answer>(question: ServerQuestion<Answer>): Promise<Answer>
}

/** A question, and what it may take. */
export interface ServerQuestion<Answer> {
  /** The capability without which it is not worth asking, such as `hoverProvider`. */
  readonly needs: string
  /** The file that it is about, if one. */
  readonly path: string | undefined
  readonly look: Look
  readonly signal: AbortSignal
  put(request: (method: string, params: object) => Promise<unknown>): Promise<Answer>
  /** Whether there is nothing in an answer, which may be for the reason that the server has not read the project yet. */
  isEmpty(answer: Answer): boolean
}

/** What a server is started from. */
export interface ServerOptions extends SessionResourceContext {
  readonly choice: ServerChoice
  /** Absolute path of the program. */
  readonly executable: string
  /** The directory that it works in. */
  readonly root: string
}

interface Live {
  readonly connection: Connection
  readonly documents: Documents
  readonly capabilities: Readonly<Record<string, unknown>>
  /** Questions that it left without an answer, one after the other. */
  unanswered: number
  stop(): void
}

const maxStarts = 3
const maxUnanswered = 2
const maxTries = 4
const pauseMs = 150
const unlimitedMs = 2 ** 31 - 1

/** A server that does not run yet. */
export function createLanguageServer(options: ServerOptions): LanguageServer {
  const { choice } = options
  let running: Promise<Live> | undefined
  let starts = 0

  const start = (): Promise<Live> => {
    if (starts >= maxStarts)
      throw new ServerTrouble(`it ended ${maxStarts} times in this session, and is not started again`)
    starts++
    const started = startServer(options, () => {
      if (running === started) running = undefined
    })
    return started
  }
  return {
    async ask(question) {
      // A server that starts is there for later calls too, so that the abort of one call leaves it alone.
      const live = await beforeAbort(question.signal, () => (running ??= start()))
      if (live === undefined) throw aborted()
      if (isMissing(live.capabilities[question.needs]))
        throw new ServerTrouble('it does not answer such questions')
      await live.documents.bringUpToDate(question.path, question.look)
      try {
        const answer = await putUntilReady(question, live, choice)
        live.unanswered = 0
        return answer
      } catch (error) {
        if (error instanceof ServerTrouble && ++live.unanswered >= maxUnanswered) live.stop()
        throw error
      }
    },
  }
}

/** An empty answer of a server that still reads the project is not an answer yet, and neither is that it is busy. */
async function putUntilReady<Answer>(
  question: ServerQuestion<Answer>,
  { connection }: Live,
  { timeoutMs }: ServerChoice,
): Promise<Answer> {
  const { signal } = question
  const deadline = performance.now() + timeoutMs
  const request = (method: string, params: object) =>
    connection.request(method, params, {
      timeoutMs: Math.max(1, Math.round(deadline - performance.now())),
      signal,
    })
  for (let tries = 1; ; tries++) {
    try {
      const before = connection.work()
      const answer = await question.put(request)
      const after = connection.work()
      // Work that ended while the answer came may have ended after it.
      const wasWorking = after.isGoingOn || after.ended > before.ended
      if (!question.isEmpty(answer) || !wasWorking || performance.now() > deadline) return answer
      tries--
    } catch (error) {
      if (!(error instanceof ServerBusy) || tries >= maxTries) throw error
    }
    await wait(pauseMs)
    if (signal.aborted) throw aborted()
  }
}

async function startServer(options: ServerOptions, onEnd: () => void): Promise<Live> {
  const { choice, executable, root, commands } = options
  const input = new PassThrough()
  const stopping = new AbortController()
  const stop = (): void => {
    onEnd()
    stopping.abort()
  }
  const connection = createConnection({
    send: (bytes) => void input.write(bytes),
    answer: (method, params) => answerServer(method, params, { choice, root }),
    onTrouble: stop,
  })
  const ended = (why: string): void => {
    onEnd()
    input.destroy()
    connection.end(new ServerTrouble(`it ended: ${why}`))
  }
  commands
    .run({
      executable,
      argv: choice.command,
      cwd: root,
      timeoutMs: unlimitedMs,
      maxBytes: 4096,
      signal: AbortSignal.any([options.signal, stopping.signal]),
      stdin: input,
      onOutput: ({ stream, text }) => {
        if (stream === 'stdout') connection.take(Buffer.from(text))
      },
    })
    .then(
      ({ exitCode, signal, stderr }) =>
        ended(`${signal ?? `exit code ${exitCode}`}${lastLine(stderr.head + stderr.tail)}`),
      (error: unknown) => ended(messageOf(error)),
    )
  try {
    const { timeoutMs } = choice
    const greeting = await connection.request('initialize', toGreeting(choice, root), {
      timeoutMs,
      signal: options.signal,
    })
    const { capabilities } = isPlainObject(greeting) ? greeting : {}
    if (!isPlainObject(capabilities)) throw new ServerTrouble('it did not say what it can')
    const { positionEncoding = 'utf-16' } = capabilities
    if (positionEncoding !== 'utf-16')
      throw new ServerTrouble('it counts columns in another way than it was asked to')
    connection.notify('initialized', {})
    connection.notify('workspace/didChangeConfiguration', { settings: choice.settings })
    const documents = createDocuments(choice, (method, params) => connection.notify(method, params))
    return { connection, documents, capabilities, unanswered: 0, stop }
  } catch (error) {
    stop()
    throw error
  }
}

/** How the protocol opens: who asks, where, and how answers have to look. */
function toGreeting({ initializationOptions }: ServerChoice, root: string): object {
  const plain = { dynamicRegistration: false }
  return {
    // It runs in a place where process ids mean something else.
    processId: null,
    clientInfo: { name: 'handrail' },
    rootUri: toUri(root),
    rootPath: root,
    workspaceFolders: [{ uri: toUri(root), name: 'project' }],
    initializationOptions,
    capabilities: {
      general: { positionEncodings: ['utf-16'] },
      window: { workDoneProgress: true },
      workspace: { configuration: true, workspaceFolders: true, symbol: plain, applyEdit: false },
      textDocument: {
        synchronization: plain,
        definition: { ...plain, linkSupport: true },
        implementation: { ...plain, linkSupport: true },
        references: plain,
        hover: { ...plain, contentFormat: ['markdown', 'plaintext'] },
        documentSymbol: { ...plain, hierarchicalDocumentSymbolSupport: true },
        callHierarchy: plain,
      },
    },
  }
}

/** What a server may ask of us. It gets its settings, and changes nothing. */
function answerServer(
  method: string,
  params: unknown,
  { choice, root }: Pick<ServerOptions, 'choice' | 'root'>,
): unknown {
  if (method === 'workspace/configuration') {
    const items: unknown = isPlainObject(params) ? params['items'] : []
    return Array.isArray(items) ? items.slice(0, 100).map((item) => settingsOf(item, choice)) : []
  }
  if (method === 'workspace/workspaceFolders') return [{ uri: toUri(root), name: 'project' }]
  if (method === 'workspace/applyEdit') return { applied: false, failureReason: 'It may only read.' }
  return accepted.has(method) ? null : undefined
}

const accepted = new Set([
  'client/registerCapability',
  'client/unregisterCapability',
  'window/workDoneProgress/create',
  'window/showMessageRequest',
  'workspace/semanticTokens/refresh',
  'workspace/inlayHint/refresh',
  'workspace/codeLens/refresh',
  'workspace/diagnostic/refresh',
])

function settingsOf(item: unknown, { settings }: ServerChoice): unknown {
  const section: unknown = isPlainObject(item) ? item['section'] : undefined
  if (typeof section !== 'string') return settings
  let found: unknown = settings
  for (const name of section.split('.'))
    found = isPlainObject(found) && Object.hasOwn(found, name) ? found[name] : null
  return found
}

function isMissing(capability: unknown): boolean {
  return capability === undefined || capability === null || capability === false
}

function lastLine(text: string): string {
  const line = text.trim().split('\n').at(-1)?.slice(0, 300) ?? ''
  return line === '' ? '' : ` (${line})`
}
