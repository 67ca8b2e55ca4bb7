import type { JsonObject } from '../../../contract/base/json.ts'
import type { MappedCall } from '../../../compose/agents/native-agent.ts'
import { valuesOf } from '../../../compose/agents/read-fields.ts'

/**
 * The calls that a patch in the form of Codex comes to: one for each file that it adds, changes, moves or deletes. Undefined if a line is not
 * understood, or there is more than one patch.
 * https://github.com/openai/codex/blob/main/codex-rs/apply-patch/apply_patch_tool_instructions.md
 */
export function applyPatch(input: JsonObject): readonly MappedCall[] | undefined {
  const [patch, ...others] = valuesOf(input, ['command', 'input', 'patch'])
  if (typeof patch !== 'string' || others.length > 0) return undefined
  const lines = patch.split('\n')
  const begin = lines.findIndex((line) => line.trim() === '*** Begin Patch')
  const end = lines.findIndex((line) => line.trim() === '*** End Patch')
  if (begin < 0 || end < begin) return undefined
  // Anything around the patch would be more than the patch.
  if ([...lines.slice(0, begin), ...lines.slice(end + 1)].some((line) => line.trim() !== '')) return undefined
  const parts = split(lines.slice(begin + 1, end))
  const calls = parts?.map(toCalls)
  if (calls === undefined || calls.length === 0 || calls.includes(undefined)) return undefined
  return calls.flatMap((each) => each ?? [])
}

interface Part {
  readonly does: string
  readonly path: string
  readonly lines: string[]
}

function split(lines: readonly string[]): Part[] | undefined {
  const parts: Part[] = []
  for (const line of lines) {
    const [, does, path] = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line.trimEnd()) ?? []
    if (does !== undefined && path !== undefined) parts.push({ does, path: path.trim(), lines: [] })
    else if (parts.length === 0) return undefined
    else parts.at(-1)?.lines.push(line)
  }
  return parts
}

function toCalls({ does, path, lines }: Part): MappedCall[] | undefined {
  if (does === 'Delete') return lines.length > 0 ? undefined : [{ tool: 'code.delete_path', input: { path } }]
  if (does === 'Add') {
    if (lines.some((line) => !line.startsWith('+'))) return undefined
    const content = lines.map((line) => `${line.slice(1)}\n`).join('')
    return [{ tool: 'code.write_file', input: { path, content, overwrite: true } }]
  }
  const [, to] = /^\*\*\* Move to: (.+)$/.exec(lines[0] ?? '') ?? []
  const edits = toEdits(to === undefined ? lines : lines.slice(1))
  if (edits === undefined || (edits.length === 0 && to === undefined)) return undefined
  const change: MappedCall[] = edits.length === 0 ? [] : [{ tool: 'code.edit_file', input: { path, edits } }]
  const move: MappedCall[] =
    to === undefined ? [] : [{ tool: 'code.move_path', input: { from: path, to: to.trim() } }]
  return [...change, ...move]
}

/** Each part of a file that changes, as the lines before and after. */
function toEdits(lines: readonly string[]): { old: string; new: string; replace_all: boolean }[] | undefined {
  const hunks: string[][] = []
  for (const line of lines) {
    if (line.startsWith('@@')) hunks.push([])
    else if (line.trim() === '*** End of File') continue
    else if (line !== '' && !/^[ +-]/.test(line)) return undefined
    else if (hunks.length === 0) hunks.push([line])
    else hunks.at(-1)?.push(line)
  }
  return hunks
    .filter((hunk) => hunk.length > 0)
    .map((hunk) => ({ old: side(hunk, '+'), new: side(hunk, '-'), replace_all: false }))
}

/** The lines of a hunk without those of the other side. */
function side(hunk: readonly string[], without: string): string {
  return hunk
    .filter((line) => !line.startsWith(without))
    .map((line) => line.slice(1))
    .join('\n')
}
