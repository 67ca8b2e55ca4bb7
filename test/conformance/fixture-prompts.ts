import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  inputRequired,
  inputResponse,
  type GetPromptResult,
  type InputRequiredResult,
  type Prompt,
  type PromptMessage,
  type ReadResourceResult,
  type Resource,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { png } from './fixture-data.ts'

const required = (...names: readonly string[]) => names.map((name) => ({ name, required: true }))

/** What the fixture says it has. */
export const fixturePrompts: Prompt[] = [
  { name: 'test_simple_prompt', description: 'Says one thing.' },
  {
    name: 'test_prompt_with_arguments',
    description: 'Says what it is given.',
    arguments: required('arg1', 'arg2'),
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'Shows a resource.',
    arguments: required('resourceUri'),
  },
  { name: 'test_prompt_with_image', description: 'Shows an image.' },
  { name: 'test_input_required_result_prompt', description: 'Asks first.' },
]

const user = (content: PromptMessage['content']): PromptMessage => ({ role: 'user', content })
const say = (text: string): PromptMessage => user({ type: 'text', text })

/** One prompt, with what it was given. */
export function getPrompt(
  name: string,
  given: Record<string, string>,
  { mcpReq }: ServerContext,
): GetPromptResult | InputRequiredResult {
  switch (name) {
    case 'test_simple_prompt':
      return { messages: [say('This is a simple prompt for testing.')] }
    case 'test_prompt_with_arguments':
      return { messages: [say(`Prompt with arguments: ${JSON.stringify(given)}`)] }
    case 'test_prompt_with_embedded_resource': {
      const resource = { uri: given['resourceUri'] ?? '', mimeType: 'text/plain', text: 'Embedded.' }
      return { messages: [user({ type: 'resource', resource }), say('Process the resource above.')] }
    }
    case 'test_prompt_with_image':
      return { messages: [user({ type: 'image', data: png, mimeType: 'image/png' }), say('Look at it.')] }
    case 'test_input_required_result_prompt': {
      const answer = inputResponse(mcpReq.inputResponses, 'user_context')
      if (answer.kind === 'elicit') return { messages: [say(JSON.stringify(answer.content))] }
      return inputRequired({
        inputRequests: {
          user_context: inputRequired.elicit({
            mode: 'form',
            message: 'What context should the prompt use?',
            requestedSchema: {
              type: 'object',
              properties: { context: { type: 'string' } },
              required: ['context'],
            },
          }),
        },
      })
    }
    default:
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt "${name}".`)
  }
}

/** What the fixture says it has. */
export const fixtureResources: Resource[] = [
  { uri: 'test://static-text', name: 'text', mimeType: 'text/plain', description: 'Some text.' },
  { uri: 'test://static-binary', name: 'binary', mimeType: 'image/png', description: 'A dot.' },
  { uri: 'test://watched-resource', name: 'watched', mimeType: 'text/plain', description: 'May change.' },
]

/** One resource. */
export function readResource(uri: string): ReadResourceResult {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id !== undefined)
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify({ id }) }] }
  if (uri === 'test://static-binary') return { contents: [{ uri, mimeType: 'image/png', blob: png }] }
  if (!fixtureResources.some((resource) => resource.uri === uri)) throw new ResourceNotFoundError(uri)
  return { contents: [{ uri, mimeType: 'text/plain', text: `This is ${uri}.` }] }
}
