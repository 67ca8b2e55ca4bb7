// What Claude Code asks Handrail in a session, and what it is answered. Its messages stand in session.jsonl: Claude Code sends the same once
// `handrail hook install claude-code` has written its settings, and policy.json lies in ~/.handrail.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const home = mkdtempSync(join(tmpdir(), 'handrail-'))
cpSync(join(import.meta.dirname, 'policy.json'), join(home, 'policy.json'))
const [program = join(import.meta.dirname, '..', '..', 'bin', 'handrail.cjs')] = process.argv.slice(2)

function handrail(argv: readonly string[], input = ''): string {
  const env = { ...process.env, HANDRAIL_HOME: home }
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...argv], {
    env,
    input,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`handrail ${argv.join(' ')} failed: ${stderr}`)
  return stdout
}

interface Message {
  readonly hook_event_name: string
  readonly tool_name: string
  readonly tool_input: object
}

for (const line of readFileSync(join(import.meta.dirname, 'session.jsonl'), 'utf8')
  .trim()
  .split('\n')) {
  const message = JSON.parse(line) as Message
  const whole = { session_id: 'session-1', cwd: process.cwd(), ...message }
  const { hookSpecificOutput: said } = JSON.parse(handrail(['hook', 'claude-code'], JSON.stringify(whole)))
  if (message.hook_event_name !== 'PreToolUse') continue
  console.log(message.tool_name, JSON.stringify(message.tool_input))
  console.log(`  ${said.permissionDecision}: ${said.permissionDecisionReason}`)
}

const ends: { tool: string; outcome: string }[] = JSON.parse(handrail(['evidence', 'list', '--json']))
for (const { tool, outcome } of ends.toReversed()) console.log('recorded:', tool, outcome)
rmSync(home, { recursive: true })
