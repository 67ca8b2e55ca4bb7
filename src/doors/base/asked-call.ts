import type { DoorCall } from './model-door.ts'

/** One call as a message has it. `input` is a value, or JSON text. */
export interface AskedCall extends DoorCall {
  readonly input: unknown
}

/** The parts of a call in a message, whatever a model wrote there. */
interface CallParts {
  readonly id: unknown
  readonly name: unknown
  readonly input: unknown
  readonly cut?: boolean
  readonly echo?: DoorCall['echo'] | undefined
}

/** Takes what a model sent as a call; what is wrong with it is told by the pipeline. */
export function toAskedCall({ id, name, input, cut = false, echo }: CallParts): AskedCall {
  return {
    ...((typeof id === 'string' || typeof id === 'number') && { id }),
    name: typeof name === 'string' ? name : '',
    input,
    ...(cut && { cut }),
    ...(echo !== undefined && { echo }),
  }
}

/**
 * Key of a broken input in a message that was collected from a stream: the API takes only objects there. Source:
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/fine-grained-tool-streaming
 */
const brokenKey = 'INVALID_JSON'

/** The input that the text of a stream makes; an empty text is an empty object. */
export function toStreamedInput(text: string): object {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Told as what it is.
  }
  return { [brokenKey]: text }
}

/** The input of a call in a message: the text itself where that was not JSON. */
export function readStreamedInput(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || Object.keys(input).length !== 1) return input
  const text: unknown = Object.entries(input)[0]?.[1]
  return brokenKey in input && typeof text === 'string' ? text : input
}
