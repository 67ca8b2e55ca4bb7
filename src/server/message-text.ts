import { isPlainObject } from '../kit/is-plain-object.ts'

/** Of the tools in lists, which all sessions share and nobody changes. */
const toolTexts = new WeakMap<object, string>()

/** How many tools stand in one part: some 64 kB. */
const toolsInPart = 50

/** A message as JSON. */
export function messageText(message: object): string {
  const parts = listParts(message)
  return parts === undefined ? JSON.stringify(message) : [...parts].join('')
}

/**
 * The answer to a list of tools as JSON, in parts; undefined for any other message. Thousands of tools are megabytes: each is made text
 * once and not for each client that asks, and all of them need not be in memory a second time to be sent.
 */
export function listParts(message: object): Iterable<string> | undefined {
  const result: unknown = 'result' in message ? message.result : undefined
  if (!isPlainObject(result) || !Array.isArray(result['tools'])) return undefined
  const { tools, ...rest } = result
  return toParts(tools, { ...message, result: rest })
}

function* toParts(tools: readonly unknown[], { result, ...message }: { result: object }): Iterable<string> {
  const more = JSON.stringify(result).slice(1, -1)
  yield `${JSON.stringify(message).slice(0, -1)},"result":{${more === '' ? '' : `${more},`}"tools":[`
  for (let index = 0; index < tools.length; index += toolsInPart) {
    const texts = tools.slice(index, index + toolsInPart).map(toolText)
    yield `${index === 0 ? '' : ','}${texts.join(',')}`
  }
  yield ']}}'
}

function toolText(tool: unknown): string {
  if (!isPlainObject(tool)) return JSON.stringify(tool)
  let text = toolTexts.get(tool)
  if (text === undefined) toolTexts.set(tool, (text = JSON.stringify(tool)))
  return text
}
