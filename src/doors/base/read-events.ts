import { createParser } from 'eventsource-parser'

/**
 * The events of a stream: those of an SDK as they are; of bytes or text, the JSON in the data of its server-sent events (WHATWG HTML, section 9.2).
 * Throws if that data is not JSON.
 */
export async function* readEvents(stream: AsyncIterable<unknown>): AsyncIterable<unknown> {
  const decoder = new TextDecoder()
  const found: unknown[] = []
  const parser = createParser({
    onEvent({ data }) {
      // The last event of OpenAI's streams.
      if (data !== '[DONE]') found.push(JSON.parse(data))
    },
  })
  for await (const chunk of stream) {
    if (typeof chunk === 'string') parser.feed(chunk)
    else if (chunk instanceof Uint8Array) parser.feed(decoder.decode(chunk, { stream: true }))
    else found.push(chunk)
    yield* found.splice(0)
  }
  // What has no empty line behind it is an event all the same, if a server ends there.
  parser.feed(`${decoder.decode()}\n\n`)
  yield* found
}

/** Throws for a stream that reports an error. */
export function refuseStream(provider: string, error: unknown): never {
  throw new Error(`The stream of ${provider} ended with an error: ${JSON.stringify(error)}`, { cause: error })
}
