import { SetupError } from '../../contract/base/errors.ts'
import type { Session } from '../../contract/runtime.ts'
import { providerNames } from '../../kit/names/name-codec.ts'
import { toAskedCall, type AskedCall } from '../base/asked-call.ts'
import { createDoor, type CallAnswer } from '../base/create-door.ts'
import { toPlainSchema, type FittedTool } from '../base/fit-tools.ts'
import { subtypeOf } from '../base/media-types.ts'
import { fieldsOf, listOf, refuseMessage } from '../base/message-fields.ts'
import type { DoorOptions, ModelDoor } from '../base/model-door.ts'
import type { RuleQuery } from '../rules/find-rules.ts'
import { textOfParts, type Part } from '../base/result-parts.ts'
import { checkGoogleRequest } from './check-request.ts'
import { collectGoogle } from './collect.ts'
import type { GoogleAnswer, GoogleBlob, GooglePart, GoogleReply, GoogleTool } from './messages.ts'

/** Options of the door to the Gemini API. `model` says whether results may hold images: those of Gemini 3 may. */
export interface GoogleOptions extends DoorOptions {
  /**
   * The field of a declaration that has the schema: `parametersJsonSchema` is JSON Schema, `parameters` a part of OpenAPI that older servers
   * take too. Default `parametersJsonSchema`.
   */
  schemaField?: 'parametersJsonSchema' | 'parameters'
}

/** A door to `generateContent` of Gemini, in the Gemini API and in Vertex AI. */
export type GoogleDoor = ModelDoor<GoogleTool, GoogleAnswer, GoogleReply>

/**
 * A session as tools of the Gemini API (https://ai.google.dev/api/generate-content). Of an answer with several candidates, the first counts.
 * Throws a SetupError for faulty options, and for tools that the API does not take.
 */
export function google(session: Session, options: GoogleOptions = {}): GoogleDoor {
  const { schemaField: field = 'parametersJsonSchema', model } = options
  if (field !== 'parametersJsonSchema' && field !== 'parameters')
    throw new SetupError('invalid_options', 'The options of the door to Google cannot be used.', [
      {
        pointer: '/schemaField',
        code: 'wrong_value',
        message: 'It must be "parametersJsonSchema" or "parameters".',
      },
    ])
  const query: RuleQuery = { api: 'google-generate-content', field, model }
  // Source: https://ai.google.dev/gemini-api/docs/function-calling#multimodal
  const inside = /gemini-([3-9]|\d\d)/i.test(model ?? '')
  return createDoor<GoogleTool, GoogleAnswer, GoogleReply>(session, options, {
    provider: 'Google',
    query,
    names: providerNames.gemini,
    options: ['schemaField'],
    define: (tools) =>
      tools.length === 0 ? [] : [{ functionDeclarations: tools.map((tool) => toFunction(tool, field)) }],
    read,
    reply: (answers) => [{ role: 'user', parts: toParts(answers, inside) }],
    collect: collectGoogle,
    check: (request) => checkGoogleRequest(request, query),
  })
}

function toFunction(
  { name, description, schema }: FittedTool,
  field: 'parametersJsonSchema' | 'parameters',
): GoogleTool['functionDeclarations'][number] {
  const plain = toPlainSchema(schema)
  // Source of both: "parameters.properties: should be non-empty for OBJECT type" of older models.
  const isEmpty = field === 'parameters' && plain['properties'] === undefined
  return { name, description, ...(!isEmpty && { [field]: plain }) }
}

function read(answer: unknown): readonly AskedCall[] {
  const whole = fieldsOf(answer)
  const candidate = fieldsOf(listOf(whole['candidates'])[0])
  const isAnswer = 'candidates' in whole || 'promptFeedback' in whole
  if (!isAnswer && !Array.isArray(whole['parts']))
    return refuseMessage(answer, 'an answer of generateContent ({ candidates, … }), or the content in it')
  const parts = listOf(isAnswer ? fieldsOf(candidate['content'])['parts'] : whole['parts'])
  const { finishReason: reason = candidate['finish_reason'] } = candidate
  const isCut = reason === 'MAX_TOKENS' || reason === null
  const last = parts.at(-1)
  return parts.flatMap((part) => {
    const { functionCall, function_call: snake = functionCall } = fieldsOf(part)
    if (typeof snake !== 'object' || snake === null) return []
    const { id, name, args, willContinue } = fieldsOf(snake)
    return [
      toAskedCall({ id, name, input: args ?? {}, cut: willContinue === true || (isCut && part === last) }),
    ]
  })
}

function toParts(answers: readonly CallAnswer[], inside: boolean): GooglePart[] {
  const responses = answers.map(({ call, parts, isError }): GooglePart => {
    const media = inside ? parts.flatMap((part) => toBlob(part, insideTypes) ?? []) : []
    return {
      functionResponse: {
        ...(call.id !== undefined && { id: call.id as string }),
        name: call.name,
        response: { [isError ? 'error' : 'output']: textOfParts(parts) },
        ...(media.length > 0 && { parts: media.map((inlineData) => ({ inlineData })) }),
      },
    }
  })
  const beside = answers.flatMap(({ parts }) =>
    parts.flatMap((part) => {
      const blob = inside && toBlob(part, insideTypes) !== undefined ? undefined : toBlob(part, besideTypes)
      return blob === undefined ? [] : [{ inlineData: blob }]
    }),
  )
  return [...responses, ...beside]
}

/** Source: https://ai.google.dev/gemini-api/docs/function-calling#multimodal */
const insideTypes: MediaTypes = { image: ['png', 'jpeg', 'webp'], application: ['pdf'] }

/** Source: https://ai.google.dev/gemini-api/docs/image-understanding, and the pages on audio and documents. */
const besideTypes: MediaTypes = {
  image: ['png', 'jpeg', 'webp', 'heic', 'heif'],
  application: ['pdf'],
  audio: ['wav', 'mp3', 'mpeg', 'aiff', 'aac', 'ogg', 'flac'],
}

type MediaTypes = { readonly [kind: string]: readonly string[] }

function toBlob(part: Part, types: MediaTypes): GoogleBlob | undefined {
  if (part.type === 'text') return undefined
  const { mimeType, data } = part
  for (const [kind, known] of Object.entries(types)) {
    const subtype = subtypeOf(mimeType, kind, known)
    if (subtype !== undefined) return { mimeType: `${kind}/${subtype}`, data }
  }
  return undefined
}
