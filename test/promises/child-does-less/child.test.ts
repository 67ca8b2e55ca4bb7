import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { SetupError, createRuntime, type Mode, type Role, type Session } from 'handrail'
import type { Grant } from 'handrail/policy'
import { expect, test } from 'vitest'
import { makePlace } from '../../support/command-line.ts'
import { anyRule, mode, severity, somePaths, someTool, tools } from '../../support/arbitrary-policy.ts'
import { makeFolder, personSaying } from '../../support/project.ts'
import { rounds } from '../../support/rounds.ts'
import { atEveryDoor } from '../doors/doors.ts'

/** Promise 7: a child can only do less. */
atEveryDoor((door) => {
  test('a worker has the tools of a worker, though the policy allows everything (POOL-3, POOL-5)', async () => {
    const place = makePlace(
      { 'a.txt': 'one' },
      { 'policy.json': { rules: [{ effect: 'allow', tools: ['*'] }] } },
    )
    const change = { path: 'a.txt', content: 'two', overwrite: true }
    const here = door.at(place)
    expect(await here.call('code.write_file', change, { role: 'worker' })).toMatchObject({
      code: 'POLICY.DENY_TOOL',
      reason: 'tool_not_available',
    })
    expect(readFileSync(join(place.project, 'a.txt'), 'utf8')).toBe('one')
    expect((await here.call('code.read_file', { path: 'a.txt' }, { role: 'worker' })).ok).toBe(true)
    expect((await here.call('code.write_file', change)).ok).toBe(true)
  })
})

const roles = ['main', 'orchestrator', 'sub', 'fork', 'worker'] as const
const anyRole = fc.constantFrom<Role[]>(...roles)
const pattern = fc.constantFrom('*', 'write.*', 'readonly.*', '*.plain', 'write.dangerous', 'readonly.slow')
const lists = fc.record({
  allowedTools: fc.option(fc.array(pattern, { maxLength: 2 }), { nil: undefined }),
  disallowedTools: fc.option(fc.array(pattern, { maxLength: 1 }), { nil: undefined }),
})
const generation = fc.record({ role: anyRole, mode, lists })
const grant: fc.Arbitrary<Grant> = fc.record(
  {
    roles: fc.subarray([...roles], { minLength: 1 }),
    tools: fc.array(pattern, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const family = fc.record({
  rules: fc.array(anyRule, { maxLength: 6 }),
  grants: fc.option(fc.array(grant, { minLength: 1, maxLength: 3 }), { nil: undefined }),
  generations: fc.array(generation, { minLength: 2, maxLength: 4 }),
  uses: fc.array(fc.record({ tool: someTool, paths: somePaths }), { minLength: 3, maxLength: 3 }),
})

interface Generation {
  role: Role
  mode: Mode
  lists: { allowedTools?: readonly string[] | undefined; disallowedTools?: readonly string[] | undefined }
}

/** Each below the one before; one that asks for more than its parent has takes what it is given. */
function openBelow(
  open: (options: object) => Session,
  { role, mode: wanted, lists: given }: Generation,
  parent: Session | undefined,
): Session {
  const options = {
    ...(given.allowedTools !== undefined && { allowedTools: given.allowedTools }),
    ...(given.disallowedTools !== undefined && { disallowedTools: given.disallowedTools }),
    ...(parent !== undefined && { parent }),
  }
  for (const asked of [{ role, mode: wanted }, { role }, { mode: wanted }])
    try {
      return open({ ...options, ...asked })
    } catch (error) {
      if (!(error instanceof SetupError)) throw error
    }
  return open(options)
}

test('whatever the policy, the grants, the roles, the modes and the lists, no child may do what its parent may not (POOL-3, PERM-1, AUTH-2)', async () => {
  const [project, home] = [makeFolder(), makeFolder()]
  const compared = { sameOrStricter: 0, stricter: 0 }
  await fc.assert(
    fc.asyncProperty(family, async ({ rules, grants, generations, uses }) => {
      const runtime = await createRuntime({
        project,
        home,
        tools,
        policy: { allowBypass: true, rules, ...(grants !== undefined && { grants }) },
        approve: personSaying('deny').approve,
      }).catch((error: unknown) => {
        // Rules that contradict each other make no policy.
        fc.pre(!(error instanceof SetupError))
        throw error
      })
      let parent: Session | undefined
      for (const each of generations) {
        const child = openBelow((options) => runtime.session(options), each, parent)
        for (const { tool, paths } of parent === undefined ? [] : uses) {
          const [own, above] = await Promise.all([
            child.preflight(tool, { paths }),
            parent?.preflight(tool, { paths }),
          ])
          const [less, more] = [severity[own.effect], severity[above?.effect ?? 'deny']]
          expect(less).toBeGreaterThanOrEqual(more)
          compared.sameOrStricter++
          if (less > more) compared.stricter++
        }
        if (parent !== undefined) {
          const had = parent.tools().map(({ tool }) => tool)
          expect(child.tools().filter(({ tool }) => !had.includes(tool))).toEqual([])
        }
        parent = child
      }
      await runtime.close()
    }),
    { numRuns: rounds({ usual: 10, long: 150 }) },
  )
  // The comparison says something only if some children may do less and others as much.
  expect(compared.stricter).toBeGreaterThan(0)
  expect(compared.sameOrStricter - compared.stricter).toBeGreaterThan(0)
})
