import fc from 'fast-check'
import { SetupError, createRuntime, defineTool, type Effect, type Operation, type Rule } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, personSaying } from '../support/project.ts'

const severity: Record<Effect, number> = { allow: 0, ask: 1, deny: 2 }

const tags = ['quick', 'slow', 'network', 'dangerous']
const folders = ['docs', 'src', 'docs/deep', '.git']

/** A tool for each mix of permission and tag, whose plan touches the paths of its input. */
const tools = ['readonly', 'write'].flatMap((permission) =>
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
const role = fc.constantFrom('main' as const, 'orchestrator' as const, 'worker' as const)
const mode = fc.constantFrom('default' as const, 'plan' as const, 'accept-edits' as const, 'bypass' as const)

const matchers = {
  tools: some(toolPattern),
  tags: some(fc.constantFrom(...tags)),
  roles: some(role),
  modes: some(mode),
  resources: some(resource),
  argv: fc.constantFrom(['ls'], ['**'], ['ls', '**']),
}
const ruleOf = (effect: fc.Arbitrary<Effect>): fc.Arbitrary<Rule> =>
  fc
    .record({ effect, ...matchers, sensitive: fc.boolean() }, { requiredKeys: ['effect'] })
    .map(({ sensitive = false, ...rule }) => (rule.effect === 'allow' ? { ...rule, sensitive } : rule))
const anyEffect = fc.constantFrom<Effect[]>('allow', 'ask', 'deny')
const anyRule = ruleOf(anyEffect)
/** As the file of a project has them. */
const projectRule: fc.Arbitrary<Rule> = fc.record(
  { effect: anyEffect, ...matchers },
  { requiredKeys: ['effect'] },
)

const situation = fc.record({
  rules: fc.array(anyRule, { maxLength: 6 }),
  network: fc.constantFrom(undefined, { default: 'allow' as const }, { default: 'deny' as const }),
  role: fc.constantFrom('main' as const, 'orchestrator' as const),
  mode,
  tool: fc.constantFrom(...tools.map((tool) => tool.definition.name)),
  paths: fc.array(fc.constantFrom('a.txt', 'docs/a', 'docs/deep/b', 'src/c', '.env', '.git/config'), {
    maxLength: 2,
  }),
})
type Situation = typeof situation extends fc.Arbitrary<infer S> ? S : never

const places = { project: '', home: '' }

async function judge(
  given: Situation,
  more: { rules?: readonly Rule[]; projectRules?: readonly Rule[] },
): Promise<Effect> {
  const runtime = await createRuntime({
    ...places,
    tools,
    policy: {
      allowBypass: true,
      rules: [...(more.rules ?? []), ...given.rules],
      ...(given.network !== undefined && { network: given.network }),
    },
    // A repository may write anything into its file; only its ask and deny rules count.
    projectConfiguration: { rules: (more.projectRules ?? []) as never },
    approve: personSaying('deny').approve,
  }).catch((error: unknown) => {
    // Rules that contradict each other make no policy.
    fc.pre(!(error instanceof SetupError))
    throw error
  })
  const session = runtime.session({ role: given.role, mode: given.mode })
  const { effect } = await session.preflight(given.tool, { paths: given.paths })
  await runtime.close()
  return effect
}

const options: fc.Parameters<unknown> = { numRuns: 150 }

test('adding a deny rule never makes a decision more permissive (PERM-1, PL-02)', async () => {
  Object.assign(places, { project: makeFolder(), home: makeFolder() })
  await fc.assert(
    fc.asyncProperty(situation, ruleOf(fc.constant('deny')), async (given, rule) => {
      const before = await judge(given, {})
      expect(severity[await judge(given, { rules: [rule] })]).toBeGreaterThanOrEqual(severity[before])
    }),
    options,
  )
})

test('adding any rule to the file of the project never makes a decision more permissive (PL-13, PERM-1)', async () => {
  Object.assign(places, { project: makeFolder(), home: makeFolder() })
  await fc.assert(
    fc.asyncProperty(
      situation,
      fc.array(projectRule, { minLength: 1, maxLength: 3 }),
      async (given, projectRules) => {
        const before = await judge(given, {})
        expect(severity[await judge(given, { projectRules })]).toBeGreaterThanOrEqual(severity[before])
      },
    ),
    options,
  )
})

test('the order of rules never matters (PERM-1)', async () => {
  Object.assign(places, { project: makeFolder(), home: makeFolder() })
  await fc.assert(
    fc.asyncProperty(situation, async (given) => {
      expect(await judge({ ...given, rules: given.rules.toReversed() }, {})).toBe(await judge(given, {}))
    }),
    options,
  )
})

test('the situations reach every effect', async () => {
  Object.assign(places, { project: makeFolder(), home: makeFolder() })
  const effects = new Map<Effect, number>()
  await fc.assert(
    fc.asyncProperty(situation, async (given) => {
      const effect = await judge(given, {})
      effects.set(effect, (effects.get(effect) ?? 0) + 1)
    }),
    { numRuns: 120, seed: 7 },
  )
  for (const effect of ['allow', 'ask', 'deny'] as const) expect(effects.get(effect)).toBeGreaterThan(10)
})
