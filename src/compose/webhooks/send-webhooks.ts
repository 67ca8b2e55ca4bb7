import { SetupError } from '../../contract/base/errors.ts'
import type { NetworkConfiguration } from '../../contract/configuration.ts'
import type { WebhookReceiver } from '../../contract/mcp/serving.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { showLine } from '../../kit/text/show-safely.ts'
import { tellWatcher } from '../../kit/time/tell-watcher.ts'
import { closeWith } from '../close-with.ts'

/** Who is told of what waits for a person. */
export interface SendWebhooksOptions {
  /** Each with its secret. */
  webhooks: readonly WebhookReceiver[]
  /** `privateHosts` names what of the own network may be posted to. Default: only addresses of the public internet. */
  network?: Pick<NetworkConfiguration, 'privateHosts'>
  /** Takes what a receiver did not take, in a line with neither its path nor a secret. Default: the standard error output. */
  onError?: (line: string) => void
}

/**
 * Tells webhooks of all approvals that wait in the store of a runtime, and of their ends, as `handrail serve` does, until it is closed here or with the
 * runtime. No call waits for that. Throws a SetupError with every issue of the webhooks, or if the runtime is closed.
 */
export async function sendWebhooks(
  runtime: Runtime,
  options: SendWebhooksOptions,
): Promise<{ close(): void }> {
  const { openWebhooks } = await import('./open-webhooks.ts')
  const { readWebhookSecret } = await import('../../kit/approvals/webhook-signature.ts')
  const webhooks = await checkWebhooks(options)
  const over = new AbortController()
  const sending = closeWith(runtime, { close: () => over.abort() })
  try {
    const open = await openWebhooks(runtime, {
      webhooks,
      place: '/webhooks',
      network: copyJson(options.network),
      findKey: (secret) => readWebhookSecret(secret) ?? noSecret,
      log: createLog(options.onError),
    })
    over.signal.addEventListener('abort', () => open.close(), { once: true })
    if (over.signal.aborted) open.close()
    return sending
  } catch (error) {
    sending.close()
    throw error
  }
}

const noSecret = 'Its secret cannot sign: it is "whsec_" and the base64 of 24 to 64 bytes.'

/** A copy of them. */
async function checkWebhooks(given: SendWebhooksOptions): Promise<readonly WebhookReceiver[]> {
  const { checkFile, gatewayForm } = await import('../../config/check-file.ts')
  const { createSchemaChecker } = await import('../../schema/create-schema-checker.ts')
  if (!isPlainObject(given) || !Array.isArray(given.webhooks))
    throw new SetupError('invalid_options', 'Webhooks are sent as { webhooks: [{ url, secret }] }.')
  const { file, issues } = checkFile(
    { webhooks: copyJson(given.webhooks) },
    gatewayForm,
    createSchemaChecker(),
  )
  if (issues.length > 0) throw new SetupError('invalid_options', 'The webhooks cannot be sent to:', issues)
  return file?.webhooks ?? []
}

function createLog(onError: SendWebhooksOptions['onError']): (line: string) => void {
  const print = (line: string): void => void process.stderr.write(`handrail: ${showLine(line)}\n`)
  if (onError === undefined) return print
  return (line) => tellWatcher(onError, line, () => print(line))
}
