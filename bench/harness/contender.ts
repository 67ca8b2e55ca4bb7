/** Something that is measured side by side with others. Every file under `floors/` and `peers/` exports a list of them. */
export interface Contender {
  name: string
  /** Calls come in multiples of this. Default 1. */
  batch?: number
  /** True if the calls are not those of the shared task, so that its runs cannot be counted. */
  otherTask?: boolean
  prepare(): Promise<Prepared>
}

/** A contender that is set up. */
export interface Prepared {
  /** Makes this many calls. Rejects when one of them cannot be made. */
  round(calls: number): Promise<void>
  close(): Promise<void> | void
}

/** Keeps `width` calls in flight until `calls` are made. */
export async function inFlight(width: number, calls: number, call: () => Promise<unknown>): Promise<void> {
  let left = calls
  const lane = async (): Promise<void> => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: Math.min(width, calls) }, lane))
}
