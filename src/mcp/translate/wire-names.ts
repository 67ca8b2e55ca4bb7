import type { Presentation } from '../../contract/base/call.ts'
import type { PresentedTool, Registered } from '../../contract/registry.ts'
import { createNameCodec, providerNames, type NameLimits } from '../../kit/names/name-codec.ts'

/** What the model behind any MCP client takes. */
const limits: NameLimits = providerNames.gemini

/** The tools of a session under names that every MCP client takes: `^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`. */
export interface WireNames {
  /** In the order of the session. */
  readonly tools: readonly PresentedTool[]
  /** By wire name; a name in the presentation (`code.read_file`) finds its tool too, because models read it in messages. */
  find(name: string): PresentedTool | undefined
  /** The wire name of a canonical name; undefined for a tool that is not among these. */
  wireNameOf(canonical: string): string | undefined
}

/**
 * The name in this presentation that a wire name was made from, of any tool that there is, whether or not it can be called now: a client may
 * have seen it before.
 */
export function findWireName(
  wireName: string,
  tools: readonly Known[],
  presentation: Presentation,
): string | undefined {
  const names = tools.map((tool) => presentedName(tool, presentation))
  return createNameCodec(names, limits).decode(wireName)
}

type Known = Pick<Registered, 'definition' | 'tool'>

function presentedName({ definition, tool }: Known, presentation: Presentation): string {
  return presentation === 'compatible' ? (tool.compatible?.name ?? definition.name) : definition.name
}

/** The wire name of a tool that a client cannot call now; `findWireName` finds the tool by it. */
export function toHiddenWireName(tool: Known, presentation: Presentation): string {
  const name = presentedName(tool, presentation)
  return createNameCodec([name], limits).encode(name)
}

/** Assigns every tool its wire name. Reversible: two tools never share one. Throws if that cannot be had. */
export function toWireNames(tools: readonly PresentedTool[]): WireNames {
  const codec = createNameCodec(
    tools.map((tool) => tool.name),
    limits,
  )
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const isRenamed = tools.some(({ tool, name }) => tool !== name)
  const byCanonical = isRenamed ? new Map(tools.map((tool) => [tool.tool, tool])) : byName
  return {
    tools,
    find: (name) => byName.get(codec.decode(name) ?? name),
    wireNameOf(canonical) {
      const tool = byCanonical.get(canonical)
      return tool && codec.encode(tool.name)
    },
  }
}
