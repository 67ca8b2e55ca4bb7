import { basename } from 'node:path'
import type { ToolSource } from '../contract/tool/tool.ts'
import { describeIssues, type ToolFolder } from './read-tool-folder.ts'

/** The tools of a folder as a source; what is faulty in it is quarantined. */
export function toSource({ tools, faulty }: ToolFolder): ToolSource {
  const list = tools.map(({ tool }) => tool)
  const quarantined = faulty.map((file) => ({ tool: basename(file.path), message: describeIssues(file) }))
  return {
    id: 'declarative',
    kind: 'declarative',
    byOperator: true,
    list: () => list,
    quarantined: () => quarantined,
  }
}
