import type { JsonSchema } from '../../contract/base/schema.ts'
import type { Endpoint } from './endpoint.ts'

/** The API in the words of OpenAPI 3.1. */
export function describeApi(endpoints: readonly Endpoint[], version: string): object {
  const paths: { [path: string]: { [method: string]: object } } = {}
  for (const each of endpoints)
    paths[each.path] = { ...paths[each.path], [each.method.toLowerCase()]: describe(each) }
  return {
    openapi: '3.1.0',
    info: { title: 'Handrail console', version, description: 'What the pages of the console are made of.' },
    components: {
      securitySchemes: {
        visit: {
          type: 'apiKey',
          in: 'cookie',
          name: 'handrail',
          description: 'Of a page; its name ends with the port.',
        },
        token: { type: 'http', scheme: 'bearer', description: 'Of a caller in gateway.json.' },
      },
    },
    security: [{ visit: [] }, { token: [] }],
    paths,
  }
}

function describe({ path, summary, role, query = {}, body, answer }: Endpoint): object {
  const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }))
  const asked = Object.entries(query).map(([name, description]) => ({
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
  }))
  return {
    summary,
    'x-role': role,
    ...(named.length + asked.length > 0 && { parameters: [...named, ...asked] }),
    ...(body !== undefined && { requestBody: { required: true, content: toContent(body) } }),
    responses: {
      200: { description: 'As asked for.', content: toContent(answer) },
      default: {
        description: 'A problem (RFC 9457).',
        content: { 'application/problem+json': { schema: { type: 'object' } } },
      },
    },
  }
}

function toContent(schema: JsonSchema): object {
  return { 'application/json': { schema } }
}
