import { isBuiltin } from 'node:module'

/** A model as a person names it. */
export interface ModelName {
  /** As it was written; prices are found by it. */
  readonly text: string
  /** The npm package of the provider. */
  readonly package: string
  /** What the package calls the model. */
  readonly model: string
}

/** How a model is named, in words. */
export const modelNameForm =
  'A model is named as provider/name, such as openai/gpt-5, of the package @ai-sdk/<provider>; or as <package>:<name> of any other package with a provider of the AI SDK.'

/** Letters of a name at most. */
export const longestModelName = 200

const packageForm = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/
const providerForm = /^[a-z0-9][a-z0-9-]*$/

/** Reads `provider/name` or `<package>:<name>`; names may hold slashes and colons. Undefined for anything else. */
export function parseModelName(text: string): ModelName | undefined {
  const end = text.startsWith('@') ? text.indexOf(':') : text.search(/[/:]/)
  const [source, model] = [text.slice(0, Math.max(end, 0)), text.slice(end + 1)]
  const isProvider = text[end] === '/'
  const isSound =
    (isProvider ? providerForm : packageForm).test(source) && !isBuiltin(source) && /^[^\s/]\S*$/.test(model)
  if (end === -1 || !isSound || text.length > longestModelName) return undefined
  return { text, package: isProvider ? `@ai-sdk/${source}` : source, model }
}

/** Why a text cannot be the URL of a provider, to go on after its name; undefined if it can. */
export function findBaseUrlFlaw(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.host === '')
    return `is "${text}"; it must be a URL, such as http://127.0.0.1:11434/v1.`
  if (url.username !== '' || url.password !== '')
    return 'holds a name or a password, which is kept with the run. Leave them out; a key has its environment variable.'
  return undefined
}
