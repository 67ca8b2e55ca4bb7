import fc from 'fast-check'
import { SetupError, createRuntime, type Effect, type Rule } from 'handrail'
import { expect, test } from 'vitest'
import {
  anyRule,
  mode,
  projectRule,
  ruleOf,
  severity,
  somePaths,
  someTool,
  tools,
} from '../support/arbitrary-policy.ts'
import { makeFolder, personSaying } from '../support/project.ts'
import { rounds } from '../support/rounds.ts'

const situation = fc.record({
  rules: fc.array(anyRule, { maxLength: 6 }),
  network: fc.constantFrom(undefined, { default: 'allow' as const }, { default: 'deny' as const }),
  role: fc.constantFrom('main' as const, 'orchestrator' as const),
  mode,
  tool: someTool,
  paths: somePaths,
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

const options: fc.Parameters<unknown> = { numRuns: rounds({ usual: 8, long: 150 }) }

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
