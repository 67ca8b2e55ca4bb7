import type { Issue } from '../../contract/base/json.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import type { CompatibleAlias, CompatiblePresentation } from '../../contract/tool/tool.ts'

/** What every provider takes as a tool name; without a dot, so that it never is another tool's canonical name. */
const presentationGrammar = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** Every issue of a compatible presentation. Pointers lead into the tool. */
export function checkCompatible(presentation: CompatiblePresentation, checker: SchemaChecker): Issue[] {
  return [
    ...checkPresentation(presentation, '/compatible', checker),
    ...(presentation.aliases ?? []).flatMap((alias, index) =>
      checkPresentation(alias, `/compatible/aliases/${index}`, checker),
    ),
  ]
}

function checkPresentation(presentation: CompatibleAlias, pointer: string, checker: SchemaChecker): Issue[] {
  const issues = checker
    .inspect(presentation.inputSchema, 'native')
    .map((issue) => ({ ...issue, pointer: `${pointer}/inputSchema${issue.pointer}` }))
  if (!presentationGrammar.test(presentation.name)) {
    issues.unshift({
      pointer: `${pointer}/name`,
      code: 'invalid_name',
      message: `"${String(presentation.name).slice(0, 80)}" is not a compatible name: use a letter or "_", then up to 63 letters, digits, "_" and "-", no dots.`,
    })
  }
  return issues
}

/** Two tools cannot answer to one compatible name. */
export function takenPresentation(tool: string, presentation: string, holder: string): Issue {
  return {
    pointer: '/compatible/name',
    code: 'duplicate_tool',
    message: `"${tool}" wants the compatible name "${presentation}", which "${holder}" has already. Choose another compatible name.`,
  }
}
