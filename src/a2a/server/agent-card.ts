import { AgentCard } from '@a2a-js/sdk'
import type { A2aServing } from '../../contract/a2a/serving.ts'
import type { PresentedTool } from '../../contract/registry.ts'
import { callExtension } from '../base/protocol.ts'

/** What the card of this Handrail is made of. */
export interface CardFacts extends Pick<A2aServing, 'name' | 'description'> {
  readonly url: string
  readonly version: string
}

const described = 'Tools that are open to other domains. Each call carries a token of its own.'

/** The card that everybody may read. It names no tool: which there are is for those who may call them. */
export function toPublicCard(facts: CardFacts): AgentCard {
  return toCard(facts, [])
}

/** The card of one peer: the tools that are open to it. */
export function toCard(facts: CardFacts, tools: readonly PresentedTool[]): AgentCard {
  const { url, version, name = 'Handrail', description = described } = facts
  const schemas = tools.map(({ name: id, inputSchema, outputSchema, annotations = {} }) => [
    id,
    { inputSchema, ...(outputSchema !== undefined && { outputSchema }), annotations },
  ])
  return AgentCard.fromJSON({
    name,
    description,
    version,
    supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
    capabilities: {
      streaming: false,
      pushNotifications: false,
      extendedAgentCard: true,
      extensions: [
        {
          uri: callExtension,
          description: 'A message is one call of a tool, with a token for nothing but that.',
          required: true,
          params: { tools: Object.fromEntries(schemas) },
        },
      ],
    },
    securitySchemes: {
      call: {
        httpAuthSecurityScheme: {
          scheme: 'Bearer',
          bearerFormat: 'JWT',
          description: `Made for one request, for the audience ${url}`,
        },
      },
    },
    securityRequirements: [{ schemes: { call: { list: [] } } }],
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: tools.map(({ name: id, title, description: says }) => ({
      id,
      name: title,
      description: says,
      tags: ['tool'],
    })),
  })
}
