import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRuntime, defineTool, type JsonObject, type JsonSchema, type ToolContext } from 'handrail'
import { describe, expect, test, vi } from 'vitest'
import { serveHttp } from '../../src/mcp/server/http/serve-http.ts'
import { atEnd, keepOpen } from '../support/at-end.ts'
import { rounds } from '../support/rounds.ts'

const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))

/** A tool under the name that the suite knows it by. */
function tool(
  name: string,
  properties: JsonSchema['properties'] & object,
  run: (input: JsonObject, context: ToolContext) => Promise<string> | string,
) {
  const rawInput: JsonSchema = { type: 'object', properties }
  return defineTool({
    name: `suite.${name}`,
    description: `Does what ${name} says.`,
    permission: 'readonly',
    rawInput,
    compatible: { name, inputSchema: rawInput, toCanonical: (given) => given },
    run,
  })
}

const text = { type: 'string' } as const
const number = { type: 'number' } as const
const late = 700

async function ask({ elicit }: ToolContext, message: string): Promise<string> {
  const properties = { name: { type: 'string' as const }, confirm: { type: 'boolean' as const } }
  return JSON.stringify(await elicit({ mode: 'form', message, schema: { type: 'object', properties } }))
}

/** What the scenarios of the suite call. Those that are to be tasks take longer than a client waits for. */
const tools = [
  tool('greet', { name: text }, ({ name }) => `Hello, ${name as string}!`),
  tool('slow_compute', { seconds: number, label: text }, async ({ seconds }, { signal }) => {
    await delay(Number(seconds) * 1_000, undefined, { signal })
    return 'computed'
  }),
  tool('failing_job', {}, async () => {
    await delay(late)
    throw new Error('The job failed.')
  }),
  tool('confirm_delete', { filename: text }, async (_input, context) => {
    await delay(late)
    return ask(context, 'Delete it?')
  }),
  tool('multi_input', {}, async (_input, context) => {
    await delay(late)
    return (await Promise.all(['One?', 'Two?'].map((message) => ask(context, message)))).join()
  }),
  tool('test_tool_with_task', {}, async (_input, context) => {
    const said = await ask(context, 'Who are you?')
    await delay(late)
    return said
  }),
]

/** The ids of the checks that passed, and of those that did not. */
async function runScenario(scenario: string, url: string): Promise<{ passed: string[]; failed: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'handrail-suite-'))
  try {
    const args = [suite, 'server', '--url', url, '--scenario', scenario, '--force', '-o', folder]
    // The exit code says less than the checks do.
    await new Promise((resolve) => execFile(process.execPath, args, { cwd: folder }, resolve))
    const files = await readdir(folder, { recursive: true })
    const found = files.find((file) => file.endsWith('checks.json')) ?? 'no checks'
    const checks = JSON.parse(await readFile(join(folder, found), 'utf8')) as { id: string; status: string }[]
    const idsOf = (isWanted: (status: string) => boolean) =>
      checks.filter(({ status }) => isWanted(status)).map(({ id }) => id)
    return {
      passed: idsOf((status) => status === 'SUCCESS'),
      failed: idsOf((status) => status !== 'SUCCESS'),
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

describe('the scenarios that the authors of the protocol have for tasks', () => {
  const server = keepOpen(async () => {
    const project = await mkdtemp(join(tmpdir(), 'handrail-suite-'))
    const runtime = await createRuntime({ project, tools, store: 'memory' })
    const opened = await serveHttp({
      runtime,
      port: 0,
      presentation: 'compatible',
      closeGraceMs: 100,
      log: () => {},
    })
    atEnd(() => rm(project, { recursive: true }))
    atEnd(() => runtime.close())
    atEnd(() => opened.close())
    return opened
  })

  const scenarios: readonly (readonly [scenario: string, count: number, failing: readonly string[]])[] = [
    // One tool of this scenario breaks its server in the middle of a call; none of ours can.
    ['tasks-lifecycle', 8, ['sep-2663-tasks-get-status-failed']],
    ['tasks-capability-negotiation', 5, []],
    ['tasks-wire-fields', 4, []],
    ['tasks-request-state-removal', 3, []],
    ['tasks-mrtr-input', 4, []],
    ['tasks-request-headers', 5, []],
    ['tasks-dispatch-and-envelope', 9, []],
    ['tasks-mrtr-composition', 2, []],
  ]

  test.concurrent.each(scenarios.slice(0, rounds({ usual: 1, long: scenarios.length })))(
    '%s: %i checks pass (MCP-2)',
    async (scenario, count, failing) => {
      // The suite waits for each task only so long, which a busy machine may need for something else.
      await vi.waitFor(async () => {
        const { passed, failed } = await runScenario(scenario, server().url)
        expect(failed).toEqual(failing)
        expect(passed).toHaveLength(count)
      })
    },
  )
})
