import fc from 'fast-check'
import { defineTool, type Effect, type Operation, type Rule } from 'handrail'

/** Greater is stricter. */
export const severity: Record<Effect, number> = { allow: 0, ask: 1, deny: 2 }

const tags = ['quick', 'slow', 'network', 'dangerous']
const folders = ['docs', 'src', 'docs/deep', '.git']

/** A tool for each mix of permission and tag, whose plan touches the paths of its input. */
export const tools = ['readonly', 'write'].flatMap((permission) =>
  [...tags, 'plain'].map((tag) =>
    defineTool({
      name: `${permission}.${tag}`,
      description: 'Touches paths.',
      permission: permission as 'readonly' | 'write',
      sideEffect: permission === 'readonly' ? 'read' : 'filesystem',
      scopes: [{ resource: 'file', action: 'write' }],
      consent: { required: permission === 'write' || tag === 'dangerous' },
      tags: [tag],
      capabilities: { fs: { read: ['*'], write: permission === 'write' ? ['*'] : [] } },
      input: {
        type: 'object',
        properties: { paths: { type: 'array', items: { type: 'string' } } },
        required: ['paths'],
      },
      plan: ({ paths }, { project }) => ({
        operations: paths.map((path): Operation => ({
          kind: permission === 'write' ? 'fs.write' : 'fs.read',
          path: `${project}/${path}`,
        })),
      }),
      run: () => null,
    }),
  ),
)

const some = <T>(item: fc.Arbitrary<T>) => fc.array(item, { minLength: 1, maxLength: 2 })
const toolPattern = fc.oneof(
  fc.constantFrom('*', 'write.*', 'readonly.*', '*.plain', '*.slow', 'write.dangerous', 'other.tool'),
  fc.constantFrom(...tools.map((tool) => tool.definition.name)),
)
const resource = fc.oneof(
  fc.constantFrom(
    '*',
    'handrail:tool:*',
    'handrail:tool:write.*',
    'handrail:file:**',
    'handrail:file:**/.env',
    'handrail:host:*',
  ),
  fc.constantFrom(...folders).map((folder) => `handrail:file:{project}/${folder}/**`),
)
/** Roles that have every tool when they are asked for by name. */
export const role = fc.constantFrom('main' as const, 'orchestrator' as const, 'worker' as const)
/** Any mode. */
export const mode = fc.constantFrom(
  'default' as const,
  'plan' as const,
  'accept-edits' as const,
  'bypass' as const,
)

const matchers = {
  tools: some(toolPattern),
  tags: some(fc.constantFrom(...tags)),
  roles: some(role),
  modes: some(mode),
  resources: some(resource),
  argv: fc.constantFrom(['ls'], ['**'], ['ls', '**']),
}
/** Any rule with one of these effects. */
export const ruleOf = (effect: fc.Arbitrary<Effect>): fc.Arbitrary<Rule> =>
  fc
    .record({ effect, ...matchers, sensitive: fc.boolean() }, { requiredKeys: ['effect'] })
    .map(({ sensitive = false, ...rule }) => (rule.effect === 'allow' ? { ...rule, sensitive } : rule))
const anyEffect = fc.constantFrom<Effect[]>('allow', 'ask', 'deny')
/** Any rule. */
export const anyRule = ruleOf(anyEffect)
/** As the file of a project has them. */
export const projectRule: fc.Arbitrary<Rule> = fc.record(
  { effect: anyEffect, ...matchers },
  { requiredKeys: ['effect'] },
)

/** Paths that the resources of rules may meet. */
export const somePaths = fc.array(
  fc.constantFrom('a.txt', 'docs/a', 'docs/deep/b', 'src/c', '.env', '.git/config'),
  { maxLength: 2 },
)
/** One of the tools. */
export const someTool = fc.constantFrom(...tools.map((tool) => tool.definition.name))
