import type { NetworkConfiguration } from '../../contract/configuration.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Runtime } from '../../contract/runtime.ts'
import type { WebhookReceiver, WebhookEventName } from '../../contract/mcp/serving.ts'
import { trackApprovals, type ApprovalChange } from '../../kit/approvals/track-approvals.ts'
import { signWebhook } from '../../kit/approvals/webhook-signature.ts'
import { hostOf } from '../../kit/match/host-of.ts'
import { matchPattern } from '../../kit/match/match-pattern.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { createNetwork, type LazyNetwork } from '../../sandboxes/network/create-network.ts'
import { createDelivery, type Delivery, type Message } from './deliver.ts'
import { toEvent, toSlackMessage } from './to-messages.ts'

/** Who is told of what waits, and by which ways. */
export interface WebhookOptions {
  readonly webhooks: readonly WebhookReceiver[]
  /** Names the list in issues: the file, and where in it. */
  readonly place: string
  /** `privateHosts` names what of the own network may be posted to. */
  readonly network: NetworkConfiguration | undefined
  /** The key that a secret, as it is named there, stands for; or why it has none. */
  readonly findKey: (secret: string) => Uint8Array | string
  /** Takes what could not be delivered. */
  readonly log: (line: string) => void
}

/** The answer of a receiver counts by its status alone. */
const maxAnswerBytes = 1_024
/** How long a receiver may take. */
const timeoutMs = 10_000
const defaultPausesMs = [5_000, 30_000, 120_000, 600_000]

/**
 * Tells webhooks of all approvals in the store of a runtime, in whatever process they are asked and answered, until it is closed. No call waits for
 * that. Each event is sent once by this process; one that waited at the start is sent by each start, under the same id. Throws a SetupError with every
 * webhook that could not be sent to.
 */
export async function openWebhooks(runtime: Runtime, options: WebhookOptions): Promise<{ close(): void }> {
  const receivers = await Promise.all(options.webhooks.map((webhook) => openReceiver(webhook, options)))
  const issues = receivers.flatMap((each, index) =>
    'issue' in each
      ? [{ pointer: `${options.place}/${index}`, code: 'unusable_webhook', message: each.issue }]
      : [],
  )
  if (issues.length > 0)
    throw new SetupError('invalid_configuration', 'Not every webhook could be sent to:', issues)
  const open = receivers.filter((each) => 'delivery' in each)
  const stop = trackApprovals(runtime, (change) => {
    for (const each of open) notify(each, change)
  })
  return {
    close() {
      stop()
      for (const { delivery } of open) delivery.close()
    },
  }
}

interface Receiver {
  readonly webhook: WebhookReceiver
  readonly delivery: Delivery
}

async function openReceiver(
  webhook: WebhookReceiver,
  { network: { privateHosts = [], ports = [] } = {}, findKey, log }: WebhookOptions,
): Promise<Receiver | { issue: string }> {
  const { url, secret, retryMs = defaultPausesMs } = webhook
  const key = secret === undefined ? undefined : findKey(secret)
  if (typeof key === 'string') return { issue: key }
  // The operator named the host and its port; where that leads is judged.
  const target = new URL(url)
  const host = hostOf(target)
  const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
  const network = createNetwork({ privateHosts, ports: [...ports, port] })
  const enter = (signals: readonly AbortSignal[]): ReturnType<LazyNetwork['enter']> =>
    network.enter({ profile: { hosts: [host] }, permitHost: undefined, signals: () => signals })
  try {
    await enter([]).resolve(url)
  } catch (error) {
    return { issue: messageOf(error).replaceAll(url, host) }
  }
  const post = async (message: Message, signal: AbortSignal): Promise<number> => {
    const headers = { 'content-type': 'application/json', ...(key && signatureOf(key, message)) }
    const about = {
      url,
      method: 'POST',
      headers,
      body: message.body,
      maxBytes: maxAnswerBytes,
      timeoutMs,
    } as const
    return (await enter([signal]).request(about)).status
  }
  const delivery = createDelivery({ post, pausesMs: retryMs, log: (line) => log(`webhook ${host}: ${line}`) })
  return { webhook, delivery }
}

/** Each try is signed anew: its time is that of the try. */
function signatureOf(key: Uint8Array, { id, body }: Message): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1_000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signWebhook(key, { id, timestamp, body }),
  }
}

const names: { readonly [event in ApprovalChange['event']]: WebhookEventName | undefined } = {
  requested: 'approval.requested',
  answered: undefined,
  decided: 'approval.decided',
  expired: 'approval.expired',
  withdrawn: undefined,
}

function notify({ webhook, delivery }: Receiver, { event, approval }: ApprovalChange): void {
  const { tenants = ['*'], events, format = 'standard', preview = false } = webhook
  const type = names[event]
  if (type === undefined || !(events?.includes(type) ?? true)) return
  if (!tenants.some((pattern) => matchPattern(pattern, approval.tenant))) return
  const about = toEvent(type, approval, { at: atOf(event, approval), withPreview: preview })
  const body = JSON.stringify(format === 'slack' ? toSlackMessage(about) : about)
  delivery.send({ id: `${approval.id}.${event}`, body })
}

function atOf(event: ApprovalChange['event'], approval: ApprovalChange['approval']): number {
  if (event === 'requested') return approval.askedAt
  return event === 'expired' ? approval.expiresAt : (approval.answers.at(-1)?.at ?? Date.now())
}
