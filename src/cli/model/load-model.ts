import { SetupError } from '../../contract/base/errors.ts'
import type { AgentModel } from '../../contract/agent-run.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { readEnvironment } from '../setup/wire.ts'
import { importProvider, type ImportedPackage, type PackagePlace } from './import-provider.ts'
import { keyNameOf } from './provider-keys.ts'
import type { ModelName } from '../../config/base/model-name.ts'

/** A model, and the file of the package that it comes from. */
export interface LoadedModel {
  readonly model: AgentModel
  readonly file: string
}

/** Where a model is looked for, and where its provider answers if that is another place than usual. */
export interface ModelPlace extends PackagePlace {
  readonly baseUrl: string | undefined
}

type Provider = (model: string) => unknown
type CreateProvider = (settings: { [name: string]: string }) => unknown

/** Loads the model of a provider package. Throws a SetupError that says what to install, to set or to name. */
export async function loadModel(name: ModelName, { baseUrl, ...place }: ModelPlace): Promise<LoadedModel> {
  const found = await importProvider(name.package, place)
  const keyName = keyNameOf(name.package)
  if (keyName !== undefined && readEnvironment(keyName) === undefined)
    throw new SetupError(
      'missing_key',
      `The key for "${name.text}" is not there. Set it in the environment variable ${keyName}.`,
    )
  try {
    const model = findProvider(found, name, baseUrl)(name.model)
    if (isModel(model)) return { model, file: found.file }
  } catch (error) {
    if (error instanceof SetupError) throw error
    throw new SetupError('invalid_options', `"${name.text}" cannot be used: ${messageOf(error)}`)
  }
  throw new SetupError(
    'invalid_options',
    `"${name.model}" of "${name.package}" is not a language model of the AI SDK (version 5 or later). Take a newer version of the package, or another model.`,
  )
}

/** The provider of a package by the convention of the AI SDK: `openai` and `createOpenAI` of `@ai-sdk/openai`. */
function findProvider({ exports }: ImportedPackage, name: ModelName, baseUrl: string | undefined): Provider {
  const words = namesOf(name.package)
  const made = Object.entries(exports).filter(([, value]) => typeof value === 'function')
  const find = (names: readonly string[]): unknown =>
    names.map((each) => made.find(([key]) => key.toLowerCase() === each)?.[1]).find(Boolean)
  const provider = find([...words, 'default']) as Provider | undefined
  const create = find(words.map((word) => `create${word}`)) as CreateProvider | undefined
  if (baseUrl === undefined) {
    if (provider !== undefined) return provider
    const what = create === undefined ? '' : ' It makes one for a server: say which one with --base-url.'
    throw noProvider(name, words, what)
  }
  if (create === undefined)
    throw new SetupError(
      'invalid_options',
      `The package "${name.package}" has no function "create…", so --base-url cannot be used with it. Leave it out.`,
    )
  const own = create({ baseURL: baseUrl, ...(provider === undefined && unnamedSettings(words)) })
  if (typeof own === 'function') return own as Provider
  throw noProvider(name, words, '')
}

/** A package for servers of any kind, such as `@ai-sdk/openai-compatible`, has to be told which one it talks to. */
function unnamedSettings([word = '']: readonly string[]): { name: string; apiKey?: string } {
  const apiKey = readEnvironment(`${word.toUpperCase()}_API_KEY`)
  return { name: word, ...(apiKey !== undefined && { apiKey }) }
}

/** In small letters: `@ai-sdk/amazon-bedrock` exports `bedrock`, and `@openrouter/ai-sdk-provider` exports `openrouter`. */
function namesOf(name: string): string[] {
  const [scope = '', base = scope] = name.replace(/^@/, '').split('/')
  const parts = base.split(/[-._]/)
  return [...new Set([parts.join(''), parts.at(-1) ?? '', parts[0] ?? '', scope.replaceAll(/[-._]/g, '')])]
}

function noProvider({ package: name }: ModelName, [word = '']: readonly string[], more: string): SetupError {
  return new SetupError(
    'invalid_options',
    `The package "${name}" exports no provider of the AI SDK: neither "${word}" nor a default.${more || ' Name another package.'}`,
  )
}

function isModel(value: unknown): value is AgentModel {
  return (
    typeof value === 'object' &&
    value !== null &&
    'doStream' in value &&
    typeof value.doStream === 'function' &&
    'specificationVersion' in value &&
    'provider' in value &&
    typeof value.provider === 'string' &&
    'modelId' in value &&
    typeof value.modelId === 'string'
  )
}
