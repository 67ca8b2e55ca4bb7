import { setTimeout as wait } from 'node:timers/promises'
import { Role, type Message, type Part, type Task } from '@a2a-js/sdk'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import type { ToolContext } from '../../contract/tool/tool.ts'
import { digest } from '../../kit/json/digest.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { oneLine } from '../../kit/text/one-line.ts'
import { beforeAbort } from '../../kit/time/before-abort.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
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
/** How long the end of a task that was aborted is waited for. */
const cancelMs = 1_000

/** Asks an agent for one thing, with a token for that, and follows its task to the end. An abort ends the task there too. */
export async function callAgent(
  known: KnownAgent,
  { skill, input, about }: { skill: Skill; input: JsonObject; about: AnswerOf },
  context: Asking,
): Promise<ToolOutput> {
  const { client, audience } = known
  const { callId, signal, counterpart } = context
  const { fields, key } = await known.headers(toClaim(skill, { input, audience }, context), callId)
  const named = key === undefined ? {} : { key }
  counterpart({ domain: audience, call: callId, ...named })
  // Not aborted with the call: who does not know the task could not end it.
  const sending = client.sendMessage(toRequest(skill, input, callId), { serviceParameters: fields })
  const cancel = (task: Task): Promise<unknown> => end(known, task, about)
  const answer = await beforeAbort(signal, () => sending).catch((error: unknown) => {
    throw toFailure(error, about)
  })
  if (answer === undefined) {
    // The answer of the other side, if it still comes, says which task to end.
    await withinMs(
      sending.then(
        (late) => 'id' in late && cancel(late),
        () => false,
      ),
      cancelMs,
    )
    throw aborted(about)
  }
  if (!isTask(answer)) return toMessageOutput(answer, about)
  const note = (task: Task): void => {
    const { call = task.id, record } = readFacts(task)
    counterpart({ domain: audience, call, ...(record !== undefined && { record }), ...named })
  }
  note(answer)
  const last = await follow(known, answer, { context, about })
  if (last === undefined) {
    const ended = await cancel(answer)
    if (isTask(ended)) note(ended)
    throw aborted(about)
  }
  note(last)
  return toTaskOutput(last, about)
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
    const look = async (): Promise<Task> => {
      const { fields } = await known.headers({ does: 'get', task: first.id })
      return known.client.getTask({ id: first.id, tenant: '' }, { serviceParameters: fields })
    }
    try {
      const next = await beforeAbort(signal, look)
      if (next === undefined) return undefined
      task = next
      seenAt = performance.now()
    } catch (error) {
      if (isRefusal(error) || performance.now() - seenAt > lostMs) throw lost(error, about)
    }
  }
  return task
}

/** Ends a task, and returns it as it then is, if that can be had soon. */
async function end(known: KnownAgent, { id }: Task, about: AnswerOf): Promise<Task | undefined> {
  const asked = known
    .headers({ does: 'cancel', task: id })
    .then(({ fields }) =>
      known.client.cancelTask({ id, tenant: '', metadata: undefined }, { serviceParameters: fields }),
    )
  const ended = asked.catch((error: unknown) => {
    if (isRefusal(error)) return undefined
    throw lost(error, about)
  })
  return (await withinMs(ended, cancelMs)) ? ended : undefined
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

function aborted({ tool, agent }: AnswerOf): ToolFailure {
  return new ToolFailure({
    code: 'TOOL.ABORTED',
    reason: 'aborted_by_user',
    message: `"${tool}" was stopped, and "${agent}" was told to end its task.`,
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
