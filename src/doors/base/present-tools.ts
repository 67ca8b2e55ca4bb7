import type { Presentation } from '../../contract/base/call.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { PresentedTool } from '../../contract/registry.ts'
import type { Session } from '../../contract/runtime.ts'
import { createNameCodec, providerNames } from '../../kit/names/name-codec.ts'
import { searchingTool } from '../../kit/names/names-tools.ts'
import type { SdkDoorOptions } from './door-options.ts'

/** A tool as an SDK takes it. Its schema is a copy, to do with as the SDK likes. */
export interface WireTool {
  /** What models call it: a flat name that every provider takes. */
  readonly name: string
  /** As the session presents it. */
  readonly tool: string
  readonly canonical: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonObject & { type: 'object' }
}

/** The tools of a session in the words of models. */
export interface WireTools {
  readonly list: readonly WireTool[]
  /** The tool of this name, as models or as the session call it. */
  find(name: string): WireTool | undefined
  /** A text of Handrail in the names that models know. */
  say(text: string): string
}

/** Presents the tools of a session under names that every provider takes: the narrowest limits of all of them hold. */
export function presentTools(session: Session, { presentation }: SdkDoorOptions): WireTools {
  const tools = listAll(session, presentation)
  const codec = createNameCodec(
    tools.map(({ name }) => name),
    providerNames.gemini,
  )
  const list = tools.map(({ tool, name, title, description, inputSchema }): WireTool => ({
    name: codec.encode(name),
    tool: name,
    canonical: tool,
    title,
    description: codec.inWireNames(description),
    // A plain copy already; that of an object is what every input schema is.
    inputSchema: { properties: {}, ...(structuredClone(inputSchema) as JsonObject), type: 'object' },
  }))
  const known = new Map(list.flatMap((each) => [[each.tool, each] as const, [each.name, each] as const]))
  return { list, find: (name) => known.get(name), say: (text) => codec.inWireNames(text) }
}

/** All tools of a session, for an SDK that takes its tools once: deferred ones too, and none that searches, as nothing could join what the SDK has. */
export function listAll(session: Session, presentation?: Presentation): readonly PresentedTool[] {
  return session
    .tools({ all: true, ...(presentation !== undefined && { presentation }) })
    .filter(({ tool }) => tool !== searchingTool)
}
