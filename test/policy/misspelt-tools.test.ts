import type { Policy, RuntimeOptions } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { openRuntime } from '../support/project.ts'

const tools = ['shop.refund', 'shop.list', 'job.stop'].map((name) => makeTool(name))

async function toldOf(options: RuntimeOptions, next?: Policy): Promise<string[]> {
  const told: string[] = []
  const onError = ({ tool, cause }: { tool: string; cause: unknown }) =>
    told.push(`${tool} ${(cause as Error).message}`)
  const runtime = await openRuntime({ tools, onError, ...options })
  if (next !== undefined) await runtime.reload({ policy: next })
  return told
}

const said = (pointer: string, named = 'shop.refnd') =>
  `${named} ${pointer}: there is no tool "${named}" here, so that this matches nothing. Did you mean "shop.refund"?`
const deny = (...names: string[]) => ({ effect: 'deny', tools: names }) as const

test('a name in what denies or asks that is probably misspelt is told at the start, with the one that was meant (PERM-1)', async () => {
  const policy: Policy = {
    rules: [deny('shop.list', 'shop.refnd'), { effect: 'ask', tools: ['shop.refudn'] }],
    tenants: { acme: { rules: [deny('shop.refnd')], disallowedTools: ['shop.refnd'] } },
  }
  expect(await toldOf({ policy })).toEqual([
    said('/policy/rules/0/tools/1'),
    said('/policy/rules/1/tools/0', 'shop.refudn'),
    said('/policy/tenants/acme/rules/0/tools/0'),
    said('/policy/tenants/acme/disallowedTools/0'),
  ])
  expect(await toldOf({ disallowedTools: ['shop.refnd'] })).toEqual([said('/disallowedTools/0')])
  const projectConfiguration = { rules: [deny('shop.refnd')] }
  expect(await toldOf({ projectConfiguration })).toEqual([said('/projectConfiguration/rules/0/tools/0')])
})

test('so is one of a policy that is put in force later (PERM-1)', async () => {
  expect(await toldOf({}, { rules: [deny('shop.refnd')] })).toEqual([said('/policy/rules/0/tools/0')])
})

test('a pattern, what allows, and a tool that may be elsewhere are not (PERM-1)', async () => {
  const rules = [
    deny('shop.refnd*', 'code.run_shell', 'job.list', 'mcp.github.create_issue'),
    { effect: 'allow', tools: ['shop.refnd'] } as const,
  ]
  expect(await toldOf({ policy: { rules } })).toEqual([])
})
