import { expectTypeOf, test } from 'vitest'
import type { Plan, PlanContext } from '../contract/tool/plan.ts'
import type { Commands, Files, Search } from '../contract/services/sandbox.ts'
import type { Network } from '../contract/services/network.ts'
import { defineTool } from './define-tool.ts'
import { ToolAdapter } from './tool-adapter.ts'
import type { ContextWith } from './tool-spec.ts'

const about = { name: 'demo.typed', description: 'Has types.' }
const input = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } as const

test('run knows the type of what plan left for it (SDK-2)', () => {
  defineTool({
    ...about,
    input,
    needs: ['files'],
    plan: async ({ path }, { files }) => ({
      operations: [{ kind: 'fs.read', path: await files.resolve(path, 'read') }],
      planned: { path, lines: 1 },
    }),
    run(_, { planned, files, search }) {
      expectTypeOf(planned).toEqualTypeOf<{ path: string; lines: number }>()
      expectTypeOf(files).toEqualTypeOf<Files>()
      expectTypeOf(search).toEqualTypeOf<Search | undefined>()
      // @ts-expect-error the plan leaves no such field
      return String(planned.other)
    },
  })
})

test('so it does for raw input, a plan without async, and one that is a function elsewhere (SDK-2)', () => {
  defineTool({
    ...about,
    rawInput: { type: 'object' },
    plan: (given) => ({ operations: [], planned: Object.keys(given) }),
    run: (_, { planned }) => expectTypeOf(planned).toEqualTypeOf<string[]>() && undefined,
  })
  const planElsewhere = async (): Promise<Plan & { planned: 'a' | 'b' }> => ({
    operations: [],
    planned: 'a',
  })
  defineTool({
    ...about,
    input,
    plan: planElsewhere,
    run: (_, { planned }) => expectTypeOf(planned).toEqualTypeOf<'a' | 'b'>() && undefined,
  })
})

test('what a plan leaves only at times may be undefined, and of a plan that says nothing it is unknown', () => {
  defineTool({
    ...about,
    input,
    plan: ({ path }) => (path === '' ? { operations: [] } : { operations: [], planned: path }),
    run: (_, { planned }) => expectTypeOf(planned).toEqualTypeOf<string | undefined>() && undefined,
  })
  defineTool({
    ...about,
    input,
    plan: (): Plan => ({ operations: [] }),
    run: (_, { planned }) => expectTypeOf(planned).toEqualTypeOf<unknown>() && undefined,
  })
  defineTool({
    ...about,
    input,
    plan: () => ({ operations: [] }),
    run: (_, { planned }) => expectTypeOf(planned).toEqualTypeOf<undefined>() && undefined,
  })
})

test('the class form knows it where it is named (SDK-7)', () => {
  type Planning = Plan & { planned: { lines: number } }
  class Typed extends ToolAdapter<{ path: string }, Planning> {
    run(_: { path: string }, { planned }: ContextWith<never, Planning['planned']>) {
      return planned.lines
    }
  }
  expectTypeOf<Parameters<Typed['run']>[1]['planned']>().toEqualTypeOf<{ lines: number }>()
  class Wrong extends ToolAdapter<{ path: string }, Planning> {
    // @ts-expect-error the plan leaves no text
    run(_: { path: string }, { planned }: ContextWith<never, string>) {
      return planned
    }
  }
  void [Typed, Wrong]
})

test('a plan has what it may look with, whatever the tool needs', () => {
  expectTypeOf<Pick<PlanContext, 'files' | 'search' | 'commands' | 'network'>>().toEqualTypeOf<{
    files: Files
    search: Search
    commands: Commands
    network: Network
  }>()
})
