import { markUntrusted } from '../../kit/text/mark-untrusted.ts'
import type { TranscriptNode } from '../../contract/agent-run.ts'
import { ownSystemText } from './own-system-text.ts'
import type { OpenRun } from './run-state.ts'

/** What stands before the conversation: how the agent works, which skills it can load, what its last answer has to be, and what the project says. */
export function systemText({ kept: { settings }, nodes }: OpenRun): string {
  const { system = ownSystemText, instructions = [], output, skills } = settings
  return [
    system,
    ...(skills === undefined ? [] : [skills]),
    ...(output === undefined ? [] : [`${wanted}\n${JSON.stringify(output)}`]),
    ...instructions.map((text) => markedOnce(text, 'instructions of the project')),
    ...readInstructions(nodes).map(({ scope, text }) => markedOnce(text, `instructions for ${scope}`)),
  ].join('\n\n')
}

const wanted =
  'Your last answer, the one without a call, has to be JSON and nothing else, of this JSON Schema:'

type InstructionsNode = TranscriptNode & { type: 'instructions' }

/** What was read last of each file, in the order of reading. */
function readInstructions(nodes: readonly TranscriptNode[]): InstructionsNode[] {
  const files = new Map<string, InstructionsNode>()
  for (const node of nodes)
    if (node.type === 'instructions') {
      files.delete(node.path)
      files.set(node.path, node)
    }
  return [...files.values()].slice(-mostFiles)
}

const mostFiles = 50

const marked = new Map<string, string>()

/** The same text under the same marks each time: providers keep what a prompt begins with. */
function markedOnce(text: string, source: string): string {
  const key = `${source}\n${text}`
  const known = marked.get(key)
  if (known !== undefined) return known
  if (marked.size >= mostMarked) marked.clear()
  const made = markUntrusted(text, source, 'a file of the project')
  marked.set(key, made)
  return made
}

const mostMarked = 1_000
