import { ToolFailure } from '../../contract/base/errors.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/** What is posted, and its name for receivers and the log. */
export interface Message {
  /** The same for each try, and for the same event of another process. */
  readonly id: string
  readonly body: string
}

/** Brings messages to one receiver. */
export interface Delivery {
  send(message: Message): void
  /** Ends what is under way, and forgets what waits. */
  close(): void
}

interface DeliveryOptions {
  /** Posts once; resolves with the status of the answer. */
  readonly post: (message: Message, signal: AbortSignal) => Promise<number>
  readonly pausesMs: readonly number[]
  /** Takes why a message, by its id, was given up. */
  readonly log: (line: string) => void
}

/** Messages under way at a time, so that a receiver that hangs holds up its own ones only. */
const mostAtOnce = 4
/** Messages that wait for their first or another try. */
const mostWaiting = 1_000

/** Tries each message until it is taken, with a pause before each further try. A receiver that answers 410 is sent nothing more. */
export function createDelivery({ post, pausesMs, log }: DeliveryOptions): Delivery {
  const over = new AbortController()
  const queue: { message: Message; tries: number }[] = []
  const timers = new Set<NodeJS.Timeout>()
  let underWay = 0

  const giveUp = ({ id }: Message, why: string): void => log(`${id} was not taken: ${why}`)
  const retry = (message: Message, { tries, why }: { tries: number; why: string }): void => {
    const pauseMs = pausesMs[tries - 1]
    if (pauseMs === undefined)
      return giveUp(message, `${why}, after ${tries} ${tries === 1 ? 'try' : 'tries'}`)
    const timer = setTimeout(() => {
      timers.delete(timer)
      queue.push({ message, tries })
      work()
    }, pauseMs).unref()
    timers.add(timer)
  }
  const attempt = async (message: Message, tries: number): Promise<void> => {
    try {
      const status = await post(message, over.signal)
      if (status >= 200 && status < 300) return
      if (status === 410) {
        giveUp(message, 'it answered 410, so it is sent nothing more until the next start')
        close()
      } else if (status >= 300 && status < 400)
        giveUp(message, `it redirects (${status}), which is not followed`)
      else retry(message, { tries: tries + 1, why: `it answered ${status}` })
    } catch (error) {
      if (over.signal.aborted) return
      const isRefused = error instanceof ToolFailure && error.code === 'SANDBOX.CAPABILITY_BLOCKED'
      if (isRefused) giveUp(message, messageOf(error))
      else retry(message, { tries: tries + 1, why: describe(error) })
    }
  }
  const work = (): void => {
    while (underWay < mostAtOnce && !over.signal.aborted) {
      const next = queue.shift()
      if (next === undefined) return
      underWay += 1
      void attempt(next.message, next.tries).finally(() => {
        underWay -= 1
        work()
      })
    }
  }
  const close = (): void => {
    over.abort()
    queue.length = 0
    for (const timer of timers) clearTimeout(timer)
    timers.clear()
  }
  return {
    send(message) {
      if (over.signal.aborted) return
      if (queue.length + timers.size >= mostWaiting) return giveUp(message, 'too many wait for it already')
      queue.push({ message, tries: 0 })
      work()
    },
    close,
  }
}

/** The path of a receiver may be its secret, and the message has it. */
function describe(error: unknown): string {
  if (!(error instanceof ToolFailure)) return messageOf(error)
  const code = error.data?.['code']
  const why = typeof code === 'string' ? code : error.reason
  return error.reason === 'timed_out' ? 'it did not answer in time' : `no answer (${why})`
}
