import type { Presentation, SessionModel } from '../../contract/base/call.ts'
import type { PresentedTool } from '../../contract/registry.ts'
import type { Session } from '../../contract/runtime.ts'
import { createNameCodec, type NameCodec, type NameLimits } from '../../kit/names/name-codec.ts'
import { fitTools, type FitOptions, type FittedTools } from './fit-tools.ts'

/** The tools that a model is shown, and what their names mean. */
export interface ShownTools {
  /** The tools of now. Throws a SetupError if the provider does not take one of them. */
  fitted(): FittedTools
  /** The input that a tool means, of one that follows the schema that was shown last. */
  restore(name: string, input: unknown): unknown
  /** The name in the presentation that a wire name was made from, of any tool that was ever shown or is deferred. */
  decode(wireName: string): string | undefined
  /** Learns the names of the tools that are shown by now, whether or not the provider takes them. */
  look(): void
  /** The wire name of a canonical name, of any tool that was ever shown. */
  readonly wireNameOf: (canonical: string) => string | undefined
}

/** How tools are shown. */
export interface ShowOptions extends Pick<FitOptions, 'query' | 'provider' | 'strict' | 'onUnfit'> {
  readonly names: NameLimits
  readonly presentation: Presentation
  readonly model: SessionModel
}

/** Follows the tools of a session: what was shown once keeps its name. */
export function createShownTools(session: Session, options: ShowOptions): ShownTools {
  const { names: limits, presentation, model } = options
  /** Names in the presentation, by canonical name. */
  const names = new Map<string, string>()
  let codec: NameCodec = createNameCodec([], limits)
  let listed: readonly PresentedTool[] = []
  let fitted: FittedTools | undefined
  let last: FittedTools | undefined
  const wireNameOf = (canonical: string): string | undefined => {
    const name = names.get(canonical)
    return name === undefined ? undefined : codec.encode(name)
  }
  const meet = (tools: readonly PresentedTool[]): void => {
    const before = names.size
    for (const { tool, name } of tools) names.set(tool, name)
    if (names.size !== before) codec = createNameCodec(names.values(), limits)
  }
  return {
    fitted() {
      const tools = session.tools({ presentation, model, shared: true })
      if (fitted !== undefined && isSame(tools, listed)) return fitted
      meet(tools)
      listed = tools
      fitted = undefined
      fitted = fitTools(tools, { ...options, encode: (name) => codec.encode(name), wireNameOf })
      last = fitted
      return fitted
    },
    restore: (name, input) => last?.restore(name, input) ?? input,
    decode(wireName) {
      const known = codec.decode(wireName)
      if (known !== undefined) return known
      // A model may know a deferred tool by name.
      const tools = session.tools({ presentation, model, shared: true, all: true })
      if (tools.some(({ deferred }) => deferred === true)) meet(tools)
      return codec.decode(wireName)
    },
    look: () => meet(session.tools({ presentation, model, shared: true })),
    wireNameOf,
  }
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one === other || (one.length === other.length && one.every((each, index) => each === other[index]))
}
