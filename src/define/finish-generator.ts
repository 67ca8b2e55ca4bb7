import type { ToolContext, ToolReturn } from '../contract/tool/tool.ts'
import { isObject } from '../kit/json/is-object.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'

/** What an `async function*` returns that `run` may be: it yields progress, and returns the result. */
export type ToolGenerator = AsyncGenerator<unknown, ToolReturn>

type Update = Parameters<ToolContext['progress']>[0]

/**
 * What `run` returned; of a generator, what it returns at last. A text that it yields is shown as progress, and so is
 * `{ message, done, total }`. Of any other value only that there is one: it may be a part of the result, to which the policy may do
 * something before it is shown. If the generator returns nothing, what it yielded last is the result. A call that ends first ends the
 * generator, at the place where it waits next.
 */
export function finishGenerator(returned: unknown, context: ToolContext): unknown {
  return isGenerator(returned) ? finish(returned, context) : returned
}

async function finish(generator: AsyncGenerator, { signal, progress }: ToolContext): Promise<unknown> {
  const leave = (): void => void generator.return(undefined).catch(() => undefined)
  signal.addEventListener('abort', leave, { once: true })
  try {
    let last: unknown
    for (;;) {
      const { done, value }: IteratorResult<unknown> = await generator.next()
      if (done === true) return value ?? last
      last = value
      progress(toUpdate(value))
    }
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

function toUpdate(value: unknown): Update {
  if (typeof value === 'string') return { message: value }
  return isUpdate(value) ? value : {}
}

function isUpdate(value: unknown): value is Update {
  return (
    isPlainObject(value) &&
    Object.entries(value).every(([field, part]) =>
      field === 'message' ? typeof part === 'string' : isCount(field) && typeof part === 'number',
    )
  )
}

function isCount(field: string): boolean {
  return field === 'done' || field === 'total'
}

/** Told by what it can do: it may come from another realm. */
function isGenerator(returned: unknown): returned is AsyncGenerator {
  return (
    isObject(returned) &&
    Symbol.asyncIterator in returned &&
    typeof returned['next'] === 'function' &&
    typeof returned['return'] === 'function' &&
    typeof returned['throw'] === 'function'
  )
}
