import type { Presentation } from '../../contract/base/call.ts'
import type { Session } from '../../contract/runtime.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'

/** What a tool of the session takes, under its canonical name or that of the presentation. Undefined if the session has no such tool. */
export function findSchema(
  session: Session,
  tool: string,
  presentation: Presentation | undefined,
): JsonSchema | undefined {
  const tools = session.tools({
    ...(presentation !== undefined && { presentation }),
    shared: true,
    all: true,
  })
  return tools.find((each) => each.name === tool || each.tool === tool)?.inputSchema
}
