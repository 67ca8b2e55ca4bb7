import { expect, test } from 'vitest'
import { handrail, makePlace } from '../support/command-line.ts'

/** Every command with its options, as people and their scripts know them. A change of this list is a change for all of them. */
const commands: { readonly [command: string]: readonly string[] } = {
  'tools list': [
    '--role ROLE',
    '--presentation PRESENTATION',
    '--tenant TENANT',
    '--search WORDS',
    '--keyword WORD',
    '--group GROUP',
    '--tag TAG,…',
    '--capability NAME',
    '--safety low|medium|high',
    '--side-effect EFFECT',
    '--state STATE',
    '--json',
  ],
  'tools show': ['--presentation PRESENTATION', '--tenant TENANT', '--json'],
  'tools enable': ['--tenant TENANT', '--reason TEXT', '--json'],
  'tools pause': ['--tenant TENANT', '--reason TEXT', '--json'],
  'tools deprecate': ['--tenant TENANT', '--reason TEXT', '--json', '--removed'],
  'tools approve': ['--digest DIGEST', '--tenant TENANT', '--json'],
  'tools check': ['--json'],
  call: [
    '--approve once|deny',
    '--key KEY',
    '--consent ID',
    '--tenant TENANT',
    '--actor ACTOR',
    '--role ROLE',
    '--mode MODE',
    '--presentation PRESENTATION',
    '--json',
  ],
  run: [
    '--model NAME',
    '--base-url URL',
    '--trust-project',
    '--resume RUN',
    '--wait',
    '--max-turns N',
    '--system FILE',
    '--output-schema FILE',
    '--session ID',
    '--approve once|deny',
    '--tenant TENANT',
    '--actor ACTOR',
    '--role ROLE',
    '--mode MODE',
    '--json',
  ],
  'runs list': ['--limit N', '--tenant TENANT', '--json'],
  'runs show': ['--tenant TENANT', '--json'],
  explain: [
    '--call ID',
    '--key KEY',
    '--consent ID',
    '--tenant TENANT',
    '--actor ACTOR',
    '--role ROLE',
    '--mode MODE',
    '--presentation PRESENTATION',
    '--json',
  ],
  'agents list': ['--json'],
  'agents show': ['--json'],
  'approvals list': ['--tenant TENANT', '--all', '--follow', '--json'],
  'approvals show': ['--tenant TENANT', '--json'],
  'approvals allow': [
    '--for-session',
    '--yes',
    '--reason TEXT',
    '--as ACTOR',
    '--digest DIGEST',
    '--tenant TENANT',
    '--json',
  ],
  'approvals deny': ['--reason TEXT', '--as ACTOR', '--digest DIGEST', '--tenant TENANT', '--json'],
  'caplet install': ['--digest DIGEST', '--downgrade'],
  'caplet list': ['--json'],
  'caplet pack': ['--out FILE', '--key FILE', '--unsigned'],
  'caplet remove': [],
  'caplet test': ['--digest DIGEST', '--json'],
  'caplet verify': ['--digest DIGEST', '--json'],
  'consent give': [
    '--for TIME',
    '--scope SCOPE',
    '--actor ACTOR',
    '--tenant TENANT',
    '--reason TEXT',
    '--json',
  ],
  'consent list': ['--tenant TENANT', '--json'],
  'consent revoke': ['--tenant TENANT', '--json'],
  sessions: ['--limit N', '--since TIME', '--actor ACTOR', '--tenant TENANT', '--json'],
  'artifact list': ['--limit N', '--call ID', '--tenant TENANT', '--json'],
  'artifact get': ['-o, --output FILE', '--tenant TENANT'],
  completion: [],
  console: ['--port N'],
  'evidence list': [
    '--notes',
    '--limit N',
    '-f, --follow',
    '--since TIME',
    '--tool TOOL',
    '--actor ACTOR',
    '--outcome OUTCOME',
    '--session ID',
    '--tenant TENANT',
    '--json',
  ],
  'evidence show': ['--tenant TENANT', '--json'],
  'evidence verify': ['--file FILE', '--tenant TENANT', '--json'],
  'evidence replay': ['--policy FILE', '--system FILE', '--tenant TENANT', '--json'],
  'evidence export': ['--out FILE', '--session ID', '--tenant TENANT', '--json'],
  'evidence import': ['--trust KEY,…', '--tenant TENANT', '--json'],
  'evidence resolve': [
    '--outcome happened|not-happened',
    '--result JSON',
    '--reason TEXT',
    '--tenant TENANT',
    '--json',
  ],
  'evidence prune': ['--older-than TIME', '--tenant TENANT', '--json'],
  'evidence rebuild-archive': ['--session ID', '--tenant TENANT', '--json'],
  'evidence rotate-key': ['--tenant TENANT', '--json'],
  'mcp status': ['--timeout TIME', '--json'],
  'mcp add': ['--env NAME,…', '--header TEXT', '--read DIR,…', '--write DIR,…', '--keep-secrets', '--yes'],
  'mcp remove': ['--yes'],
  'mcp import': ['--file FILE', '--keep-secrets', '--yes'],
  'mcp review': ['--approve', '--digest DIGEST', '--tenant TENANT', '--timeout TIME', '--json'],
  'mcp update': ['--json'],
  'mcp login': ['--tenant TENANT', '--within TIME', '--json'],
  'mcp logout': ['--tenant TENANT', '--json'],
  'policy check': ['--json'],
  'policy test': ['--policy FILE', '--json'],
  'policy shadow': ['--since TIME', '--session ID', '--tenant TENANT', '--follow', '--json'],
  'policy import': ['--write', '--json'],
  'hook claude-code': [
    '--event EVENT',
    '--fail-open',
    '--tenant TENANT',
    '--actor ACTOR',
    '--role ROLE',
    '--mode MODE',
  ],
  'hook codex': [
    '--event EVENT',
    '--fail-open',
    '--tenant TENANT',
    '--actor ACTOR',
    '--role ROLE',
    '--mode MODE',
  ],
  'hook gemini-cli': [
    '--event EVENT',
    '--fail-open',
    '--tenant TENANT',
    '--actor ACTOR',
    '--role ROLE',
    '--mode MODE',
  ],
  'hook copilot': [
    '--event EVENT',
    '--fail-open',
    '--tenant TENANT',
    '--actor ACTOR',
    '--role ROLE',
    '--mode MODE',
  ],
  'hook cursor': [
    '--event EVENT',
    '--fail-open',
    '--tenant TENANT',
    '--actor ACTOR',
    '--role ROLE',
    '--mode MODE',
  ],
  'hook install': ['--yes', '--fail-open', '--tenant TENANT', '--actor ACTOR', '--role ROLE', '--mode MODE'],
  'hook uninstall': ['--yes'],
  doctor: ['--json'],
  try: ['--approve once|deny', '--tenant TENANT', '--actor ACTOR', '--role ROLE', '--mode MODE', '--json'],
  undo: [
    '--session ID',
    '--since TIME',
    '--yes',
    '--tenant TENANT',
    '--actor ACTOR',
    '--role ROLE',
    '--mode MODE',
    '--json',
  ],
  'skills list': ['--json'],
  'skills show': ['--json'],
  'skills check': ['--json'],
  'tasks list': ['--all', '--tenant TENANT', '--actor ACTOR', '--json'],
  'tasks show': ['--tenant TENANT', '--actor ACTOR', '--json'],
  token: [
    '--write',
    '--for TIME',
    '--metrics',
    '--approver',
    '--tenant TENANT',
    '--actor ACTOR',
    '--role ROLE',
    '--mode MODE',
  ],
  serve: [
    '--port N',
    '--stdio',
    '--server NAME',
    '--deliver PATH,…',
    '--presentation PRESENTATION',
    '--model NAME',
    '--base-url URL',
    '--trust-project',
    '--tenant TENANT',
    '--actor ACTOR',
    '--role ROLE',
    '--mode MODE',
  ],
  'schedules list': ['--tenant TENANT', '--json'],
  'schedules show': ['--tenant TENANT', '--json'],
  'schedules run': ['--tenant TENANT', '--model NAME', '--base-url URL', '--trust-project', '--json'],
  'schedules delete': ['--tenant TENANT'],
  'memory list': ['--tenant TENANT', '--json'],
  'memory show': ['--tenant TENANT', '--json'],
  'memory accept': ['--tenant TENANT', '--json'],
  'memory reject': ['--tenant TENANT', '--json'],
  'memory recall': ['--scope SCOPE', '--tenant TENANT', '--json'],
  'memory extract': ['--tenant TENANT', '--model NAME', '--base-url URL', '--trust-project', '--json'],
}

const common = ['--project DIR', '--home DIR', '-h, --help']

test('the commands, their verbs and their options are these', async () => {
  const place = makePlace()
  const show = async (...words: string[]) => (await handrail(place, ['help', ...words])).stdout
  const found: Record<string, readonly string[]> = {}
  const overview = await show()
  expect(optionsOf(overview)).toEqual(common)
  for (const command of entriesOf(overview)) {
    const page = await show(command)
    const verbs = page.includes(`\nUsage: handrail ${command} …\n`) ? entriesOf(page) : []
    if (verbs.length === 0) found[command] = ownOptionsOf(page)
    for (const verb of verbs) found[`${command} ${verb}`] = ownOptionsOf(await show(command, verb))
  }
  expect(found).toEqual(commands)
})

/** What the first block of indented lines names. */
function entriesOf(page: string): string[] {
  const [, block = ''] = /\nUsage: [^\n]*\n+((?: {2}[^\n]*\n)+)/.exec(page) ?? []
  return [...block.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, name = '']) => name)
}

function optionsOf(page: string): string[] {
  return [...page.matchAll(/^ {2}((?:-\w, )?--\S+(?: \S+)*)(?= {2}|$)/gm)].map(([, option = '']) => option)
}

function ownOptionsOf(page: string): string[] {
  return optionsOf(page).filter((option) => !common.includes(option))
}
