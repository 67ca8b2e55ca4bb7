import { expect, test } from 'vitest'
import { handrail, makePlace, type Place } from '../support/command-line.ts'

// Messages as these releases sent them: Codex 0.169.0 and GitHub Copilot CLI 1.0.102.

const policy = {
  rules: [
    { id: 'no-vault', effect: 'deny', resources: ['handrail:file:{project}/vault/**'] },
    { effect: 'allow', tools: ['code.write_file'], resources: ['handrail:file:{project}/docs/**'] },
    { effect: 'allow', tools: ['code.run_shell'], commands: ['echo *'] },
  ],
}

const openPlace = (): Place => makePlace({ 'a.txt': 'one\n', 'vault/key': 'x' }, { 'policy.json': policy })

async function answer(place: Place, line: readonly string[], message: object): Promise<[string, string]> {
  const { stdout } = await handrail(place, ['hook', ...line], { input: JSON.stringify(message) })
  const said = JSON.parse(stdout) as Record<string, string> & { hookSpecificOutput?: Record<string, string> }
  const { permissionDecision = 'none', permissionDecisionReason = '' } = said.hookSpecificOutput ?? said
  return [permissionDecision, permissionDecisionReason]
}

test.each<[string, string, object, string, string]>([
  ['runs a command in the folder that a rule denies to files', 'Bash', { command: 'echo hi' }, 'none', ''],
  ['changes what the rule denies from there', 'apply_patch', { command: patchOf('key') }, 'deny', 'no-vault'],
  ['looks at an image there', 'view_image', { path: 'key' }, 'deny', 'no-vault'],
  ['looks at one outside', 'view_image', { path: '/etc/hostname' }, 'deny', 'outside'],
  ['sets itself a goal', 'create_goal', { objective: 'x' }, 'none', ''],
])('Codex that %s, by a working folder that the model names, stays in its project', async (...row) => {
  const [, tool, input, decided, reason] = row
  const place = openPlace()
  const cwd = `${place.project}/vault`
  const call = { tool_name: tool, tool_input: input, tool_use_id: 'c1' }
  const message = {
    session_id: 's',
    turn_id: 't',
    cwd,
    model: 'gpt-5.5',
    permission_mode: 'default',
    ...call,
  }
  const [effect, why] = await answer(place, ['codex'], { ...message, hook_event_name: 'PreToolUse' })
  expect(effect).toBe(decided)
  expect(why).toContain(reason)
})

function patchOf(file: string): string {
  return `*** Begin Patch\n*** Delete File: ${file}\n*** End Patch\n`
}

const newFile = '*** Begin Patch\n*** Add File: docs/c.txt\n+hello\n*** End Patch\n'

test.each<[string, string, unknown, string, string]>([
  ['finds files in its folder', 'glob', { pattern: '*' }, 'allow', 'code.glob'],
  ['finds files outside', 'glob', { pattern: '*', paths: '/etc/ssl' }, 'deny', '/etc/ssl'],
  ['searches', 'rg', { pattern: 'one', paths: ['.'] }, 'allow', 'code.search'],
  ['searches what a rule denies, too', 'rg', { pattern: 'x', paths: ['.', 'vault'] }, 'deny', 'no-vault'],
  ['searches outside by the older field', 'grep', { pattern: 'x', path: '/etc' }, 'deny', '/etc'],
  ['searches in what is no text', 'rg', { pattern: 'x', paths: [1] }, 'ask', 'agent.rg'],
  ['adds a file', 'apply_patch', JSON.stringify(newFile), 'allow', 'code.write_file'],
  ['deletes a denied file', 'apply_patch', JSON.stringify(patchOf('vault/key')), 'deny', 'no-vault'],
  ['reads the output of its shell', 'read_bash', { shellId: '0' }, 'none', ''],
])('GitHub Copilot CLI that %s is decided about by the policy', async (...row) => {
  const [, tool, args, decided, reason] = row
  const place = openPlace()
  const message = { sessionId: 's', timestamp: 1, cwd: place.project, toolName: tool, toolArgs: args }
  const [effect, why] = await answer(place, ['copilot', '--event', 'preToolUse'], message)
  expect(effect).toBe(decided)
  expect(why).toContain(reason)
})
