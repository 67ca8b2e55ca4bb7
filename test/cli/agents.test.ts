import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace } from '../support/command-line.ts'

const definition = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: Does ${name}. And more.${more}\n---\n\nYou do it.\n`

test('handrail agents lists the definitions in force, and every fault with its file and line (AGENT-1)', async () => {
  const place = makePlace(
    { '.claude/agents/helper.md': definition('helper', '\ntools: Read\npermissionMode: bypassPermissions') },
    { 'agents/writer.md': definition('writer'), 'agents/bad.md': definition('a b') },
  )
  const { code, stdout, stderr } = await handrail(place, ['agents'])
  expect([code, stderr]).toEqual([2, ''])
  expect(stdout.split('\n')).toEqual([
    expect.stringMatching(/^Explore {2}builtin {2}sub {11}Searches a project and reads in it, .*…$/),
    expect.stringMatching(/^Plan {5}builtin {2}sub {11}Designs a change before it is made: /),
    expect.stringMatching(/^general {2}builtin {2}sub /),
    'helper   project  sub           Does helper.',
    'writer   home     sub           Does writer.',
    `${join(place.home, 'agents/bad.md')}:2: "a b" is not an id: use letters, digits, "_", "." and "-". It is left out.`,
    expect.stringMatching(/helper\.md:5: "permissionMode: bypassPermissions" counts for nothing here/),
    '',
  ])
  writeFileSync(join(place.home, 'agents/bad.md'), definition('good'))
  const mended = await handrail(place, ['agents', '--json'])
  expect(mended.code).toBe(0)
  expect(jsonOf<{ definitions: object[] }>(mended).definitions).toHaveLength(6)

  const shown = await handrail(place, ['agents', 'show', 'helper'])
  expect(shown.stdout).toContain('tools: code.read_file\n')
  expect(shown.stdout).toMatch(/\nDoes helper\. And more\.\n\nYou do it\.\n$/)
  const unknown = await handrail(place, ['agents', 'show', 'helpr'])
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Did you mean "helper"?')])
})

test('a model at the command line lists them if config.json asks for the group (AGENT-1)', async () => {
  const place = makePlace(
    { '.claude/agents/helper.md': definition('helper') },
    { 'config.json': { toolGroups: ['agent', 'plan', 'user', 'plan'] } },
  )
  const { stdout } = await handrail(place, ['tools', '--json'])
  const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)
  const grouped = ['agent.list_agent_definitions', 'agent.plan_template', 'plan.enter', 'plan.exit']
  for (const name of [...grouped, 'plan.todo_write', 'user.ask']) expect(names).toContain(name)
  const listed = await handrail(place, ['call', 'agent.list_agent_definitions', '--json'])
  expect(jsonOf(listed)).toMatchObject({
    data: { definitions: [{ id: 'Explore' }, {}, {}, { id: 'helper', origin: 'project' }] },
  })
  const without = await handrail(makePlace(), ['tools'])
  expect(without.stdout).not.toMatch(/plan\.|user\.ask|agent\./)
  const wrong = await handrail(makePlace({}, { 'config.json': { toolGroups: ['plans'] } }), ['tools'])
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('/toolGroups/0')])
})
