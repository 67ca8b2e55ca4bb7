import type { Fault } from '../../contract/base/json.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import type { FamiliarAlias, FamiliarFace } from '../../contract/base/tool.ts'

/** What every provider takes as a tool name; without a dot, so that it never is another tool's canonical name. */
const faceGrammar = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

/** Every fault of a familiar face. Pointers lead into the tool. */
export function checkFamiliar(face: FamiliarFace, checker: SchemaChecker): Fault[] {
  return [
    ...checkFace(face, '/familiar', checker),
    ...(face.aliases ?? []).flatMap((alias, index) =>
      checkFace(alias, `/familiar/aliases/${index}`, checker),
    ),
  ]
}

function checkFace(face: FamiliarAlias, pointer: string, checker: SchemaChecker): Fault[] {
  const faults = checker
    .inspect(face.inputSchema, 'native')
    .map((fault) => ({ ...fault, pointer: `${pointer}/inputSchema${fault.pointer}` }))
  if (!faceGrammar.test(face.name)) {
    faults.unshift({
      pointer: `${pointer}/name`,
      code: 'invalid_name',
      message: `"${String(face.name).slice(0, 80)}" is no familiar name: use a letter or "_", then up to 63 letters, digits, "_" and "-", no dots.`,
    })
  }
  return faults
}

/** Two tools cannot answer to one familiar name. */
export function takenFace(tool: string, face: string, holder: string): Fault {
  return {
    pointer: '/familiar/name',
    code: 'duplicate_tool',
    message: `"${tool}" wants the familiar name "${face}", which "${holder}" has already. Choose another familiar name.`,
  }
}
