/** What the model says in one answer: text, and calls by the names on the wire. */
export interface Said {
  text?: string
  calls?: readonly { id?: string; tool: string; input?: unknown }[]
  finish?: string
  /** In the place of all else: the parts of the stream as they are. An error breaks the stream off there. */
  parts?: readonly (object | Error)[]
  tokens?: { input: number; output: number }
}

/** The stream of an answer. */
export function toChunks({ text, calls = [], finish, tokens = { input: 10, output: 5 } }: Said): object[] {
  return [
    { type: 'stream-start', warnings: [] },
    ...(text === undefined
      ? []
      : [
          { type: 'text-start', id: '1' },
          ...text.split(/(?<=\s)/).map((delta) => ({ type: 'text-delta', id: '1', delta })),
          { type: 'text-end', id: '1' },
        ]),
    ...calls.map(({ id, tool, input = {} }, index) => ({
      type: 'tool-call',
      toolCallId: id ?? `call_${index}`,
      toolName: tool,
      input: typeof input === 'string' ? input : JSON.stringify(input),
    })),
    {
      type: 'finish',
      finishReason: { unified: finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'), raw: undefined },
      usage: {
        inputTokens: { total: tokens.input, noCache: tokens.input, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: tokens.output, text: tokens.output, reasoning: 0 },
      },
    },
  ]
}
