import type { Fault } from '../../contract/base/json.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import type { CompatibleAlias, CompatiblePresentation } from '../../contract/base/tool.ts'

/** What every provider takes as a tool name; without a dot, so that it never is another tool's canonical name. */
const presentationGrammar = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** Every fault of a compatible presentation. Pointers lead into the tool. */
export function checkCompatible(presentation: CompatiblePresentation, checker: SchemaChecker): Fault[] {
  return [
    ...checkPresentation(presentation, '/compatible', checker),
    ...(presentation.aliases ?? []).flatMap((alias, index) =>
      checkPresentation(alias, `/compatible/aliases/${index}`, checker),
    ),
  ]
}

function checkPresentation(presentation: CompatibleAlias, pointer: string, checker: SchemaChecker): Fault[] {
  const faults = checker
    .inspect(presentation.inputSchema, 'native')
    .map((fault) => ({ ...fault, pointer: `${pointer}/inputSchema${fault.pointer}` }))
  if (!presentationGrammar.test(presentation.name)) {
    faults.unshift({
      pointer: `${pointer}/name`,
      code: 'invalid_name',
      message: `"${String(presentation.name).slice(0, 80)}" is no compatible name: use a letter or "_", then up to 63 letters, digits, "_" and "-", no dots.`,
    })
  }
  return faults
}

/** Two tools cannot answer to one compatible name. */
export function takenPresentation(tool: string, presentation: string, holder: string): Fault {
  return {
    pointer: '/compatible/name',
    code: 'duplicate_tool',
    message: `"${tool}" wants the compatible name "${presentation}", which "${holder}" has already. Choose another compatible name.`,
  }
}
