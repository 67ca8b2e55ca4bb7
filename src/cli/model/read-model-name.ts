import { isBuiltin } from 'node:module'
import { showLine } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'

/** A model as a person names it. */
export interface ModelName {
  /** As it was typed; prices are found by it. */
  readonly text: string
  /** The npm package of the provider. */
  readonly package: string
  /** What the package calls the model. */
  readonly model: string
}

/** What help says of naming one. */
export const aboutModels =
  'A model is named as provider/name, such as openai/gpt-5, of the package @ai-sdk/<provider>; or as <package>:<name> of any other package with a provider of the AI SDK.'

const packageForm = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/
const providerForm = /^[a-z0-9][a-z0-9-]*$/
const longest = 200

/** Reads `provider/name` or `<package>:<name>`; names may hold slashes and colons. Throws a UsageError for anything else. */
export function readModelName(text: string): ModelName {
  const end = text.startsWith('@') ? text.indexOf(':') : text.search(/[/:]/)
  const [source, model] = [text.slice(0, Math.max(end, 0)), text.slice(end + 1)]
  const isProvider = text[end] === '/'
  const isSound =
    (isProvider ? providerForm : packageForm).test(source) && !isBuiltin(source) && /^[^\s/]\S*$/.test(model)
  if (end === -1 || !isSound || text.length > longest)
    throw new UsageError(`--model is "${showLine(text.slice(0, longest))}". ${aboutModels}`)
  return { text, package: isProvider ? `@ai-sdk/${source}` : source, model }
}
