import { realpathSync } from 'node:fs'
import { defineTool } from 'handrail'

const sh = realpathSync('/bin/sh')

/** A host's own tool that hands a whole line to a shell. */
export const shellTool = defineTool({
  name: 'demo.shell',
  description: 'Runs a command line.',
  sideEffect: 'process',
  safety: 'high',
  consent: { required: true },
  scopes: [{ resource: 'handrail:exec:*', action: 'execute' }],
  capabilities: { proc: { executables: ['*'] }, fs: { read: ['*'] } },
  input: { type: 'object', properties: { line: { type: 'string' } }, required: ['line'] },
  plan: ({ line }, { project }) => ({
    operations: [{ kind: 'process', executable: sh, argv: ['sh', '-c', line], cwd: project }],
  }),
  run: () => null,
})
