import { fieldsOf, listOf, textOf } from '../base/message-fields.ts'
import { refuseStream } from '../base/read-events.ts'
import { setPartial } from './set-partial.ts'
import type { GoogleAnswer } from './messages.ts'

type Fields = { [field: string]: unknown }

/** The answer that the chunks of a stream make. Source: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */
export async function collectGoogle(events: AsyncIterable<unknown>): Promise<GoogleAnswer> {
  const parts: Fields[] = []
  let whole: Fields = {}
  let candidate: Fields = { index: 0 }
  let role = 'model'
  for await (const event of events) {
    const { candidates, error, ...rest } = fieldsOf(event)
    if (error !== undefined && error !== null) refuseStream('Google', error)
    whole = { ...whole, ...rest }
    const given = listOf(candidates).find((each) => (fieldsOf(each)['index'] ?? 0) === 0)
    const { content, ...others } = fieldsOf(given)
    candidate = { ...candidate, ...others }
    role = textOf(fieldsOf(content)['role']) || role
    for (const part of listOf(fieldsOf(content)['parts'])) takePart(parts, { ...fieldsOf(part) })
  }
  const finishReason = candidate['finishReason'] ?? null
  return { ...whole, candidates: [{ ...candidate, finishReason, content: { role, parts } }] }
}

/** Texts of one kind are one part; a call goes on in the next part, as long as it says so. */
function takePart(parts: Fields[], part: Fields): void {
  const last = parts.at(-1)
  const { functionCall } = part
  const open = fieldsOf(last?.['functionCall'])
  if (functionCall !== undefined && open['willContinue'] === true && last !== undefined) {
    const { functionCall: _, ...beside } = part
    Object.assign(last, beside, { functionCall: goOn(open, fieldsOf(functionCall)) })
  } else if (functionCall !== undefined)
    parts.push({ ...part, functionCall: goOn({}, fieldsOf(functionCall)) })
  else if (last !== undefined && isMoreText(last, part))
    last['text'] = textOf(last['text']) + textOf(part['text'])
  else parts.push(part)
}

function goOn(before: Fields, { partialArgs, willContinue, args, ...fields }: Fields): Fields {
  const { willContinue: _, args: known, ...others } = before
  let made = args ?? known
  for (const each of listOf(partialArgs)) made = setPartial(fieldsOf(made), fieldsOf(each))
  return {
    ...others,
    ...fields,
    args: made ?? {},
    ...(willContinue === true && { willContinue }),
  }
}

/** A signature belongs to the very part that it came with. */
function isMoreText(last: Fields, part: Fields): boolean {
  const isText = (each: Fields): boolean =>
    typeof each['text'] === 'string' &&
    Object.keys(each).every((field) => field === 'text' || field === 'thought')
  return isText(last) && isText(part) && last['thought'] === part['thought']
}
