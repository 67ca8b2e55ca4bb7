import { createNameCodec, type NameCodec } from '../../kit/names/name-codec.ts'
import type { SessionState } from '../state/scope.ts'

const limits = { maxLength: 128, alphabet: '', first: 'letter' } as const

/** The names by which programs call tools: `code.read_file` is `tools.code__read_file`. No two tools have the same. */
export function createProgramNames(names: Iterable<string>): NameCodec {
  return createNameCodec(names, limits)
}

/** perf: a program calls few tools, and each of them often. */
const known = new Map<string, string>()
const mostKnown = 1_000

/** It depends on the name of the tool alone. */
function programNameOf(tool: string): string {
  let name = known.get(tool)
  if (name !== undefined) return name
  if (known.size >= mostKnown) known.clear()
  known.set(tool, (name = createProgramNames([tool]).encode(tool)))
  return name
}

/** The tool that a program means by this name; a name that means none comes back in the form of a tool's name. */
export function toToolName(name: string, session: Pick<SessionState, 'find' | 'opened'>): string {
  const plain = name.replaceAll('__', '.')
  if (session.find(plain, 'canonical') !== undefined && programNameOf(plain) === name) return plain
  if (!hasDigest.test(name)) return plain
  const all = session.opened().tools({ shared: true })
  return createProgramNames(all.map(({ tool }) => tool)).decode(name) ?? plain
}

/** The end of a name that would mean two tools without it. */
const hasDigest = /_x[0-9a-f]{10,}$/
