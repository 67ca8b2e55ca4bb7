import { join } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Tool, ToolSource } from '../../contract/tool/tool.ts'
import { toTool, type DeclaringContext } from '../to-tool.ts'
import { capletFileName } from './check-caplet.ts'
import { findChanged, type FaultyCaplet, type InstalledCaplet } from './installed-caplets.ts'

/** Installed caplets as a source of tools; what is wrong with others is quarantined. */
export function toCapletSource(
  { caplets, faulty }: { caplets: readonly InstalledCaplet[]; faulty: readonly FaultyCaplet[] },
  { checker }: Pick<DeclaringContext, 'checker'>,
): ToolSource {
  const tools = caplets.map((caplet) => toCapletTool(caplet, { checker }))
  const quarantined = faulty.map(({ name, message }) => ({ tool: name, message }))
  return { id: 'caplets', kind: 'declarative', list: () => tools, quarantined: () => quarantined }
}

function toCapletTool(caplet: InstalledCaplet, { checker }: Pick<DeclaringContext, 'checker'>): Tool {
  const { signed, file, digest, folder } = caplet
  const { read, write, publisher } = signed.manifest
  const tool = toTool(file, join(folder, capletFileName), {
    checker,
    env: {},
    bounds: { read, write, facts: { caplet: { digest, publisher: publisher ?? null } } },
  })
  return {
    ...tool,
    folder,
    run(input, context) {
      const changed = findChanged(caplet)
      if (changed === undefined) return tool.run(input, context)
      throw new ToolFailure({
        code: 'SANDBOX.CAPABILITY_BLOCKED',
        reason: 'executable_blocked',
        message: `"${changed}" of the package of "${file.name}" is not what was signed, so nothing of it was run. Tell the operator to install it again.`,
      })
    },
  }
}
