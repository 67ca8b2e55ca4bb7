import { join } from 'node:path'
import type { Policy } from 'handrail'
import { inFlight, type Contender, type Prepared } from '../harness/contender.ts'
import { nextInputText, taskName } from '../harness/task.ts'
import { loadHandrail, makeDirectory } from './load.ts'
import { calledTools, makeRules, makeTools } from './registry-of.ts'
import { makeTaskTool } from './task-tool.ts'

const tenants = Array.from({ length: 100 }, (_, index) => `tenant${index}`)

/** Everything that a policy can have at once: tenants, grants, budgets of each unit, obligations. */
export function governed(rules: number): Policy {
  return {
    rules: makeRules(rules),
    tenants: Object.fromEntries(tenants.map((tenant) => [tenant, { disallowedTools: ['danger.*'] }])),
    grants: [{ id: 'everyone', tools: ['*'] }],
    budgets: [
      { id: 'calls', unit: 'calls', limit: 1_000_000_000, windowMs: 3_600_000 },
      { id: 'actor', unit: 'calls', limit: 1_000_000_000, each: ['tenant', 'actor'] },
      { id: 'out', unit: 'bytesOut', limit: 1_000_000_000_000, windowMs: 86_400_000 },
      { id: 'time', unit: 'wallMs', limit: 1_000_000_000_000 },
    ],
    obligations: [{ id: 'names', action: 'redact', pointers: ['/customer/name'], tools: ['crm.*'] }],
  }
}

function preflight(name: string, size: { tools: number; rules: number }): Contender {
  return {
    name,
    otherTask: true,
    async prepare(): Promise<Prepared> {
      const { createRuntime, defineTool } = await loadHandrail()
      const { directory, remove } = makeDirectory()
      const runtime = await createRuntime({
        project: directory,
        tools: makeTools(size.tools, defineTool),
        policy: governed(size.rules),
        store: { path: join(directory, 'store.db') },
      })
      for (const tenant of tenants)
        await runtime.consents.give({ tenant, tool: 'bench.add0', givenBy: 'bench' })
      const sessions = tenants.map((tenant) => runtime.session({ tenant }))
      for (const session of sessions) {
        const first = await session.preflight('bench.add0', nextInputText())
        if (first.effect !== 'allow') throw new Error(`preflight gives ${JSON.stringify(first)}`)
      }
      let asked = 0
      return {
        async round(calls) {
          for (let i = 0; i < calls; i++) {
            const session = sessions[asked % sessions.length]
            const tool = calledTools[asked++ % calledTools.length] ?? ''
            await session?.preflight(tool, nextInputText())
          }
        },
        async close() {
          await runtime.close()
          remove()
        },
      }
    },
  }
}

function durable(width: number, all: boolean): Contender {
  return {
    name: durableName(width, all),
    batch: width,
    async prepare(): Promise<Prepared> {
      const { createRuntime, defineTool } = await loadHandrail()
      const { directory, remove } = makeDirectory()
      const add = makeTaskTool(defineTool)
      const policy = all ? governed(10) : { rules: [{ effect: 'allow' as const, tools: ['bench.*'] }] }
      const runtime = await createRuntime({
        project: directory,
        tools: [add],
        policy,
        store: { path: join(directory, 'store.db') },
        ...(all && { signing: { dir: join(directory, 'keys') } }),
      })
      if (all) await runtime.consents.give({ tenant: 'tenant0', tool: taskName, givenBy: 'bench' })
      return {
        async round(calls) {
          const session = runtime.session(all ? { tenant: 'tenant0' } : {})
          await inFlight(width, calls, () => session.call(taskName, nextInputText()))
          await session.close()
        },
        async close() {
          await runtime.close()
          remove()
        },
      }
    },
  }
}

/** In flight at the same time. */
export const widths = [1, 32, 256]

export function durableName(width: number, all: boolean): string {
  return `durable call, ${width} in flight, ${all ? 'everything on' : 'nothing but a rule'}`
}

export const small = 'preflight p95, 100 tenants, consents and budgets, 10 tools, 10 rules'
export const large = 'preflight p95, 100 tenants, consents and budgets, 10,000 tools, 1,000 rules'

export const preflights = [
  preflight(small, { tools: 10, rules: 10 }),
  preflight(large, { tools: 10_000, rules: 1000 }),
]
export const durables = widths.flatMap((width) => [durable(width, false), durable(width, true)])
