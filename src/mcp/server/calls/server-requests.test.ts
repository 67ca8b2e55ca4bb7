import { expect, test } from 'vitest'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { Needs } from './open-call.ts'
import { sendServerRequests } from './server-requests.ts'

const { signal } = new AbortController()
const elicit = { method: 'elicitation/create', params: { mode: 'form', message: 'Who?' } }
const url = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Go.', url: 'https://a.example' },
}
const sample = { method: 'sampling/createMessage', params: { messages: [] } }
const roots = { method: 'roots/list', params: {} }

/** What a client with these capabilities provides, and what it was asked for. */
async function giveAs(capabilities: JsonObject, requests: JsonObject) {
  let asked: Needs['requests'] = {}
  const given = await sendServerRequests(
    {
      capabilities,
      sendRequests: async (open) => {
        asked = open
        return Object.fromEntries(Object.keys(open).map((key) => [key, { answered: key }]))
      },
    },
    { from: 'MCP server "notes"', requests, signal },
  )
  return { asked, given }
}

test('asks the client for what it can answer, and says whose question it is (MCP-3)', async () => {
  const { asked, given } = await giveAs(
    { elicitation: {}, sampling: {}, roots: {} },
    { elicit, sample, roots },
  )
  expect(given).toEqual({
    elicit: { answered: 'elicit' },
    sample: { answered: 'sample' },
    roots: { answered: 'roots' },
  })
  expect(asked['elicit']?.params).toEqual({ mode: 'form', message: 'The MCP server "notes" asks: Who?' })
})

test('declines what the client cannot be asked, without asking (MCP-3)', async () => {
  const { asked, given } = await giveAs({ elicitation: { form: {} } }, { url, roots })
  expect(asked).toEqual({})
  expect(given).toEqual({ url: { action: 'decline' }, roots: { roots: [] } })
  expect((await giveAs({ elicitation: { url: {} } }, { elicit, url })).given).toEqual({
    elicit: { action: 'decline' },
    url: { answered: 'url' },
  })
})

test.each([[{ sample }], [{ other: { method: 'tasks/list' } }], [{ odd: 1 }]])(
  'does not go on where nothing can be said for the client: %j (MCP-3)',
  async (requests) => {
    await expect(giveAs({ elicitation: {} }, requests)).rejects.toThrow('which the client does not do')
  },
)
