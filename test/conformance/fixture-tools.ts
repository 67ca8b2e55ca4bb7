import {
  MissingRequiredClientCapabilityError,
  CLIENT_CAPABILITIES_META_KEY,
  inputRequired,
  inputResponse,
  type CallToolResult,
  type InputRequest,
  type InputRequiredResult,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { setTimeout as wait } from 'node:timers/promises'
import { formWithDefaults, formWithEnums, wav, png, richSchema } from './fixture-data.ts'

/** What the tools of the fixture can do beside answering. */
export interface FixtureHost {
  /** Tells those who listen that the tools, or the prompts, are others. */
  changed(what: 'tools' | 'prompts'): void
  /** Signs what a client carries from one round of a call to the next. */
  mint(state: { round: number }): Promise<string>
}

/** A tool of the fixture. */
export interface FixtureTool {
  readonly definition: Tool
  run(
    input: Record<string, unknown>,
    context: ServerContext,
    host: FixtureHost,
  ): Promise<CallToolResult | InputRequiredResult>
}

const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] })

function tool(name: string, run: FixtureTool['run'], inputSchema: Tool['inputSchema'] = empty): FixtureTool {
  return { definition: { name, description: `Does what ${name} says.`, inputSchema }, run }
}

const empty: Tool['inputSchema'] = { type: 'object', properties: {} }

function oneText(name: string): Tool['inputSchema'] {
  return { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] }
}

/** Asks the client for something, until it is there. */
function asking(name: string, key: string, request: () => InputRequest): FixtureTool {
  return tool(name, async (_input, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, key)
    if (answer.kind === 'missing') return inputRequired({ inputRequests: { [key]: request() } })
    return text(`Given: ${JSON.stringify(answer)}`)
  })
}

function form(message: string, field: string): InputRequest {
  return inputRequired.elicit({
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { [field]: { type: 'string' } }, required: [field] },
  })
}

function confirm(message: string): InputRequest {
  return inputRequired.elicit({
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
  })
}

function question(said: string): InputRequest {
  return inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: said } }],
    maxTokens: 100,
  })
}

/** Goes on only with the signed state of the round before. */
function signed(name: string, done: string): FixtureTool {
  return tool(name, async (_input, { mcpReq }, host) => {
    if (mcpReq.requestState<{ round: number }>()?.round === 1) return text(done)
    return inputRequired({
      inputRequests: { confirm: confirm('Please confirm') },
      requestState: await host.mint({ round: 1 }),
    })
  })
}

const contents: readonly FixtureTool[] = [
  tool('test_simple_text', async () => text('This is a simple text response for testing.')),
  tool('test_image_content', async () => ({
    content: [{ type: 'image', data: png, mimeType: 'image/png' }],
  })),
  tool('test_audio_content', async () => ({
    content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
  })),
  tool('test_embedded_resource', async () => ({
    content: [
      {
        type: 'resource',
        resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'Embedded.' },
      },
    ],
  })),
  tool('test_multiple_content_types', async () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: png, mimeType: 'image/png' },
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: '{"value":123}',
        },
      },
    ],
  })),
  tool('test_error_handling', async () => ({
    ...text('This tool intentionally returns an error for testing'),
    isError: true,
  })),
  tool('json_schema_2020_12_tool', async () => text('fits'), richSchema),
]

const notifying: readonly FixtureTool[] = [
  tool('test_tool_with_logging', (_input, context) => log(context)),
  tool('test_logging_tool', (_input, context) => log(context)),
  tool('test_tool_with_progress', async (_input, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100, message: `${progress} of 100` },
        })
      await wait(80)
    }
    return text('done')
  }),
  tool('test_trigger_tool_change', async (_input, _context, host) => {
    host.changed('tools')
    return text('changed')
  }),
  tool('test_trigger_prompt_change', async (_input, _context, host) => {
    host.changed('prompts')
    return text('changed')
  }),
]

async function log({ mcpReq }: ServerContext): Promise<CallToolResult> {
  for (const said of ['started', 'at work', 'done']) {
    await mcpReq.log('info', said)
    await wait(20)
  }
  return text('logged')
}

const asks: readonly FixtureTool[] = [
  tool(
    'test_sampling',
    async ({ prompt }, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'answer')
      if (answer.kind !== 'sampling')
        return inputRequired({ inputRequests: { answer: question(String(prompt)) } })
      return text(`LLM response: ${JSON.stringify(answer.result.content)}`)
    },
    oneText('prompt'),
  ),
  tool(
    'test_elicitation',
    async ({ message }, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, 'answer')
      if (answer.kind !== 'elicit')
        return inputRequired({ inputRequests: { answer: form(String(message), 'username') } })
      return text(`User response: ${JSON.stringify(answer)}`)
    },
    oneText('message'),
  ),
  asking('test_elicitation_sep1034_defaults', 'answer', () => inputRequired.elicit(formWithDefaults)),
  asking('test_elicitation_sep1330_enums', 'answer', () => inputRequired.elicit(formWithEnums)),
  asking('test_streaming_elicitation', 'answer', () => confirm('Go on?')),
  tool('test_input_required_result_elicitation', async (_input, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, 'user_name')
    if (answer.kind !== 'elicit')
      return inputRequired({ inputRequests: { user_name: form('What is your name?', 'name') } })
    return text(`Hello, ${String(answer.content?.['name'])}!`)
  }),
  asking('test_input_required_result_sampling', 'capital_question', () =>
    question('What is the capital of France?'),
  ),
  asking('test_input_required_result_list_roots', 'client_roots', () => inputRequired.listRoots()),
  signed('test_input_required_result_request_state', 'state-ok'),
  signed('test_input_required_result_tampered_state', 'state-ok'),
  tool('test_input_required_result_multiple_inputs', async (_input, { mcpReq }, host) => {
    const keys = ['user_name', 'greeting', 'client_roots']
    if (keys.every((key) => inputResponse(mcpReq.inputResponses, key).kind !== 'missing')) return text('all')
    return inputRequired({
      inputRequests: {
        user_name: form('What is your name?', 'name'),
        greeting: question('Generate a greeting'),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await host.mint({ round: 1 }),
    })
  }),
  tool('test_input_required_result_multi_round', async (_input, { mcpReq }, host) => {
    const round = (mcpReq.requestState<{ round: number }>()?.round ?? 0) + 1
    if (round === 3) return text('both known')
    const asked = round === 1 ? form('Your name?', 'name') : form('Your favorite color?', 'color')
    return inputRequired({
      inputRequests: { [`step${round}`]: asked },
      requestState: await host.mint({ round }),
    })
  }),
  tool('test_input_required_result_capabilities', async (_input, context) => {
    const declared = declaredBy(context)
    return inputRequired({
      inputRequests: {
        ...('elicitation' in declared && { user_name: form('What is your name?', 'name') }),
        ...('sampling' in declared && { greeting: question('Generate a greeting') }),
      },
    })
  }),
  tool('test_missing_capability', async (_input, context) => {
    if ('sampling' in declaredBy(context)) return text('there')
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } })
  }),
]

function declaredBy({ mcpReq }: ServerContext): object {
  return Object(Object(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY])
}

/** By name. */
export const fixtureTools: ReadonlyMap<string, FixtureTool> = new Map(
  [...contents, ...notifying, ...asks].map((each) => [each.definition.name, each]),
)
