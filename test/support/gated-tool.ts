import { defineTool, type ManifestSpec, type Tool } from 'handrail'

/** A tool whose runs end one by one, when the test says so. */
export interface GatedTool {
  tool: Tool
  /** `+id` when a run starts, `-id` when it ends, in order. */
  seen: string[]
  /** Resolves when the run with this id has started. */
  started: (id: string) => Promise<void>
  /** Lets a run end: with its id, or with an error. */
  release: (id: string, error?: Error) => void
  /** How many run at this moment. */
  open: () => number
}

/** A readonly tool `t.gated` that hears no abort, unless `more` says otherwise. Its input is `{ id }`. */
export function gatedTool(
  more: Partial<ManifestSpec> & { onAbort?: (id: string) => string } = {},
): GatedTool {
  const seen: string[] = []
  const runs = new Map<string, { started: PromiseWithResolvers<void>; ended: PromiseWithResolvers<string> }>()
  const find = (id: string) => {
    let run = runs.get(id)
    if (run === undefined)
      runs.set(id, (run = { started: Promise.withResolvers(), ended: Promise.withResolvers() }))
    return run
  }
  const { onAbort, ...manifest } = more
  const tool = defineTool({
    name: 't.gated',
    description: 'Runs until the test lets it end.',
    permission: 'readonly',
    ...manifest,
    input: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    async run({ id }, { signal }) {
      const run = find(id)
      seen.push(`+${id}`)
      run.started.resolve()
      if (onAbort !== undefined)
        signal.addEventListener('abort', () => run.ended.resolve(onAbort(id)), { once: true })
      try {
        return await run.ended.promise
      } finally {
        seen.push(`-${id}`)
      }
    },
  })
  return {
    tool,
    seen,
    started: (id) => find(id).started.promise,
    release(id, error) {
      if (error === undefined) find(id).ended.resolve(id)
      else find(id).ended.reject(error)
    },
    open: () => seen.reduce((count, mark) => count + (mark.startsWith('+') ? 1 : -1), 0),
  }
}
