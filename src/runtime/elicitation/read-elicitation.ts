import type { ElicitationParams, ElicitationRequest } from '../../contract/base/elicitation.ts'
import type { Json, JsonObject } from '../../contract/base/json.ts'
import { dropInvisible } from '../../kit/text/drop-invisible.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { jsonSize } from '../../kit/json/json-size.ts'
import { plainWords } from '../../kit/text/plain-words.ts'
import { mapTexts } from '../../kit/secrets/redact.ts'
import { readForm, toAnswerSchema, type ToWords } from './read-form.ts'

/** What cannot be asked, and why. */
export interface Unasked {
  readonly issue: string
}

const maxMessage = 4_000
const maxUrl = 4_096
const maxId = 256
const maxForm = 256 * 1024
/** Of what goes to a model, and of what comes from it. Pictures are large. */
export const maxSamplingSize = 1024 * 1024

/** What a tool asks, as a person or model may see it. `redact` hides secrets. */
export function readElicitation(
  request: ElicitationRequest,
  redact: (text: string) => string,
): ElicitationParams | Unasked {
  const words: ToWords = (text, most) => plainWords(redact(text), most)
  switch (request.mode) {
    case 'form': {
      if (jsonSize(request.schema) > maxForm) return { issue: 'its form is too large' }
      const schema = readForm(request.schema, words)
      if (schema === undefined) return { issue: 'what it asks is not a form of plain fields' }
      // What goes back as it is cannot be shown otherwise.
      const exact = toAnswerSchema(schema)
      if (mapTexts(exact, redact) !== exact) return { issue: 'its form holds a secret' }
      return { mode: 'form', message: words(String(request.message), maxMessage), schema }
    }
    case 'url':
      return redact(request.url) === request.url
        ? readPage(request, words)
        : { issue: 'its page holds a secret' }
    case 'sampling': {
      if (jsonSize(request.params) > maxSamplingSize) return { issue: 'what it asks of a model is too large' }
      const params = readParams(request.params)
      if (params === undefined) return { issue: 'what it asks of a model is not a list of messages' }
      return { mode: 'sampling', params: mapTexts(params, (text) => redact(dropInvisible(text))) }
    }
  }
}

function readPage(
  { url, message, id }: Extract<ElicitationRequest, { mode: 'url' }>,
  words: ToWords,
): ElicitationParams | Unasked {
  if (typeof url !== 'string' || url.length > maxUrl || !URL.canParse(url))
    return { issue: 'its page is not a URL' }
  const page = new URL(url)
  if (page.protocol !== 'https:' && page.protocol !== 'http:')
    return { issue: 'its page is neither on http nor on https' }
  if (page.username !== '' || page.password !== '')
    return { issue: 'the URL of its page names a user, as those do that pass for another site' }
  return {
    mode: 'url',
    message: words(String(message), maxMessage),
    // In the form of the web, where every letter is one that can be seen.
    url: page.href,
    ...(typeof id === 'string' && { id: words(id, maxId) }),
  }
}

const paramsOfSampling = [
  'messages',
  'systemPrompt',
  'maxTokens',
  'temperature',
  'stopSequences',
  'modelPreferences',
  'tools',
  'toolChoice',
]

/** Without what would hand it more than it says itself, such as the context of a conversation. */
function readParams(params: JsonObject): JsonObject | undefined {
  if (!isPlainObject(params) || !Array.isArray(params['messages']) || params['messages'].length === 0)
    return undefined
  const kept = Object.entries(params).filter(([name]) => paramsOfSampling.includes(name))
  return Object.fromEntries<Json>(kept)
}
