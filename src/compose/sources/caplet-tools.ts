import { homedir } from 'node:os'
import { join } from 'node:path'
import type { ToolSource } from '../../contract/tool/tool.ts'
import { readInstalled } from '../../declarative/caplets/installed-caplets.ts'
import { toCapletSource } from '../../declarative/caplets/to-caplet-source.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'

/**
 * The caplets that are installed in a folder, as they are now: tools that were packed and signed by a publisher. One that was changed, or whose
 * publisher is not named, is reported and left out.
 */
export function capletTools({
  dir = join(homedir(), '.handrail', 'caplets'),
  publishers = {},
}: {
  /** Default `~/.handrail/caplets`. */
  dir?: string
  /** Public keys of publishers, by names of the program's own. Default: none. */
  publishers?: Readonly<Record<string, string>>
} = {}): ToolSource {
  const checker = createSchemaChecker()
  return toCapletSource(readInstalled(dir, { checker, publishers }), { checker })
}
