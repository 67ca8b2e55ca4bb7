import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, makePlace, packageRoot, program, startProgram } from '../support/command-line.ts'
import { readPage } from '../support/markdown.ts'
import { readSteps, toPattern, Walk } from '../support/run-guide.ts'

const steps = readSteps(readPage('docs/agent-hooks.md'))

test('every command of docs/agent-hooks.md runs, and prints what the page shows', async () => {
  const walk = new Walk(makePlace({ 'README.md': '# Hello\n' }))
  for (const step of steps) {
    const { printed, unexpected } = await walk.take(step)
    expect(unexpected).toEqual([])
    if (step.shown !== undefined) expect(`${printed.trimEnd()}\n`).toMatch(toPattern(step.shown))
  }
})

test('the policy of docs/agent-hooks.md is one', async () => {
  const policy = steps.find(({ language }) => language === 'json')?.code ?? ''
  const place = makePlace({}, { 'policy.json': policy })
  expect(await handrail(place, ['policy', 'check'])).toMatchObject({ code: 0 })
})

test('the example of a session of Claude Code prints what the policy says', async () => {
  const place = makePlace({ 'README.md': '# Hello\n', 'secrets/key': 'x' })
  const path = join(packageRoot, 'examples', 'claude-code-hooks', 'main.ts')
  const { child, ended } = startProgram(place, [path, program])
  child.stdin.end()
  const { code, stdout, stderr } = await ended
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout.trimEnd().split('\n')).toEqual([
    'Read {"file_path":"README.md"}',
    '  allow: Handrail: code.read_file: read-only and inside its bounds',
    'Read {"file_path":"secrets/key"}',
    '  deny: Handrail: "code.read_file" is denied here: rule "no-secrets" says deny.',
    'Bash {"command":"npm test"}',
    '  allow: Handrail: code.run_shell: rule "tests" says allow',
    'Bash {"command":"npm publish"}',
    '  ask: Handrail: code.run_shell: the tool is dangerous',
    'mcp__github__delete_repo {"name":"shop"}',
    '  deny: Handrail: "mcp.github.delete_repo" is denied: rule "no-deletes" says deny.',
    'recorded: code.read_file ok',
    'recorded: code.read_file denied',
    'recorded: code.run_shell ok',
    'recorded: code.run_shell unknown',
    'recorded: mcp.github.delete_repo denied',
  ])
})
