import type { Json } from '../../contract/base/json.ts'
import { callError } from '../../kit/result/call-error.ts'
import { answerText } from './answer-text.ts'
import type { OpenRun, RunEnd } from './run-state.ts'

/** A wrong output is handed back so often. */
const mostCorrections = 2
const opening = 'Your answer is not the JSON that was asked for:'

/** Holds the last answer to the schema of the run; a wrong one is handed back to the model. Undefined if the model is asked again. */
export async function checkOutput(run: OpenRun): Promise<RunEnd | undefined> {
  const { output: schema } = run.kept.settings
  if (schema === undefined) return { endReason: 'completed' }
  const parsed = parse(run)
  const fault = parsed === undefined ? 'it is no JSON.' : findFault(run, parsed.json)
  if (fault === undefined) return { endReason: 'completed' }
  const said = run.nodes.filter((node) => node.type === 'user')
  const corrections = said.length - 1 - said.findLastIndex(({ text }) => !text.startsWith(opening))
  if (corrections >= mostCorrections)
    return {
      endReason: 'failed',
      error: callError('PROVIDER.UNAVAILABLE', 'wrong_answer', {
        message: `The last answer of the model is not what "output" asks for, after ${mostCorrections} corrections: ${fault}`,
      }),
    }
  await run.save({}, [
    {
      type: 'user',
      text: `${opening} ${fault} Answer with JSON alone, of this schema:\n${JSON.stringify(schema)}`,
    },
  ])
  return undefined
}

/** The output of a run that completed; undefined if none was asked for. */
export function readOutput(run: OpenRun): Json | undefined {
  return run.kept.settings.output === undefined ? undefined : parse(run)?.json
}

function findFault({ ports: { checker }, kept }: OpenRun, json: Json): string | undefined {
  const checked = checker.check(kept.settings.output ?? {}, json)
  if (checked.ok) return undefined
  return `${checked.issues.map(({ pointer, message }) => `${pointer || '/'}: ${message}`).join(' ')}`
}

/** Models like to put JSON between fences. */
function parse({ nodes }: OpenRun): { json: Json } | undefined {
  const last = nodes.findLast((node) => node.type === 'assistant')
  if (last === undefined) return undefined
  const text = answerText(last).trim()
  const inner = /^```(?:json)?\n([\s\S]*)\n```$/.exec(text)?.[1] ?? text
  try {
    return { json: JSON.parse(inner) as Json }
  } catch {
    return undefined
  }
}
