import { Usage, type AgentOutputItem, type Model } from '@openai/agents-core'

/** In the place of a real model, so that the example runs without a key: it looks, refunds, and says what it was told. */
export function createModel(): Model {
  const call = (callId: string, name: string): AgentOutputItem => ({
    type: 'function_call',
    callId,
    name,
    arguments: '{"order":"12"}',
    status: 'completed',
  })
  const script = [call('call_1', 'shop__look'), call('call_2', 'shop__refund')]
  return {
    async getResponse({ input }) {
      const text = `I was told ${JSON.stringify(typeof input === 'string' ? input : input.at(-1))}`
      const said: AgentOutputItem = {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text }],
      }
      return { usage: new Usage(), output: [script.shift() ?? said] }
    },
    getStreamedResponse: () => {
      throw new Error('It does not stream.')
    },
  }
}
