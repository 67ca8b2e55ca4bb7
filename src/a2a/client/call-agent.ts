import { setTimeout as wait } from 'node:timers/promises'
import type { RequestOptions } from '@a2a-js/sdk/client'
import { Role, TaskState, type Message, type Part, type Task } from '@a2a-js/sdk'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import type { ToolContext } from '../../contract/tool/tool.ts'
import { digest } from '../../kit/json/digest.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { oneLine } from '../../kit/text/one-line.ts'
import { beforeAbort } from '../../kit/time/before-abort.ts'
import { callExtension, inputDigest, type Claim } from '../base/protocol.ts'
import type { KnownAgent } from './agent.ts'
import { isAtWork, readFacts, toMessageOutput, toTaskOutput, type AnswerOf } from './read-answer.ts'
import type { Skill } from './skills.ts'

/** What a tool does with its context when it asks an agent. */
type Asking = Pick<ToolContext, 'callId' | 'idempotencyKey' | 'signal' | 'progress' | 'counterpart'>

/** Pauses between two looks at a task. */
const firstMs = 50
const longestMs = 5_000
/** After so long without a look at it, a task counts as lost: its agent may be starting again. */
const lostMs = 30_000
/** A look at a task, or its end, that takes longer is tried anew. */
const answerMs = 10_000
/** For how long an agent is told to end a task that was aborted. */
const tellMs = 60_000

/**
 * Asks an agent for one thing, with a token for that, and follows its task to the end. After an abort it returns once the task has
 * ended there too, however often the agent has to be told.
 */
export async function callAgent(
  known: KnownAgent,
  { skill, input, about }: { skill: Skill; input: JsonObject; about: AnswerOf },
  context: Asking,
): Promise<ToolOutput> {
  const { client, audience } = known
  const { callId, signal, counterpart } = context
  const { fields, key } = await known.headers(toClaim(skill, { input, audience }, context), callId)
  if (signal.aborted) throw aborted(`"${about.tool}" was stopped before it was sent, so nothing was done.`)
  const named = key === undefined ? {} : { key }
  const note = (task: Task): Task => {
    const { call = task.id, record } = readFacts(task)
    counterpart({ domain: audience, call, ...(record !== undefined && { record }), ...named })
    return task
  }
  counterpart({ domain: audience, call: callId, ...named })
  // Not aborted with the call: who does not know the task could not end it.
  const sending = client.sendMessage(toRequest(skill, input, callId), { serviceParameters: fields })
  try {
    const answer = await beforeAbort(signal, () => sending)
    if (answer !== undefined && !isTask(answer)) return toMessageOutput(answer, about)
    const last = answer && (await follow(known, note(answer), { context, about }))
    if (last !== undefined) return toTaskOutput(note(last), about)
  } catch (error) {
    throw toFailure(error, about)
  }
  const ended = await known.outlive((closing) => stop(known, sending, { closing, about }))
  if (ended === undefined || (isTask(ended) && isCanceled(note(ended))))
    throw aborted(`"${about.tool}" was stopped, and "${about.agent}" was told to end its task.`)
  return isTask(ended) ? toTaskOutput(ended, about) : toMessageOutput(ended, about)
}

function toClaim(
  { id, kind }: Skill,
  { input, audience }: { input: JsonObject; audience: string },
  { idempotencyKey }: Asking,
): Claim {
  // Keys are ours: the other side gets what stands for one, for this audience alone.
  const key =
    idempotencyKey === undefined ? undefined : digest(JSON.stringify([audience, id, idempotencyKey]))
  const of = kind === 'call' ? input : { message: input['message'] ?? '' }
  return { does: 'call', tool: id, input: inputDigest(of), ...(key !== undefined && { key }) }
}

function toRequest(
  skill: Skill,
  input: JsonObject,
  messageId: string,
): Parameters<KnownAgent['client']['sendMessage']>[0] {
  const isCall = skill.kind === 'call'
  const message: Message = {
    messageId,
    role: Role.ROLE_USER,
    contextId: isCall ? '' : textOf(input['context']),
    taskId: isCall ? '' : textOf(input['task']),
    parts: [isCall ? toPart('data', { tool: skill.id, input }) : toPart('text', textOf(input['message']))],
    extensions: isCall ? [callExtension] : [],
    referenceTaskIds: [],
    metadata: undefined,
  }
  const configuration = {
    acceptedOutputModes: [],
    returnImmediately: true,
    taskPushNotificationConfig: undefined,
  }
  return { tenant: '', message, configuration, metadata: undefined }
}

function toPart($case: 'data' | 'text', value: unknown): Part {
  const mediaType = $case === 'data' ? 'application/json' : 'text/plain'
  const content = $case === 'data' ? { $case, value } : { $case, value: String(value) }
  return { content, mediaType, filename: '', metadata: undefined }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The task once it goes no further; undefined if the call was aborted before. */
async function follow(
  known: KnownAgent,
  first: Task,
  { context: { signal, progress }, about }: { context: Asking; about: AnswerOf },
): Promise<Task | undefined> {
  let task = first
  let seenAt = performance.now()
  let said = ''
  for (let pause = firstMs; isAtWork(task); pause = Math.min(pause * 1.5, longestMs)) {
    const [text] =
      task.status?.message?.parts.flatMap(({ content }) =>
        content?.$case === 'text' ? [content.value] : [],
      ) ?? []
    if (text !== undefined && text !== '' && text !== said) progress({ message: oneLine((said = text), 500) })
    if ((await beforeAbort(signal, () => wait(pause, true))) === undefined) return undefined
    try {
      const next = await beforeAbort(signal, () => look(known, first.id))
      if (next === undefined) return undefined
      task = next
      seenAt = performance.now()
    } catch (error) {
      if (isRefusal(error) || performance.now() - seenAt > lostMs) throw lost(error, about)
    }
  }
  return task
}

/**
 * Ends the task of a call that was aborted, and returns what became of it; undefined if its agent does not know it any more. An agent
 * that does not hear is told again. Throws a failure that says that the task may still run.
 */
async function stop(
  known: KnownAgent,
  sending: Promise<Message | Task>,
  { closing, about }: { closing: AbortSignal; about: AnswerOf },
): Promise<Message | Task | undefined> {
  const late = AbortSignal.timeout(tellMs)
  const enough = AbortSignal.any([closing, late])
  // The answer says which task to end.
  const sent = await beforeAbort(late, () => sending).catch((error: unknown) => {
    const failure = toFailure(error, about)
    throw failure instanceof ToolFailure && failure.reason === 'connection_lost'
      ? perhapsAtWork(about, error)
      : failure
  })
  if (sent === undefined) throw perhapsAtWork(about, 'it does not answer')
  if (!isTask(sent) || !isAtWork(sent)) return sent
  for (let pause = firstMs; ; pause = Math.min(pause * 1.5, longestMs)) {
    const last = enough.aborted
    try {
      const task = await end(known, sent)
      if (task === undefined || !isAtWork(task)) return task
      if (last) throw new Error('it goes on with its task')
    } catch (error) {
      if (last) throw perhapsAtWork(about, error)
    }
    await beforeAbort(enough, () => wait(pause))
  }
}

/** Tells an agent to end a task, and returns the task as it then is; undefined if the agent does not know it. */
async function end(known: KnownAgent, { id }: Task): Promise<Task | undefined> {
  try {
    const { fields } = await known.headers({ does: 'cancel', task: id })
    const request = { id, tenant: '', metadata: undefined }
    return await known.client.cancelTask(request, optionsOf(fields))
  } catch (error) {
    if (!isRefusal(error)) throw error
  }
  return look(known, id).catch((error: unknown) => {
    if (isRefusal(error)) return undefined
    throw error
  })
}

async function look(known: KnownAgent, id: string): Promise<Task> {
  const { fields } = await known.headers({ does: 'get', task: id })
  return known.client.getTask({ id, tenant: '' }, optionsOf(fields))
}

/** Of a request that is answered at once, or does not get through. */
function optionsOf(serviceParameters: Record<string, string>): RequestOptions {
  return { serviceParameters, signal: AbortSignal.timeout(answerMs) }
}

function isTask(answer: unknown): answer is Task {
  return typeof answer === 'object' && answer !== null && 'id' in answer && 'status' in answer
}

/** The agent itself said no, in words of the protocol. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof Error && /^(Task|Request|Unsupported|ContentType|Version|Extension)/.test(error.name)
  )
}

function isCanceled({ status }: Task): boolean {
  return status?.state === TaskState.TASK_STATE_CANCELED
}

function aborted(message: string): ToolFailure {
  return new ToolFailure({ code: 'TOOL.ABORTED', reason: 'aborted_by_user', message })
}

function perhapsAtWork({ agent, tool }: AnswerOf, error: unknown): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.TIMEOUT',
    reason: 'still_running',
    message: `"${tool}" was stopped, and "${agent}" could not be told (${oneLine(messageOf(error), 300)}). It may still be at work; its outcome is not known.`,
    data: { agent },
  })
}

/** What went wrong with a request that was sent. What was refused before it did anything says so. */
function toFailure(error: unknown, about: AnswerOf): unknown {
  const known = findFailure(error)
  if (known !== undefined) return known
  if (!isRefusal(error)) return lost(error, about)
  return new ToolFailure({
    reason: 'remote_failed',
    message: `"${about.agent}" refused the call of "${about.tool}": ${oneLine(messageOf(error), 300)}`,
    data: { agent: about.agent },
  })
}

function findFailure(error: unknown): ToolFailure | undefined {
  if (error instanceof ToolFailure) return error
  return error instanceof Error && error.cause !== undefined ? findFailure(error.cause) : undefined
}

function lost(error: unknown, { agent, tool }: AnswerOf): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'connection_lost',
    message: `"${agent}" gave no answer to "${tool}" that could be read: ${oneLine(messageOf(error), 300)} Whether it was done is not known, and it was not tried again. Look before you call it once more.`,
    data: { agent },
  })
}
