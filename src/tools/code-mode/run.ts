import type { ProgramLimits, ProgramReport } from '../../contract/services/code-mode.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import type { Tool } from '../../contract/tool/tool.ts'
import { toolOutput } from '../../kit/result/tool-output.ts'
import { defineBuiltin } from '../define-builtin.ts'

const hourMs = 3_600_000

/** `code_mode.run`: a program that calls the tools of its session. */
export function runTool(limits: ProgramLimits): Tool {
  return defineBuiltin({
    name: 'code_mode.run',
    title: 'Run program',
    description:
      'Runs a program that calls your tools, in JavaScript or TypeScript without enums and namespaces: the body of an asynchronous function. A tool is a method of `tools`, with __ for each dot of its name: await tools.code__read_file({ path: "notes.md" }). It returns the data of the result, or its text, and throws a ToolError with code, reason and message. Calls that Promise.all makes together run together if they only read. Return what you need as JSON; console.log is shown too. There are no files, network, timers or imports; the clock stands still. Use it for many calls, loops and filters. code_mode.declarations has the types of your tools.',
    tags: ['program'],
    // What its calls do, each is decided for by itself: to run it changes nothing.
    permission: 'readonly',
    sideEffect: 'none',
    scopes: [{ resource: 'handrail:program', action: 'run' }],
    annotations: { readOnlyHint: false, openWorldHint: true },
    limits: { timeoutMs: hourMs + 60_000, concurrency: 1_000 },
    needs: ['codeMode'],
    input: {
      type: 'object',
      properties: {
        code: {
          type: 'string',
          minLength: 1,
          maxLength: 200_000,
          description: 'The program. What it returns comes back.',
        },
      },
      required: ['code'],
      additionalProperties: false,
    },
    output: {
      type: 'object',
      properties: {
        returned: { description: 'What the program returned; absent if that was nothing.' },
        printed: { type: 'string', description: 'What it printed.' },
        calls: { type: 'integer', description: 'Calls of tools that it made.' },
      },
      required: ['printed', 'calls'],
      additionalProperties: false,
    },
    decode: ({ code }) => code,
    plan: async () => ({ operations: [{ kind: 'other', resource: 'handrail:program' }], planned: null }),
    run: async (code, { codeMode }) => show(await codeMode.run(code, limits)),
  })
}

function show({ returned, printed, calls }: ProgramReport): ToolOutput {
  const parts = [
    ...(printed === '' ? [] : [`It printed:\n${printed}`]),
    returned === undefined ? 'It returned nothing.' : `It returned:\n${JSON.stringify(returned, null, 1)}`,
  ]
  return toolOutput({
    content: parts.join('\n'),
    summary: `program ended after ${calls} ${calls === 1 ? 'call' : 'calls'}`,
    data: { ...(returned !== undefined && { returned }), printed, calls },
  })
}
